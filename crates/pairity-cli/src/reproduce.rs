//! `pairity reproduce`: the paper's experiments beside the paper's own numbers.

use crate::arguments::{Format, OutputArguments, PageArguments, positive};
use crate::output;
use crate::pages::command;
use crate::progress::Steps;
use crate::train_arguments::{Split, split};
use anyhow::bail;
use clap::Args;
use pairity_experiments::agreement::of_line;
use pairity_experiments::experiments::{Experiment, NAMES};
use pairity_experiments::reproduce::{self, Line, Plan};
use pairity_report::{Reproduced, Reproduction, reproduction_html, reproduction_json, reproduction_text};
use std::path::PathBuf;
use std::process::ExitCode;

/// Below the list of options.
pub const HELP: &str = "\
Experiments:
  simulated  simulated-all  simulated-marginal  business  wiki  w3c  crime-ranking  law
  crime-regression

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
    let report = reproduction(&lines, &plan);
    if arguments.page.html.is_some() {
        arguments.page.write(Some(&reproduction_html(&report)))?;
    }
    output::write(&match arguments.output.format {
        Format::Json => format!("{:#}\n", reproduction_json(&report)),
        Format::Text => reproduction_text(&report, &output::look()),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What is told of the lines.
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
        population: line.population.map(|(objective, violation)| (objective.mean, violation.mean)),
        limit: line.limit.map(|(reached, limit)| (reached.mean, limit.mean)),
        seeds: line.seeds,
        seconds: line.seconds,
        stand_in: line.stand_in,
        sample: line.sample,
        notes: line.notes.clone(),
    };
    Reproduction {
        lines: lines.iter().map(line).collect(),
        seeds: plan.seeds,
        rows: if plan.split[2] > 0.0 { "test rows" } else { "training rows" },
        command: command(std::env::args()),
    }
}
