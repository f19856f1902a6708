//! `pairity adjust`: scores that can't be trained anew are shifted or mapped group by group, so that a goal
//! holds.

use crate::arguments::{Format, OutputArguments, TableArguments, confidence};
use crate::load::{self, Scored};
use crate::output;
use crate::progress::Progress;
use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use pairity::examples::Examples;
use pairity::goals::Problem;
use pairity::goals::{parse_constraint, parse_maximize};
use pairity::methods::quantile_match::Strength;
use pairity::methods::{Tuning, group_offset, kallus_zhou, quantile_match, x_order};
use pairity::metrics::{Measurement, Settings};
use pairity::goals::{Goal, Objective};
use pairity::tables::{AddColumns, Output, TableError, WholeFile};
use pairity_report::{AdjustReport, AdjustedPart, AdjustedValues, adjust_json, adjust_text, json_lines};
use std::path::PathBuf;
use std::process::ExitCode;

/// Below the list of options.
pub const HELP: &str = "\
Methods, all of which keep the order inside each group:
  group-offset    a constant is added to the scores of each group
  quantile-match  scores move toward those of the same quantile in all groups together, no further than
                  the goal needs (for statistical parity)
  x-order         the best merge of two groups' orders, by dynamic programming (Cui et al. 2021)
  kallus-zhou     one group's scores go through another logistic function (Kallus and Zhou 2019)

The map is chosen on a random half of the queries and reported on the other half, with intervals.

Exit codes:
  0  the goal is met on the rows that the map was chosen on
  1  it is not; the map misses it by as little as was found possible
  2  wrong arguments or data; no file is written

Example:
  pairity adjust people.csv --score score --label hired --query job --group gender \\
      --method group-offset --subject-to 'cross_group <= 0.01' -o adjusted.csv";

/// Arguments of `adjust`.
#[derive(Debug, Args)]
pub struct AdjustArguments {
    /// The table and its columns.
    #[command(flatten)]
    pub table: TableArguments,

    /// Column of the scores
    #[arg(long, value_name = "COL")]
    pub score: String,

    /// How scores are adjusted
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = Method::GroupOffset, hide_possible_values = true)]
    pub method: Method,

    /// What is to be large
    #[arg(long, value_name = "EXPR", default_value = "auc")]
    pub maximize: String,

    /// A bound that has to hold, such as 'cross_group <= 0.01'; repeat it for several
    #[arg(long = "subject-to", value_name = "EXPR", required = true)]
    pub subject_to: Vec<String>,

    /// How far --method quantile-match goes, from 0 to 1 (default: as far as the goal needs)
    #[arg(long, value_name = "T")]
    pub strength: Option<f64>,

    /// Where the table is written, with the adjusted scores in a new column
    #[arg(short, long = "output", value_name = "OUT")]
    pub out: Option<PathBuf>,

    /// Name of the new column
    #[arg(long, value_name = "NAME", default_value = "adjusted")]
    pub column: String,

    /// Share of the queries that the map is chosen on; the others test it. 1 leaves none
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = tuned_share)]
    pub tune: f64,

    /// Probability that an interval holds the true value
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: f64,

    /// Seed of the split: same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// `--method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// A constant for each group.
    GroupOffset,
    /// Toward common quantiles.
    QuantileMatch,
    /// The best merge of two orders.
    XOrder,
    /// A logistic function for one group.
    KallusZhou,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::GroupOffset => "group-offset",
            Method::QuantileMatch => "quantile-match",
            Method::XOrder => "x-order",
            Method::KallusZhou => "kallus-zhou",
        }
    }
}

fn tuned_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a number above 0 and up to 1 is needed, such as 0.5".to_owned()),
    }
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; no file has been written then.
pub fn run(arguments: &AdjustArguments) -> anyhow::Result<ExitCode> {
    let report = output::on_threads(&arguments.output, || adjusted(arguments))?;
    output::write(&match arguments.output.format {
        Format::Json => json_lines(&adjust_json(&report)),
        Format::Text => adjust_text(&report, &output::look()),
    })?;
    Ok(ExitCode::from(u8::from(!report.adjusted.meets_goal)))
}

fn adjusted(arguments: &AdjustArguments) -> anyhow::Result<AdjustReport> {
    let Scored { source, scores, examples, every } =
        load::load_scored(&arguments.table, &arguments.score, arguments.output.quiet)?;
    let words = examples.vocabulary();
    let constraints = arguments
        .subject_to
        .iter()
        .map(|text| parse_constraint(text, &words))
        .collect::<Result<Vec<_>, _>>()?;
    let problem = Problem::new(&parse_maximize(&arguments.maximize, &words)?, true, &constraints)?;
    let (average, ties) = arguments.table.how();
    let settings =
        Settings { average, ties, confidence: arguments.confidence, min_pairs: 1, seed: arguments.seed };

    let mut folds = examples.split(&[arguments.tune, 1.0 - arguments.tune], arguments.seed)?.into_iter();
    let tuned = folds.next().flatten().unwrap_or(examples);
    let test = folds.next().flatten();
    let tuning = Tuning { examples: &tuned, scores: &scores, problem: &problem, average };
    if arguments.strength.is_some() && arguments.method != Method::QuantileMatch {
        bail!("--strength belongs to --method quantile-match, not to {}", arguments.method.name());
    }
    let adjusted = match arguments.method {
        Method::GroupOffset => group_offset::adjust(&tuning)?,
        Method::QuantileMatch => {
            quantile_match::adjust(&tuning, arguments.strength.map_or(Strength::Smallest, Strength::Given))?
        }
        Method::XOrder => x_order::adjust(&tuning, None)?,
        Method::KallusZhou => kallus_zhou::adjust(&tuning)?,
    };

    // The scores of the kept rows are measured; those of all rows are written.
    let applied = adjusted.adjustment.apply(&scores, every.kept_groups.as_ref())?;
    let measure = |part: &Examples, scores: &[f64]| -> anyhow::Result<AdjustedValues> {
        let measured = Measurement::new(part, scores, &settings)?;
        Ok(AdjustedValues {
            objective: measured.expression(&problem.stated),
            checks: problem.constraints.iter().map(|constraint| measured.check(constraint)).collect(),
        })
    };
    let mut parts = Vec::new();
    for (name, part) in [("tuned", Some(&tuned)), ("test", test.as_ref())] {
        if let Some(part) = part {
            let (before, after) = (measure(part, &scores)?, measure(part, &applied.scores)?);
            parts.push(AdjustedPart { name, rows: part.len(), before, after });
        }
    }
    if let Some(path) = &arguments.out {
        let name = path.display().to_string();
        if source.reads(path) {
            return Err(TableError::OutputIsInput { file: name }.into());
        }
        if let Some(row) = every.scores.iter().position(|score| score.is_nan()) {
            bail!(
                "{} has no score, so it can't be adjusted: fill in the cell or drop the row",
                every.table.locate(row)
            );
        }
        let all = adjusted.adjustment.apply(&every.scores, every.groups.as_ref())?;
        let copy =
            AddColumns::plan(&source, &[&arguments.column], Output::of(path)?).map_err(
                |error| match error {
                    TableError::NameTaken { .. } => anyhow!("{error}, with --column"),
                    other => other.into(),
                },
            )?;
        let progress = Progress::new(arguments.output.quiet);
        let failed = |cause| TableError::Write { file: name.clone(), cause };
        let mut file = WholeFile::create(path).map_err(failed)?;
        copy.write(&[&all.scores], &name, &mut file, &|done, all| progress.update(done, all))?;
        file.keep().map_err(failed)?;
    }
    Ok(AdjustReport {
        method: arguments.method.name(),
        goal: Goal {
            objective: Objective::Maximize(arguments.maximize.clone()),
            subject_to: arguments.subject_to.clone(),
        },
        adjusted,
        unknown: applied.unknown,
        parts,
        seed: arguments.seed,
        written: arguments.out.as_ref().map(|path| (arguments.column.clone(), path.display().to_string())),
    })
}
