//! `pairity demo`: simulated data, three scorers trained for three goals, side by side.

use crate::arguments::{DemoArguments, Format};
use crate::files::{check_writable, write_file};
use crate::output;
use crate::pages::plane;
use anyhow::Context;
use pairity::metrics::Metric;
use pairity::scorers::Encoder;
use pairity::training::Evaluation;
use pairity_experiments::simulated::{CANDIDATES, Task};
use pairity_experiments::trial::{Trial, TrialResult};
use pairity_report::{
    DemoWords, Plane, PlaneLine, TrainingPart, TrainingReport, demo_html, json_lines, plain, training_json,
    wrapped,
};
use serde_json::json;
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

/// What to run next.
const NEXT: [&str; 2] = [
    "pairity audit people.csv --score score --label hired --query job --group gender \\
    --check 'cross_group <= 0.1' --html audit.html",
    "pairity train people.csv --label hired --query job --group gender -o model.json \\
    --subject-to 'cross_group <= 0.01' --html training.html",
];

/// Runs the command.
///
/// # Errors
/// The page or standard output can't be written to.
pub fn run(arguments: &DemoArguments) -> anyhow::Result<ExitCode> {
    let file = arguments.html.as_deref().unwrap_or(Path::new(PAGE));
    check_writable(file).context("the demo writes a page; --html says where")?;
    let (reports, plane) = output::on_threads(&arguments.output, || train_all(arguments.seed))?;
    let about = about(arguments.seed);
    let words = DemoWords { data: &about, result: &meaning(&reports), next: &NEXT };
    write_file(file, demo_html(&reports, &words, plane.as_ref()).as_bytes())?;
    let text = match arguments.output.format {
        Format::Text => text(&reports, &about, file),
        Format::Json => {
            let runs: Vec<_> = reports.iter().map(training_json).collect();
            json_lines(&json!({"schema": "pairity.demo/1", "queries": QUERIES, "runs": runs}))
        }
    };
    output::write(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn train_all(seed: u64) -> anyhow::Result<(Vec<TrainingReport>, Option<Plane>)> {
    let data = Task::two_groups().draw(QUERIES, seed).dataset("simulated");
    let (mut reports, mut lines) = (Vec::new(), Vec::new());
    for (method, maximize, constraint) in GOALS {
        let mut trial = Trial::new(maximize, constraint.as_slice());
        trial.settings.seed = seed;
        let result = trial.run(&data)?;
        let likely =
            result.fitted.trained.components.iter().max_by(|a, b| a.probability.total_cmp(&b.probability));
        if let Some(&[a, b]) = likely.map(|component| &component.parameters[..]) {
            lines.push(PlaneLine { name: method.to_owned(), weights: [a, b] });
        }
        reports.push(report(method, &trial, result));
    }
    let columns: Vec<_> = data.columns.iter().collect();
    let features = Encoder::learn(&columns, None, data.standardize)?.encode_columns(&data.columns)?.features;
    let names: Vec<String> = data.columns.iter().map(|column| column.name.clone()).collect();
    Ok((reports, plane(&names, &data.examples()?, &features, lines)))
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
        file: String::new(),
        deterministic: false,
    }
}

/// What was simulated.
fn about(seed: u64) -> String {
    format!(
        "Simulated searches (seed {seed}): in each of {QUERIES} one of {CANDIDATES} candidates is relevant. Group 1 is \
         rare, and its relevant candidates look like irrelevant ones of group 0. Three linear scorers that don't see \
         the group were trained on half of the searches and chosen on a quarter; this is the other quarter, with 95% \
         confidence intervals."
    )
}

/// What was found.
fn meaning(reports: &[TrainingReport]) -> String {
    let tests: Vec<&Evaluation> = tests(reports);
    let percent = |test: &Evaluation, a: usize, b: usize| {
        test.audit.accuracy[a][b].value.map_or("?".to_owned(), |x| format!("{:.0}%", 100.0 * x))
    };
    let [plain, fair, _] = tests[..] else { return String::new() };
    format!(
        "The best ranking for everyone together puts a relevant candidate of group 1 above an irrelevant one of group \
         0 only {} of the time, against {} the other way around. The constrained scorer closes the gap, {} and {}, at \
         the price of some accuracy elsewhere; the robust one raises the worst of the three rates.",
        percent(plain, 1, 0),
        percent(plain, 0, 1),
        percent(fair, 1, 0),
        percent(fair, 0, 1),
    )
}

/// How each scorer does on rows that none has seen.
fn tests(reports: &[TrainingReport]) -> Vec<&Evaluation> {
    reports.iter().filter_map(|report| report.parts.last()).map(|part| &part.evaluation).collect()
}

/// The scorers side by side.
fn text(reports: &[TrainingReport], about: &str, page: &Path) -> String {
    let tests = tests(reports);
    let cell = |metric: &Metric| match (metric.value, metric.low, metric.high) {
        (Some(value), Some(low), Some(high)) => format!("{value:.3} [{low:.3}, {high:.3}]"),
        (Some(value), ..) => format!("{value:.3}"),
        _ => "—".to_owned(),
    };
    let row = |name: &str, pick: &dyn Fn(&Evaluation) -> String| {
        let cells: String = tests.iter().map(|test| format!("{:<23}", pick(test))).collect();
        format!("  {name:<14}{}\n", cells.trim_end())
    };
    let gap = |test: &Evaluation| {
        let gap = test.audit.gaps.iter().find(|(criterion, _)| criterion.name() == "cross_group");
        gap.map_or("—".to_owned(), |(_, metric)| cell(metric))
    };
    let width = output::look().width;
    let mut out = format!("{}\n\n", wrapped(about, width));
    let head: String = GOALS.iter().map(|(name, ..)| format!("{name:<23}")).collect();
    out += &format!("  {:<14}{}\n", "", head.trim_end());
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        out += &row(&format!("A[{a} > {b}]"), &|test| cell(&test.audit.accuracy[a][b]));
    }
    out += &row("auc", &|test| cell(&test.audit.auc));
    out += &row("cross_group", &gap);
    out += "\nA[a > b] is how often the scorer is right when the better candidate is of group a and the worse of b.\n";
    for ((name, maximize, constraint), report) in GOALS.iter().zip(reports) {
        let subject = constraint.map(|text| format!(" subject to {text}")).unwrap_or_default();
        out += &format!(
            "  {name:<14}maximize {maximize}{subject}: {}, {} scorer{}, {:.1} s\n",
            report.trained.status.name(),
            report.trained.components.len(),
            if report.trained.components.len() == 1 { "" } else { "s" },
            report.seconds,
        );
    }
    out += &format!("\nWhat this means\n{}\n", wrapped(&meaning(reports), width));
    out += &format!("\nThe same with pictures: {}\n\nWhat to run next\n", plain(&page.display().to_string()));
    for command in NEXT {
        out += &format!("  {}\n", command.replace('\n', "\n  "));
    }
    out
}
