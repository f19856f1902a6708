//! Exact rates of linear scorers on the simulated tasks, as infinitely many rows would show them.
//!
//! The score w·x + b of normal features is normal, and so is the difference of two scores. With weights
//! wᵢ and an offset bᵢ for the group of each candidate (all alike for a scorer that doesn't see groups),
//! shares pᵢ and Φ the standard normal distribution function,
//!
//! ```text
//! A[i > j] = Φ( (wᵢ·μ(+,i) + bᵢ − wⱼ·μ(−,j) − bⱼ) / √(wᵢᵀΣ(+,i)wᵢ + wⱼᵀΣ(−,j)wⱼ) )
//! A[i > *] = Σⱼ pⱼ A[i > j]      A[* > j] = Σᵢ pᵢ A[i > j]      auc = Σᵢⱼ pᵢ pⱼ A[i > j]
//! ```

use crate::simulated::{Cloud, SimulatedTask, TaskGroup};
use pairity::rates::{Rate, Side};
use statrs::distribution::{ContinuousCDF, Normal};

/// The linear scorer of a group's candidates, w·x + b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupScorer {
    /// w.
    pub weights: [f64; 2],
    /// b.
    pub offset: f64,
}

/// The rates of a scorer on a task.
#[derive(Debug, Clone, PartialEq)]
pub struct PopulationRates {
    /// `A[i > j]`, row = better example.
    pub accuracy: Vec<Vec<f64>>,
    /// `A[i > *]`.
    pub rows: Vec<f64>,
    /// `A[* > j]`.
    pub columns: Vec<f64>,
    /// AUC.
    pub auc: f64,
}

impl PopulationRates {
    /// A rate of pairs whose labels differ; none for other rates, and for groups that the task doesn't
    /// have. With it any goal has a population value.
    ///
    /// ```
    /// use pairity::goals::{Vocabulary, parse_expression};
    /// use pairity_experiments::{population, simulated::SimulatedTask};
    ///
    /// let words = Vocabulary { groups: vec!["0".into(), "1".into()], continuous: false };
    /// let gap = parse_expression("cross_group", &words)?;
    /// let rates = population::rates(&SimulatedTask::two_groups(), [0.76, 0.65]);
    /// let gap = gap.value(&mut |rate| rates.rate(rate).unwrap_or(f64::NAN));
    /// assert!((rates.auc - 0.9225).abs() < 1e-4 && (gap - 0.249).abs() < 1e-3);
    /// # Ok::<(), pairity::goals::GoalError>(())
    /// ```
    pub fn rate(&self, rate: Rate) -> Option<f64> {
        match rate {
            Rate::Accuracy { better: Side::Any, worse: Side::Any } => Some(self.auc),
            Rate::Accuracy { better: Side::Group(i), worse: Side::Any } => self.rows.get(i).copied(),
            Rate::Accuracy { better: Side::Any, worse: Side::Group(j) } => self.columns.get(j).copied(),
            Rate::Accuracy { better: Side::Group(i), worse: Side::Group(j) } => {
                self.accuracy.get(i)?.get(j).copied()
            }
            _ => None,
        }
    }
}

/// The rates of a scorer w·x that doesn't see groups.
pub fn rates(task: &SimulatedTask, weights: [f64; 2]) -> PopulationRates {
    rates_by_group(task, &|_| GroupScorer { weights, offset: 0.0 })
}

/// The rates of a scorer that may differ from group to group.
pub fn rates_by_group(task: &SimulatedTask, scorer: &dyn Fn(usize) -> GroupScorer) -> PopulationRates {
    let groups = task.groups();
    let all = |cloud: fn(&TaskGroup) -> Cloud| -> Vec<(f64, f64)> {
        groups.iter().enumerate().map(|(i, group)| scores(scorer(i), cloud(group))).collect()
    };
    let (better, worse) = (all(|group| group.positive), all(|group| group.negative));
    let accuracy: Vec<Vec<f64>> =
        better.iter().map(|&better| worse.iter().map(|&worse| above(better, worse)).collect()).collect();
    let average = |rate: &dyn Fn(usize) -> f64| -> f64 {
        groups.iter().enumerate().map(|(k, group)| group.share * rate(k)).sum()
    };
    let rows: Vec<f64> = accuracy.iter().map(|row| average(&|j| row[j])).collect();
    let columns = (0..groups.len()).map(|j| average(&|i| accuracy[i][j])).collect();
    let auc = average(&|i| rows[i]);
    PopulationRates { accuracy, rows, columns, auc }
}

/// Mean and variance of the normal distribution of some scores.
fn scores(scorer: GroupScorer, cloud: Cloud) -> (f64, f64) {
    let [a, b] = scorer.weights;
    (a * cloud.mean[0] + b * cloud.mean[1] + scorer.offset, (a * a + b * b) * cloud.variance)
}

/// How often the first score is above the second; half of the time where both are one and the same number.
fn above(first: (f64, f64), second: (f64, f64)) -> f64 {
    match (first.0 - second.0) / (first.1 + second.1).sqrt() {
        t if t.is_nan() => 0.5,
        t => Normal::standard().cdf(t),
    }
}

#[cfg(test)]
mod tests;
