//! What a guarantee promises, held against the whole population of the simulated task with two groups.

use crate::population;
use crate::reproduce::ReproduceError;
use crate::simulated::SimulatedTask;
use pairity::goals::{Goal, Vocabulary, parse_expression};
use pairity::run::{FitRequest, TrainRequest, train};
use pairity::solvers::Watch;

/// Of how many draws a guarantee was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GuaranteeTally {
    /// Draws of the task.
    pub draws: u64,
    /// Models that are guaranteed.
    pub given: u64,
    /// Those of them that miss the bound over the population.
    pub broken: u64,
    /// Models without a guarantee whose limit is inside of the bound all the same: there should be none.
    pub withheld: u64,
}

/// Trains on draws of so many queries to `cross_group` at most the bound, at 95 %, with the settings that training has.
///
/// # Errors
/// Rows that can't be trained on.
pub fn tally(queries: u32, draws: u64, bound: f64) -> Result<GuaranteeTally, ReproduceError> {
    let task = SimulatedTask::two_groups();
    let words = Vocabulary { groups: vec!["0".into(), "1".into()], continuous: false };
    let gap = parse_expression("cross_group", &words).ok();
    let mut found = GuaranteeTally { draws, ..GuaranteeTally::default() };
    for seed in 0..draws {
        let rows = task.draw(queries, 1000 + seed).dataset("simulated").training_rows()?;
        let goal = Goal::new(None, None, vec![format!("cross_group <= {bound}")]);
        // Weights of features as they are drawn have population values.
        let fit = FitRequest { goal, seed, standardize: false, ..FitRequest::default() };
        let request = TrainRequest { fit, guarantee: Some(0.95), ..TrainRequest::default() };
        let run = train(rows, &request, Watch::default())?;
        // None if a scorer is not one of two weights.
        let members: Option<Vec<_>> = run
            .trained
            .components
            .iter()
            .map(|own| Some((own.probability, population::rates(&task, own.parameters[..].try_into().ok()?))))
            .collect();
        let value = |own: &population::PopulationRates, rate| own.rate(rate).unwrap_or(f64::NAN);
        let rate = |rate| match &members {
            Some(members) => members.iter().map(|(p, own)| p * value(own, rate)).sum(),
            None => f64::NAN,
        };
        let expected = gap.as_ref().map_or(f64::NAN, |gap| gap.value(&mut { rate }));
        let Some(guarantee) = run.guarantee else { continue };
        let inside = guarantee.limits.iter().all(|own| own.limit.is_some_and(|limit| limit <= bound));
        found.given += u64::from(guarantee.given);
        found.broken += u64::from(guarantee.given && (expected > bound || expected.is_nan()));
        found.withheld += u64::from(!guarantee.given && inside);
    }
    Ok(found)
}
