//! Scoring rows with a model: the only way from columns to scores, whatever is done after scoring.

use super::draw::{member, uniform};
use super::{After, Component, MemberScores, Model, ModelError, StochasticScorer};
use crate::examples::{Column, Examples, Groups};
use crate::learners::{Features, Note};
use serde::Serialize;

/// The rows of a table, as a model scores them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRows<'a> {
    /// Their features.
    pub features: Features,
    /// Their groups, for what is done after scoring.
    pub groups: Option<&'a Groups>,
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
        ScoreRows { features, groups: None, queries: None, notes: Vec::new(), unknown_groups: None }
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

/// The component that each query draws.
struct DrawnComponents {
    by_query: Vec<usize>,
    /// That of rows without a query.
    without: usize,
}

impl DrawnComponents {
    fn of_row(&self, code: u32) -> usize {
        *self.by_query.get(code as usize).unwrap_or(&self.without)
    }
}

impl Model {
    /// Its scorers and what is done with their scores.
    pub fn scorer(&self) -> StochasticScorer<'_> {
        let Model { architecture, components, after, .. } = self;
        StochasticScorer { architecture, components, after: after.as_ref() }
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
        let drawn = self.drawn_components(rows, seed)?;
        match rows.queries {
            Some((codes, _)) if self.components.len() > 1 => {
                let mut own = vec![Vec::new(); self.components.len()];
                for (row, &code) in codes.iter().enumerate() {
                    own[drawn.of_row(code)].push(row as u32);
                }
                for (component, rows) in self.components.iter().zip(&own).filter(|(_, rows)| !rows.is_empty())
                {
                    let mut found = vec![0.0; rows.len()];
                    self.architecture.score(&component.parameters, &features.select(rows), &mut found);
                    for (&row, score) in rows.iter().zip(found) {
                        scores[row as usize] = score;
                    }
                }
            }
            _ => {
                let component = &self.components[drawn.without];
                self.architecture.score(&component.parameters, features, &mut scores);
            }
        }
        match &self.after {
            None => Ok(scores),
            Some(After::Adjusted(adjustment)) => Ok(adjustment.apply(&scores, rows.groups)?.scores),
            Some(After::Ranked(ranked)) => ranked.draw(&scores, rows.groups, rows.queries, seed),
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
                Some(After::Adjusted(adjustment)) => scores = adjustment.apply(&scores, rows.groups)?.scores,
                Some(After::Ranked(_)) => return Err(ModelError::NoExpected),
            }
            expected.iter_mut().zip(&scores).for_each(|(sum, score)| *sum += probability * score);
        }
        Ok(expected)
    }

    /// The scores that each member of the model gives to examples, which may be a part of the rows that the
    /// features are of.
    ///
    /// # Errors
    /// Features or examples that don't fit.
    pub fn members(&self, examples: &Examples, features: &Features) -> Result<Vec<MemberScores>, ModelError> {
        self.scorer().members(examples, features)
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
        let drawn = self.drawn_components(rows, seed)?;
        let start = |&Component { probability, snapshot, .. }: &Component| ComponentUse {
            probability,
            snapshot,
            queries: rows.queries.map(|_| 0),
            rows: 0,
        };
        let mut uses: Vec<ComponentUse> = self.components.iter().map(start).collect();
        match rows.queries {
            None => uses[drawn.without].rows = rows.features.rows(),
            Some((codes, _)) => codes.iter().for_each(|&code| uses[drawn.of_row(code)].rows += 1),
        }
        for component in drawn.by_query {
            uses[component].queries = uses[component].queries.map(|count| count + 1);
        }
        Ok(uses)
    }

    fn drawn_components(&self, rows: &ScoreRows, seed: u64) -> Result<DrawnComponents, ModelError> {
        let (codes, names) = rows.queries.unwrap_or_default();
        if rows.queries.is_some() && codes.len() != rows.features.rows() {
            return Err(ModelError::Queries { found: codes.len(), rows: rows.features.rows() });
        }
        let by_query = names.iter().map(|name| self.drawn(seed, name)).collect();
        Ok(DrawnComponents { by_query, without: self.drawn(seed, "") })
    }
}
