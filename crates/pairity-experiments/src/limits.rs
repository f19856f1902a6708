//! The best that scorers of two features can reach on given rows.

use crate::dataset::Dataset;
use pairity::goals::Problem;
use pairity::learners::Encoder;
use pairity::run::{FitRequest, RunError};
use pairity::solvers::reach;

/// Directions of weights that are tried.
const DIRECTIONS: u32 = 720;

/// The best that any mixture of linear scorers of two features reaches for the goal, with no more violation than
/// the least of any: all directions and a linear program.
///
/// # Errors
/// A goal that does not fit the data.
pub fn limit_of_directions(request: &FitRequest, data: &Dataset) -> Result<f64, RunError> {
    let examples = data.examples()?;
    let problem = Problem::of_goal(&request.goal, &examples.vocabulary())?;
    let columns: Vec<_> = data.columns.iter().collect();
    let features = Encoder::learn(&columns, None, false)?.encode(&data.columns)?.features;
    let scorers: Vec<Vec<f64>> = (0..DIRECTIONS)
        .map(|step| {
            let (y, x) = (f64::from(step) * std::f64::consts::TAU / f64::from(DIRECTIONS)).sin_cos();
            features.values().chunks(2).map(|f| x * f[0] + y * f[f.len() - 1]).collect()
        })
        .collect();
    Ok(reach(&problem, &examples, &scorers, request.measure.average)?.objective)
}
