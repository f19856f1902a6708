//! `pairity reproduce`: the paper's experiments beside the paper's own numbers.

use crate::options::{Format, ReproduceOptions};
use crate::output;
use crate::progress::{Bar, STEPPING};
use anyhow::bail;
use pairity_experiments::agreement::of_line;
use pairity_experiments::experiments::Experiment;
use pairity_experiments::reproduce::{self, Line, Plan};
use pairity_report::{Reproduced, Reproduction, reproduction_html, reproduction_json, reproduction_text};
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// Unknown names, or data that is not there.
pub fn run(options: &ReproduceOptions) -> anyhow::Result<ExitCode> {
    let all = Experiment::all();
    let names: Vec<&str> = all.iter().map(|experiment| experiment.name).collect();
    if let Some(name) = options.names.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no experiment {name:?}; there are {}", names.join(", "));
    }
    let experiments = match options.names.is_empty() {
        true => all,
        false => options.names.iter().filter_map(|name| Experiment::of(name)).collect(),
    };
    options.page.check()?;
    let plan = Plan {
        seeds: options.seeds,
        split: options.split,
        iterations: options.iterations,
        queries: options.queries,
        folder: options.data_dir.clone(),
        as_printed: options.as_printed,
    };
    let lines = output::on_threads(&options.output, || {
        // Data that is missing is found out before anything is trained.
        for experiment in &experiments {
            experiment.data(0, plan.queries.min(100), plan.folder.as_deref())?;
        }
        let all: usize = experiments.iter().map(|e| e.contenders.len()).sum::<usize>() * plan.seeds as usize;
        let steps = Bar::new(options.output.quiet, STEPPING);
        steps.expect(all);
        let mut lines = Vec::new();
        for experiment in &experiments {
            let seen = |method: &'static str| steps.step(&format!("{} {method}", experiment.name));
            lines.extend(reproduce::lines(experiment, &plan, &seen)?);
        }
        Ok(lines)
    })?;
    let report = reproduction(&lines, &plan);
    options.page.write(options.page.html.as_ref().map(|_| reproduction_html(&report)))?;
    output::write(&match options.output.format {
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
        command: output::command(std::env::args()),
    }
}
