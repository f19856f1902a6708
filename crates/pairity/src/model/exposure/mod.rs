//! Fairness of exposure (Singh & Joachims 2018): post-processes scores into a stochastic ranking.
//!
//! For each query on its own, with utilities u made of the scores ([`Utilities`]) and the exposure
//! v_j = 1 / log₂(1 + j) of rank j, it seeks the doubly stochastic P, where P_ij is the probability that
//! candidate i stands at rank j, of the linear program
//!
//! ```text
//! max Σ_ij u_i P_ij v_j     subject to     ratio(G) equal for all groups G
//! ```
//!
//! where the ratio of a group is its exposure, or its clicks, for its utility ([`Exposure`]). If the
//! equality can't be reached, the *slack*, which is the largest ratio less the smallest, is made as
//! small as possible first, and the utility as large as possible at that slack.
//!
//! No equality is asked of a group that is absent from the query or whose utilities are all 0 (or beyond
//! the range of numbers below the query's largest), since it has no ratio. A query with fewer than two
//! other groups (one with a single candidate, say) is ranked by utility alone.
//!
//! # Solved by sorting
//!
//! A ratio is Σ_i a_i Σ_j P_ij v_j over the candidates of its group: a weight of the candidate times the
//! exposure of the rank, as the objective is. For given multipliers y of the groups the best P is
//! therefore the candidates in the order of u_i − y_g a_i, and the best P of all is a mixture of such
//! sortings, at most as many as there are groups. It is found without a variable for each P_ij, and it
//! is a mixture of rankings from the start.
//!
//! ```
//! use pairity::model::exposure::{Exposure, Utilities, rank};
//!
//! // Nearly equal, but the group of the first two would get all of the exposure at the top.
//! let policy = rank(&[0.9, 0.8, 0.79, 0.7], &[0, 0, 1, 1], Exposure::Treatment, Utilities::Clipped)?;
//! assert_eq!(policy.rankings.len(), 2);
//! assert_eq!(policy.slack, 0.0);
//! # Ok::<(), pairity::model::ModelError>(())
//! ```
//!
//! Example weights do not enter: a candidate stands at one rank whatever it weighs. They count where the
//! rankings are measured.

mod basis;
mod candidates;
mod mixture;
#[cfg(test)]
mod oracle;
mod rankings;
#[cfg(test)]
mod tests;

pub(crate) use rankings::check;
pub use rankings::{RankingMember, Rankings, policy};

use super::{ModelError, sigmoid};
use crate::examples::{check_column, check_length};
use crate::names::names;
use candidates::{Candidates, Sorting};
use serde::{Deserialize, Serialize};

pub(crate) const METHOD: &str = "Singh & Joachims";

/// What groups get for their utility.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    /// Disparate treatment: exposure, the mean over the group of Σ_j P_ij v_j.
    #[default]
    Treatment,
    /// Disparate impact: clicks, the mean over the group of u_i Σ_j P_ij v_j.
    Impact,
}

names! { Exposure:
    "impact" => Impact, "Clicks for utility";
    "treatment" => Treatment, "Exposure for utility";
}

/// How scores become utilities, which tell by how much a candidate is worth more than another. They are ≥ 0
/// but for those that are left raw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Utilities {
    /// (s − min) / (max − min) over the query; 1 for all where all scores are equal.
    ///
    /// Scores that were learned from pairs have neither an origin nor a unit, and this is what gives the
    /// same policy whatever they are. The query's worst candidate is worth nothing.
    #[default]
    Range,
    /// 1 / (1 + exp(−s)): for scores that are log-odds of relevance.
    Sigmoid,
    /// max(s, 0): for scores that already are relevances.
    Clipped,
    /// The scores with their signs, as the comparison of Narasimhan et al. 2020 most likely has them. A group
    /// whose mean is negative is due the less exposure the higher its candidates score.
    Raw,
}

names! { Utilities:
    "range" => Range, "From 0 to 1 in each query";
    "sigmoid" => Sigmoid, "1 / (1 + exp(−s))";
    "clipped" => Clipped, "max(s, 0)";
    "raw" => Raw, "Scores as they are, signs and all: the paper's likely reading";
}

impl Utilities {
    /// The utilities of a query's candidates.
    fn of(self, scores: &[f64]) -> Vec<f64> {
        match self {
            Utilities::Range => range(scores),
            Utilities::Sigmoid => scores.iter().map(|&s| sigmoid(s)).collect(),
            // Adding 0 turns −0 into 0.
            Utilities::Clipped => scores.iter().map(|s| s.max(0.0) + 0.0).collect(),
            Utilities::Raw => scores.iter().map(|s| s + 0.0).collect(),
        }
    }
}

fn range(scores: &[f64]) -> Vec<f64> {
    let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low == high {
        return vec![1.0; scores.len()];
    }
    // The width of scores beyond half of the largest number overflows.
    let unit = if (high - low).is_finite() { 1.0 } else { 0.5 };
    let (low, width) = (low * unit, high * unit - low * unit);
    scores.iter().map(|s| (s * unit - low) / width).collect()
}

/// The candidates of a query in an order, and the probability that they are shown so.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Above 0; those of a policy add up to 1.
    pub probability: f64,
    /// Indices of the candidates, best first. Candidates of one group with equal utilities, which the
    /// program can't tell apart, stand in the order of their indices.
    pub order: Vec<u32>,
}

/// A stochastic ranking of the candidates of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The rankings, the most probable first; at most as many as groups.
    pub rankings: Vec<Ranking>,
    /// The largest ratio of a group less the smallest; 0 where equality is reached.
    pub slack: f64,
    /// Σ_ij u_i P_ij v_j.
    pub objective: f64,
}

/// The policy of one query, from the score and the group of each candidate. Each code is a group of its
/// own but [`NO_GROUP`](crate::examples::NO_GROUP), whose candidates are ranked without being counted in
/// any ratio.
///
/// # Errors
/// Scores and groups of different lengths, scores that are not finite.
pub fn rank(
    scores: &[f64],
    groups: &[u32],
    exposure: Exposure,
    utilities: Utilities,
) -> Result<Policy, ModelError> {
    check_length("groups", groups.len(), scores.len())?;
    check_column("scores", Some(scores), scores.len(), f64::is_finite)?;
    let position = position_exposure(scores.len());
    Ok(Candidates::new(&utilities.of(scores), groups, exposure, &position).policy())
}

/// v_j = 1 / log₂(1 + j) for j = 1 to n.
fn position_exposure(n: usize) -> Vec<f64> {
    (0..n).map(|place| 1.0 / (place as f64 + 2.0).log2()).collect()
}

impl Candidates<'_> {
    /// The best mixture of sortings.
    fn policy(&self) -> Policy {
        let mut mixture = match self.groups {
            0 => vec![(1.0, self.sort(|i| self.utility[i]))],
            2 => mixture::of_two(self),
            _ => mixture::of_many(self),
        };
        mixture.sort_by(|a, b| b.0.total_cmp(&a.0));
        let expected = |of: &dyn Fn(&Sorting) -> f64| mixture.iter().map(|(p, s)| p * of(s)).sum::<f64>();
        let ratios: Vec<f64> = (0..self.groups).map(|g| expected(&|s| s.ratios[g])).collect();
        let (objective, slack) = (expected(&|s| s.utility), self.slack(&ratios));
        let rankings =
            mixture.into_iter().map(|(probability, s)| Ranking { probability, order: s.order }).collect();
        Policy { rankings, slack, objective: objective * self.unit }
    }
}
