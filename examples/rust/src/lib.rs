//! What the examples share: the simulated task in two halves, and one line on some scores.

pub mod boosting;

use pairity::{AuditRequest, Settings, audit};
use pairity_experiments::dataset::Dataset;
use pairity_experiments::simulated::SimulatedTask;

/// What an example returns.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Queries of the simulated task of two groups, half to train on and half to test on.
pub fn halves(queries: u32) -> (Dataset, Dataset) {
    let all = SimulatedTask::two_groups().draw(queries, 0).dataset("simulated");
    let rows = all.rows() as u32;
    let (train, test): (Vec<u32>, Vec<u32>) = (0..rows).partition(|&row| row < rows / 2);
    (all.select(&train), all.select(&test))
}

/// The two features of each row.
pub fn points(data: &Dataset) -> Vec<[f64; 2]> {
    let numbers = |column: usize| data.columns[column].numbers().unwrap_or_default();
    numbers(0).iter().zip(numbers(1)).map(|(&x, &y)| [x, y]).collect()
}

/// The scores of all rows.
pub fn scores(data: &Dataset, scorer: impl Fn([f64; 2]) -> f64) -> Vec<f64> {
    points(data).into_iter().map(scorer).collect()
}

/// Prints the accuracy of scores and the gap between groups, with their intervals.
///
/// # Errors
/// Scores that are not finite.
pub fn show(name: &str, data: &Dataset, scores: &[f64]) -> Outcome {
    let examples = data.examples()?;
    let checks = ["auc >= 0".to_owned(), "cross_group <= 1".to_owned()];
    let (checks, left_out, measure) = (&checks, &[], Settings::default());
    let request = AuditRequest {
        examples: &examples,
        scores,
        checks,
        left_out,
        measure,
        pictures: false,
        partial: false,
    };
    let found = audit(&request)?.audit;
    let [auc, gap] = [0, 1].map(|check: usize| {
        let metric = &found.checks[check].metric;
        let number = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.4}"));
        format!("{} [{}, {}]", number(metric.value), number(metric.low), number(metric.high))
    });
    println!("{name:26} auc {auc}   gap {gap}");
    Ok(())
}
