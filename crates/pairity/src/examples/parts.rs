//! Parts of the examples: for training, validation and test, and for mini-batches.
//!
//! A part keeps the row numbers of the whole, so that scores and features of all rows fit every part.

use super::{Attribute, Examples, ExamplesError, Groups, LabelOrder, SMALL, starts};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Why examples can't be split.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// Shares that are no shares, as text.
    #[error(
        "the shares of a split have to be numbers ≥ 0 with a sum of 1, such as 0.5,0.25,0.25; these are {0}"
    )]
    Shares(String),
    /// A part would be empty.
    #[error("a share of {share} of {units} {kind} is none at all: give it more, or 0 to do without it")]
    Empty {
        /// The share.
        share: f64,
        /// Number of queries or rows.
        units: usize,
        /// "queries" or "rows".
        kind: &'static str,
    },
    /// The examples themselves.
    #[error(transparent)]
    Examples(#[from] ExamplesError),
}

impl Examples {
    /// Number of independent units: queries, or examples where there are no queries.
    pub fn units(&self) -> usize {
        if self.has_queries { self.queries() } else { self.len() }
    }

    /// The units whose first row is accepted.
    pub fn units_where(&self, accepts: impl Fn(usize) -> bool) -> Vec<u32> {
        let accepted = |&unit: &usize| accepts(self.row[self.members(unit).start] as usize);
        (0..self.units()).filter(accepted).map(|unit| unit as u32).collect()
    }

    /// The number of units that hold rows of each group.
    pub(crate) fn group_units(&self) -> Vec<usize> {
        let Attribute::Groups { names, codes } = &self.attribute else { return Vec::new() };
        let (mut counts, mut last) = (vec![0; names.len()], vec![usize::MAX; names.len()]);
        for unit in 0..self.units() {
            for group in codes[self.members(unit)].iter().map(|&code| usize::from(code)) {
                if last.get(group).is_some_and(|&last| last != unit) {
                    (last[group], counts[group]) = (unit, counts[group] + 1);
                }
            }
        }
        counts
    }

    /// The examples of a unit.
    fn members(&self, unit: usize) -> Range<usize> {
        if self.has_queries { self.query(unit) } else { unit..unit + 1 }
    }

    /// The row of each example, by query.
    pub fn example_rows(&self) -> &[u32] {
        &self.row
    }

    /// The code of each row's group, for [`Features::with_codes`](crate::learners::Features::with_codes).
    /// Rows that are no examples belong to no group.
    pub fn codes_by_row(&self) -> Vec<u16> {
        let Attribute::Groups { names, codes } = &self.attribute else { return vec![0; self.rows] };
        let mut by_row = vec![names.len() as u16; self.rows];
        self.row.iter().zip(codes).for_each(|(&row, &code)| by_row[row as usize] = code);
        by_row
    }

    /// The continuous attribute of each row; NaN for rows that the examples leave out.
    pub(crate) fn continuous_by_row(&self) -> Vec<f64> {
        let mut by_row = vec![f64::NAN; self.rows];
        let values = self.continuous().unwrap_or_default();
        self.row.iter().zip(values).for_each(|(&row, &value)| by_row[row as usize] = value);
        by_row
    }

    /// The groups of all rows; rows that the examples leave out have none.
    pub(crate) fn groups_by_row(&self) -> Groups {
        let codes = self.codes_by_row().into_iter().map(u32::from).collect();
        Groups::in_order(self.groups().to_vec(), codes)
    }

    /// The label of each example, in the order of [`example_rows`](Self::example_rows).
    pub fn example_labels(&self) -> Option<&[f64]> {
        self.labels.as_deref()
    }

    /// The examples of some units, given by their numbers in any order. Rows keep their numbers, and
    /// groups their names: what fits the whole fits a part.
    ///
    /// # Errors
    /// No units.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples};
    /// use pairity::metrics::{Settings, rate_values};
    /// use pairity::rates::Rate;
    ///
    /// let columns = Columns { labels: Some(&[1.0, 0.0, 1.0, 0.0]), queries: Some(&[3, 3, 4, 4]), ..Columns::default() };
    /// let examples = Examples::new(columns)?;
    /// let second = examples.part(&[1])?;
    /// assert_eq!(second.example_rows(), [2, 3]);
    /// let auc = rate_values(&second, &[0.1, 0.2, 0.9, 0.3], &[Rate::AUC], &Settings::default())?;
    /// assert_eq!(auc, [Some(1.0)]);
    /// # Ok::<(), pairity::examples::ExamplesError>(())
    /// ```
    pub fn part(&self, units: &[u32]) -> Result<Examples, ExamplesError> {
        let mut units: Vec<u32> = units.iter().copied().filter(|&u| (u as usize) < self.units()).collect();
        units.sort_unstable();
        units.dedup();
        if units.is_empty() {
            return Err(ExamplesError::Empty { zero_weights: false });
        }
        let chosen: Vec<usize> = units.iter().flat_map(|&unit| self.members(unit as usize)).collect();
        let block = |&example: &usize| {
            let block = self.starts.partition_point(|&start| start as usize <= example) - 1;
            (self.query_of(block) as u32, block as u32)
        };
        let (starts, first_blocks) = starts(chosen.iter().map(block), !self.first_blocks.is_empty());
        Ok(self.gathered(&chosen, starts, first_blocks))
    }

    /// The same examples, those of each block by ascending label; none if they are, or if there are blocks that are not
    /// small.
    pub(crate) fn by_label(&self) -> Option<Examples> {
        let labels = self.labels.as_ref()?;
        let mut chosen: Vec<usize> = (0..self.len()).collect();
        for range in (0..self.blocks()).map(|block| self.block(block)) {
            if range.len() > SMALL {
                return None;
            }
            // Labels are finite, and −0 equals 0.
            chosen[range].sort_by(|&a, &b| (labels[a] + 0.0).total_cmp(&(labels[b] + 0.0)));
        }
        let gathered = || self.gathered(&chosen, self.starts.clone(), self.first_blocks.clone());
        (!chosen.is_sorted()).then(gathered)
    }

    /// The same examples as if they were of one query, so that pairs of different queries count too.
    pub(crate) fn across_queries(&self) -> Examples {
        let all: Vec<usize> = (0..self.len()).collect();
        let examples = self.gathered(&all, vec![0, self.len() as u32], Vec::new());
        Examples { has_queries: false, ..examples }
    }

    /// Chosen examples, whose blocks start at given places.
    fn gathered(&self, chosen: &[usize], starts: Vec<u32>, first_blocks: Vec<u32>) -> Examples {
        let gather = |values: &Vec<f64>| -> Vec<f64> { chosen.iter().map(|&i| values[i]).collect() };
        let labels = self.labels.as_ref().map(gather);
        let small = if self.has_queries { SMALL } else { 0 };
        let label_order = LabelOrder::new(labels.as_deref(), &starts, small);
        let attribute = match &self.attribute {
            Attribute::None => Attribute::None,
            Attribute::Groups { names, codes } => {
                Attribute::Groups { names: names.clone(), codes: chosen.iter().map(|&i| codes[i]).collect() }
            }
            Attribute::Continuous(values) => Attribute::Continuous(gather(values)),
        };
        Examples {
            row: chosen.iter().map(|&i| self.row[i]).collect(),
            starts,
            first_blocks,
            labels,
            label_order,
            attribute,
            weights: self.weights.as_ref().map(gather),
            factors: self.factors.as_ref().map(gather),
            side: self.side.as_ref().map(gather),
            ..*self
        }
    }

    /// The same examples with other weights, by row. They have to be above 0, as examples of weight 0 are
    /// none.
    pub(crate) fn reweighted(&self, weights: &[f64]) -> Examples {
        let own: Vec<f64> = self.row.iter().map(|&row| weights[row as usize]).collect();
        let factor = |(i, own): (usize, &f64)| self.factor(i) / self.weight(i) * own;
        let factors = Some(own.iter().enumerate().map(factor).collect());
        Examples { factors, weights: Some(own), ..self.clone() }
    }

    /// Splits the units at random into parts of these shares; none for a share of 0. The parts hold the same
    /// kinds of units: rows by group and label, queries by the pairs that they have. The same seed gives the
    /// same parts.
    ///
    /// # Errors
    /// Shares that don't add up to 1, or too few units for them.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples};
    ///
    /// let labels: Vec<f64> = (0..8).map(f64::from).collect();
    /// let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() })?;
    /// let parts = examples.split(&[0.5, 0.5, 0.0], 1)?;
    /// let sizes: Vec<_> = parts.iter().map(|part| part.as_ref().map(|part| part.len())).collect();
    /// assert_eq!(sizes, [Some(4), Some(4), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split(&self, shares: &[f64], seed: u64) -> Result<Vec<Option<Examples>>, SplitError> {
        let sum: f64 = shares.iter().sum();
        if !((sum - 1.0).abs() < 1e-6 && shares.iter().all(|&share| share >= 0.0)) {
            let shares: Vec<String> = shares.iter().map(f64::to_string).collect();
            return Err(SplitError::Shares(shares.join(",")));
        }
        let units = self.units();
        let (mut sizes, mut start, mut share_before) = (Vec::new(), 0, 0.0);
        for &share in shares {
            share_before += share;
            // Rounded cumulatively, so that the parts hold every unit.
            let end = ((share_before / sum * units as f64).round() as usize).clamp(start, units);
            if share > 0.0 && start == end {
                let kind = if self.has_queries { "queries" } else { "rows" };
                return Err(SplitError::Empty { share, units, kind });
            }
            sizes.push(end - start);
            start = end;
        }
        // A part of everything keeps the order, and costs no copy of the sorting.
        if sizes.contains(&units) {
            return Ok(sizes.iter().map(|&size| (size > 0).then(|| self.clone())).collect());
        }
        let parts = self.divide(&sizes, &mut ChaCha8Rng::seed_from_u64(seed));
        let part = |units: &Vec<u32>| (!units.is_empty()).then(|| self.part(units)).transpose();
        Ok(parts.iter().map(part).collect::<Result<_, _>>()?)
    }
}

/// The numbers below `count` in random order.
pub(crate) fn shuffled(count: usize, random: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.shuffle(random);
    order
}

#[cfg(test)]
mod tests {
    use super::super::{Columns, Groups, PairWeight};
    use super::*;
    use crate::metrics::{Audit, Settings};
    use proptest::prelude::*;

    proptest! {
        /// A part is what the examples would be if only its rows were given.
        #[test]
        fn a_part_is_the_examples_of_its_rows(
            rows in prop::collection::vec((0..4_u32, -2..3_i32, 0..3_usize, 0..3_u32, -3..4_i32), 2..90),
            with_queries: bool, with_within: bool, gap: bool, chosen in any::<u64>(),
        ) {
            let column = |f: fn(&(u32, i32, usize, u32, i32)) -> f64| rows.iter().map(f).collect::<Vec<_>>();
            let labels = column(|r| r.1.into());
            let weights = column(|r| f64::from(r.3) + 0.5);
            let scores = column(|r| f64::from(r.4) / 2.0);
            let names: Vec<&str> = rows.iter().map(|r| ["", "a", "b"][r.2]).collect();
            let queries: Vec<u32> = rows.iter().map(|r| r.0).collect();
            let build = |pick: &dyn Fn(usize) -> bool| {
                let keep: Vec<usize> = (0..rows.len()).filter(|&i| pick(i)).collect();
                let take = |v: &[f64]| keep.iter().map(|&i| v[i]).collect::<Vec<_>>();
                let (labels, weights, scores) = (take(&labels), take(&weights), take(&scores));
                let mut codes = Groups::from_names(&names);
                codes = Groups::from_codes(
                    codes.names().to_vec(),
                    keep.iter().map(|&i| codes.code(i).map_or(u32::MAX, |c| c as u32)).collect(),
                );
                let queries: Vec<u32> = keep.iter().map(|&i| queries[i]).collect();
                let within: Vec<u32> = keep.iter().map(|&i| rows[i].3 % 2).collect();
                let columns = Columns {
                    labels: Some(&labels),
                    groups: Some(&codes),
                    queries: with_queries.then_some(&queries[..]),
                    within: with_within.then_some(&within[..]),
                    weights: Some(&weights),
                    pair_weight: if gap { PairWeight::LabelGap } else { PairWeight::One },
                    ..Columns::default()
                };
                (Examples::new(columns), scores)
            };
            let (whole, all_scores) = build(&|_| true);
            let whole = whole.unwrap();
            let units: Vec<u32> = (0..whole.units() as u32).filter(|u| chosen >> (u % 64) & 1 == 1).collect();
            prop_assume!(!units.is_empty());
            let part = whole.part(&units).unwrap();
            let rows: std::collections::HashSet<u32> = part.example_rows().iter().copied().collect();
            let (alone, scores) = build(&|i| rows.contains(&(i as u32)));
            let settings = Settings::default();
            let found = Audit::run(&part, &all_scores, &[], &settings).unwrap();
            let wanted = Audit::run(&alone.unwrap(), &scores, &[], &settings).unwrap();
            // A part keeps names of groups that it has no rows of.
            prop_assume!(found.groups == wanted.groups);
            prop_assert_eq!(found, wanted);
        }

        #[test]
        fn a_split_holds_every_unit_once(n in 4..60_usize, seed: u64) {
            let labels: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() }).unwrap();
            let parts = examples.split(&[0.5, 0.25, 0.25], seed).unwrap();
            let mut rows: Vec<u32> = parts.iter().flatten().flat_map(|p| p.example_rows().to_vec()).collect();
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..n as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn shares_that_do_not_add_up_and_empty_parts_are_refused() {
        let examples = Examples::new(Columns { labels: Some(&[1.0, 2.0]), ..Columns::default() }).unwrap();
        for shares in [&[0.5, 0.4][..], &[1.5, -0.5], &[f64::NAN, 1.0], &[]] {
            assert!(matches!(examples.split(shares, 0), Err(SplitError::Shares(_))), "{shares:?}");
        }
        let error = examples.split(&[0.9, 0.1], 0).err().map(|e| e.to_string());
        let expected = "a share of 0.1 of 2 rows is none at all: give it more, or 0 to do without it";
        assert_eq!(error.as_deref(), Some(expected));
    }

    #[test]
    fn seeds_change_the_split_and_the_whole_keeps_its_order() {
        let labels: Vec<f64> = (0..40).map(f64::from).collect();
        let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() }).unwrap();
        let rows = |seed| {
            let parts = examples.split(&[0.5, 0.5], seed).unwrap();
            parts[0].as_ref().unwrap().example_rows().to_vec()
        };
        assert_eq!(rows(3), rows(3));
        assert_ne!(rows(3), rows(4));
        let parts = examples.split(&[1.0, 0.0, 0.0], 3).unwrap();
        assert_eq!(parts[0].as_ref().unwrap().len(), 40);
        assert!(parts[1].is_none() && parts[2].is_none());
    }
}
