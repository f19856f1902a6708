//! Training runs of the size of the paper's simulated task, and of its data of communities.

use crate::{Failure, numbers};
use pairity::examples::{Columns, Examples, Groups};
use pairity::goals::{Problem, parse_constraint, parse_maximize};
use pairity::learners::{Architecture, Features, GroupUse, Linear};
use pairity::solvers::{Data, TrainSettings, Watch, train};
use std::path::Path;
use std::time::Instant;

/// Best seconds of one constrained run: one step size, 2,500 iterations. The folder holds `labels` and `features`, and
/// either `queries` as f64 and `groups` as u8, or the `attribute` of a continuous run.
pub fn seconds(folder: &Path, repeats: usize, continuous: bool) -> Result<f64, Failure> {
    let (labels, values) = (numbers(folder, "labels")?, numbers(folder, "features")?);
    let width = values.len() / labels.len();
    let (mut queries, mut groups, mut attribute) = (None, None, None);
    if continuous {
        attribute = Some(numbers(folder, "attribute")?);
    } else {
        let codes: Vec<u32> = std::fs::read(folder.join("groups"))?.into_iter().map(u32::from).collect();
        groups = Some(Groups::from_codes(vec!["0".to_owned(), "1".to_owned()], codes));
        queries = Some(numbers(folder, "queries")?.into_iter().map(|query| query as u32).collect::<Vec<_>>());
    }
    let columns = Columns {
        labels: Some(&labels),
        groups: groups.as_ref(),
        protected: attribute.as_deref(),
        queries: queries.as_deref(),
        ..Columns::default()
    };
    let examples = Examples::new(columns)?;
    let features = Features::new(labels.len(), width, values)?;
    let words = examples.vocabulary();
    let criterion = if continuous { "continuous <= 0.01" } else { "cross_group <= 0.01" };
    let fair = parse_constraint(criterion, &words)?;
    let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
    let start = if continuous { 0.0 } else { 1.0 };
    let scorer = Architecture::Linear(Linear { width, intercept: false, start, groups: GroupUse::Blind });
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
