//! `pairity demo`: an audit of simulated data, explained.

use crate::arguments::{DemoArguments, Format};
use crate::output;
use pairity::examples::{Columns, Examples, Groups};
use pairity::metrics::{Audit, Settings};
use pairity_experiments::simulated::{CANDIDATES, Simulated};
use pairity_report::{Notes, Report, Role};
use std::process::ExitCode;

/// Number of simulated queries.
const QUERIES: u32 = 5_000;

/// A linear scorer that is fit to rank everyone together as well as possible: the direction of the
/// largest AUC is about [0.76, 0.65], and all around it do almost as well.
const SCORER: [f64; 2] = [0.8, 0.6];

/// What the two groups are called.
const NAMES: [&str; 2] = ["majority", "minority"];

/// Runs the command.
///
/// # Errors
/// Standard output can't be written to.
pub fn run(arguments: &DemoArguments) -> anyhow::Result<ExitCode> {
    let report = output::on_threads(&arguments.output, || measure(arguments.seed))?;
    let mut text = output::render(&report, arguments.output.format);
    if arguments.output.format == Format::Text {
        text += &explanation(&report);
    }
    output::write(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn measure(seed: u64) -> anyhow::Result<Report> {
    let rows = Simulated::draw(QUERIES, seed);
    let scores: Vec<f64> = rows.features.iter().map(|x| SCORER[0] * x[0] + SCORER[1] * x[1]).collect();
    let groups = Groups::from_codes(NAMES.map(str::to_owned).to_vec(), rows.groups);
    let examples = Examples::new(Columns {
        labels: Some(&rows.labels),
        groups: Some(&groups),
        queries: Some(&rows.queries),
        ..Columns::default()
    })?;
    let audit = Audit::run(&examples, &scores, &[], &Settings::default())?;
    let notes = Notes {
        tables: vec!["simulated data".to_owned()],
        columns: vec![
            (Role::Score, "0.8 x1 + 0.6 x2".to_owned()),
            (Role::Label, "relevant".to_owned()),
            (Role::Query, "search".to_owned()),
            (Role::Group, "group".to_owned()),
        ],
        rows_read: scores.len(),
        ..Notes::default()
    };
    Ok(Report { audit, notes })
}

fn explanation(report: &Report) -> String {
    let percent = |value: Option<f64>| value.map_or("?".to_owned(), |x| format!("{:.0}%", x * 100.0));
    let accuracy = &report.audit.accuracy;
    let gap = report.audit.gaps.iter().find(|(criterion, _)| criterion.name() == "cross_group");
    let gap = gap.and_then(|(_, metric)| metric.value).map_or("?".to_owned(), |x| format!("{x:.2}"));
    format!(
        "
What this means
In each of the {QUERIES} simulated searches one of {CANDIDATES} candidates is relevant; overall, the scorer
puts it above another one {auc} of the time. But when the relevant candidate is from the
minority and the other one from the majority, it does so only {low} of the time, against {high} the
other way around: a cross_group gap of {gap} that the overall number does not show.

What to run next: an audit of your own table, with a check that can fail a build
  pairity audit people.csv --score score --label hired --query job --group gender \\
      --check 'cross_group <= 0.1'
  pairity audit --help
",
        auc = percent(report.audit.auc.value),
        low = percent(accuracy[1][0].value),
        high = percent(accuracy[0][1].value),
    )
}
