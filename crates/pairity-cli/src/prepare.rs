//! What every command that trains needs: rows, their parts, features, the goal and the shape of the scorer.

use crate::load::{self, Rows};
use crate::train_arguments::{FitArguments, GroupAware, ModelChoice, SurrogateChoice};
use anyhow::{Context, bail};
use pairity::examples::Examples;
use pairity::goals::{Goal, Objective, Problem};
use pairity::methods::Task;
use pairity::metrics::Settings;
use pairity::rates::Rate;
use pairity::scorers::text::{Embeddings, TextCnn, TextLayout};
use pairity::scorers::{Architecture, Encoder, Features, GroupUse, Linear, Mlp};
use pairity::surrogates::Kind;
use pairity::tables::Column;
use pairity::training::{Data, Parts, TrainSettings};
use pairity_report::plain;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Words of a text that --model text-cnn reads: the first so many.
const TEXT_LENGTH: usize = 250;

/// Scorers of --model text-cnn that are kept; each has a million parameters.
const CNN_SNAPSHOTS: usize = 20;

/// Texts that a step of --model text-cnn looks at.
const CNN_BATCH: usize = 100;

/// Step sizes that are tried for --model text-cnn.
const CNN_STEP_SIZES: [f64; 3] = [0.000_3, 0.001, 0.003];

/// The parts of the rows.
fn parts(rows: &Rows, arguments: &FitArguments) -> anyhow::Result<Parts> {
    // Tables are numbered as they are given, and a list that is empty has no number.
    let (has_validation, has_test) = (!arguments.validation.is_empty(), !arguments.test.is_empty());
    let from = |place: u8| -> anyhow::Result<Examples> {
        Ok(rows.examples.part(&rows.examples.units_where(|row| rows.origin[row] == place))?)
    };
    let shares = arguments.shares();
    let clash = |given: bool, share: f64, name: &str| {
        if given && share > 0.0 {
            bail!("--{name} gives a table for a part that --split also takes from TABLE: make that share 0")
        }
        Ok(())
    };
    clash(has_validation, shares[1], "validation")?;
    clash(has_test, shares[2], "test")?;
    let own = if has_validation || has_test { from(0)? } else { rows.examples.clone() };
    let mut parts = Parts::split(&own, shares, arguments.multiplier_share, arguments.seed)?;
    if has_validation {
        parts.validation = Some(from(1)?);
    }
    if has_test {
        parts.test = Some(from(1 + u8::from(has_validation))?);
    }
    Ok(parts)
}

/// Everything that training needs.
pub struct Prepared {
    /// The rows.
    pub rows: Rows,
    /// Their parts.
    pub parts: Parts,
    /// The goal in the user's words.
    pub goal: Goal,
    /// The goal, with its constraints.
    pub problem: Problem,
    /// What columns become.
    pub encoder: Encoder,
    /// The features of all rows.
    pub features: Features,
    /// The shape of the scorer.
    pub scorer: Architecture,
    /// How it is trained.
    pub settings: TrainSettings,
    /// How it is measured.
    pub measure: Settings,
    /// What happened to the data on the way.
    pub notes: Vec<String>,
}

impl Prepared {
    /// Reads, splits and encodes.
    ///
    /// # Errors
    /// Wrong arguments or data.
    pub fn new(arguments: &FitArguments) -> anyhow::Result<Prepared> {
        let table = &arguments.table;
        let tables: [&[String]; 3] = [&table.tables, &arguments.validation, &arguments.test];
        let (text, quiet) = (arguments.text.as_deref(), arguments.output.quiet);
        if arguments.model == ModelChoice::TextCnn && text.is_none() {
            bail!("--model text-cnn reads a text: name its column with --text");
        }
        if arguments.embeddings.is_some() && arguments.model != ModelChoice::TextCnn {
            bail!("--embeddings are for --model text-cnn: leave them out for {}", arguments.model.name());
        }
        let rows = load::load_rows(&tables, table, &arguments.features, text, quiet)?;
        let parts = parts(&rows, arguments)?;
        let goal = stated(arguments);
        let problem = Problem::of_goal(&goal, &rows.examples.vocabulary())?;
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
        let learned: Vec<u32> =
            parts.whole.example_rows().iter().map(|&row| rows.kept[row as usize]).collect();
        let mut encoder = match columns.is_empty() {
            true => Encoder::default(),
            false => Encoder::learn(&columns, Some(&learned), !arguments.no_standardize)?,
        };
        if let Some(column) = text.and_then(|name| rows.table.column(name)) {
            let layout = match arguments.model {
                ModelChoice::TextCnn => TextLayout::Sequence { length: TEXT_LENGTH },
                ModelChoice::Linear | ModelChoice::Mlp => TextLayout::Bag,
            };
            encoder = encoder.with_text(column, Some(&learned), arguments.vocabulary, layout)?;
        }
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
                bail!(
                    "--group-aware needs a protected attribute: name its column with --group or --protected"
                )
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
        let mut settings = settings(arguments);
        let regression = problem.uses(Rate::Mse);
        let width = features.width();
        let scorer = match arguments.model {
            ModelChoice::Linear => {
                let start = if regression || text.is_some() { 0.0 } else { 1.0 };
                Architecture::Linear(Linear { width, intercept: regression, start, groups })
            }
            ModelChoice::Mlp => {
                let hidden = arguments.hidden.iter().map(|&units| units as usize).collect();
                Architecture::Mlp(Mlp { width, hidden, groups })
            }
            ModelChoice::TextCnn => {
                let mut cnn = TextCnn { words: width, groups, ..TextCnn::default() };
                if let Some(file) = &arguments.embeddings {
                    let vectors = read_embeddings(file, &encoder)?;
                    notes.push(format!("{} of {width} words have a vector in the file", vectors.found()));
                    cnn.embedding = vectors.size();
                    settings.start = Some(cnn.start_from(&vectors, arguments.seed));
                }
                Architecture::TextCnn(cnn)
            }
        };
        scorer.check(&features)?;
        let (average, ties) = table.how();
        let measure =
            Settings { average, ties, confidence: arguments.confidence, min_pairs: 1, seed: arguments.seed };
        Ok(Prepared { rows, parts, goal, problem, encoder, features, scorer, settings, measure, notes })
    }

    /// What a method is asked for.
    pub fn task(&self) -> Task<'_> {
        let data = Data {
            features: &self.features,
            train: &self.parts.train,
            multipliers: self.parts.multipliers.as_ref(),
            validation: self.parts.validation.as_ref(),
        };
        Task { problem: &self.problem, scorer: &self.scorer, data, settings: &self.settings }
    }
}

/// The goal in the user's words.
fn stated(arguments: &FitArguments) -> Goal {
    let objective = match (&arguments.maximize, &arguments.minimize) {
        (_, Some(text)) => Objective::Minimize(text.clone()),
        (Some(text), None) => Objective::Maximize(text.clone()),
        (None, None) => Objective::Maximize("auc".to_owned()),
    };
    Goal { objective, subject_to: arguments.subject_to.clone() }
}

fn settings(arguments: &FitArguments) -> TrainSettings {
    let (average, _) = arguments.table.how();
    let cnn = arguments.model == ModelChoice::TextCnn;
    let (snapshots, batch) = if cnn { (CNN_SNAPSHOTS, Some(CNN_BATCH)) } else { (100, None) };
    let mut settings = TrainSettings {
        iterations: arguments.iterations,
        snapshots: arguments.snapshots.unwrap_or(snapshots).min(arguments.iterations),
        player: arguments.player(),
        surrogate: match arguments.surrogate {
            SurrogateChoice::Hinge => Kind::Hinge,
            SurrogateChoice::SquaredHinge => Kind::SquaredHinge,
            SurrogateChoice::Ramp => Kind::Ramp,
        },
        average,
        batch: arguments.batch.or(batch),
        seed: arguments.seed,
        time_limit: arguments.time_limit,
        ..TrainSettings::default()
    };
    match arguments.step_size.is_empty() {
        true if cnn => settings.step_sizes = CNN_STEP_SIZES.to_vec(),
        true => {}
        false => settings.step_sizes = arguments.step_size.clone(),
    }
    settings
}

fn read_embeddings(path: &Path, encoder: &Encoder) -> anyhow::Result<Embeddings> {
    let place = || format!("--embeddings {}", path.display());
    let file = File::open(path).with_context(place)?;
    let words = encoder.text().map_or(&[][..], |(_, words)| words);
    Embeddings::read(BufReader::new(file), words).with_context(place)
}
