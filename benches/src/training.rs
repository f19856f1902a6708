//! A training run of the size of the paper's simulated task.

use crate::{Failure, numbers};
use pairity::examples::{Columns, Examples, Groups};
use pairity::goals::{Problem, parse_constraint, parse_maximize};
use pairity::learners::{Architecture, Features, GroupUse, Linear};
use pairity::solvers::{Data, TrainSettings, Watch, train};
use std::path::Path;
use std::time::Instant;

/// Best seconds of one constrained run: one step size, 2,500 iterations. The folder holds `labels`,
/// `features` (two a row), `queries` as f64 and `groups` as u8.
pub fn seconds(folder: &Path, repeats: usize) -> Result<f64, Failure> {
    let (labels, values) = (numbers(folder, "labels")?, numbers(folder, "features")?);
    let queries: Vec<u32> = numbers(folder, "queries")?.into_iter().map(|query| query as u32).collect();
    let codes: Vec<u32> = std::fs::read(folder.join("groups"))?.into_iter().map(u32::from).collect();
    let groups = Groups::from_codes(vec!["0".to_owned(), "1".to_owned()], codes);
    let columns = Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    };
    let examples = Examples::new(columns)?;
    let features = Features::new(labels.len(), 2, values)?;
    let words = examples.vocabulary();
    let fair = parse_constraint("cross_group <= 0.01", &words)?;
    let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
    let scorer =
        Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });
    let data = Data { features: &features, train: &examples, multipliers: None, validation: None };
    let settings = TrainSettings { step_sizes: vec![0.1], ..TrainSettings::default() };
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let start = Instant::now();
        std::hint::black_box(train(&problem, &scorer, &data, &settings, Watch::default())?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
