//! The demo: scorers trained for several goals on the same simulated rows, and its JSON document of schema
//! `pairity.demo/1`.

use crate::training::{TrainingReport, training_json};
use pairity::run::Plane;
use pairity::solvers::Evaluation;
use serde_json::{Value, json};

/// Everything that is told about the demo. Its runs are named by their methods: one without a constraint,
/// one with a bound on the gap, and a robust one. Groups are 0 and 1.
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

/// Commands to run next.
pub(crate) const NEXT: [&str; 2] = [
    "pairity audit people.csv --score score --label hired --query job --group gender \\
    --check 'cross_group <= 0.1' --html audit.html",
    "pairity train people.csv --label hired --query job --group gender -o model.json \\
    --subject-to 'cross_group <= 0.01' --html training.html",
];

impl DemoReport {
    /// How each scorer does on rows that none has seen.
    pub(crate) fn tests(&self) -> Vec<&Evaluation> {
        self.runs.iter().filter_map(|run| run.parts.last()).map(|part| &part.evaluation).collect()
    }

    /// What was simulated.
    pub(crate) fn about(&self) -> String {
        format!(
            "Simulated searches (seed {}): in each of {} one of {} candidates is relevant. Group 1 is rare, and its \
             relevant candidates look like irrelevant ones of group 0. Three linear scorers that don't see the group \
             were trained on half of the searches and chosen on a quarter; this is the other quarter, with 95% \
             confidence intervals.",
            self.seed, self.queries, self.candidates
        )
    }

    /// What was found.
    pub(crate) fn meaning(&self) -> String {
        let percent = |test: &Evaluation, a: usize, b: usize| {
            test.audit.accuracy[a][b].value.map_or("?".to_owned(), |x| format!("{:.0}%", 100.0 * x))
        };
        let [plain, fair, _] = self.tests()[..] else { return String::new() };
        format!(
            "The best ranking for everyone together puts a relevant candidate of group 1 above an irrelevant one of \
             group 0 only {} of the time, against {} the other way around. The constrained scorer closes the gap, {} \
             and {}, at the price of some accuracy elsewhere; the robust one raises the worst of the three rates.",
            percent(plain, 1, 0),
            percent(plain, 0, 1),
            percent(fair, 1, 0),
            percent(fair, 0, 1),
        )
    }
}

/// The demo as one JSON document.
pub fn demo_json(report: &DemoReport) -> Value {
    let runs: Vec<Value> = report.runs.iter().map(training_json).collect();
    json!({"schema": "pairity.demo/1", "queries": report.queries, "runs": runs})
}
