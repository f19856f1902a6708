//! The paper's experiments: what is trained on which data, and what the paper found.

use crate::data;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::simulated::SimulatedTask;
use pairity::goals::Criterion;
use pairity::methods::Method;
use pairity::methods::beutel::Beutel;
use pairity::methods::constrained::Constrained;
use pairity::methods::debiased::Debiased;
use pairity::methods::kallus_zhou::KallusZhou;
use pairity::methods::singh_joachims::SinghJoachims;
use pairity::methods::unconstrained::Unconstrained;
use pairity::model::exposure::Exposure;
use pairity::pairs::SurrogateKind;
use pairity::rates::Average;
use pairity::run::{FitRequest, GroupAware, ScorerKind, TrainRequest};
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
    /// The name of a method, or of what the paper did not try.
    pub method: &'static str,
    /// What is trained; data, seed and split come from the run.
    pub request: TrainRequest,
    /// What the paper found, if it tried this.
    pub published: Option<Published>,
    /// Steps that are enough, where each is slow.
    pub most_steps: Option<usize>,
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
    /// What a reader should know of how it is run.
    pub notes: Vec<String>,
    /// Whether a simulated task has the means that the paper prints, which are not those it used.
    pub as_printed: bool,
    /// The name of its data.
    data: &'static str,
}

const CROSS: &[&str] = &["cross_group <= 0.01"];
const ENTRIES: &[&str] = &["cross_group <= 0.01", "within_group <= 0.01"];
const MARGINAL: &[&str] = &["marginal <= 0.01"];
const CONTINUOUS: &[&str] = &["continuous <= 0.01"];

const IMPACT: &dyn Method = &SinghJoachims(Exposure::Impact);
const TREATMENT: &dyn Method = &SinghJoachims(Exposure::Treatment);

/// Steps of text networks.
const TEXT_STEPS: usize = 400;

/// The names of all experiments.
pub const NAMES: [&str; 9] = [
    "simulated",
    "simulated-all",
    "simulated-marginal",
    "business",
    "wiki",
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
            let as_printed = false;
            let notes = Vec::new();
            Some(Experiment { name, title, violation, objective: "auc", contenders, notes, as_printed, data })
        };
        match name {
            "simulated" => ranking(
                "simulated, two groups",
                vec![CrossGroup],
                "simulated",
                vec![
                    plain(CROSS, p(0.92, 0.28)),
                    by(&Debiased, CROSS, p(0.92, 0.28)),
                    by(IMPACT, CROSS, p(0.88, 0.14)),
                    by(TREATMENT, CROSS, p(0.84, 0.05)),
                    by(&KallusZhou, CROSS, p(0.91, 0.12)),
                    by(&Beutel, CROSS, p(0.84, 0.04)),
                    by(&Constrained, CROSS, p(0.86, 0.01)),
                    robust("min(auc, A[0 > 1], A[1 > 0])", p(0.86, 0.02)),
                    aware(CROSS),
                ],
            ),
            "simulated-all" => ranking(
                "simulated, two groups, all entries",
                vec![CrossGroup, WithinGroup],
                "simulated",
                vec![
                    plain(ENTRIES, p(0.92, 0.28)),
                    by(&Debiased, ENTRIES, p(0.92, 0.28)),
                    by(&Constrained, ENTRIES, p(0.75, 0.05)),
                    robust("min(A[0 > 1], A[1 > 0]) + min(A[0 > 0], A[1 > 1])", p(0.89, 0.05)),
                ],
            ),
            "simulated-marginal" => ranking(
                "simulated, three groups",
                vec![Marginal],
                "simulated-3",
                vec![
                    plain(MARGINAL, p(0.95, 0.28)),
                    by(&Constrained, MARGINAL, p(0.72, 0.03)),
                    robust("min(A[0 > *], A[1 > *], A[2 > *])", p(0.91, 0.07)),
                ],
            ),
            "business" => ranking(
                "business matching (synthetic stand-in)",
                vec![Marginal],
                "business",
                [
                    plain(MARGINAL, p(0.70, 0.06)),
                    by(&Debiased, MARGINAL, p(0.70, 0.06)),
                    by(&KallusZhou, MARGINAL, p(0.66, 0.00)),
                    by(&Beutel, MARGINAL, p(0.69, 0.05)),
                    by(&Constrained, MARGINAL, p(0.68, 0.00)),
                    robust("min(A[chain > *], A[\"non-chain\" > *])", p(0.68, 0.07)),
                ]
                .map(with_network)
                .to_vec(),
            ),
            "wiki" => ranking(
                "Wikipedia comments, toxicity, the word \"gay\"",
                vec![CrossGroup],
                "wiki",
                [
                    plain(CROSS, p(0.97, 0.10)),
                    by(&Debiased, CROSS, p(0.97, 0.01)),
                    by(&KallusZhou, CROSS, p(0.97, 0.04)),
                    by(&Beutel, CROSS, p(0.95, 0.01)),
                    by(&Constrained, CROSS, p(0.96, 0.01)),
                    robust("min(auc, A[other > gay], A[gay > other])", p(0.94, 0.02)),
                ]
                .to_vec(),
            )
            .map(with_words),
            "w3c" => ranking(
                "W3C experts, gender",
                vec![CrossGroup],
                "w3c",
                [
                    plain(CROSS, p(0.53, 0.96)),
                    by(&Debiased, CROSS, p(0.54, 0.90)),
                    by(IMPACT, CROSS, p(0.37, 0.85)),
                    by(TREATMENT, CROSS, p(0.38, 0.92)),
                    by(&KallusZhou, CROSS, p(0.45, 0.65)),
                    by(&Beutel, CROSS, p(0.55, 0.09)),
                    by(&Constrained, CROSS, p(0.54, 0.10)),
                    robust("min(auc, A[male > female], A[female > male])", p(0.54, 0.14)),
                ]
                .map(by_query)
                .to_vec(),
            ),
            "crime-ranking" => ranking(
                "Communities and Crime, ranking, race percentage",
                vec![Continuous],
                "crime-ranking",
                vec![
                    plain(CONTINUOUS, p(0.93, 0.18)),
                    by(&Beutel, CONTINUOUS, p(0.91, 0.10)),
                    by(&Constrained, CONTINUOUS, p(0.81, 0.04)),
                    with_ramp(by(&Constrained, CONTINUOUS, p(0.81, 0.04))),
                    robust("min(auc, A[z > z'], A[z < z'])", p(0.86, 0.04)),
                ],
            ),
            "law" => with_batches(regression(
                "law",
                "law school, grades, gender",
                CrossGroup,
                "law",
                CROSS,
                [p(0.142, 0.30), p(0.167, 0.06), p(0.143, 0.02)],
            )),
            "crime-regression" => regression(
                "crime-regression",
                "Communities and Crime, regression, race percentage",
                Continuous,
                "crime-regression",
                CONTINUOUS,
                [p(0.021, 0.33), p(0.033, 0.02), p(0.028, 0.03)],
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
    pub fn task(&self) -> Option<SimulatedTask> {
        let task = match self.data {
            "simulated" => SimulatedTask::two_groups(),
            "simulated-3" => SimulatedTask::three_groups(),
            _ => return None,
        };
        Some(if self.as_printed { task.as_printed() } else { task })
    }
}

/// Without constraints in training; what is bounded is measured all the same.
fn plain(subject_to: &[&str], published: Option<Published>) -> Contender {
    by(&Unconstrained, subject_to, published)
}

fn by(method: &'static dyn Method, subject_to: &[&str], published: Option<Published>) -> Contender {
    let request = TrainRequest { method, ..goal("auc", subject_to) };
    Contender { method: method.full_name(), request, published, most_steps: None }
}

/// The paper's protocol with a linear scorer, all step sizes.
fn goal(maximize: &str, subject_to: &[&str]) -> TrainRequest {
    let fit = FitRequest {
        maximize: Some(maximize.to_owned()),
        subject_to: subject_to.iter().map(|text| (*text).to_owned()).collect(),
        ..FitRequest::default()
    };
    TrainRequest { fit, ..TrainRequest::default() }
}

fn robust(maximize: &str, published: Option<Published>) -> Contender {
    Contender { method: "robust", request: goal(maximize, &[]), published, most_steps: None }
}

/// As the constrained one, with weights for each group, which the paper did not try.
fn aware(subject_to: &[&str]) -> Contender {
    let mut request = goal("auc", subject_to);
    request.fit.group_aware = Some(GroupAware::Weights);
    Contender { method: "group-aware", request, published: None, most_steps: None }
}

/// The text network in mini-batches, as in the paper, and beside it linear scorers of the words in exact steps
/// over all comments.
fn with_words(mut experiment: Experiment) -> Experiment {
    let words = experiment.contenders.iter().filter_map(|contender| {
        let method = match contender.method {
            "unconstrained" => "unconstrained, words",
            "constrained" => "constrained, words",
            "robust" => "robust, words",
            _ => return None,
        };
        Some(Contender { method, published: None, ..contender.clone() })
    });
    let words: Vec<Contender> = words.collect();
    for contender in &mut experiment.contenders {
        contender.request.fit.scorer = ScorerKind::TextCnn;
        contender.request.fit.step_sizes = vec![0.001];
        contender.most_steps = Some(TEXT_STEPS);
    }
    experiment.contenders.extend(words);
    experiment.notes = vec![
        format!(
            "text networks start from random embeddings and make at most {TEXT_STEPS} steps of size 0.001, 100 comments each"
        ),
        "words: linear scorers of the words that a comment has, with all comments in every step".to_owned(),
    ];
    experiment
}

/// With a bounded surrogate: a few rows that are far off do not decide where the rest goes.
fn with_ramp(mut contender: Contender) -> Contender {
    contender.method = "constrained, ramp";
    contender.request.fit.surrogate = SurrogateKind::Ramp;
    contender
}

/// Rates averaged over queries, both in training and in the table: where queries differ much in size, the
/// paper's numbers are those of the average query.
fn by_query(mut contender: Contender) -> Contender {
    contender.request.fit.measure.average = Average::Queries;
    contender
}

fn with_network(mut contender: Contender) -> Contender {
    contender.request.fit.scorer = ScorerKind::Mlp;
    contender
}

fn regression(
    name: &'static str,
    title: &'static str,
    criterion: Criterion,
    data: &'static str,
    subject_to: &[&str],
    published: [Option<Published>; 3],
) -> Option<Experiment> {
    let contender = |method: &'static dyn Method, published| {
        let mut contender = by(method, subject_to, published);
        contender.request.fit.maximize = None;
        contender.request.fit.minimize = Some("mse".to_owned());
        contender
    };
    let [unconstrained, beutel, constrained] = published;
    let contenders = vec![
        contender(&Unconstrained, unconstrained),
        contender(&Beutel, beutel),
        contender(&Constrained, constrained),
    ];
    let violation = vec![criterion];
    let (notes, as_printed) = (Vec::new(), false);
    Some(Experiment { name, title, violation, objective: "mse", contenders, notes, as_printed, data })
}

/// The paper's way beside ours.
fn with_batches(experiment: Option<Experiment>) -> Option<Experiment> {
    let mut experiment = experiment?;
    let again: Vec<Contender> = experiment.contenders.iter().map(in_batches).collect();
    experiment.contenders.extend(again);
    Some(experiment)
}

/// As the paper did where data is large: a hundred rows or queries at a step.
fn in_batches(contender: &Contender) -> Contender {
    let mut contender = contender.clone();
    contender.request.fit.batch = Some(100);
    contender.method = match contender.method {
        "unconstrained" => "unconstrained, batches",
        "beutel" => "beutel, batches",
        _ => "constrained, batches",
    };
    contender
}
