//! Tables without queries that are larger than memory: what is known of them beside their rows, which are kept
//! elsewhere as records.

use super::block_pairs::cells_of;
use super::influence::Influence;
use super::partial::{LabelFacts, PartialError, TableFacts};
use super::{Measurement, Settings};
use crate::examples::{
    Columns, Examples, ExamplesError, MAX_GROUPS, PairWeight, PlainRow, RowRecord, compare_names,
};
use crate::goals::Vocabulary;
use crate::pairs::CellLayout;
use std::collections::HashMap;

/// The most combinations of a label and a group that are counted side by side.
pub(super) const MAX_CELLS: usize = 256;

/// The group of rows of no group, until it is known how many groups there are.
const NO_CODE: usize = u16::MAX as usize;

/// What is known of a table without queries beside its rows. Rows are added, in any order, and kept elsewhere; when all
/// are there the table is [arranged](PlainTable::arrange) and measured by [`measure_sorted`](super::measure_sorted) or
/// [`measure_blocks`](super::measure_blocks).
#[derive(Debug, Clone, Default)]
pub struct PlainTable {
    /// Names of the groups, in the order of their numbers; none without groups.
    pub(super) groups: Option<Vec<String>>,
    pub(super) continuous: bool,
    pub(super) labels: bool,
    pub(super) label_gap: bool,
    pub(super) weighted: bool,
    pub(super) facts: TableFacts,
    /// The values of the labels in order, at most one more than are counted side by side.
    pub(super) grades: Vec<f64>,
    /// The number of each group, by the one that it had when it was first met.
    places: Vec<usize>,
    codes: HashMap<String, usize>,
    /// The largest weight, and the largest value of the pair-weight column.
    largest: [f64; 2],
}

impl PlainTable {
    /// Adds rows, of columns that are the same for all of the table; returns their records.
    ///
    /// # Errors
    /// Those of [`Examples::new`]; scores that are not finite; too many groups.
    pub fn add(&mut self, columns: &Columns, scores: &[f64]) -> Result<Vec<RowRecord>, PartialError> {
        self.continuous = columns.protected.is_some();
        self.labels = columns.labels.is_some();
        self.label_gap = columns.pair_weight == PairWeight::LabelGap;
        let names = columns.groups.map(|groups| groups.names());
        let codes: Vec<usize> = names.unwrap_or_default().iter().map(|name| self.code(name)).collect();
        if codes.iter().any(|code| *code >= MAX_GROUPS) {
            return Err(ExamplesError::TooManyGroups(self.codes.len()).into());
        }
        let rows = PlainRow::of_columns(columns, scores, |code| code.map_or(NO_CODE, |code| codes[code]))?;
        if names.is_some() {
            self.groups.get_or_insert_default();
        }
        let factors = match columns.pair_weight {
            PairWeight::Product(values) => values,
            _ => &[],
        };
        self.weighted |= columns.weights.is_some() || !factors.is_empty();
        let largest = |values: &[f64], so_far: f64| values.iter().copied().fold(so_far, f64::max);
        self.largest =
            [largest(columns.weights.unwrap_or(&[1.0]), self.largest[0]), largest(factors, self.largest[1])];
        self.learn(&rows);
        Ok(rows.iter().map(|row| row.record(self.continuous)).collect())
    }

    /// The number that a group had when it was first met.
    fn code(&mut self, name: &str) -> usize {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        self.codes.insert(name.to_owned(), self.codes.len());
        self.facts.group_units.push(0);
        self.codes.len() - 1
    }

    fn learn(&mut self, rows: &[PlainRow]) {
        let facts = &mut self.facts;
        facts.rows += rows.len() as u64;
        for row in rows {
            match (&self.groups, self.continuous) {
                (Some(_), _) => match facts.group_units.get_mut(row.attribute as usize) {
                    Some(units) => *units += 1,
                    None => facts.without_attribute += 1,
                },
                (None, continuous) => {
                    facts.without_attribute += u64::from(!continuous || row.attribute.is_nan());
                }
            }
        }
        if !self.labels {
            return;
        }
        let labels: Vec<f64> = rows.iter().map(|row| row.label).collect();
        let more = LabelFacts::new(&labels);
        match &mut facts.labels {
            Some(facts) => facts.merge(&more),
            None => facts.labels = Some(more),
        }
        for label in labels {
            if self.grades.len() > MAX_CELLS {
                break;
            }
            if let Err(place) = self.grades.binary_search_by(|grade| grade.total_cmp(&label)) {
                self.grades.insert(place, label);
            }
        }
    }

    /// Gives the groups their order, when all rows are there.
    ///
    /// # Errors
    /// No rows; weights beyond 1e30 or all below 1e-30.
    pub fn arrange(&mut self) -> Result<(), PartialError> {
        if self.facts.rows == 0 {
            return Err(ExamplesError::Empty { zero_weights: self.weighted }.into());
        }
        let in_range = |largest: f64| largest == 0.0 || (1e-30..=1e30).contains(&largest);
        if !self.largest.into_iter().all(in_range) {
            return Err(PartialError::Weights);
        }
        let mut names: Vec<(String, usize)> = self.codes.drain().collect();
        names.sort_by(|(a, _), (b, _)| compare_names(a, b));
        self.places = vec![0; names.len()];
        names.iter().enumerate().for_each(|(place, (_, code))| self.places[*code] = place);
        self.facts.group_units = names.iter().map(|(_, code)| self.facts.group_units[*code]).collect();
        if let Some(groups) = &mut self.groups {
            *groups = names.into_iter().map(|(name, _)| name).collect();
        }
        Ok(())
    }

    /// Number of rows that count.
    pub fn rows(&self) -> u64 {
        self.facts.rows
    }

    /// Whether no row so far has a group.
    pub fn has_no_group(&self) -> bool {
        self.facts.group_units.is_empty()
    }

    /// Names of the groups; empty without groups.
    pub fn groups(&self) -> &[String] {
        self.groups.as_deref().unwrap_or_default()
    }

    /// Whether rows have a continuous attribute, and with that are not joined.
    pub fn is_continuous(&self) -> bool {
        self.continuous
    }

    /// Whether rows have weights of their own: without, the last two words of all records are alike.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Whether labels and groups have so few combinations that all pairs can be counted in the order of scores.
    pub fn is_sortable(&self) -> bool {
        !self.continuous && self.grades.len().max(1) * self.layout().codes() <= MAX_CELLS
    }

    /// Memory in bytes that a row takes while its pairs with those of another block are counted, about.
    pub fn row_bytes(&self) -> usize {
        // Columns, orders and counts; then sums by cell, three times: as they are found, by row, and with those before.
        256 + 3 * 2 * size_of::<f64>() * cells_of(&self.layout(), 0).len()
    }

    /// The names that goals about it may use.
    pub fn vocabulary(&self) -> Vocabulary {
        Vocabulary { groups: self.groups().to_vec(), continuous: self.continuous }
    }

    pub(super) fn layout(&self) -> CellLayout {
        CellLayout { groups: self.groups().len(), labels: self.labels, continuous: self.continuous }
    }

    /// The row of a record, whose group is one of the arranged ones or their number, and how many are like it.
    pub(super) fn row(&self, record: &RowRecord) -> (PlainRow, u64) {
        let (mut row, count) = PlainRow::of_record(record, self.continuous);
        if self.groups.is_some() {
            let place = self.places.get(row.attribute as usize);
            row.attribute = place.copied().unwrap_or(self.places.len()) as f64;
        }
        (row, count)
    }

    /// The number of a row's group, that of all groups for none.
    pub(super) fn group(&self, row: &PlainRow) -> usize {
        if self.groups.is_some() { row.attribute as usize } else { 0 }
    }

    /// Some rows as examples, in the same order, and their scores.
    pub(super) fn examples(&self, rows: &[PlainRow]) -> (Examples, Vec<f64>) {
        let has = [self.labels, self.continuous, self.label_gap, self.weighted];
        let examples = Examples::of_rows(rows, self.groups.as_deref(), has);
        (examples, rows.iter().map(|row| row.score).collect())
    }

    /// What was measured of it.
    pub(super) fn measurement(&self, influence: Influence, settings: &Settings) -> Measurement {
        Measurement::of_influence(self.vocabulary(), self.layout(), self.facts.clone(), influence, settings)
    }
}
