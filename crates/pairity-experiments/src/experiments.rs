//! The paper's experiments: what is trained on which data, and what the paper found.

use crate::data;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::simulated::Task;
use crate::trial::{Shape, Trial};
use pairity::goals::Criterion;
use pairity::scorers::Objective;
use std::path::Path;

/// A value with the violation that goes with it, as the paper's table has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// AUC or mean squared error.
    pub objective: f64,
    /// The violation.
    pub violation: f64,
}

/// One way to train in an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// `unconstrained`, `constrained`, `robust` or `group-aware`.
    pub method: &'static str,
    /// What is trained.
    pub trial: Trial,
    /// What the paper found, if it tried this.
    pub published: Option<Published>,
}

/// An experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// The criteria whose largest is the violation shown.
    pub violation: Vec<Criterion>,
    /// The objective that is shown: `auc` or `mse`.
    pub objective: &'static str,
    /// What is compared.
    pub contenders: Vec<Contender>,
    /// The name of its data.
    data: &'static str,
}

/// The names of all experiments.
pub const NAMES: [&str; 8] = [
    "simulated",
    "simulated-all",
    "simulated-marginal",
    "business",
    "w3c",
    "crime-ranking",
    "law",
    "crime-regression",
];

impl Experiment {
    /// The experiment of a name.
    pub fn of(name: &str) -> Option<Experiment> {
        use Criterion::{Continuous, CrossGroup, Marginal, WithinGroup};
        let p = |objective, violation| Some(Published { objective, violation });
        let ranking = |title, violation, data, contenders| {
            let name = NAMES.into_iter().find(|known| *known == name)?;
            Some(Experiment { name, title, violation, objective: "auc", contenders, data })
        };
        match name {
            "simulated" => ranking(
                "simulated, two groups",
                vec![CrossGroup],
                "simulated",
                vec![
                    plain(p(0.92, 0.28)),
                    fair(&["cross_group <= 0.01"], p(0.86, 0.01)),
                    robust("min(auc, A[0 > 1], A[1 > 0])", p(0.86, 0.02)),
                    aware(&["cross_group <= 0.01"]),
                ],
            ),
            "simulated-all" => ranking(
                "simulated, two groups, all entries",
                vec![CrossGroup, WithinGroup],
                "simulated",
                vec![
                    plain(p(0.92, 0.28)),
                    fair(&["cross_group <= 0.01", "within_group <= 0.01"], p(0.75, 0.05)),
                    robust("min(A[0 > 1], A[1 > 0]) + min(A[0 > 0], A[1 > 1])", p(0.89, 0.05)),
                ],
            ),
            "simulated-marginal" => ranking(
                "simulated, three groups",
                vec![Marginal],
                "simulated-3",
                vec![
                    plain(p(0.95, 0.28)),
                    fair(&["marginal <= 0.01"], p(0.72, 0.03)),
                    robust("min(A[0 > *], A[1 > *], A[2 > *])", p(0.91, 0.07)),
                ],
            ),
            "business" => ranking(
                "business matching (synthetic stand-in)",
                vec![Marginal],
                "business",
                [
                    plain(p(0.70, 0.06)),
                    fair(&["marginal <= 0.01"], p(0.68, 0.00)),
                    robust("min(A[chain > *], A[\"non-chain\" > *])", p(0.68, 0.07)),
                ]
                .map(|contender| with_shape(contender, Shape::Mlp { hidden: vec![10] }))
                .to_vec(),
            ),
            "w3c" => ranking(
                "W3C experts, gender",
                vec![CrossGroup],
                "w3c",
                vec![
                    plain(p(0.53, 0.96)),
                    fair(&["cross_group <= 0.01"], p(0.54, 0.10)),
                    robust("min(auc, A[male > female], A[female > male])", p(0.54, 0.14)),
                ],
            ),
            "crime-ranking" => ranking(
                "Communities and Crime, ranking, race percentage",
                vec![Continuous],
                "crime-ranking",
                vec![
                    plain(p(0.93, 0.18)),
                    fair(&["continuous <= 0.01"], p(0.81, 0.04)),
                    robust("min(auc, A[z > z'], A[z < z'])", p(0.86, 0.04)),
                ],
            ),
            "law" => regression(
                "law",
                "law school, grades, gender",
                CrossGroup,
                "law",
                p(0.142, 0.30),
                ("cross_group <= 0.01", p(0.143, 0.02)),
            ),
            "crime-regression" => regression(
                "crime-regression",
                "Communities and Crime, regression, race percentage",
                Continuous,
                "crime-regression",
                p(0.021, 0.33),
                ("continuous <= 0.01", p(0.028, 0.03)),
            ),
            _ => None,
        }
    }

    /// The data for a seed: another draw of a simulation of so many queries, the same rows of a published
    /// set.
    ///
    /// # Errors
    /// Published data that is not there, or not as it was published.
    pub fn data(&self, seed: u64, queries: u32, folder: Option<&Path>) -> Result<Dataset, DataError> {
        match self.task() {
            Some(task) => Ok(task.draw(queries, seed).dataset(self.name)),
            None => data::load(self.data, folder, seed),
        }
    }

    /// The simulated task that its data is drawn from.
    pub fn task(&self) -> Option<Task> {
        match self.data {
            "simulated" => Some(Task::two_groups()),
            "simulated-3" => Some(Task::three_groups()),
            _ => None,
        }
    }
}

fn plain(published: Option<Published>) -> Contender {
    Contender { method: "unconstrained", trial: Trial::new("auc", &[]), published }
}

fn fair(subject_to: &[&str], published: Option<Published>) -> Contender {
    Contender { method: "constrained", trial: Trial::new("auc", subject_to), published }
}

fn robust(maximize: &str, published: Option<Published>) -> Contender {
    Contender { method: "robust", trial: Trial::new(maximize, &[]), published }
}

/// As the constrained one, with weights for each group, which the paper did not try.
fn aware(subject_to: &[&str]) -> Contender {
    let mut trial = Trial::new("auc", subject_to);
    trial.group_aware = true;
    Contender { method: "group-aware", trial, published: None }
}

fn with_shape(mut contender: Contender, shape: Shape) -> Contender {
    contender.trial.shape = shape;
    contender
}

fn regression(
    name: &'static str,
    title: &'static str,
    criterion: Criterion,
    data: &'static str,
    unconstrained: Option<Published>,
    (constraint, constrained): (&str, Option<Published>),
) -> Option<Experiment> {
    let contender = |method, subject_to: &[&str], published| {
        let mut trial = Trial::new("auc", subject_to);
        trial.goal.objective = Objective::Minimize("mse".to_owned());
        trial.shape = Shape::Linear { start: 0.0 };
        Contender { method, trial, published }
    };
    let contenders = vec![
        contender("unconstrained", &[], unconstrained),
        contender("constrained", &[constraint], constrained),
    ];
    Some(Experiment { name, title, violation: vec![criterion], objective: "mse", contenders, data })
}
