//! Commands that need no table of the user's. `pairity demo`: simulated data, three scorers trained for three
//! goals, side by side; `pairity reproduce`: the paper's experiments beside the paper's own numbers; `pairity data`:
//! which data sets there are, where their files are, and fetching them.

use crate::options::{Action, DemoOptions, FetchOptions, Format, PlaceOptions, ReproduceOptions};
use crate::output::{check_apart, check_writable, command, present, write};
use crate::progress::{Bar, DOWNLOADING, STEPPING};
use anyhow::{Context, bail};
use pairity::goals::Goal;
use pairity::learners::Encoder;
use pairity::run::{FitRequest, PlaneLine, Rows, TrainOutcome, TrainRequest, plane, train};
use pairity::solvers::Watch;
use pairity_experiments::agreement::of_line;
use pairity_experiments::data::{self, DATA_SETS, Entry};
use pairity_experiments::experiments::Experiment;
use pairity_experiments::fetch::{FetchSettings, fetch};
use pairity_experiments::reproduce::{self, Line, Plan};
use pairity_experiments::simulated::{CANDIDATES, SimulatedTask};
use pairity_report::{DemoReport, Reproduced, Reproduction, TrainingReport, json_lines};
use pairity_report::{demo_html, demo_json, demo_text};
use pairity_report::{reproduction_html, reproduction_json, reproduction_text};
use pairity_tables::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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

/// Runs `demo`.
///
/// # Errors
/// The page or standard output can't be written to.
pub fn demo(options: &DemoOptions) -> anyhow::Result<u8> {
    let file = options.html.as_deref().unwrap_or(Path::new(PAGE));
    check_writable(file).context("the demo writes a page; --html says where")?;
    let make = || train_all(options.seed, file);
    present(&options.output, Some(file), make, demo_json, demo_text, demo_html)?;
    Ok(0)
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

/// Runs `reproduce`.
///
/// # Errors
/// Unknown names, or data that is not there.
pub fn reproduce(options: &ReproduceOptions) -> anyhow::Result<u8> {
    let all = Experiment::all();
    let names: Vec<&str> = all.iter().map(|experiment| experiment.name).collect();
    if let Some(name) = options.names.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no experiment {name:?}; there are {}", names.join(", "));
    }
    let experiments = match options.names.is_empty() {
        true => all,
        false => options.names.iter().filter_map(|name| Experiment::of(name)).collect(),
    };
    let page = options.page.html.as_deref();
    let make = || reproduced(options, &experiments);
    present(&options.output, page, make, reproduction_json, reproduction_text, reproduction_html)?;
    Ok(0)
}

fn reproduced(options: &ReproduceOptions, experiments: &[Experiment]) -> anyhow::Result<Reproduction> {
    let plan = Plan {
        seeds: options.seeds,
        split: options.split,
        iterations: options.iterations,
        queries: options.queries,
        folder: options.data_dir.clone(),
        solver: options.solver.map(|solver| (solver, options.select)),
        as_printed: options.as_printed,
    };
    let files = experiments.iter().flat_map(|experiment| experiment.files(plan.folder.as_deref()));
    let (files, page) = (files.collect::<Vec<_>>(), options.page.html.as_deref());
    let read: Vec<(&str, &Path)> = files.iter().map(|path| ("data", path.as_path())).collect();
    check_apart(page.as_slice(), &Source::chain(Vec::new()), &read)?;
    // Data that is missing is found out before anything is trained.
    for experiment in experiments {
        experiment.data(0, plan.queries.min(100), plan.folder.as_deref())?;
    }
    let steps = Bar::new(options.output.quiet, STEPPING);
    steps.expect(experiments.iter().map(|e| e.contenders.len()).sum::<usize>() * plan.seeds as usize);
    let mut lines = Vec::new();
    for experiment in experiments {
        let seen = |method: &'static str| steps.step(&format!("{} {method}", experiment.name));
        lines.extend(reproduce::lines(experiment, &plan, &seen)?.iter().map(reproduced_line));
    }
    let rows = if plan.split[2] > 0.0 { "test rows" } else { "training rows" };
    Ok(Reproduction { lines, seeds: plan.seeds, rows, command: command() })
}

/// What is told of a line.
fn reproduced_line(line: &Line) -> Reproduced {
    Reproduced {
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
    }
}

/// Runs `data`.
///
/// # Errors
/// Unknown names, data that is not here or can't be fetched.
pub fn data(action: &Action) -> anyhow::Result<u8> {
    let (format, document, text) = match action {
        Action::List(place) => list(place),
        Action::Path { name, place } => path(name, place)?,
        Action::Fetch(options) => fetched(options)?,
    };
    write(&match format {
        Format::Json => json_lines(&document),
        Format::Text => text,
    })?;
    Ok(0)
}

/// The same as a document and as text.
type Told = (Format, Value, String);

fn list(place: &PlaceOptions) -> Told {
    let mut text = String::new();
    let mut sets = Vec::new();
    for entry in &DATA_SETS {
        let found = data::find(entry.name, place.data_dir.as_deref()).ok();
        let state = match (&found, entry.is_generated()) {
            (_, true) => "drawn from a seed, needs no files".to_owned(),
            (None, _) => format!("not here: pairity data fetch {}", entry.name),
            (Some(paths), _) => lines(paths).join("\n             "),
        };
        text +=
            &format!("{:<13}{}\n{:<13}{}\n{:<13}{state}\n", entry.name, entry.about, "", entry.license, "");
        sets.push(json!({
            "name": entry.name,
            "about": entry.about,
            "license": entry.license,
            "generated": entry.is_generated(),
            "files": found.as_deref().map(lines),
        }));
    }
    let looked = lines(&data::folders(place.data_dir.as_deref()));
    text += &format!(
        "\nLooked for in {}\n",
        if looked.is_empty() { "no folder".to_owned() } else { looked.join(", ") }
    );
    (place.format, json!({"schema": "pairity.data/1", "looked": looked, "data": sets}), text)
}

fn path(name: &str, place: &PlaceOptions) -> anyhow::Result<Told> {
    let paths = lines(&data::find(name, place.data_dir.as_deref())?);
    let text = paths.iter().map(|path| format!("{path}\n")).collect();
    Ok((place.format, json!({"schema": "pairity.data/1", "name": name, "files": paths}), text))
}

fn fetched(options: &FetchOptions) -> anyhow::Result<Told> {
    // A name that is wrong is found out before anything is downloaded.
    let entries = options.names.iter().map(|name| data::entry(name)).collect::<Result<Vec<&Entry>, _>>()?;
    let folders = data::folders(options.place.data_dir.as_deref());
    let Some(into) = folders.first() else {
        bail!("there is no folder to fetch into: name one with --data-dir or {}", data::VARIABLE);
    };
    let settings = FetchSettings {
        mirror: options.mirror.clone(),
        attempts: options.attempts,
        ..FetchSettings::default()
    };
    let (mut text, mut sets) = (String::new(), Vec::new());
    for entry in entries {
        let bar = Bar::new(options.quiet, DOWNLOADING);
        let paths = fetch(entry.name, into, &settings, &|progress| bar.download(progress));
        let paths = lines(&paths.with_context(|| format!("can't fetch {}", entry.name))?);
        drop(bar);
        text += &format!("{} ({})\n", entry.name, entry.license);
        text += &paths.iter().map(|path| format!("  {path}\n")).collect::<String>();
        text += &better(entry, into);
        sets.push(json!({"name": entry.name, "license": entry.license, "files": paths}));
    }
    Ok((options.place.format, json!({"schema": "pairity.data/1", "data": sets}), text))
}

/// What has to be put in place by hand to have more than what is fetched.
fn better(entry: &Entry, into: &Path) -> String {
    let Some(files) = entry.by_hand() else { return String::new() };
    let folder = into.join(entry.folder);
    let addresses: String =
        files.iter().filter_map(|file| Some(format!("    {}\n", file.address?))).collect();
    format!(
        "  This is a sample. The full set has no checksum here: download it yourself and put it into\n  {}\n{addresses}",
        folder.display()
    )
}

fn lines(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}
