//! A model: what training leaves behind, and all that scoring new rows needs.
//!
//! A [`Model`] is an encoder of columns, scorers with the probabilities that they are drawn with, and what
//! is done [after](After) scoring: an [`Adjustment`] of each group's scores, or rankings of fair
//! [`exposure`]. There is one way to scores, and it includes all of these: columns become [`ScoreRows`]
//! ([`Model::rows`]), and these are scored ([`Model::score`], [`Model::expected`]). Examples are scored by
//! every member of a model ([`StochasticScorer::members`]), as the metrics take them.

mod adjustment;
pub mod exposure;
mod saved;
mod score;
mod stochastic;

pub(crate) use adjustment::less_attribute;
pub(crate) use adjustment::sigmoid;
pub use adjustment::{Adjustment, Applied, Curve, GroupCurve, GroupLogistic, GroupOffset, Knots};
pub use saved::{Component, Model, ModelGroups, SCHEMA};
pub use score::{ComponentUse, ScoreRows, uniform};
pub use stochastic::{After, MemberScores, Ranked, StochasticScorer};

use crate::examples::ExamplesError;
use crate::learners::{EncodeError, FeaturesError, ScorerError};

/// Why a model can't be read, written or used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not JSON, or not with the fields of a model; where and why.
    #[error("not a model file: {0}. Give a file that training wrote; it may be cut short or damaged")]
    Malformed(String),
    /// Another kind of document, or another version of it, by its schema; empty if it has none.
    #[error("the schema is {0:?}, but {SCHEMA:?} is needed: {advice}", advice = schema_advice(.0))]
    Schema(String),
    /// Parts that contradict each other.
    #[error("damaged model file: {0}. Train the model again")]
    Inconsistent(String),
    /// An adjustment that no method can have made.
    #[error("the adjustment of scores is damaged: {0}. Give one that a method wrote")]
    Damaged(String),
    /// A shape that is none, or that does not fit the features.
    #[error(transparent)]
    Scorer(#[from] ScorerError),
    /// Columns that can't be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Groups that do not fit the features.
    #[error(transparent)]
    Features(#[from] FeaturesError),
    /// Scores or examples that are wrong.
    #[error(transparent)]
    Examples(#[from] ExamplesError),
    /// Another number of queries than of rows.
    #[error("queries are given for {found} rows, but the features have {rows}: give the query of each row")]
    Queries {
        /// Rows with a query.
        found: usize,
        /// Rows of the features.
        rows: usize,
    },
    /// Examples and features are of different lengths.
    #[error(
        "there are {features} rows of features for {rows} rows of examples: they have to be the same rows"
    )]
    Rows {
        /// Rows of features.
        features: usize,
        /// Rows of examples.
        rows: usize,
    },
    /// Scores are adjusted by group, and there are no groups.
    #[error("the adjustment of scores differs by group, and the table has none: name the group column")]
    NoGroups,
    /// Scores are adjusted by a continuous attribute, and there is none.
    #[error("the adjustment goes by a continuous attribute: give its values, and no groups")]
    NoAttribute,
    /// Examples that can't be ranked by exposure.
    #[error("{method} does not apply: {0}", method = exposure::METHOD)]
    NoRanking(String),
    /// An average of ranks is asked for.
    #[error("the model draws a ranking for each query, and ranks have no expected score")]
    NoExpected,
}

fn schema_advice(found: &str) -> &'static str {
    if found.starts_with("pairity.model/") {
        "another version of pairity wrote it. Use that version, or train again with this one"
    } else {
        "give a file that training wrote"
    }
}
