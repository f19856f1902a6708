//! Reproduced experiments, method by method beside the paper's values, and their JSON document: a list of
//! lines.

use serde_json::{Value, json};

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
    /// Experiment by experiment.
    pub lines: Vec<Reproduced>,
    /// Number of seeds.
    pub seeds: u64,
    /// What the values are of: "test rows".
    pub rows: &'static str,
    /// The command that makes it again.
    pub command: String,
}

impl Reproduced {
    /// Decimals of the objective.
    pub(crate) fn digits(&self) -> usize {
        if self.shown == "mse" { 4 } else { 3 }
    }

    /// Whether both values agree with the paper's, in a word or two.
    pub(crate) fn verdict(&self) -> String {
        self.agreement.map_or(String::new(), |(objective, violation)| match objective == violation {
            true => objective.to_owned(),
            false => format!("{objective} ({violation})"),
        })
    }
}

/// The experiments as one JSON document.
pub fn reproduction_json(report: &Reproduction) -> Value {
    let spread = |(mean, std): (f64, f64)| json!({"mean": mean, "std": std});
    let both = |(objective, violation): (f64, f64)| json!({"objective": objective, "violation": violation});
    let line = |line: &Reproduced| {
        json!({
            "experiment": line.experiment,
            "method": line.method,
            "objective": spread(line.objective),
            "violation": spread(line.violation),
            "matrix": line.matrix,
            "population": line.population.map(both),
            "agreement": line.agreement.map(|(objective, violation)| {
                json!({"objective": objective, "violation": violation})
            }),
            "paper": line.paper.map(both),
            "limit": line.limit.map(|(reached, limit)| json!({"reached": reached, "limit": limit})),
            "seeds": line.seeds,
            "seconds": line.seconds,
            "stand_in": line.stand_in,
            "sample": line.sample,
            "notes": line.notes,
        })
    };
    report.lines.iter().map(line).collect()
}
