//! A guarantee in the manner of Seldonian algorithms (Thomas et al. 2019): a part of the rows is kept for a safety
//! test, and a model is guaranteed only if the upper confidence limit of every constraint keeps its bound there.
//!
//! Nothing is chosen on these rows, so that the limits are what they say: whatever training does, a model that misses
//! a bound over all that the rows were drawn from passes with a probability of at most 1 − confidence. All limits hold
//! together (Bonferroni). Training aims at tighter bounds, so that passing is likely: with h the distance from value
//! to limit that safety rows will have, as seen at an unconstrained scorer on the rows to select on and scaled by the
//! root of their numbers, it aims 2h inside of the bound, once for the limit and once for chance.

use crate::examples::Examples;
use crate::goals::{Constraint, Expression, Problem, Sense};
use crate::learners::Features;
use crate::metrics::{Check, Measurement, Member, Settings, Verdict};
use crate::model::{MemberScores, StochasticScorer};
use crate::solvers::TrainError;

/// Share of the rows that are not for tests on which the guarantee is tested.
pub(super) const SAFETY: f64 = 0.5;

/// How many times the distance from value to limit training stays inside of the bounds.
const INSIDE: f64 = 2.0;

/// The least part of the bound of a gap that training aims at: no scorer has a gap of exactly 0.
const LEAST: f64 = 0.1;

/// Whether a model keeps its bounds on new data.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarantee {
    /// Probability with which a model that misses a bound is not guaranteed.
    pub confidence: f64,
    /// Whether every limit keeps its bound.
    pub given: bool,
    /// The limit of each constraint.
    pub limits: Vec<ConstraintLimit>,
    /// Queries or rows that the limits were taken on.
    pub units: usize,
    /// About as many queries or rows of all parts but the test part would do, if these are too few; none if the
    /// guarantee is given, or if a value is beyond its bound so that more rows would not help.
    pub units_needed: Option<u64>,
}

/// How far over all data a constraint may be off, with confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintLimit {
    /// The constraint as it was stated.
    pub constraint: String,
    /// Its value on the safety rows.
    pub value: Option<f64>,
    /// The upper limit of what has to be at most its bound, or the lower one of what has to be at least; none where it
    /// can't be estimated.
    pub limit: Option<f64>,
    /// The bound.
    pub bound: f64,
    /// Whether the limit keeps it.
    pub keeps: bool,
}

/// One-sided limits that hold together with some confidence are ends of intervals that leave out as much again on the
/// other side.
fn settings(measure: &Settings, confidence: f64) -> Settings {
    Settings { confidence: 2.0 * confidence - 1.0, ..*measure }
}

/// The constraints with their limits. Where one scorer of several is drawn for the whole table, each has to keep the
/// bounds: the check of the worst counts, all of them holding together.
fn checks(
    problem: &Problem,
    scorer: StochasticScorer,
    (examples, features): (&Examples, &Features),
    settings: &Settings,
) -> Result<Vec<Check>, TrainError> {
    let scored = scorer.members(examples, features)?;
    let members: Vec<Member> = scored.iter().map(MemberScores::member).collect();
    if examples.has_queries() || members.len() < 2 {
        return Ok(Measurement::of_mixture(examples, &members, settings)?.checks(&problem.constraints));
    }
    let each = Settings { confidence: 1.0 - (1.0 - settings.confidence) / members.len() as f64, ..*settings };
    let mut worst: Vec<Check> = Vec::new();
    for member in members {
        let own = Measurement::new(examples, member.scores, &each)?.checks(&problem.constraints);
        worst = match worst.is_empty() {
            true => own,
            false => {
                worst.into_iter().zip(own).map(|(a, b)| if missed(&b) > missed(&a) { b } else { a }).collect()
            }
        };
    }
    Ok(worst)
}

/// By how much the limit misses the bound; infinitely where it can't be estimated.
fn missed(check: &Check) -> f64 {
    let sign = if check.sense == Sense::AtMost { 1.0 } else { -1.0 };
    limit(check).map_or(f64::INFINITY, |limit| sign * (limit - check.bound))
}

/// From a value to its limit; none where it can't be estimated.
fn distance(check: &Check) -> Option<f64> {
    let (value, limit) = (check.metric.value?, limit(check)?);
    Some((limit - value).abs())
}

fn limit(check: &Check) -> Option<f64> {
    match check.sense {
        Sense::AtMost => check.metric.high,
        Sense::AtLeast => check.metric.low,
    }
}

/// The problem with bounds so tight that its solutions are likely to pass the safety test: as an unconstrained scorer
/// on the rows to select on tells it.
pub(super) fn tightened(
    problem: &Problem,
    base: StochasticScorer,
    selection: (&Examples, &Features),
    safety: &Examples,
    measure: &Settings,
    confidence: f64,
) -> Result<Problem, super::RunError> {
    let checks = checks(problem, base, selection, &settings(measure, confidence))?;
    let scale = (selection.0.units() as f64 / safety.units() as f64).sqrt();
    let tight = |(constraint, check): (&Constraint, &Check)| {
        let inside = INSIDE * scale * distance(check).unwrap_or(0.0);
        let bound = match (constraint.sense, &constraint.expression) {
            (Sense::AtMost, Expression::Spread(_) | Expression::Abs(_)) => {
                (constraint.bound - inside).max(LEAST * constraint.bound)
            }
            (Sense::AtMost, _) => constraint.bound - inside,
            (Sense::AtLeast, _) => constraint.bound + inside,
        };
        Constraint { bound, ..constraint.clone() }
    };
    let constraints: Vec<Constraint> = problem.constraints.iter().zip(&checks).map(tight).collect();
    Ok(problem.rebounded(&constraints)?)
}

/// The safety test.
pub(super) fn test(
    problem: &Problem,
    scorer: StochasticScorer,
    safety: (&Examples, &Features),
    all_units: usize,
    measure: &Settings,
    confidence: f64,
) -> Result<Guarantee, TrainError> {
    let checks = checks(problem, scorer, safety, &settings(measure, confidence))?;
    let units = safety.0.units();
    let limits = checks.iter().map(|check| ConstraintLimit {
        constraint: check.expression.clone(),
        value: check.metric.value,
        limit: limit(check),
        bound: check.bound,
        keeps: check.verdict == Verdict::Pass,
    });
    let limits: Vec<ConstraintLimit> = limits.collect();
    let given = limits.iter().all(|own| own.keeps);
    // Distances shrink by the root of the number of units.
    let factor = |check: &Check| {
        let room = match check.sense {
            Sense::AtMost => check.bound - check.metric.value?,
            Sense::AtLeast => check.metric.value? - check.bound,
        };
        Some((distance(check)? / room).powi(2)).filter(|_| room > 0.0)
    };
    let factor = checks.iter().map(factor).try_fold(1.0, |most: f64, own| Some(most.max(own?)));
    let needed = |factor: f64| (factor * all_units as f64).ceil() as u64;
    let units_needed = factor.filter(|_| !given).map(needed);
    Ok(Guarantee { confidence, given, limits, units, units_needed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, Groups};
    use crate::goals::{Vocabulary, parse_constraint, parse_maximize};
    use crate::learners::{Architecture, GroupUse, Linear};
    use crate::model::Component;

    const SCORER: Architecture =
        Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });

    /// One feature tells labels of everyone nearly, the other is noise that favors group b.
    fn table(rows: usize) -> (Examples, Features) {
        let labels: Vec<f64> = (0..rows).map(|row| (row / 2 % 2) as f64).collect();
        let names: Vec<&str> = (0..rows).map(|row| ["a", "b"][row % 2]).collect();
        let noise = |row: usize| (row * 37 % 101) as f64 / 101.0;
        let values =
            (0..rows).flat_map(|row| [labels[row] + 1.2 * noise(row), (row % 2) as f64 + noise(row)]);
        let groups = Groups::from_names(&names);
        let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
        (Examples::new(columns).unwrap(), Features::new(rows, 2, values.collect()).unwrap())
    }

    fn problem(constraints: &[&str]) -> Problem {
        let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
        let constraints: Vec<_> =
            constraints.iter().map(|text| parse_constraint(text, &words).unwrap()).collect();
        Problem::new(&parse_maximize("auc", &words).unwrap(), true, &constraints).unwrap()
    }

    fn components(all: &[[f64; 2]]) -> Vec<Component> {
        let probability = 1.0 / all.len() as f64;
        all.iter().map(|own| Component { probability, snapshot: 0, parameters: own.to_vec() }).collect()
    }

    fn tested(rows: usize, scorers: &[[f64; 2]], constraints: &[&str]) -> Guarantee {
        let ((examples, features), components) = (table(rows), components(scorers));
        let scorer = StochasticScorer::new(&SCORER, &components);
        test(&problem(constraints), scorer, (&examples, &features), 2 * rows, &Settings::default(), 0.95)
            .unwrap()
    }

    #[test]
    fn a_limit_is_the_end_of_an_interval_that_leaves_out_twice_as_much() {
        let found = tested(400, &[[1.0, 0.0]], &["cross_group <= 0.5"]);
        let (examples, features) = table(400);
        let scores: Vec<f64> = features.values().chunks(2).map(|x| x[0]).collect();
        let settings = Settings { confidence: 0.9, ..Settings::default() };
        let measured = Measurement::new(&examples, &scores, &settings).unwrap();
        let constraint = &problem(&["cross_group <= 0.5"]).constraints[0];
        assert_eq!(found.limits[0].limit, measured.check(constraint).metric.high);
        assert!(found.given && found.units_needed.is_none());
        // Two constraints share what may go wrong.
        let both = tested(400, &[[1.0, 0.0]], &["cross_group <= 0.5", "auc >= 0.5"]);
        assert!(both.limits[0].limit > found.limits[0].limit && both.given);
        assert!(both.limits[1].limit < both.limits[1].value);
        // One that is not kept is enough.
        assert!(!tested(400, &[[1.0, 0.0]], &["cross_group <= 0.5", "auc >= 0.99"]).given);
    }

    #[test]
    fn as_many_rows_as_are_said_to_be_needed_do() {
        let few = tested(80, &[[1.0, 0.0]], &["cross_group <= 0.05"]);
        assert!(!few.given, "{few:?}");
        let needed = few.units_needed.unwrap();
        // Distances shrink with the root of the number of rows.
        let (value, limit) = (few.limits[0].value.unwrap(), few.limits[0].limit.unwrap());
        let factor = ((limit - value) / (0.05 - value)).powi(2);
        assert!(factor > 1.0 && needed == (160.0 * factor).ceil() as u64, "{few:?}");
        // Half of them are for the test; a little more, as the value on more rows is another.
        let enough = tested((needed as usize).next_multiple_of(404), &[[1.0, 0.0]], &["cross_group <= 0.05"]);
        assert!(enough.given, "{few:?} {enough:?}");
        // What is beyond the bound stays there.
        assert_eq!(tested(400, &[[0.0, 1.0]], &["cross_group <= 0.05"]).units_needed, None);
    }

    #[test]
    fn of_scorers_that_are_drawn_for_the_whole_table_each_has_to_keep_the_bound() {
        let (fair, unfair) = ([1.0, 0.0], [0.0, 1.0]);
        assert!(tested(400, &[fair, fair], &["cross_group <= 0.6"]).given);
        for both in [[fair, unfair], [unfair, fair]] {
            assert!(!tested(400, &both, &["cross_group <= 0.6"]).given);
        }
    }

    #[test]
    fn training_aims_twice_the_distance_inside_of_the_bounds() {
        let ((examples, features), components) = (table(400), components(&[[1.0, 0.0]]));
        let safety = examples.part(&(0..100).collect::<Vec<u32>>()).unwrap();
        let aims = |constraints: &[&str]| {
            let (problem, base) = (problem(constraints), StochasticScorer::new(&SCORER, &components));
            let how = Settings::default();
            let tight = tightened(&problem, base, (&examples, &features), &safety, &how, 0.95).unwrap();
            tight.constraints.iter().map(|own| own.bound).collect::<Vec<f64>>()
        };
        let seen = tested(400, &[[1.0, 0.0]], &["cross_group <= 0.9"]);
        // A quarter of the rows has twice the distance.
        let distance = 2.0 * (seen.limits[0].limit.unwrap() - seen.limits[0].value.unwrap());
        assert!((aims(&["cross_group <= 0.9"])[0] - (0.9 - 2.0 * distance)).abs() < 1e-9);
        assert!((aims(&["cross_group <= 0.01"])[0] - 0.001).abs() < 1e-12);
        let [gap, auc] = aims(&["cross_group <= 0.9", "auc >= 0.6"])[..] else { panic!() };
        assert!(gap < 0.9 && auc > 0.6);
    }
}
