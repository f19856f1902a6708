//! `pairity train`: load, split, train, evaluate, write the model and the report.

use crate::arguments::Format;
use crate::files::{beside, check_writable, write_file};
use crate::load::{self, Rows};
use crate::output;
use crate::pages::training_page;
use crate::progress::TrainProgress;
use crate::train_arguments::{GroupAware, MethodChoice, ModelChoice, SurrogateChoice, TrainArguments};
use anyhow::{Context, bail};
use pairity::examples::Examples;
use pairity::goals::{Constraint, parse_constraint, parse_maximize, parse_minimize};
use pairity::metrics::Settings;
use pairity::rates::Rate;
use pairity::scorers::{
    Architecture, Encoder, Features, Goal, GroupUse, Linear, Mlp, Model, ModelGroups, Objective,
};
use pairity::surrogates::Kind;
use pairity::tables::Column;
use pairity::training::{Checkpoint, Data, Problem, TrainSettings, Trained, Watch, evaluate, train};
use pairity_report::{TrainingPart, TrainingReport, plain, training_json, training_text};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The goal is not met.
const NOT_MET: u8 = 1;

/// Time from one checkpoint to the next.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// How often somebody pressed Ctrl-C: once ends the training, twice the program.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; no file has been written then.
pub fn run(arguments: &TrainArguments) -> anyhow::Result<ExitCode> {
    let file = &arguments.output_file;
    check_writable(file)?;
    arguments.page.check()?;
    let (report, model, page) = output::on_threads(&arguments.output, || trained(arguments))?;
    write_file(file, model.to_json()?.as_bytes())?;
    arguments.page.write(page.as_deref())?;
    let checkpoint = beside(file, ".checkpoint");
    if !report.stopped() && checkpoint.exists() {
        std::fs::remove_file(&checkpoint)
            .with_context(|| format!("can't remove {}", checkpoint.display()))?;
    }
    let text = match arguments.output.format {
        Format::Json => pairity_report::json_lines(&training_json(&report)),
        Format::Text => training_text(&report, &output::look()),
    };
    output::write(&text)?;
    Ok(ExitCode::from(if report.trained.meets_goal { 0 } else { NOT_MET }))
}

/// The parts of the rows.
struct Parts {
    train: Examples,
    multipliers: Option<Examples>,
    validation: Option<Examples>,
    test: Option<Examples>,
    /// What training and multipliers are together.
    whole: Examples,
}

impl Parts {
    fn new(rows: &Rows, arguments: &TrainArguments) -> anyhow::Result<Parts> {
        // Tables are numbered as they are given, and a list that is empty has no number.
        let (has_validation, has_test) = (!arguments.validation.is_empty(), !arguments.test.is_empty());
        let from = |place: u8| -> anyhow::Result<Examples> {
            Ok(rows.examples.part(&rows.examples.units_where(|row| rows.origin[row] == place))?)
        };
        let shares = arguments.shares();
        let clash = |given: bool, share: f64, name: &str| {
            if given && share > 0.0 {
                bail!(
                    "--{name} gives a table for a part that --split also takes from TABLE: make that share 0"
                )
            }
            Ok(())
        };
        clash(has_validation, shares[1], "validation")?;
        clash(has_test, shares[2], "test")?;
        let own = if has_validation || has_test { from(0)? } else { rows.examples.clone() };
        let mut parts = own.split(&shares, arguments.seed)?.into_iter();
        let mut next = || parts.next().flatten();
        let (whole, mut validation, mut test) = (next(), next(), next());
        if has_validation {
            validation = Some(from(1)?);
        }
        if has_test {
            test = Some(from(1 + u8::from(has_validation))?);
        }
        let whole = whole.context("the training part is empty")?;
        let (train, multipliers) = match arguments.multiplier_share {
            0.0 => (whole.clone(), None),
            share => {
                // Another seed than that of the split, whose order this would only repeat.
                let mut parts = whole.split(&[1.0 - share, share], !arguments.seed)?.into_iter();
                (parts.next().flatten().context("the training part is empty")?, parts.next().flatten())
            }
        };
        Ok(Parts { train, multipliers, validation, test, whole })
    }
}

fn trained(arguments: &TrainArguments) -> anyhow::Result<(TrainingReport, Model, Option<String>)> {
    let table = &arguments.table;
    let tables: [&[String]; 3] = [&table.tables, &arguments.validation, &arguments.test];
    let rows = load::load_rows(&tables, table, &arguments.features, arguments.output.quiet)?;
    let parts = Parts::new(&rows, arguments)?;
    let goal = stated(arguments);
    let problem = problem(arguments, &rows.examples, arguments.method == MethodChoice::Constrained)?;
    let mut notes = Vec::new();
    if !rows.ignored.is_empty() {
        let names: Vec<String> = rows.ignored.iter().map(|name| format!("{:?}", plain(name))).collect();
        notes.push(format!(
            "columns of text are no features unless --features names them: {}",
            names.join(", ")
        ));
    }

    let mut names = rows.features.clone();
    if let (Some(_), Some(name)) = (arguments.group_aware, &table.protected)
        && !names.contains(name)
    {
        names.push(name.clone());
    }
    let columns: Vec<&Column> = names.iter().filter_map(|name| rows.table.column(name)).collect();
    let learned: Vec<u32> = parts.whole.example_rows().iter().map(|&row| rows.kept[row as usize]).collect();
    let encoder = Encoder::learn(&columns, Some(&learned), !arguments.no_standardize)?;
    let encoded = encoder.encode(&rows.table)?;
    notes.extend(encoded.notes.iter().map(|note| note.to_string()));
    let mut features = encoded.features;
    if rows.kept.len() < features.rows() {
        features = features.select(&rows.kept);
    }
    let groups = match arguments.group_aware {
        None => GroupUse::Blind,
        Some(_) if table.protected.is_some() => GroupUse::Blind,
        Some(_) if table.group.is_empty() => {
            bail!("--group-aware needs a protected attribute: name its column with --group or --protected")
        }
        Some(way) => {
            let k = rows.examples.groups().len();
            features = features.with_codes(rows.examples.codes_by_row())?;
            match way {
                GroupAware::Weights => GroupUse::Weights { groups: k },
                GroupAware::Offsets => GroupUse::Offsets { groups: k },
            }
        }
    };
    let regression = problem.uses(Rate::Mse);
    let width = features.width();
    let scorer = match arguments.model {
        ModelChoice::Linear => {
            let start = if regression { 0.0 } else { 1.0 };
            Architecture::Linear(Linear { width, intercept: regression, start, groups })
        }
        ModelChoice::Mlp => {
            let hidden = arguments.hidden.iter().map(|&units| units as usize).collect();
            Architecture::Mlp(Mlp { width, hidden, groups })
        }
    };

    let started = Instant::now();
    let settings = settings(arguments);
    let done = play(arguments, &problem, &scorer, &features, &parts, &settings)?;
    let (average, ties) = table.how();
    let measure =
        Settings { average, ties, confidence: arguments.confidence, min_pairs: 1, seed: arguments.seed };
    // With no constraints in the game they are still reported.
    let full = self::problem(arguments, &rows.examples, true)?;
    let mut evaluated = Vec::new();
    for (name, part) in [
        ("train", Some(&parts.whole)),
        ("validation", parts.validation.as_ref()),
        ("test", parts.test.as_ref()),
    ] {
        if let Some(examples) = part {
            let evaluation = evaluate(&full, &scorer, &done.components, examples, &features, &measure)?;
            evaluated.push(TrainingPart { name, evaluation });
        }
    }
    let model = Model {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: scorer,
        encoder,
        groups: groups
            .groups()
            .map(|_| ModelGroups { columns: table.group.clone(), names: rows.examples.groups().to_vec() }),
        query: rows.query.clone(),
        components: done.components.clone(),
        goal: goal.clone(),
        seed: arguments.seed,
        status: done.status.name().to_owned(),
    };
    let report = TrainingReport {
        goal,
        method: match arguments.method {
            MethodChoice::Constrained => "constrained",
            MethodChoice::Unconstrained => "unconstrained",
        },
        model: match arguments.model {
            ModelChoice::Linear => "linear",
            ModelChoice::Mlp => "mlp",
        },
        features: model.encoder.names(),
        group_aware: arguments.group_aware.is_some(),
        seed: arguments.seed,
        iterations: arguments.iterations,
        seconds: started.elapsed().as_secs_f64(),
        trained: done,
        parts: evaluated,
        tables: rows.notes.tables.clone(),
        notes,
        file: arguments.output_file.display().to_string(),
        deterministic: arguments.deterministic,
    };
    let page = match arguments.page.html {
        Some(_) => {
            let last = parts.test.as_ref().or(parts.validation.as_ref()).unwrap_or(&parts.whole);
            let unbound = report.trained.unbound.as_slice();
            let before = match unbound {
                [] => None,
                _ => Some(evaluate(&full, &model.architecture, unbound, last, &features, &measure)?),
            };
            Some(training_page(&report, before.as_ref(), &model.architecture, last, &features))
        }
        None => None,
    };
    Ok((report, model, page))
}

/// The goal in the user's words.
fn stated(arguments: &TrainArguments) -> Goal {
    let objective = match (&arguments.maximize, &arguments.minimize) {
        (_, Some(text)) => Objective::Minimize(text.clone()),
        (Some(text), None) => Objective::Maximize(text.clone()),
        (None, None) => Objective::Maximize("auc".to_owned()),
    };
    Goal { objective, subject_to: arguments.subject_to.clone() }
}

/// The goal as a problem, with or without its constraints.
fn problem(arguments: &TrainArguments, examples: &Examples, constrained: bool) -> anyhow::Result<Problem> {
    let words = examples.vocabulary();
    let objective = match &stated(arguments).objective {
        Objective::Maximize(text) => parse_maximize(text, &words)?,
        Objective::Minimize(text) => parse_minimize(text, &words)?,
    };
    let parse = |text: &String| parse_constraint(text, &words);
    let constraints: Vec<Constraint> = arguments.subject_to.iter().map(parse).collect::<Result<_, _>>()?;
    let enforced: &[Constraint] = if constrained { &constraints } else { &[] };
    Ok(Problem::new(&objective, arguments.minimize.is_none(), enforced)?)
}

fn settings(arguments: &TrainArguments) -> TrainSettings {
    let (average, _) = arguments.table.how();
    let mut settings = TrainSettings {
        iterations: arguments.iterations,
        snapshots: arguments.snapshots.min(arguments.iterations),
        player: arguments.player(),
        surrogate: match arguments.surrogate {
            SurrogateChoice::Hinge => Kind::Hinge,
            SurrogateChoice::SquaredHinge => Kind::SquaredHinge,
            SurrogateChoice::Ramp => Kind::Ramp,
        },
        average,
        batch: arguments.batch,
        seed: arguments.seed,
        time_limit: arguments.time_limit,
        answer: arguments.answer(),
        ..TrainSettings::default()
    };
    if !arguments.step_size.is_empty() {
        settings.step_sizes = arguments.step_size.clone();
    }
    settings
}

fn play(
    arguments: &TrainArguments,
    problem: &Problem,
    scorer: &Architecture,
    features: &Features,
    parts: &Parts,
    settings: &TrainSettings,
) -> anyhow::Result<Trained> {
    let checkpoint = beside(&arguments.output_file, ".checkpoint");
    let resume = match arguments.resume && checkpoint.exists() {
        true => Some(read_checkpoint(&checkpoint)?),
        false => None,
    };
    listen();
    let bar = TrainProgress::new(arguments.output.quiet);
    let save = |state: &Checkpoint| {
        // A full disk is no reason to lose the model.
        let written = state.to_json().map_err(anyhow::Error::from);
        if let Err(error) = written.and_then(|text| write_file(&checkpoint, text.as_bytes())) {
            bar.warn(&format!("warning: no checkpoint: {error:#}"));
        }
    };
    let progress = |progress: &_| {
        bar.update(progress);
        INTERRUPTS.load(Ordering::Relaxed) == 0
    };
    let data = Data {
        features,
        train: &parts.train,
        multipliers: parts.multipliers.as_ref(),
        validation: parts.validation.as_ref(),
    };
    let watch = Watch { progress: &progress, save: &save, save_every: SAVE_EVERY, resume };
    Ok(train(problem, scorer, &data, settings, watch)?)
}

fn read_checkpoint(path: &Path) -> anyhow::Result<Checkpoint> {
    let place = || format!("can't resume from {}", path.display());
    let text = std::fs::read_to_string(path).with_context(place)?;
    Checkpoint::from_json(&text).with_context(place)
}

/// The first Ctrl-C ends the training, the second one the program.
fn listen() {
    // Without a handler Ctrl-C ends the program at once, which is no harm.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTS.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
    });
}
