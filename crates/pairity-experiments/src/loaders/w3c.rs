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

use super::{binary, headerless, open};
use crate::dataset::Dataset;
use crate::error::DataError;
use pairity::examples::Groups;
use pairity_tables::{self as tables, Selection, Table, Want};
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
    let labelled = tables::column_names(&open(path)?)?.iter().any(|column| column == EXPERT);
    let mut wants = vec![Want::number(QUERY)];
    wants.extend(COLUMNS[FEATURES].iter().map(|column| Want::number(column)));
    let mut table = match labelled {
        true => {
            wants.push(Want::number(EXPERT));
            tables::read(&open(path)?, &Selection::Columns(wants), &|_, _| ())?
        }
        false => headerless::read(path, &COLUMNS, wants)?,
    };
    let queries = queries(&table)?;
    let genders = binary(&table, GENDER)?;
    let (kept, labels, note) = match labelled {
        true => ((0..queries.len() as u32).collect(), binary(&table, EXPERT)?, None),
        false => experts(path, &queries, &genders)?,
    };
    table.take(QUERY);
    table.take(EXPERT);
    let data = Dataset {
        columns: table.into_columns(),
        groups: Some(Groups::in_order(
            GENDERS.map(str::to_owned).to_vec(),
            genders.iter().map(|&gender| u32::from(gender > 0.0)).collect(),
        )),
        queries: Some(queries),
        notes: ["male includes candidates of unknown gender".to_owned()].into_iter().chain(note).collect(),
        ..Dataset::new("w3c", labels)
    };
    Ok(data.select(&kept))
}

/// The number of each row's topic.
fn queries(table: &Table) -> Result<Vec<u32>, DataError> {
    let numbers = super::present(table, QUERY)?;
    let whole = |&number: &f64| number >= 0.0 && number.fract() == 0.0 && number < f64::from(u32::MAX);
    match numbers.iter().position(|number| !whole(number)) {
        None => Ok(numbers.iter().map(|&number| number as u32).collect()),
        Some(row) => {
            let problem = format!("{} is not the number of a topic", numbers[row]);
            Err(super::wrong(table, row, QUERY, &problem, "Is it the file as published?"))
        }
    }
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
        return Err(super::wrong_file(path, problem, advice));
    }
    let note = (!others.is_empty()).then(|| {
        let (left_out, all) = (others.len(), topics.len());
        format!(
            "{left_out} of {all} topics left out, whose experts can't be told from others (no woman among \
             them): {}",
            others.join(", ")
        )
    });
    Ok((kept, labels, note))
}
