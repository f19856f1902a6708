//! `pairity demo`: simulated data, three scorers trained for three goals, side by side.

use crate::files::{check_writable, write_file};
use crate::options::DemoOptions;
use crate::output;
use anyhow::Context;
use pairity::goals::Goal;
use pairity::learners::Encoder;
use pairity::run::{FitRequest, PlaneLine, Rows, TrainOutcome, TrainRequest, plane, train};
use pairity::solvers::Watch;
use pairity_experiments::simulated::{CANDIDATES, SimulatedTask};
use pairity_report::{DemoReport, TrainingReport, demo_html, demo_json, demo_text};
use std::path::Path;
use std::process::ExitCode;

/// Number of simulated queries.
const QUERIES: u32 = 5_000;

/// Name, what to maximize, and under which constraint.
const GOALS: [(&str, &str, Option<&str>); 3] = [
    ("unconstrained", "auc", None),
    ("constrained", "auc", Some("cross_group <= 0.01")),
    ("robust", "min(auc, A[0 > 1], A[1 > 0])", None),
];

/// Where the page goes if nobody says.
const PAGE: &str = "pairity-demo.html";

/// Runs the command.
///
/// # Errors
/// The page or standard output can't be written to.
pub fn run(options: &DemoOptions) -> anyhow::Result<ExitCode> {
    let file = options.html.as_deref().unwrap_or(Path::new(PAGE));
    check_writable(file).context("the demo writes a page; --html says where")?;
    let report = output::on_threads(&options.output, || train_all(options.seed, file))?;
    write_file(file, demo_html(&report).as_bytes())?;
    output::write(&output::render(&options.output, &report, demo_json, demo_text))?;
    Ok(ExitCode::SUCCESS)
}

fn train_all(seed: u64, file: &Path) -> anyhow::Result<DemoReport> {
    let data = SimulatedTask::two_groups().draw(QUERIES, seed).dataset("simulated");
    let (mut runs, mut lines) = (Vec::new(), Vec::new());
    for (method, maximize, constraint) in GOALS {
        let constraints = constraint.iter().map(|text| (*text).to_owned()).collect();
        let goal = Goal::new(Some(maximize.to_owned()), None, constraints);
        let fit = FitRequest { goal, standardize: data.standardize, seed, ..FitRequest::default() };
        let mut rows = Rows::new(data.examples()?, data.columns.clone());
        rows.tables = vec!["simulated data".to_owned()];
        let request = TrainRequest { fit, ..TrainRequest::default() };
        let run = TrainOutcome { method, ..train(rows, &request, Watch::default())? };
        let likely = run.trained.components.iter().max_by(|a, b| a.probability.total_cmp(&b.probability));
        if let Some(&[a, b]) = likely.map(|component| &component.parameters[..]) {
            lines.push(PlaneLine { name: method.to_owned(), weights: [a, b] });
        }
        runs.push(TrainingReport { run, file: None });
    }
    let columns: Vec<_> = data.columns.iter().collect();
    let features = Encoder::learn(&columns, None, data.standardize)?.encode(&data.columns)?.features;
    let names: Vec<String> = data.columns.iter().map(|column| column.name.clone()).collect();
    let plane = plane(&names, &data.examples()?, &features, lines);
    let page = file.display().to_string();
    Ok(DemoReport { runs, queries: QUERIES, candidates: CANDIDATES, seed, plane, page })
}
