//! Levelling down: a gap closes as well by making everybody's accuracy worse, or by drawing now and then a scorer that
//! is worse than chance for somebody. Both are told, and `no_harm` forbids them: no rate of those that a criterion
//! compares may fall by more than so much below that of the unconstrained scorer, on the rows to select on.

use super::RunError;
use crate::examples::Examples;
use crate::goals::{Constraint, Problem, parse_constraint};
use crate::learners::Features;
use crate::metrics::{Settings, values_in_order};
use crate::model::{ModelError, StochasticScorer};
use crate::rates::Rate;

/// A fall of less counts as none, where everybody's accuracy falls.
const FALL: f64 = 0.005;

/// Places of the numbers in constraints that are added, which are rounded down.
const PLACES: f64 = 1e4;

/// What fairness costs those it is for, on the rows that the model was selected on.
#[derive(Debug, Clone, PartialEq)]
pub struct Harm {
    /// The rates that the constraints compare.
    pub rates: Vec<HarmedRate>,
    /// By how much a rate may fall, if that was bounded.
    pub allowed: Option<f64>,
    /// Constraints of the goal, the first of all; those after them bound what falls.
    pub stated: usize,
}

/// A rate before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct HarmedRate {
    /// Its name.
    pub rate: String,
    /// Of the unconstrained scorer.
    pub unconstrained: f64,
    /// Of the model.
    pub value: f64,
    /// The least of the scorers that the model draws from.
    pub least: f64,
}

impl Harm {
    /// Whether every rate falls.
    pub fn lowers_all(&self) -> bool {
        !self.rates.is_empty() && self.rates.iter().all(|own| own.value < own.unconstrained - FALL)
    }

    /// The rates for which a scorer of the model is worse than chance and the unconstrained one is not.
    pub fn worse_than_chance(&self) -> impl Iterator<Item = &HarmedRate> {
        self.rates.iter().filter(|own| own.least < 0.5 && own.unconstrained >= 0.5)
    }

    /// Whether there is anything to tell.
    pub fn is_found(&self) -> bool {
        self.lowers_all() || self.worse_than_chance().next().is_some()
    }
}

/// What rates are measured on.
pub(super) struct HarmRows<'a> {
    pub examples: &'a Examples,
    pub features: &'a Features,
    pub measure: &'a Settings,
}

/// The accuracies that the constraints compare; where they compare none, those of each group, or with each order of
/// the continuous attribute.
fn compared(problem: &Problem, examples: &Examples) -> Vec<Rate> {
    let is_accuracy = |rate: &Rate| matches!(rate, Rate::Accuracy { .. } | Rate::Greater | Rate::Less);
    let all = problem.constraints.iter().flat_map(|constraint| constraint.expression.rates());
    let mut rates: Vec<Rate> = all.filter(|rate| is_accuracy(rate) && *rate != Rate::AUC).collect();
    if rates.is_empty() && examples.labels.is_some() {
        match examples.is_continuous() {
            true => rates.extend([Rate::Greater, Rate::Less]),
            false => rates.extend((0..examples.groups().len()).map(Rate::row)),
        }
    }
    rates.sort_unstable();
    rates.dedup();
    rates
}

impl HarmRows<'_> {
    /// The rates of each member of a model, with its chance. Members whose chance differs from query to query have none
    /// of their own, and are left out.
    fn values(&self, rates: &[Rate], scorer: StochasticScorer) -> Result<Vec<(f64, Vec<f64>)>, ModelError> {
        let Settings { ties, average, .. } = *self.measure;
        let mut found = Vec::new();
        for member in scorer.members(self.examples, self.features)? {
            if member.by_row.is_none() {
                let scores = self.examples.arrange(&member.scores)?;
                found.push((
                    member.probability,
                    values_in_order(self.examples, &scores, rates, ties, average),
                ));
            }
        }
        Ok(found)
    }

    /// Constraints that keep every rate from falling by more than so much below that of an unconstrained scorer.
    pub(super) fn constraints(
        &self,
        problem: &Problem,
        base: StochasticScorer,
        most: f64,
    ) -> Result<Vec<Constraint>, RunError> {
        let rates = compared(problem, self.examples);
        let words = self.examples.vocabulary();
        let values = expected(&self.values(&rates, base)?, rates.len());
        let all = rates.iter().zip(values).filter(|(_, value)| value.is_finite());
        let constraint = |(rate, value): (&Rate, f64)| {
            let bound = ((value - most) * PLACES).floor() / PLACES;
            parse_constraint(&format!("{} >= {bound}", rate.name(&words.groups)), &words)
        };
        Ok(all.map(constraint).collect::<Result<_, _>>()?)
    }

    /// What a model does to the rates that its constraints compare.
    pub(super) fn harm(
        &self,
        problem: &Problem,
        base: StochasticScorer,
        model: StochasticScorer,
        allowed: Option<f64>,
    ) -> Result<Harm, ModelError> {
        let rates = compared(problem, self.examples);
        let before = expected(&self.values(&rates, base)?, rates.len());
        let members = self.values(&rates, model)?;
        let after = expected(&members, rates.len());
        let least = |at: usize| members.iter().map(|(_, values)| values[at]).fold(f64::INFINITY, f64::min);
        let harmed = |at: usize| HarmedRate {
            rate: rates[at].name(self.examples.groups()),
            unconstrained: before[at],
            value: after[at],
            least: least(at),
        };
        let known = |at: &usize| before[*at].is_finite() && after[*at].is_finite();
        let stated = problem.constraints.len() - problem.firm;
        Ok(Harm { rates: (0..rates.len()).filter(known).map(harmed).collect(), allowed, stated })
    }
}

/// The rates that are expected of members; NaN without any.
fn expected(members: &[(f64, Vec<f64>)], rates: usize) -> Vec<f64> {
    let total: f64 = members.iter().map(|(p, _)| p).sum();
    (0..rates).map(|at| members.iter().map(|(p, own)| p * own[at]).sum::<f64>() / total).collect()
}
