//! W3C experts: 48 topics with 200 candidates each, by gender (the expert search of TREC 2005 as prepared
//! for DELTR).
//!
//! The published file has no header, and no column that says who is an expert: its last column is a place
//! in an ideal ranking. But the candidates of a topic are listed in the order male experts, female experts,
//! male others, female others. A topic with at least one woman among its experts therefore has four runs of
//! equal gender, of which the first two are the experts. Other topics are left out. A table of the same
//! columns with a header and a column `expert` is read as well.
//!
//! Gender is a feature beside the five of the texts, which are standardized over the whole file.

use super::{binary, open, read, read_headerless, right, wrong_file};
use crate::data::DataError;
use crate::dataset::{Dataset, groups_of};
use pairity_tables::{Want, column_names};
use std::path::Path;

const QUERY: &str = "query_id";
const GENDER: &str = "gender";
const EXPERT: &str = "expert";

/// The groups in the order of the paper, which is that of their codes.
const GENDERS: [&str; 2] = ["male", "female"];

/// The columns of the published file.
const COLUMNS: [&str; 8] = [
    QUERY,
    GENDER,
    "match_body_email_subject_score_norm",
    "match_body_email_subject_df_stdev",
    "match_body_email_subject_idf_stdev",
    "match_body_score_norm",
    "match_subject_score_norm",
    "judgment",
];

/// The columns that are features.
const FEATURES: std::ops::Range<usize> = 1..7;

/// Reads the file of candidates.
///
/// # Errors
/// A file that can't be read, is another one, or has no topic whose experts can be told.
pub fn load(path: &Path) -> Result<Dataset, DataError> {
    let source = open(path, "")?;
    let labelled = column_names(&source)?.iter().any(|column| column == EXPERT);
    let mut wants = vec![Want::number(QUERY)];
    wants.extend(COLUMNS[FEATURES].iter().map(|column| Want::number(column)));
    let mut table = match labelled {
        true => {
            wants.push(Want::number(EXPERT));
            read(&source, wants)?
        }
        false => read_headerless(path, &COLUMNS, wants)?,
    };
    let is_topic = |number: f64| number >= 0.0 && number.fract() == 0.0 && number < f64::from(u32::MAX);
    let words = ["is not the number of a topic", "Is it the file as published?"];
    let queries: Vec<u32> =
        right(&table, QUERY, is_topic, words)?.iter().map(|&number| number as u32).collect();
    let genders = binary(&table, GENDER)?;
    let (kept, labels, note) = match labelled {
        true => ((0..queries.len() as u32).collect(), binary(&table, EXPERT)?, None),
        false => experts(path, &queries, &genders)?,
    };
    table.take(QUERY);
    table.take(EXPERT);
    let data = Dataset {
        columns: table.into_columns(),
        groups: groups_of(GENDERS, genders.iter().map(|&gender| u32::from(gender > 0.0)).collect()),
        queries: Some(queries),
        notes: ["male includes candidates of unknown gender".to_owned()].into_iter().chain(note).collect(),
        ..Dataset::new("w3c", labels)
    };
    Ok(data.select(&kept))
}

/// Rows, labels of all rows, and what was left out.
type Experts = (Vec<u32>, Vec<f64>, Option<String>);

/// The rows of the topics whose experts can be told, and who they are.
fn experts(path: &Path, queries: &[u32], genders: &[f64]) -> Result<Experts, DataError> {
    let mut topics: Vec<(u32, Vec<usize>)> = Vec::new();
    for (row, &query) in queries.iter().enumerate() {
        match topics.iter_mut().find(|(topic, _)| *topic == query) {
            Some((_, rows)) => rows.push(row),
            None => topics.push((query, vec![row])),
        }
    }
    let mut labels = vec![0.0; queries.len()];
    let (mut kept, mut others) = (Vec::new(), Vec::new());
    for (topic, rows) in &topics {
        let starts: Vec<usize> =
            (1..rows.len()).filter(|&i| genders[rows[i]] != genders[rows[i - 1]]).collect();
        match starts[..] {
            [_, experts, _] if genders[rows[0]] == 0.0 => {
                rows[..experts].iter().for_each(|&row| labels[row] = 1.0);
                kept.extend(rows.iter().map(|&row| row as u32));
            }
            _ => others.push(topic.to_string()),
        }
    }
    if kept.is_empty() {
        let problem = "in no topic the experts can be told by the order of genders";
        let advice = "Keep the rows in the order in which the file was published";
        return Err(wrong_file(path, problem, advice));
    }
    let note = (!others.is_empty()).then(|| {
        let (left_out, all, topics) = (others.len(), topics.len(), others.join(", "));
        let why = "whose experts can't be told from others (no woman among them)";
        format!("{left_out} of {all} topics left out, {why}: {topics}")
    });
    Ok((kept, labels, note))
}
