//! What each solver reaches on new rows, over many splits: the tables of docs/solvers.md.
//!
//! ```text
//! cargo run --release -p pairity-experiments --example solvers -- [task…] [seeds=20] [first=20] [bound=0.01] [queries=5000] [ways=paper,default] [model=mlp] [iterations=2500] [step-sizes=0.01,0.1] [patience=4] [json=lines.json] [aware] [verbose]
//! ```
//!
//! A task is the name of an experiment, or `lightgbm`: the ranking example of LightGBM, whose groups are those of a
//! feature that the scorer does not see; or `large`: a regression of 43,000 rows that are drawn; or `guarantee`: how many of so
//! many draws of the simulated task are guaranteed to keep the bound, for each of several sizes. With the suffix `:free` it is trained without constraints. A way is `paper`, `default`,
//! `player:NAME` (the game with another player of the multipliers), `columns:cross-fit`, `columns:validation`, or the name of a
//! method. Of comments, `model=text-cnn` is the text network of the experiment. Linear scorers of simulated tasks have values over
//! the population, others those of test rows; `beyond` counts runs that are beyond a bound on test rows by more than noise, `met` those that said their goal is met. Seeds begin at
//! 20, since constants of the solver were chosen on the splits of seeds 0 to 19 and 100 to 119. With `json=` a file gets a
//! line more for each line of the table, of which `scripts/solvers.py` makes the tables of docs/solvers.md.

use pairity::examples::{Column, Groups, Values};
use pairity::goals::{Criterion, Goal, Objective, Vocabulary, parse_expression};
use pairity::learners::ScorerKind;
use pairity::methods::{CONSTRAINED, Method, named};
use pairity::metrics::Verdict;
use pairity::run::{FitRequest, GroupAware, TrainOutcome, TrainRequest, train};
use pairity::solvers::{Player, Select, SolverKind, Watch};
use pairity_experiments::dataset::Dataset;
use pairity_experiments::experiments::Experiment;
use pairity_experiments::guarantees::tally;
use pairity_experiments::population::{GroupScorer, rates_by_group};
use pairity_experiments::reproduce::Spread;
use pairity_experiments::simulated::SimulatedTask;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

/// Queries of the draws that guarantees are given for.
const SIZES: [u32; 5] = [500, 1_000, 2_000, 5_000, 10_000];

/// What is asked for on the command line.
struct Wanted {
    tasks: Vec<String>,
    seeds: u64,
    first: u64,
    bound: f64,
    /// Of simulated tasks.
    queries: u32,
    ways: Vec<String>,
    model: Option<ScorerKind>,
    iterations: Option<usize>,
    step_sizes: Option<Vec<f64>>,
    patience: Option<usize>,
    /// The file that gets a line more for each line of the table.
    json: Option<PathBuf>,
    aware: bool,
    verbose: bool,
}

/// A task with what it is trained for.
struct SolverTaskData {
    experiment: Option<Experiment>,
    fit: FitRequest,
}

/// How one run did.
struct SolverRun {
    objective: f64,
    violation: f64,
    /// Beyond the bound by more than noise.
    beyond: bool,
    met: bool,
    seconds: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = Wanted::read();
    println!(
        "task                     way                  objective         violation         beyond   met   CPU s"
    );
    for name in &wanted.tasks {
        if name == "guarantee" {
            for queries in SIZES {
                let found = tally(queries, wanted.seeds, wanted.bound)?;
                println!("{queries} queries: {found:?}");
                wanted.note(&format!(
                    r#"{{"task": "guarantee", "bound": {}, "queries": {queries}, "draws": {}, "given": {}, "broken": {}}}"#,
                    wanted.bound, found.draws, found.given, found.broken
                ))?;
            }
            continue;
        }
        for way in &wanted.ways {
            let change = SolverWay::named(way)?;
            let mut runs = Vec::new();
            for seed in wanted.first..wanted.first + wanted.seeds {
                let mut task = SolverTaskData::named(name, &wanted)?;
                (task.fit.solver, task.fit.select) = (change.solver, change.select);
                (task.fit.player, task.fit.seed) = (change.player, seed);
                let run = task.run(name, change.method, seed, wanted.queries)?;
                if wanted.verbose {
                    let SolverRun { objective, violation, beyond, met, seconds } = run;
                    eprintln!(
                        "{name} {way} {seed}: {objective:.4} ({violation:.4}) {beyond} {met} {seconds:.1}"
                    );
                }
                runs.push(run);
            }
            let spread =
                |value: fn(&SolverRun) -> f64| Spread::of(&runs.iter().map(value).collect::<Vec<f64>>());
            let (objective, violation) = (spread(|run| run.objective), spread(|run| run.violation));
            let share = |which: fn(&SolverRun) -> bool| runs.iter().filter(|run| which(run)).count();
            println!(
                "{name:24} {way:19.19}  {:.4} ± {:.4}   {:.4} ± {:.4}   {:>3} of {:<3} {:>3}  {:.2}",
                objective.mean,
                objective.std,
                violation.mean,
                violation.std,
                share(|run| run.beyond),
                runs.len(),
                share(|run| run.met),
                spread(|run| run.seconds).mean,
            );
            wanted.note(&format!(
                r#"{{"task": "{name}", "way": "{way}", "bound": {}, "aware": {}, "seeds": {}, "objective": {}, "violation": {}, "beyond": {}, "met": {}, "seconds": {}}}"#,
                wanted.bound,
                wanted.aware,
                runs.len(),
                objective.mean,
                violation.mean,
                share(|run| run.beyond),
                share(|run| run.met),
                spread(|run| run.seconds).mean,
            ))?;
        }
    }
    Ok(())
}

/// What a way sets.
struct SolverWay {
    method: &'static Method,
    solver: Option<SolverKind>,
    select: Option<Select>,
    player: Player,
}

impl SolverWay {
    fn named(way: &str) -> Result<SolverWay, Box<dyn Error>> {
        let default =
            SolverWay { method: &CONSTRAINED, solver: None, select: None, player: Player::default() };
        let game = (Some(SolverKind::Paper), Some(Select::Validation));
        let way = match (way, way.split_once(':')) {
            ("default", _) => default,
            ("paper", _) => SolverWay { solver: game.0, select: game.1, ..default },
            (_, Some(("player", name))) => {
                let player = Player::named(name).ok_or("no such player")?;
                SolverWay { solver: game.0, select: game.1, player, ..default }
            }
            (_, Some(("columns", name))) => {
                let select = Some(Select::named(name).ok_or("no such selection")?);
                SolverWay { solver: Some(SolverKind::Columns), select, ..default }
            }
            (method, _) => SolverWay { method: named(method).ok_or("no such method")?, ..default },
        };
        Ok(way)
    }
}

impl Wanted {
    /// Writes a line behind those that the file has.
    fn note(&self, line: &str) -> std::io::Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{line}")
    }

    fn read() -> Wanted {
        let mut wanted = Wanted {
            tasks: Vec::new(),
            seeds: 20,
            first: 20,
            bound: 0.01,
            queries: 5_000,
            ways: vec!["paper".to_owned(), "default".to_owned()],
            model: None,
            iterations: None,
            step_sizes: None,
            patience: None,
            json: None,
            aware: false,
            verbose: false,
        };
        for word in std::env::args().skip(1) {
            match word.split_once('=') {
                Some(("seeds", value)) => wanted.seeds = value.parse().unwrap_or(wanted.seeds),
                Some(("first", value)) => wanted.first = value.parse().unwrap_or(wanted.first),
                Some(("bound", value)) => wanted.bound = value.parse().unwrap_or(wanted.bound),
                Some(("queries", value)) => wanted.queries = value.parse().unwrap_or(wanted.queries),
                Some(("ways", value)) => wanted.ways = value.split(',').map(str::to_owned).collect(),
                Some(("model", value)) => wanted.model = ScorerKind::named(value),
                Some(("iterations", value)) => wanted.iterations = value.parse().ok(),
                Some(("patience", value)) => wanted.patience = value.parse().ok(),
                Some(("json", value)) => wanted.json = Some(value.into()),
                Some(("step-sizes", value)) => {
                    wanted.step_sizes = value.split(',').map(|size| size.parse().ok()).collect();
                }
                _ if word == "aware" => wanted.aware = true,
                _ if word == "verbose" => wanted.verbose = true,
                _ => wanted.tasks.push(word),
            }
        }
        if wanted.tasks.is_empty() {
            let all =
                ["simulated", "simulated-all", "simulated-marginal", "crime-ranking", "crime-regression"];
            wanted.tasks =
                all.iter().chain(&["law", "w3c", "wiki", "lightgbm"]).map(ToString::to_string).collect();
        }
        wanted
    }
}

impl SolverTaskData {
    fn named(name: &str, wanted: &Wanted) -> Result<SolverTaskData, Box<dyn Error>> {
        let (name, free) = name.strip_suffix(":free").map_or((name, false), |name| (name, true));
        let experiment = Experiment::of(name);
        let mut fit = match &experiment {
            Some(experiment) => {
                // The network of comments is the one of the paper's row, and its linear scorer another row.
                let skip = usize::from(wanted.model == Some(ScorerKind::TextCnn));
                let constrained = &["constrained, terms", "constrained"][skip..];
                let find = |method: &&str| experiment.contenders.iter().find(|own| own.method == *method);
                constrained.iter().find_map(find).ok_or("no such task")?.request.fit.clone()
            }
            None => {
                let minimize = name.starts_with("large").then(|| "mse".into());
                let goal = Goal::new(None, minimize, vec!["cross_group <= 0.01".into()]);
                FitRequest { goal, ..FitRequest::default() }
            }
        };
        if fit.iterations == usize::MAX {
            fit.iterations = FitRequest::default().iterations;
        }
        fit.scorer = wanted.model.unwrap_or(fit.scorer);
        fit.patience = wanted.patience;
        fit.iterations = wanted.iterations.unwrap_or(fit.iterations);
        fit.step_sizes = wanted.step_sizes.clone().unwrap_or(fit.step_sizes);
        for text in &mut fit.goal.subject_to {
            *text = text.replace("<= 0.01", &format!("<= {}", wanted.bound));
        }
        if free {
            fit.goal.subject_to.clear();
        }
        fit.group_aware = wanted.aware.then_some(GroupAware::Weights);
        Ok(SolverTaskData { experiment, fit })
    }

    fn run(
        &self,
        name: &str,
        method: &'static Method,
        seed: u64,
        queries: u32,
    ) -> Result<SolverRun, Box<dyn Error>> {
        let data = match &self.experiment {
            Some(experiment) => experiment.data(seed, queries, None)?,
            None if name.starts_with("lightgbm") => lightgbm()?,
            None if name.starts_with("large") => large(seed),
            None => return Err(format!("no task {name}").into()),
        };
        let fit = FitRequest { standardize: data.standardize, ..self.fit.clone() };
        let request = TrainRequest { fit, method, ..TrainRequest::default() };
        let rows = data.training_rows()?;
        let before = cpu_seconds();
        let found = train(rows, &request, Watch::default())?;
        let seconds = cpu_seconds() - before;
        let test = found.part("test").ok_or("no test part")?;
        let beyond = test.audit.checks.iter().any(|check| check.verdict == Verdict::Fail);
        let task = self.experiment.as_ref().and_then(Experiment::task);
        let is_plain = self.fit.scorer == ScorerKind::Linear && found.model.after.is_none();
        let (objective, violation) = match task.filter(|_| is_plain) {
            Some(task) => self.over_all(&task, &found)?,
            None => {
                let mse = test.audit.mse.as_ref();
                let mse = mse.filter(|_| matches!(self.fit.goal.objective, Objective::Minimize(_)));
                let value = mse.unwrap_or(&test.audit.auc).value;
                let own = test.audit.gaps.iter().filter(|(criterion, _)| self.criteria().contains(criterion));
                let gap = own.filter_map(|(_, gap)| gap.value).fold(0.0, f64::max);
                (value.unwrap_or(f64::NAN), gap)
            }
        };
        Ok(SolverRun { objective, violation, beyond, met: found.trained.meets_goal, seconds })
    }

    /// What is called the violation.
    fn criteria(&self) -> &[Criterion] {
        self.experiment.as_ref().map_or(&[Criterion::CrossGroup], |own| &own.violation)
    }

    /// Objective and violation over all that a simulated task could draw.
    fn over_all(&self, task: &SimulatedTask, found: &TrainOutcome) -> Result<(f64, f64), Box<dyn Error>> {
        let groups: Vec<String> = (0..task.groups().len()).map(|group| group.to_string()).collect();
        let words = Vocabulary { groups, continuous: false };
        let members = found.trained.components.iter().map(|own| {
            let of_group = |group: usize| match own.parameters[..] {
                [x, y] => GroupScorer { weights: [x, y], offset: 0.0 },
                _ => {
                    let set = &own.parameters[3 * group..3 * group + 3];
                    GroupScorer { weights: [set[0], set[1]], offset: set[2] }
                }
            };
            (own.probability, rates_by_group(task, &of_group))
        });
        let members: Vec<_> = members.collect();
        let value = |text: &str| -> Result<f64, Box<dyn Error>> {
            let expression = parse_expression(text, &words)?;
            Ok(expression.value(&mut |rate| {
                members.iter().map(|(p, own)| p * own.rate(rate).unwrap_or(f64::NAN)).sum()
            }))
        };
        let mut violation = 0.0f64;
        for criterion in self.criteria() {
            violation = violation.max(value(criterion.name())?);
        }
        Ok((value("auc")?, violation))
    }
}

/// A regression of 43,000 rows and ten features, one of which tells the group, whose numbers are lower.
fn large(seed: u64) -> Dataset {
    const FEATURES: usize = 10;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut noise = || (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>();
    let (mut labels, mut codes, mut cells) = (Vec::new(), Vec::new(), vec![Vec::new(); FEATURES]);
    for _ in 0..43_000 {
        let group = noise() > 0.5;
        let row: Vec<f64> =
            (0..FEATURES).map(|at| noise() + if at == 0 && group { -1.0 } else { 0.0 }).collect();
        labels.push(row.iter().sum::<f64>() / 2.0 + noise());
        codes.push(u32::from(group));
        cells.iter_mut().zip(row).for_each(|(column, x)| column.push(x));
    }
    let column = |(at, values)| Column { name: format!("x{at}"), values: Values::Numbers(values) };
    Dataset {
        name: "large".to_owned(),
        columns: cells.into_iter().enumerate().map(column).collect(),
        standardize: true,
        labels,
        groups: Some(Groups::in_order(vec!["0".into(), "1".into()], codes)),
        ..Dataset::default()
    }
}

/// LightGBM's ranking example; rows are of group 1 if their feature 91 is above its median.
fn lightgbm() -> Result<Dataset, Box<dyn Error>> {
    const HIDDEN: usize = 91;
    let folder = PathBuf::from(std::env::var("PAIRITY_DATA")?).join("lightgbm_lambdarank");
    let (mut labels, mut queries, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for part in ["train", "test"] {
        let text = std::fs::read_to_string(folder.join(format!("rank.{part}")))?;
        let sizes = std::fs::read_to_string(folder.join(format!("rank.{part}.query")))?;
        let first = queries.last().map_or(0, |last: &u32| last + 1);
        for (query, size) in sizes.split_whitespace().enumerate() {
            queries.extend(vec![first + query as u32; size.parse()?]);
        }
        for line in text.lines() {
            let mut words = line.split_whitespace();
            labels.push(words.next().ok_or("no label")?.parse::<f64>()?);
            let mut row = vec![0.0; 301];
            for word in words {
                let (at, value) = word.split_once(':').ok_or("no cell")?;
                row[at.parse::<usize>()?] = value.parse()?;
            }
            cells.push(row);
        }
    }
    let mut sorted: Vec<f64> = cells.iter().map(|row: &Vec<f64>| row[HIDDEN]).collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let codes = cells.iter().map(|row| u32::from(row[HIDDEN] > median)).collect();
    let column = |at: usize| Column {
        name: format!("x{at}"),
        values: Values::Numbers(cells.iter().map(|row| row[at]).collect()),
    };
    let columns = (1..301).filter(|&at| at != HIDDEN).map(column);
    Ok(Dataset {
        name: "lightgbm".to_owned(),
        columns: columns.collect(),
        standardize: true,
        labels,
        groups: Some(Groups::in_order(vec!["0".into(), "1".into()], codes)),
        queries: Some(queries),
        ..Dataset::default()
    })
}

/// Seconds of the processor that this process has had; of the clock where the system doesn't tell.
fn cpu_seconds() -> f64 {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let clock = || now().map_or(0.0, |passed| passed.as_secs_f64());
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return clock() };
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    // Fields 14 and 15 of the line, of which two stand before these, in hundredths of a second.
    ticks(11).zip(ticks(12)).map_or_else(clock, |(user, system)| (user + system) / 100.0)
}
