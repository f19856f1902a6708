//! `pairity reproduce`: the paper's experiments beside the paper's own numbers.

use crate::arguments::{Format, OutputArguments, PageArguments, positive};
use crate::output;
use crate::pages::command;
use crate::progress::Steps;
use crate::train_arguments::{Split, split};
use anyhow::bail;
use clap::Args;
use pairity_experiments::agreement::{Agreement, of_line};
use pairity_experiments::experiments::{Experiment, NAMES};
use pairity_experiments::reproduce::{self, Line, Plan, Spread};
use pairity_report::{Reproduced, Reproduction, reproduction_html};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Below the list of options.
pub const HELP: &str = "\
Experiments:
  simulated  simulated-all  simulated-marginal  business  w3c  crime-ranking  law  crime-regression

The published data sets are looked for in --data-dir, in $PAIRITY_DATA and in the user's cache; the
simulated ones need no files, and the business data is a synthetic stand-in.

Examples:
  pairity reproduce simulated --seeds 3
  pairity reproduce --seeds 5 --format json
  pairity reproduce simulated --split 1,0,0     # trained, selected and reported on all rows";

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArguments {
    /// Experiments to run; all of them if none is named
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Number of random splits, and of draws of simulated data
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,

    /// Shares of training, validation and test. Without a test part the training rows are reported
    #[arg(long, value_name = "A,B,C", value_parser = split, default_value = "0.5,0.25,0.25")]
    pub split: Split,

    /// Steps of each game
    #[arg(long, value_name = "N", default_value_t = 2500, value_parser = positive)]
    pub iterations: usize,

    /// Queries of the simulated tasks
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(4..=10_000_000))]
    pub queries: u32,

    /// Simulated tasks with the means that the paper prints, which are not those it used
    #[arg(long)]
    pub as_printed: bool,

    /// Where published data is looked for first
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// Whether there is a page.
    #[command(flatten)]
    pub page: PageArguments,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Runs the command.
///
/// # Errors
/// Unknown names, or data that is not there.
pub fn run(arguments: &ReproduceArguments) -> anyhow::Result<ExitCode> {
    let mut experiments = Vec::new();
    let names: Vec<&str> = match arguments.names.is_empty() {
        true => NAMES.to_vec(),
        false => arguments.names.iter().map(String::as_str).collect(),
    };
    for name in names {
        match Experiment::of(name) {
            Some(experiment) => experiments.push(experiment),
            None => bail!("there is no experiment {name:?}; there are {}", NAMES.join(", ")),
        }
    }
    arguments.page.check()?;
    let Split(split) = arguments.split;
    let plan = Plan {
        seeds: arguments.seeds,
        split,
        iterations: arguments.iterations,
        queries: arguments.queries,
        folder: arguments.data_dir.clone(),
        as_printed: arguments.as_printed,
    };
    let lines = output::on_threads(&arguments.output, || {
        // Data that is missing is found out before anything is trained.
        for experiment in &experiments {
            experiment.data(0, plan.queries.min(100), plan.folder.as_deref())?;
        }
        let all: usize = experiments.iter().map(|e| e.contenders.len()).sum::<usize>() * plan.seeds as usize;
        let steps = Steps::new(arguments.output.quiet, all);
        let mut lines = Vec::new();
        for experiment in &experiments {
            let seen = |method: &'static str| steps.done(&format!("{} {method}", experiment.name));
            lines.extend(reproduce::lines(experiment, &plan, &seen)?);
        }
        Ok(lines)
    })?;
    if arguments.page.html.is_some() {
        arguments.page.write(Some(&reproduction_html(&reproduction(&lines, &plan))))?;
    }
    let text = match arguments.output.format {
        Format::Json => format!("{:#}\n", Value::from(lines.iter().map(entry).collect::<Vec<_>>())),
        Format::Text => text(&lines, &plan),
    };
    output::write(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What the page tells.
fn reproduction(lines: &[Line], plan: &Plan) -> Reproduction {
    let line = |line: &Line| Reproduced {
        experiment: line.experiment,
        title: line.title,
        method: line.method,
        shown: line.shown,
        objective: (line.objective.mean, line.objective.std),
        violation: (line.violation.mean, line.violation.std),
        paper: line.published.map(|paper| (paper.objective, paper.violation)),
        agreement: of_line(line).map(|(objective, violation)| (objective.name(), violation.name())),
        matrix: line.matrix.clone(),
        seconds: line.seconds,
        stand_in: line.stand_in,
    };
    Reproduction {
        lines: lines.iter().map(line).collect(),
        seeds: plan.seeds,
        rows: part(plan),
        command: command(std::env::args()),
    }
}

fn part(plan: &Plan) -> &'static str {
    if plan.split[2] > 0.0 { "test rows" } else { "training rows" }
}

fn entry(line: &Line) -> Value {
    let published = line.published.map(|p| json!({"objective": p.objective, "violation": p.violation}));
    json!({
        "experiment": line.experiment,
        "method": line.method,
        "objective": {"mean": line.objective.mean, "std": line.objective.std},
        "violation": {"mean": line.violation.mean, "std": line.violation.std},
        "matrix": line.matrix,
        "population": line.population.map(|(objective, violation)| {
            json!({"objective": objective.mean, "violation": violation.mean})
        }),
        "agreement": of_line(line).map(|(objective, violation)| {
            json!({"objective": objective.name(), "violation": violation.name()})
        }),
        "paper": published,
        "limit": line.limit.map(|(reached, limit)| json!({"reached": reached.mean, "limit": limit.mean})),
        "seeds": line.seeds,
        "seconds": line.seconds,
        "stand_in": line.stand_in,
    })
}

fn text(lines: &[Line], plan: &Plan) -> String {
    let seeds = if plan.seeds == 1 { "1 seed".to_owned() } else { format!("{} seeds", plan.seeds) };
    let mut out = format!("Means ± standard deviations over {seeds}, on the {}.\n", part(plan));
    out += &worse(lines);
    let name = lines.iter().map(|line| line.method.chars().count()).max().unwrap_or(0) + 2;
    let mut last = "";
    for line in lines {
        if line.experiment != last {
            out += &format!("\n{} ({})\n", line.title, line.experiment);
            out += &format!(
                "  {:<name$}{:<17}{:<17}{:<14}{:<16}{:>7}\n",
                "", line.shown, "violation", "paper", "verdict", "seconds"
            );
            last = line.experiment;
        }
        let digits = if line.shown == "mse" { 4 } else { 3 };
        let spread = |s: Spread| format!("{:.digits$} ± {:.digits$}", s.mean, s.std);
        let marks =
            of_line(line).map_or(String::new(), |(objective, violation)| match objective == violation {
                true => objective.name().to_owned(),
                false => format!("{} ({})", objective.name(), violation.name()),
            });
        out += &format!(
            "  {:<name$}{:<17}{:<17}{:<14}{marks:<16}{:>7.1}\n",
            line.method,
            spread(line.objective),
            spread(line.violation),
            paper(line),
            line.seconds,
        );
        if let Some((objective, violation)) = line.population {
            out += &format!(
                "  {:<name$}{:.4} ({:.4}) over all that the task could draw\n",
                "", objective.mean, violation.mean
            );
        }
        if let Some((reached, limit)) = line.limit {
            out += &format!("  {:<name$}objective {:.4} of the limit {:.4}\n", "", reached.mean, limit.mean);
        }
        for row in &line.matrix {
            let cells: Vec<String> = row.iter().map(|rate| format!("{rate:.3}")).collect();
            out += &format!("  {:<name$}[{}]\n", "", cells.join(" "));
        }
    }
    if lines.iter().any(|line| line.stand_in) {
        out += "\nThe business data is not public: a synthetic stand-in of the same shape takes its place.\n";
    }
    out += "\nA cell agrees if it is as near to the paper's as two standard deviations of one split and its rounding \
            allow.\nMatrices have a row for the group of the better; for a continuous attribute they are A> and A<.\n";
    out
}

fn paper(line: &Line) -> String {
    let digits = if line.shown == "mse" { 3 } else { 2 };
    line.published.map_or("–".to_owned(), |p| format!("{:.digits$} ({:.2})", p.objective, p.violation))
}

/// The cells that are worse than the paper's, before all others.
fn worse(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        let Some((objective, violation)) = of_line(line) else { continue };
        let mut cell = |what: &str, ours: Spread, mark: Agreement| {
            if mark == Agreement::Worse {
                let line = format!(
                    "  {} {}: {what} {:.4} ± {:.4}, the paper's cell is {}\n",
                    line.experiment,
                    line.method,
                    ours.mean,
                    ours.std,
                    paper(line)
                );
                out += &line;
            }
        };
        cell(line.shown, line.objective, objective);
        cell("violation", line.violation, violation);
    }
    match out.is_empty() {
        true => out,
        false => format!("\nWorse than the paper beyond noise\n{out}"),
    }
}
