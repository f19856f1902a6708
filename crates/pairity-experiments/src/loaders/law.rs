//! The national study of bar passage of the Law School Admission Council: undergraduate grades of 27,234
//! law students, by gender.
//!
//! The published table has 27,478 rows, of which those with a grade (`ugpa`, the label) and a gender are
//! used. Missing cells are empty or a single space. Any table with the same columns is read as well, such
//! as one from which those rows were already removed. There are no queries.

use super::{numbers, open, read, wrong, wrong_file};
use crate::data::DataError;
use crate::dataset::{Dataset, groups_of};
use pairity::examples::{Column, NO_GROUP};
use pairity_tables::{Table, Want};
use std::path::Path;

const LABEL: &str = "ugpa";
const GENDER: &str = "gender";

/// The groups in the order of the paper.
const GENDERS: [&str; 2] = ["male", "female"];

/// Features beside the score of the admission test.
const CATEGORIES: [&str; 5] = ["fam_inc", "fulltime", "race1", GENDER, "cluster"];

/// Reads the table of law students.
///
/// # Errors
/// A file that can't be read, that lacks a column, or has a gender other than male and female.
pub fn load(path: &Path) -> Result<Dataset, DataError> {
    let mut wants = vec![Want::number(LABEL), Want::number("lsat")];
    wants.extend(CATEGORIES.map(Want::category));
    let mut table = read(&open(path, "")?, wants)?;
    let labels = numbers(&table, LABEL);
    let groups = genders(&table)?;
    let all = labels.len();
    let has_both = |&row: &u32| !labels[row as usize].is_nan() && groups[row as usize] != NO_GROUP;
    let kept: Vec<u32> = (0..all as u32).filter(has_both).collect();
    if kept.is_empty() {
        let problem = format!("no row has both {LABEL} and {GENDER}");
        return Err(wrong_file(path, &problem, "Is it the table as published?"));
    }
    table.take(LABEL);
    let dropped = all - kept.len();
    let data = Dataset {
        columns: table.into_columns(),
        standardize: true,
        groups: groups_of(GENDERS, groups),
        ..Dataset::new("law", labels)
    };
    let mut data = data.select(&kept);
    if dropped > 0 {
        data.notes.push(format!("{dropped} of {all} rows left out: {LABEL} or {GENDER} is missing"));
    }
    Ok(data)
}

/// The code of each row's gender.
fn genders(table: &Table) -> Result<Vec<u32>, DataError> {
    let (codes, levels) = table.column(GENDER).and_then(Column::categories).unwrap_or_default();
    let code = |(row, &code): (usize, &u32)| {
        let Some(level) = levels.get(code as usize) else { return Ok(NO_GROUP) };
        match GENDERS.iter().position(|gender| gender == level) {
            Some(group) => Ok(group as u32),
            None => {
                let problem = format!("{level:?} is neither \"male\" nor \"female\"");
                Err(wrong(table, row, GENDER, &problem, "Correct the cell, or leave it empty"))
            }
        }
    };
    codes.iter().enumerate().map(code).collect()
}
