//! Communities and Crime: how violent are 1,994 communities of the United States, by race.
//!
//! `communities.data` has 128 columns and no header; `communities.names` lists them, one `@attribute` a
//! line. Five columns tell who a community is and are no features. 23 of the 122 features have missing
//! values, written `?`; with their indicators there are 145 (one fewer if the single row that lacks
//! `OtherPerCap` is not among those the encoder learns from). The numbers are already between 0 and 1.
//!
//! The protected attribute is continuous: `racepctblack`, the share of black inhabitants, which is also a
//! feature. There are no queries: all communities are compared with each other.

use super::{numbers, present, read_headerless, wrong_file};
use crate::data::DataError;
use crate::dataset::Dataset;
use pairity_tables::{TableError, Want};
use std::path::Path;

/// The column that is predicted.
const LABEL: &str = "ViolentCrimesPerPop";

/// The protected attribute.
const PROTECTED: &str = "racepctblack";

/// Columns that identify a community.
const IDENTITY: [&str; 5] = ["state", "county", "community", "communityname", "fold"];

/// What is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrimeTask {
    /// Rank communities of high crime above others: the label is 1 from the 70th percentile on.
    Ranking,
    /// Predict violent crimes per inhabitant (scaled to [0, 1] by the publisher).
    Regression,
}

/// Reads `communities.data` with the column names in `communities.names`.
///
/// # Errors
/// Files that can't be read or are not these.
pub fn load(data: &Path, names: &Path, task: CrimeTask) -> Result<Dataset, DataError> {
    let columns = attributes(names)?;
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    if let Some(needed) = [LABEL, PROTECTED].iter().find(|needed| !columns.contains(needed)) {
        return Err(not_names(names, &format!("no line declares the column {needed:?}")));
    }
    let kept = columns.iter().filter(|column| !IDENTITY.contains(column));
    let mut table = read_headerless(data, &columns, kept.map(|column| Want::number(column)).collect())?;
    let raw = present(&table, LABEL)?;
    let protected = numbers(&table, PROTECTED);
    table.take(LABEL);
    let mut notes = Vec::new();
    let (name, labels) = match task {
        CrimeTask::Regression => ("crime-regression", raw),
        CrimeTask::Ranking => {
            let threshold = percentile(&raw, 0.7);
            notes.push(format!("a label is 1 where {LABEL} is at least {threshold}, its 70th percentile"));
            ("crime-ranking", raw.iter().map(|&crime| f64::from(crime >= threshold)).collect())
        }
    };
    let columns = table.into_columns();
    Ok(Dataset { columns, protected: Some(protected), notes, ..Dataset::new(name, labels) })
}

/// The names in the lines `@attribute NAME TYPE`.
fn attributes(path: &Path) -> Result<Vec<String>, DataError> {
    let failed = |cause| TableError::Read { file: path.display().to_string(), cause };
    let bytes = std::fs::read(path).map_err(failed)?;
    let text = String::from_utf8_lossy(&bytes);
    let declared = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let declares = words.next()?.eq_ignore_ascii_case("@attribute");
        words.next().filter(|_| declares).map(str::to_owned)
    });
    match declared.collect::<Vec<_>>() {
        names if names.is_empty() => Err(not_names(path, "no line starts with @attribute")),
        names => Ok(names),
    }
}

fn not_names(path: &Path, problem: &str) -> DataError {
    wrong_file(path, problem, "Is it communities.names as published?")
}

/// The number below which a share of the values lies, by linear interpolation between the two nearest:
/// among n sorted values it stands at place (n − 1) · share. NaN without values.
fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = sorted.len().saturating_sub(1) as f64 * share;
    let at = |place: f64| sorted.get(place as usize).copied();
    match (at(place.floor()), at(place.ceil())) {
        (Some(low), Some(high)) => low + (high - low) * (place - place.floor()),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_lies_between_its_neighbors() {
        assert_eq!(percentile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(percentile(&[4.0, 1.0, 2.0, 3.0], 0.5), 2.5);
        // Place 2.1 of 0, 1, 2, 10.
        assert!((percentile(&[10.0, 0.0, 2.0, 1.0], 0.7) - 2.8).abs() < 1e-12);
        assert_eq!(percentile(&[5.0], 0.7), 5.0);
        assert_eq!((percentile(&[1.0, 2.0], 0.0), percentile(&[1.0, 2.0], 1.0)), (1.0, 2.0));
        assert!(percentile(&[], 0.7).is_nan());
    }
}
