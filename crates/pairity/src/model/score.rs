//! Scoring rows with a model: the only way from columns to scores, whatever is done after scoring.
//!
//! Which member of a mixture scores which rows is drawn once for each query, the same at every call and on
//! every machine. The draw is a hash, not a stream of random numbers, so that it depends on nothing but the seed
//! and the query's own text: neither on the order of the rows nor on which other queries are there.

use super::exposure::policy;
use super::{Adjustment, After, Component, Model, ModelError, Ranked, StochasticScorer};
use crate::examples::{Column, Columns, Examples, Groups};
use crate::learners::{Features, Note};
use serde::Serialize;

/// The rows of a table, as a model scores them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRows<'a> {
    /// Their features.
    pub features: Features,
    /// Their groups, for what is done after scoring.
    pub groups: Option<&'a Groups>,
    /// Their continuous attribute, for the same.
    pub attribute: Option<Vec<f64>>,
    /// The query of each row, as a position among the queries' texts; a row whose code is beyond these (a
    /// missing cell) is drawn for by the empty text. Rows of a regression have no queries, but they may
    /// have identifiers, which serve as well. Without queries all rows are one ranking, whose text is
    /// empty.
    pub queries: Option<(&'a [u32], &'a [String])>,
    /// What training never saw.
    pub notes: Vec<Note>,
    /// Rows of groups that the model does not know, if it tells groups apart.
    pub unknown_groups: Option<usize>,
}

impl<'a> ScoreRows<'a> {
    /// Rows with features alone.
    pub fn new(features: Features) -> ScoreRows<'a> {
        let (notes, unknown_groups) = (Vec::new(), None);
        ScoreRows { features, groups: None, attribute: None, queries: None, notes, unknown_groups }
    }
}

impl ScoreRows<'_> {
    fn adjusted(&self, adjustment: &Adjustment, scores: &[f64]) -> Result<Vec<f64>, ModelError> {
        Ok(adjustment.apply_by(scores, self.groups, self.attribute.as_deref())?.scores)
    }
}

/// A scorer of a model, and what it was drawn for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComponentUse {
    /// How likely it is drawn.
    pub probability: f64,
    /// Which snapshot of the training it is.
    pub snapshot: usize,
    /// Queries that drew it; nothing if there are no queries.
    pub queries: Option<usize>,
    /// Rows that it scored.
    pub rows: usize,
}

impl Model {
    /// Its scorers and what is done with their scores.
    pub fn scorer(&self) -> StochasticScorer<'_> {
        let Model { architecture, components, after, .. } = self;
        StochasticScorer { architecture, components, after: after.as_ref() }
    }

    /// The columns of the queries: those that somebody names, or else those of the training. A single scorer draws
    /// nothing, so that only columns that somebody names are looked for.
    pub fn query_columns<'a>(&'a self, named: &'a [String]) -> &'a [String] {
        let draws = matches!(self.after, Some(After::Ranked(_))) || self.components.len() > 1;
        if named.is_empty() && draws { &self.query } else { named }
    }

    /// The column of the continuous attribute that scores are adjusted by, if they are.
    pub fn attribute(&self) -> Option<&str> {
        match (&self.after, &self.groups) {
            (Some(After::Adjusted(adjustment)), Some(groups)) if adjustment.is_by_attribute() => {
                groups.columns.first().map(String::as_str)
            }
            _ => None,
        }
    }

    /// The rows of a table that has these columns, groups and queries. A group that the model does not know
    /// counts as none.
    ///
    /// # Errors
    /// Columns that the encoder can't take, or of different lengths.
    pub fn rows<'a>(
        &self,
        columns: &[Column],
        groups: Option<&'a Groups>,
        queries: Option<(&'a [u32], &'a [String])>,
    ) -> Result<ScoreRows<'a>, ModelError> {
        let encoded = self.encoder.encode(columns)?;
        let mut rows =
            ScoreRows { groups, queries, notes: encoded.notes, ..ScoreRows::new(encoded.features) };
        if let Some(name) = self.attribute() {
            let own = columns.iter().find(|column| column.name == name).and_then(Column::numbers);
            rows.attribute = Some(own.ok_or(ModelError::NoAttribute)?.to_vec());
        }
        if let (Some(known), Some(groups)) = (&self.groups, groups) {
            let (codes, unknown) = known.codes(groups);
            if self.architecture.groups().groups().is_some() {
                rows.features = rows.features.with_codes(codes)?;
            }
            rows.unknown_groups = Some(unknown);
        }
        Ok(rows)
    }

    /// The scores of all rows. Each query draws one of the model's scorers, by [`uniform`] of the seed and
    /// its text; a model of a single scorer uses that, whatever the seed. A model that ranks gives minus the
    /// rank in a ranking that is drawn likewise.
    ///
    /// # Errors
    /// Features, groups or queries that do not fit or that the model needs; scores that are not finite, where
    /// something is done with them.
    pub fn score(&self, rows: &ScoreRows, seed: u64) -> Result<Vec<f64>, ModelError> {
        let features = &rows.features;
        self.check()?;
        self.architecture.check(features)?;
        let mut scores = vec![0.0; features.rows()];
        let drawn = self.drawn_by_row(rows, seed)?;
        for (at, Component { parameters, .. }) in self.components.iter().enumerate() {
            let own = (0..drawn.len() as u32).filter(|&row| drawn[row as usize] == at);
            let own: Vec<u32> = own.collect();
            if own.len() == drawn.len() {
                self.architecture.score(parameters, features, &mut scores);
            } else if !own.is_empty() {
                let mut found = vec![0.0; own.len()];
                self.architecture.score(parameters, &features.select(&own), &mut found);
                own.iter().zip(found).for_each(|(&row, score)| scores[row as usize] = score);
            }
        }
        match &self.after {
            None => Ok(scores),
            Some(After::Adjusted(adjustment)) => rows.adjusted(adjustment, &scores),
            Some(After::Ranked(ranked)) => ranked.draw(&scores, rows, seed),
        }
    }

    /// What the score of each row is on average over the draws: Σₖ pₖ a(f(xᵢ; θₖ)), with a for the
    /// adjustment of scores, if there is one.
    ///
    /// # Errors
    /// Those of [`score`](Self::score), and a model that ranks.
    pub fn expected(&self, rows: &ScoreRows) -> Result<Vec<f64>, ModelError> {
        self.check()?;
        self.architecture.check(&rows.features)?;
        let mut expected = vec![0.0; rows.features.rows()];
        let mut scores = expected.clone();
        for Component { probability, parameters, .. } in &self.components {
            self.architecture.score(parameters, &rows.features, &mut scores);
            match &self.after {
                None => {}
                Some(After::Adjusted(adjustment)) => scores = rows.adjusted(adjustment, &scores)?,
                Some(After::Ranked(_)) => return Err(ModelError::NoExpected),
            }
            expected.iter_mut().zip(&scores).for_each(|(sum, score)| *sum += probability * score);
        }
        Ok(expected)
    }

    /// The component that a query draws.
    pub fn drawn(&self, seed: u64, query: &str) -> usize {
        member(self.components.iter().map(|component| component.probability), uniform(seed, query))
    }

    /// What each component is drawn for.
    ///
    /// # Errors
    /// Another number of queries than of rows.
    pub fn component_uses(&self, rows: &ScoreRows, seed: u64) -> Result<Vec<ComponentUse>, ModelError> {
        let drawn = self.drawn_by_row(rows, seed)?;
        let used = |(at, &Component { probability, snapshot, .. }): (usize, &Component)| {
            let queries = rows
                .queries
                .map(|(_, texts)| texts.iter().filter(|text| self.drawn(seed, text) == at).count());
            let rows = drawn.iter().filter(|&&component| component == at).count();
            ComponentUse { probability, snapshot, queries, rows }
        };
        Ok(self.components.iter().enumerate().map(used).collect())
    }

    /// The component that is drawn for the query of each row.
    fn drawn_by_row(&self, rows: &ScoreRows, seed: u64) -> Result<Vec<usize>, ModelError> {
        let (count, without) = (rows.features.rows(), self.drawn(seed, ""));
        let Some((codes, texts)) = rows.queries else { return Ok(vec![without; count]) };
        if codes.len() != count {
            return Err(ModelError::Queries { found: codes.len(), rows: count });
        }
        let by_query: Vec<usize> = texts.iter().map(|text| self.drawn(seed, text)).collect();
        Ok(codes.iter().map(|&code| *by_query.get(code as usize).unwrap_or(&without)).collect())
    }
}

impl Ranked {
    /// Minus the rank of each row in a ranking that its query's name and the seed draw.
    ///
    /// # Errors
    /// No groups or no queries; scores that are not finite.
    fn draw(&self, scores: &[f64], rows: &ScoreRows, seed: u64) -> Result<Vec<f64>, ModelError> {
        let (codes, names) = rows.queries.unwrap_or_default();
        let groups = Some(rows.groups.ok_or(ModelError::NoGroups)?);
        let columns = Columns { groups, queries: rows.queries.map(|(codes, _)| codes), ..Columns::default() };
        let members = policy(&Examples::new(columns)?, scores, self.exposure, self.utilities)?.members;
        let drawn = |row: usize| {
            let name = names.get(codes[row] as usize).map_or("", String::as_str);
            // Another draw than that of the scorer.
            let draw = uniform(!seed, name);
            members[member(members.iter().map(|m| m.probabilities[row]), draw)].scores[row]
        };
        Ok((0..scores.len()).map(drawn).collect())
    }
}

/// A number in [0, 1) from a seed and a text.
///
/// FNV-1a with 64 bits over the seed (eight bytes, the lowest first) and the text (UTF-8), then the
/// finalizer of splitmix64, then the upper 53 bits divided by 2⁵³. These steps will not change, since
/// scores of saved models depend on them.
///
/// ```
/// use pairity::model::uniform;
/// assert_eq!(uniform(7, "query 1"), uniform(7, "query 1"));
/// assert_ne!(uniform(7, "query 1"), uniform(8, "query 1"));
/// ```
pub fn uniform(seed: u64, text: &str) -> f64 {
    (hash(seed, text) >> 11) as f64 / (1_u64 << 53) as f64
}

fn hash(seed: u64, text: &str) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(text.bytes());
    let fnv = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The member that a number in [0, 1) falls to: the first whose cumulative probability exceeds it.
fn member(probabilities: impl Iterator<Item = f64>, uniform: f64) -> usize {
    let (mut cumulative, mut last) = (0.0, 0);
    for (member, probability) in probabilities.enumerate() {
        cumulative += probability;
        if uniform < cumulative {
            return member;
        }
        // The sum may end just below 1; what is left goes to the last that has any probability.
        if probability > 0.0 {
            last = member;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_without_probability_is_never_drawn() {
        let member = |uniform| member([0.0, 0.25, 0.75, 0.0].into_iter(), uniform);
        assert_eq!([0.0, 0.2499, 0.25, 0.9999].map(member), [1, 1, 2, 2]);
        assert_eq!(super::member([0.3, 0.6999999, 0.0].into_iter(), 0.99999999), 1);
    }
}
