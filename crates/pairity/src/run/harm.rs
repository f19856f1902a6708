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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, Groups};
    use crate::goals::parse_maximize;
    use crate::learners::{Architecture, GroupUse, Linear};
    use crate::model::Component;

    const SCORER: Architecture =
        Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });

    /// The first feature orders the pairs of group a and one of two of group b, the second only those of b.
    fn table() -> (Examples, Features) {
        let labels = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
        let (first, second) =
            ([2.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 2.0, 3.0, 1.0, 3.0, 1.0]);
        let groups = Groups::from_names(&["a", "a", "a", "a", "b", "b", "b", "b"]);
        let queries = [0, 0, 1, 1, 2, 2, 3, 3];
        let columns = Columns {
            labels: Some(&labels),
            groups: Some(&groups),
            queries: Some(&queries),
            ..Columns::default()
        };
        let values = first.iter().zip(second).flat_map(|(&x, y)| [x, y]).collect();
        (Examples::new(columns).unwrap(), Features::new(8, 2, values).unwrap())
    }

    fn components(all: &[(f64, [f64; 2])]) -> Vec<Component> {
        let component = |&(probability, own): &(f64, [f64; 2])| Component {
            probability,
            snapshot: 0,
            parameters: own.to_vec(),
        };
        all.iter().map(component).collect()
    }

    fn problem(examples: &Examples) -> Problem {
        let words = examples.vocabulary();
        let constraint = parse_constraint("within_group <= 0.1", &words).unwrap();
        Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[constraint]).unwrap()
    }

    fn harm(base: &[(f64, [f64; 2])], model: &[(f64, [f64; 2])]) -> Harm {
        let (examples, features) = table();
        let (base, model) = (components(base), components(model));
        let rows = HarmRows { examples: &examples, features: &features, measure: &Settings::default() };
        let at = |components| StochasticScorer::new(&SCORER, components);
        rows.harm(&problem(&examples), at(&base), at(&model), Some(0.1)).unwrap()
    }

    #[test]
    fn rates_before_and_after_are_those_of_each_group_and_the_least_is_of_any_member() {
        // Rates of a and b: the first feature has 1 and a half, the second 0 and 1.
        let found = harm(&[(1.0, [1.0, 0.0])], &[(0.75, [1.0, 0.0]), (0.25, [0.0, 1.0])]);
        let rate = |rate: &str, unconstrained, value, least| HarmedRate {
            rate: rate.to_owned(),
            unconstrained,
            value,
            least,
        };
        assert_eq!(found.rates, [rate("A[a > a]", 1.0, 0.75, 0.0), rate("A[b > b]", 0.5, 0.625, 0.5)]);
        // One group is better off; a member is worse than chance for the other.
        assert!(!found.lowers_all() && found.is_found());
        assert_eq!(found.worse_than_chance().map(|own| &own.rate[..]).collect::<Vec<_>>(), ["A[a > a]"]);
        // What was worse than chance before is no harm of fairness.
        let before = harm(&[(1.0, [0.0, 1.0])], &[(0.2, [1.0, 0.0]), (0.8, [0.0, 1.0])]);
        assert!(!before.is_found(), "{before:?}");
    }

    #[test]
    fn all_are_lowered_only_if_each_is() {
        let both = harm(&[(1.0, [1.0, 0.6])], &[(0.9, [1.0, 0.6]), (0.1, [-1.0, -0.6])]);
        assert!(both.lowers_all() && both.is_found(), "{both:?}");
        assert!(!harm(&[(1.0, [1.0, 0.6])], &[(1.0, [1.0, 0.6])]).is_found());
        assert!(!Harm { rates: Vec::new(), allowed: None, stated: 0 }.lowers_all());
    }

    #[test]
    fn no_rate_may_fall_by_more_than_is_allowed_and_bounds_are_rounded_down() {
        let (examples, features) = table();
        let rows = HarmRows { examples: &examples, features: &features, measure: &Settings::default() };
        let base = components(&[(0.9, [1.0, 0.0]), (0.1, [0.0, 1.0])]);
        let firm =
            rows.constraints(&problem(&examples), StochasticScorer::new(&SCORER, &base), 0.00005).unwrap();
        let texts: Vec<&str> = firm.iter().map(|own| &own.text[..]).collect();
        assert_eq!(texts, ["A[a > a] >= 0.8999", "A[b > b] >= 0.5499"]);
    }
}
