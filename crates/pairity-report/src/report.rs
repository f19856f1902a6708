//! What is told about each kind of result: what came out of the engine, and what happened around it.

use pairity::metrics::Audit;
use pairity::run::{AdjustOutcome, Plane, ScoreOutcome, TrainOutcome};

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Higher scores rank higher.
    Score,
    /// Higher labels should rank higher.
    Label,
    /// Categorical protected attribute; there may be several.
    Group,
    /// Continuous protected attribute.
    Protected,
    /// Pairs are formed inside a query; several columns are combined.
    Query,
    /// Only pairs of rows that agree on it count; there may be several.
    Within,
    /// Only pairs whose first one is higher here count.
    Higher,
    /// Only pairs whose first one is lower here count.
    Lower,
    /// Weight of an example.
    Weight,
    /// What a pair counts.
    PairWeight,
    /// Names the rows.
    Id,
}

impl Role {
    /// What no row may lack, where it is asked for.
    pub const NEEDED: [Role; 8] = [
        Role::Score,
        Role::Label,
        Role::Weight,
        Role::PairWeight,
        Role::Query,
        Role::Within,
        Role::Higher,
        Role::Lower,
    ];

    /// The role as it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Role::Score => "score",
            Role::Label => "label",
            Role::Group => "group",
            Role::Protected => "protected",
            Role::Query => "query",
            Role::Within => "within",
            Role::Higher | Role::Lower => "pairs_where",
            Role::Weight => "weight",
            Role::PairWeight => "pair_weight",
            Role::Id => "id",
        }
    }

    /// The column as reports write it: its name, or which pairs it chooses.
    pub(crate) fn column(self, name: &str) -> String {
        match self {
            Role::Higher => format!("{name} > {name}'"),
            Role::Lower => format!("{name} < {name}'"),
            _ => name.to_owned(),
        }
    }
}

/// Rows that were dropped because they lack something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What they lack.
    pub role: Role,
    /// How many do; a row that lacks two things counts in both.
    pub rows: usize,
}

/// Where the examples came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    /// Names of the files.
    pub tables: Vec<String>,
    /// Columns by what they were used as.
    pub columns: Vec<(Role, String)>,
    /// What the rows have in common, if only some were asked for.
    pub filter: Option<String>,
    /// Groups that are not compared, with what they have.
    pub groups_left_out: Vec<String>,
    /// Number of rows in the files, of those asked for.
    pub rows_read: usize,
    /// Number of rows left out because something was missing.
    pub rows_dropped: usize,
    /// The first of them by id, where rows have ids.
    pub dropped_ids: Vec<String>,
    /// Why they were left out.
    pub missing: Vec<Missing>,
}

impl Notes {
    /// Adds what is known of further rows of the same tables.
    pub fn add(&mut self, more: Notes) {
        let before = std::mem::take(self);
        let listed = before.dropped_ids.len().max(more.dropped_ids.len());
        *self = Notes {
            rows_read: before.rows_read + more.rows_read,
            rows_dropped: before.rows_dropped + more.rows_dropped,
            dropped_ids: before.dropped_ids.into_iter().chain(more.dropped_ids).take(listed).collect(),
            ..more
        };
        for (own, before) in self.missing.iter_mut().zip(before.missing) {
            own.rows += before.rows;
        }
    }
}

/// An audit with the notes on its data.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditReport {
    /// What was measured.
    pub audit: Audit,
    /// What it was measured on.
    pub notes: Notes,
}

/// A training run, and where its model is.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingReport {
    /// What came out.
    pub run: TrainOutcome,
    /// Where the model was written, if it was.
    pub file: Option<String>,
}

/// Everything that is told about a scored table.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoringReport {
    /// Names of the files that were scored.
    pub tables: Vec<String>,
    /// The model's file.
    pub model: String,
    /// Where the scored table was written; `-` is standard output.
    pub output: String,
    /// The columns that were added.
    pub columns: Vec<String>,
    /// The columns of queries, if draws depend on some.
    pub query: Vec<String>,
    /// What came out.
    pub run: ScoreOutcome,
}

/// Adjusted scores, and where they are.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustReport {
    /// What came out.
    pub run: AdjustOutcome,
    /// The new column and the file that it was written to, if it was.
    pub written: Option<(String, String)>,
    /// A name for adjusted scores of new rows and the file that the map was saved to, if it was.
    pub model: Option<(String, String)>,
}

/// Everything that is told about the demo: scorers trained for several goals on the same simulated rows. Its
/// runs are named by their methods: one without a constraint, one with a bound on the gap, and a robust one.
/// Groups are 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoReport {
    /// The runs; the last part of each is the test part.
    pub runs: Vec<TrainingReport>,
    /// Number of simulated queries.
    pub queries: u32,
    /// Candidates of each.
    pub candidates: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Rows of two features, with the scorers.
    pub plane: Option<Plane>,
    /// Where the page is written.
    pub page: String,
}

/// One method of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Reproduced {
    /// The experiment: plain letters.
    pub experiment: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// How it was trained.
    pub method: &'static str,
    /// `auc` or `mse`.
    pub shown: &'static str,
    /// That, as mean and standard deviation over seeds.
    pub objective: (f64, f64),
    /// The violation, as mean and standard deviation over seeds.
    pub violation: (f64, f64),
    /// The paper's objective and violation.
    pub paper: Option<(f64, f64)>,
    /// Whether objective and violation agree with the paper's: a word for each.
    pub agreement: Option<(&'static str, &'static str)>,
    /// The matrix of accuracies, averaged over seeds.
    pub matrix: Vec<Vec<f64>>,
    /// Objective and violation over all that a simulated task could draw, where that is known.
    pub population: Option<(f64, f64)>,
    /// The objective of the goal that was reached, and the best that is possible, where that is known.
    pub limit: Option<(f64, f64)>,
    /// Number of seeds.
    pub seeds: u64,
    /// Time for all seeds.
    pub seconds: f64,
    /// Whether the rows were generated in place of ones that are not public.
    pub stand_in: bool,
    /// Whether the rows are only a sample of those that the paper used.
    pub sample: bool,
    /// What a reader should know of the data and of how it was trained.
    pub notes: Vec<String>,
}

/// Everything that is told about reproduced experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Reproduction {
    /// Experiment by experiment, method by method.
    pub lines: Vec<Reproduced>,
    /// Number of seeds.
    pub seeds: u64,
    /// What the values are of: "test rows".
    pub rows: &'static str,
    /// The command that makes it again.
    pub command: String,
}
