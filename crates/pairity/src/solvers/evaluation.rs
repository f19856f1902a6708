//! How well a stochastic model does on examples, with intervals.

use super::train::TrainError;
use crate::examples::Examples;
use crate::goals::{Assessment, Problem};
use crate::learners::Features;
use crate::metrics::{Audit, Chance, Measurement, Member, Metric, Settings, values_in_order};
use crate::model::{MemberScores, StochasticScorer};

/// What is expected of a model on some examples, and of each of its scorers alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The stated objective.
    pub objective: Metric,
    /// The [violation](Problem::violation) as comparisons show it; none without constraints.
    pub violation: Option<Metric>,
    /// Every metric; the constraints are its checks.
    pub audit: Audit,
    /// Cost, misses and whether the goal is met, at the expected rates; without queries, where one draw serves
    /// the whole table, whether each scorer meets it.
    pub assessment: Assessment,
    /// Each scorer alone: a mixture of scorers far apart is fair on average only.
    pub members: Vec<MemberValue>,
}

/// One scorer of a mixture on some examples.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberValue {
    /// How likely it is drawn.
    pub probability: f64,
    /// The stated objective; none where it can't be measured.
    pub objective: Option<f64>,
    /// Cost, misses and whether it meets the goal.
    pub assessment: Assessment,
}

/// Evaluates a model on examples, which may be a part of the rows that the features are of.
///
/// # Errors
/// Features that don't fit; scores that are not finite.
pub fn evaluate(
    problem: &Problem,
    scorer: StochasticScorer,
    examples: &Examples,
    features: &Features,
    settings: &Settings,
) -> Result<Evaluation, TrainError> {
    let scored = scorer.members(examples, features)?;
    let members: Vec<Member> = scored.iter().map(MemberScores::member).collect();
    evaluate_members(problem, examples, &members, settings)
}

/// Evaluates a model that is given by the scores of its members, such as one whose scores were adjusted.
///
/// # Errors
/// Scores that are not finite, chances that are not probabilities.
pub fn evaluate_members(
    problem: &Problem,
    examples: &Examples,
    drawn: &[Member],
    settings: &Settings,
) -> Result<Evaluation, TrainError> {
    let measured = Measurement::of_mixture(examples, drawn, settings)?;
    let mut members = Vec::new();
    for member in drawn {
        // Rankings that differ in probability from query to query have no values of their own.
        let Chance::Same(probability) = member.chance else { continue };
        let scores = examples.arrange(member.scores)?;
        let rates = values_in_order(examples, &scores, &problem.rates, settings.ties, settings.average);
        let assessment = problem.assess(&rates);
        let objective = Some(problem.stated_objective(assessment.cost)).filter(|value| value.is_finite());
        members.push(MemberValue { probability, objective, assessment });
    }
    let rates: Vec<f64> =
        problem.rates.iter().map(|&rate| measured.rate(rate).value.unwrap_or(f64::NAN)).collect();
    let expected = problem.assess(&rates);
    let assessment = match examples.has_queries() {
        true => expected,
        false => handed_out(expected, members.iter().map(|member| member.assessment.clone())),
    };
    Ok(Evaluation {
        objective: measured.expression(&problem.stated),
        violation: problem.violation().map(|violation| measured.expression(&violation)),
        audit: Audit::of(&measured, &problem.constraints),
        assessment,
        members,
    })
}

/// How a mixture of which one scorer is drawn for all rows does: each of them may be what is handed out, so the
/// goal is met if every one meets it, and missed by as much as the worst misses it. The cost is what is expected.
pub(super) fn handed_out(expected: Assessment, alone: impl Iterator<Item = Assessment>) -> Assessment {
    let worse = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
    alone.fold(expected, |sum, own| Assessment {
        misses: sum.misses.iter().zip(&own.misses).map(|(&a, &b)| worse(a, b)).collect(),
        violation: sum.violation.max(own.violation),
        met: sum.met && own.met,
        ..sum
    })
}
