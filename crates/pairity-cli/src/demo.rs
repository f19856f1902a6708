//! `pairity demo`: simulated data, three scorers trained for three goals, side by side.

use crate::arguments::{DemoArguments, Format};
use crate::files::{check_writable, write_file};
use crate::output;
use crate::pages::plane;
use anyhow::Context;
use pairity::scorers::Encoder;
use pairity_experiments::simulated::{CANDIDATES, Task};
use pairity_experiments::trial::{Trial, TrialResult};
use pairity_report::{
    DemoReport, PlaneLine, TrainingPart, TrainingReport, demo_html, demo_json, demo_text, json_lines,
};
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
pub fn run(arguments: &DemoArguments) -> anyhow::Result<ExitCode> {
    let file = arguments.html.as_deref().unwrap_or(Path::new(PAGE));
    check_writable(file).context("the demo writes a page; --html says where")?;
    let report = output::on_threads(&arguments.output, || train_all(arguments.seed, file))?;
    write_file(file, demo_html(&report).as_bytes())?;
    output::write(&match arguments.output.format {
        Format::Text => demo_text(&report, &output::look()),
        Format::Json => json_lines(&demo_json(&report)),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn train_all(seed: u64, file: &Path) -> anyhow::Result<DemoReport> {
    let data = Task::two_groups().draw(QUERIES, seed).dataset("simulated");
    let (mut runs, mut lines) = (Vec::new(), Vec::new());
    for (method, maximize, constraint) in GOALS {
        let mut trial = Trial::new(maximize, constraint.as_slice());
        trial.settings.seed = seed;
        let result = trial.run(&data)?;
        let likely =
            result.fitted.trained.components.iter().max_by(|a, b| a.probability.total_cmp(&b.probability));
        if let Some(&[a, b]) = likely.map(|component| &component.parameters[..]) {
            lines.push(PlaneLine { name: method.to_owned(), weights: [a, b] });
        }
        runs.push(report(method, &trial, result));
    }
    let columns: Vec<_> = data.columns.iter().collect();
    let features = Encoder::learn(&columns, None, data.standardize)?.encode_columns(&data.columns)?.features;
    let names: Vec<String> = data.columns.iter().map(|column| column.name.clone()).collect();
    let plane = plane(&names, &data.examples()?, &features, lines);
    let page = file.display().to_string();
    Ok(DemoReport { runs, queries: QUERIES, candidates: CANDIDATES, seed, plane, page })
}

fn report(method: &'static str, trial: &Trial, result: TrialResult) -> TrainingReport {
    let part = |part: pairity_experiments::trial::PartResult| TrainingPart {
        name: part.name,
        evaluation: part.evaluation,
    };
    TrainingReport {
        goal: trial.goal.clone(),
        method,
        model: "linear",
        features: result.encoder.names(),
        group_aware: false,
        seed: trial.settings.seed,
        iterations: trial.settings.iterations,
        seconds: result.time.as_secs_f64(),
        trained: result.fitted.trained,
        parts: result.parts.into_iter().map(part).collect(),
        tables: vec!["simulated data".to_owned()],
        notes: Vec::new(),
        file: None,
        deterministic: false,
    }
}
