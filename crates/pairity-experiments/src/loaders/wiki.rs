//! Toxic comments on Wikipedia talk pages, by whether they contain the word "gay".
//!
//! Read are files with a header, separated by commas or tabs, that have a text in `comment` and a label in
//! `is_toxic` or `toxic`: the full set in its three published parts as well as the sample of 1,492
//! comments. Each comment has one label. There are no queries and no features beside the text.

use super::{binary, open, read};
use crate::data::DataError;
use crate::dataset::{Dataset, groups_of};
use pairity_tables::{Want, column_names};
use std::path::Path;

const COMMENT: &str = "comment";
const LABELS: [&str; 2] = ["is_toxic", "toxic"];

/// Comments of the full set.
const ALL: usize = 127_820;

/// The groups in the order of the paper.
const GROUPS: [&str; 2] = ["other", "gay"];

/// Reads one or several files of comments as one data set, in their order.
///
/// # Errors
/// Files that can't be read, that lack a column, or labels that are neither 0 nor 1.
pub fn load(paths: &[impl AsRef<Path>]) -> Result<Dataset, DataError> {
    let (mut labels, mut texts, mut empty) = (Vec::new(), Vec::new(), 0);
    for path in paths {
        let source = open(path.as_ref(), "")?;
        let columns = column_names(&source)?;
        let label = LABELS.into_iter().find(|label| columns.iter().any(|column| column == label));
        let label = label.unwrap_or(LABELS[0]);
        let table = read(&source, vec![Want::category(COMMENT), Want::number(label)])?;
        labels.extend(binary(&table, label)?);
        if let Some((codes, levels)) = table.column(COMMENT).and_then(|column| column.categories()) {
            for &code in codes {
                let text = levels.get(code as usize);
                empty += usize::from(text.is_none());
                texts.push(text.cloned().unwrap_or_default());
            }
        }
    }
    let groups = texts.iter().map(|text| u32::from(has_word(text, GROUPS[1]))).collect();
    let mut data =
        Dataset { groups: groups_of(GROUPS, groups), texts: Some(texts), ..Dataset::new("wiki", labels) };
    if data.rows() < ALL {
        data.sample = true;
        data.notes.push(format!("{} comments, a sample of the paper's {ALL}", data.rows()));
    }
    if empty > 0 {
        data.notes.push(format!("{empty} comments are empty"));
    }
    Ok(data)
}

/// Whether a text has a word, in any case, that is not part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|other| other.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_whole_and_in_any_case() {
        for text in ["gay", "Gay!", "is he GAY?", "anti-gay", "\"gay\"", "gay's", "x.gay.y"] {
            assert!(has_word(text, "gay"), "{text}");
        }
        for text in ["", "gays", "nosegay", "gay_rights", "gayé", "1gay", "g ay"] {
            assert!(!has_word(text, "gay"), "{text}");
        }
    }
}
