//! When a run ends before its time: once snapshots in a row were no better than earlier ones, on the examples that the
//! answer is selected on.

use super::solver::Found;
use serde::{Deserialize, Serialize};

/// A cost or a violation is lower if it is lower by this.
const LOWER: f64 = 1e-3;

/// How the snapshots of a run did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Patience {
    /// Those that were better than all before them.
    better: Vec<Found>,
    /// Snapshots since the last of these.
    waited: usize,
}

impl Patience {
    /// Takes a snapshot. It is better if none of the others has a cost and a violation that are both as low.
    pub(crate) fn see(&mut self, found: Found) {
        let is_lower =
            |other: &Found| found.cost < other.cost - LOWER || found.violation < other.violation - LOWER;
        let is_number = !(found.cost.is_nan() || found.violation.is_nan());
        match is_number && self.better.iter().all(is_lower) {
            true => {
                self.better.push(found);
                self.waited = 0;
            }
            false => self.waited += 1,
        }
    }

    /// Whether so many snapshots in a row were no better.
    pub(crate) fn is_over(&self, most: usize) -> bool {
        self.waited >= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solvers::tests::{cut_again_and_again, linear, problem, run, simulated};
    use crate::solvers::{RunEnd, TrainError, TrainSettings};

    fn after(all: &[(f64, f64)]) -> Patience {
        let mut patience = Patience::default();
        all.iter().for_each(|&(cost, violation)| patience.see(Found { cost, violation }));
        patience
    }

    #[test]
    fn a_lower_cost_or_a_lower_violation_is_better_and_a_bit_of_either_is_not() {
        let start = [(-0.8, 0.1), (-0.7, 0.0)];
        assert!(!after(&start).is_over(1));
        // Above one of the two in both, or lower by next to nothing.
        for worse in [(-0.75, 0.12), (-0.7, 0.05), (-0.8005, 0.1), (-0.7, -0.0005), (f64::NAN, 0.0)] {
            let patience = after(&[start[0], start[1], worse]);
            assert!(patience.is_over(1) && !patience.is_over(2), "{worse:?}");
        }
        // Below each of them in one.
        for better in [(-0.81, 0.2), (-0.75, 0.05), (-0.6, -0.01)] {
            assert!(!after(&[start[0], start[1], better]).is_over(1), "{better:?}");
        }
    }

    #[test]
    fn the_wait_begins_anew_with_each_that_is_better() {
        let patience = after(&[(-0.5, 0.0), (-0.4, 0.0), (-0.4, 0.0), (-0.6, 0.0), (-0.6, 0.0)]);
        assert!(patience.is_over(1) && !patience.is_over(2));
    }
    /// Two games, of which one is at its best within a few steps and the other only begins to move.
    fn settings(patience: Option<usize>) -> TrainSettings {
        let step_sizes = vec![0.3, 1e-3];
        TrainSettings { iterations: 600, snapshots: 60, step_sizes, patience, ..TrainSettings::default() }
    }

    #[test]
    fn a_game_that_is_at_its_best_ends_and_another_goes_on() {
        let rows = simulated(300, 5);
        let problem = problem(&rows, "auc", &["cross_group <= 0.05"]);
        let whole = run(&problem, &linear(2), &rows, &settings(None)).unwrap();
        assert!(!whole.ended_early() && whole.endings.iter().all(|own| own.iterations == 600));
        let early = run(&problem, &linear(2), &rows, &settings(Some(8))).unwrap();
        let [first, second] = early.endings[..] else { panic!("{:?}", early.endings) };
        assert!(early.ended_early() && first.end == RunEnd::NoBetter, "{first:?} {second:?}");
        assert!(first.iterations < 400 && first.iterations.is_multiple_of(10), "{first:?}");
        assert!(second.iterations > first.iterations, "{first:?} {second:?}");
        assert!(early.meets_goal && early.objective > whole.objective - 0.005, "{early:?}");
        assert!(early.trace.last().is_some_and(|point| point.iteration <= second.iterations));
    }

    #[test]
    fn a_game_that_ends_early_ends_at_the_same_step_when_it_was_interrupted() {
        let rows = simulated(60, 5);
        let problem = problem(&rows, "auc", &["cross_group <= 0.05"]);
        let whole = run(&problem, &linear(2), &rows, &settings(Some(5))).unwrap();
        assert!(whole.ended_early());
        assert_eq!(cut_again_and_again(&problem, &linear(2), &rows, &settings(Some(5))), whole);
    }

    #[test]
    fn a_patience_of_no_snapshot_is_refused() {
        let rows = simulated(60, 5);
        let problem = problem(&rows, "auc", &[]);
        let found = run(&problem, &linear(2), &rows, &settings(Some(0)));
        assert!(matches!(found, Err(TrainError::Setting { name: "the patience", .. })));
    }
}
