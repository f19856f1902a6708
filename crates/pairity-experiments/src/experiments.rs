//! The paper's experiments: what is trained on which data, and what the paper found.

use crate::data;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::simulated::SimulatedTask;
use pairity::goals::{Criterion, Goal, Objective};
use pairity::learners::ScorerKind;
use pairity::methods::{
    BEUTEL, CONSTRAINED, DEBIASED, KALLUS_ZHOU, Method, SINGH_JOACHIMS_IMPACT as IMPACT,
    SINGH_JOACHIMS_TREATMENT as TREATMENT, UNCONSTRAINED,
};
use pairity::pairs::SurrogateKind;
use pairity::rates::Average;
use pairity::run::{FitRequest, GroupAware, TrainRequest};
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

/// Steps of text networks.
const TEXT_STEPS: usize = 400;

/// A method, and the objective and the violation that the paper found.
type Found = (&'static Method, f64, f64);

impl Experiment {
    /// All experiments.
    pub fn all() -> Vec<Experiment> {
        use Criterion::{Continuous, CrossGroup, Marginal, WithinGroup};
        vec![
            Experiment::new(
                "simulated",
                "simulated, two groups",
                &[CrossGroup],
                &[
                    (&UNCONSTRAINED, 0.92, 0.28),
                    (&DEBIASED, 0.92, 0.28),
                    (&IMPACT, 0.88, 0.14),
                    (&TREATMENT, 0.84, 0.05),
                    (&KALLUS_ZHOU, 0.91, 0.12),
                    (&BEUTEL, 0.84, 0.04),
                    (&CONSTRAINED, 0.86, 0.01),
                ],
            )
            .robust("min(auc, A[0 > 1], A[1 > 0])", 0.86, 0.02)
            .also("group-aware", |own| {
                own.request.fit.group_aware = Some(GroupAware::Weights);
                own.published = None;
            }),
            Experiment::new(
                "simulated-all",
                "simulated, two groups, all entries",
                &[CrossGroup, WithinGroup],
                &[(&UNCONSTRAINED, 0.92, 0.28), (&DEBIASED, 0.92, 0.28), (&CONSTRAINED, 0.75, 0.05)],
            )
            .on("simulated")
            .robust("min(A[0 > 1], A[1 > 0]) + min(A[0 > 0], A[1 > 1])", 0.89, 0.05),
            Experiment::new(
                "simulated-marginal",
                "simulated, three groups",
                &[Marginal],
                &[(&UNCONSTRAINED, 0.95, 0.28), (&CONSTRAINED, 0.72, 0.03)],
            )
            .on("simulated-3")
            .robust("min(A[0 > *], A[1 > *], A[2 > *])", 0.91, 0.07),
            Experiment::new(
                "business",
                "business matching (synthetic stand-in)",
                &[Marginal],
                &[
                    (&UNCONSTRAINED, 0.70, 0.06),
                    (&DEBIASED, 0.70, 0.06),
                    (&KALLUS_ZHOU, 0.66, 0.00),
                    (&BEUTEL, 0.69, 0.05),
                    (&CONSTRAINED, 0.68, 0.00),
                ],
            )
            .robust("min(A[chain > *], A[\"non-chain\" > *])", 0.68, 0.07)
            .each(|fit| fit.scorer = ScorerKind::Mlp),
            Experiment::new(
                "wiki",
                "Wikipedia comments, toxicity, the word \"gay\"",
                &[CrossGroup],
                &[
                    (&UNCONSTRAINED, 0.97, 0.10),
                    (&DEBIASED, 0.97, 0.01),
                    (&KALLUS_ZHOU, 0.97, 0.04),
                    (&BEUTEL, 0.95, 0.01),
                    (&CONSTRAINED, 0.96, 0.01),
                ],
            )
            .robust("min(auc, A[other > gay], A[gay > other])", 0.94, 0.02)
            .with_words(),
            // Rates averaged over queries, both in training and in the table: where queries differ much in
            // size, the paper's numbers are those of the average query.
            Experiment::new(
                "w3c",
                "W3C experts, gender",
                &[CrossGroup],
                &[
                    (&UNCONSTRAINED, 0.53, 0.96),
                    (&DEBIASED, 0.54, 0.90),
                    (&IMPACT, 0.37, 0.85),
                    (&TREATMENT, 0.38, 0.92),
                    (&KALLUS_ZHOU, 0.45, 0.65),
                    (&BEUTEL, 0.55, 0.09),
                    (&CONSTRAINED, 0.54, 0.10),
                ],
            )
            .robust("min(auc, A[male > female], A[female > male])", 0.54, 0.14)
            .each(|fit| fit.measure.average = Average::Queries),
            // With a bounded surrogate, a few rows that are far off do not decide where the rest goes.
            Experiment::new(
                "crime-ranking",
                "Communities and Crime, ranking, race percentage",
                &[Continuous],
                &[(&UNCONSTRAINED, 0.93, 0.18), (&BEUTEL, 0.91, 0.10), (&CONSTRAINED, 0.81, 0.04)],
            )
            .also("constrained, ramp", |own| own.request.fit.surrogate = SurrogateKind::Ramp)
            .robust("min(auc, A[z > z'], A[z < z'])", 0.86, 0.04),
            Experiment::new(
                "law",
                "law school, grades, gender",
                &[CrossGroup],
                &[(&UNCONSTRAINED, 0.142, 0.30), (&BEUTEL, 0.167, 0.06), (&CONSTRAINED, 0.143, 0.02)],
            )
            .of_errors()
            .with_batches(),
            Experiment::new(
                "crime-regression",
                "Communities and Crime, regression, race percentage",
                &[Continuous],
                &[(&UNCONSTRAINED, 0.021, 0.33), (&BEUTEL, 0.033, 0.02), (&CONSTRAINED, 0.028, 0.03)],
            )
            .of_errors(),
        ]
    }

    /// The experiment of a name.
    pub fn of(name: &str) -> Option<Experiment> {
        Experiment::all().into_iter().find(|experiment| experiment.name == name)
    }

    /// A ranking experiment on data of the same name. Whatever is trained without constraints is measured by
    /// them all the same.
    fn new(name: &'static str, title: &'static str, violation: &[Criterion], found: &[Found]) -> Experiment {
        let subject_to: Vec<String> = violation.iter().map(|own| format!("{} <= 0.01", own.name())).collect();
        let contender = |&(method, objective, violation): &Found| Contender {
            method: method.full_name,
            request: TrainRequest { method, ..goal("auc", &subject_to) },
            published: Some(Published { objective, violation }),
            most_steps: None,
        };
        Experiment {
            name,
            title,
            violation: violation.to_vec(),
            objective: "auc",
            contenders: found.iter().map(contender).collect(),
            notes: Vec::new(),
            as_printed: false,
            data: name,
        }
    }

    fn on(self, data: &'static str) -> Experiment {
        Experiment { data, ..self }
    }

    fn robust(mut self, maximize: &str, objective: f64, violation: f64) -> Experiment {
        let (request, published) = (goal(maximize, &[]), Some(Published { objective, violation }));
        self.contenders.push(Contender { method: "robust", request, published, most_steps: None });
        self
    }

    /// With another contender, which is the constrained one with a change.
    fn also(mut self, method: &'static str, change: fn(&mut Contender)) -> Experiment {
        let constrained = self.contenders.iter().find(|contender| contender.method == "constrained");
        if let Some(mut own) = constrained.cloned() {
            own.method = method;
            change(&mut own);
            self.contenders.push(own);
        }
        self
    }

    fn each(mut self, change: fn(&mut FitRequest)) -> Experiment {
        self.contenders.iter_mut().for_each(|contender| change(&mut contender.request.fit));
        self
    }

    /// With the mean squared error in place of the AUC.
    fn of_errors(self) -> Experiment {
        let minimize = |fit: &mut FitRequest| {
            fit.goal.objective = Objective::Minimize("mse".to_owned());
        };
        Experiment { objective: "mse", ..self.each(minimize) }
    }

    /// The text network in mini-batches, as in the paper, and beside it linear scorers of the words in exact
    /// steps over all comments.
    fn with_words(mut self) -> Experiment {
        let words = self.contenders.iter().filter_map(|contender| {
            let method = match contender.method {
                "unconstrained" => "unconstrained, words",
                "constrained" => "constrained, words",
                "robust" => "robust, words",
                _ => return None,
            };
            Some(Contender { method, published: None, ..contender.clone() })
        });
        let words: Vec<Contender> = words.collect();
        for contender in &mut self.contenders {
            contender.request.fit.scorer = ScorerKind::TextCnn;
            contender.request.fit.step_sizes = vec![0.001];
            contender.most_steps = Some(TEXT_STEPS);
        }
        self.contenders.extend(words);
        self.notes = vec![
            format!(
                "text networks start from random embeddings and make at most {TEXT_STEPS} steps of size 0.001, 100 comments each"
            ),
            "words: linear scorers of the words that a comment has, with all comments in every step"
                .to_owned(),
        ];
        self
    }

    /// The paper's way beside ours, as it was where data is large: a hundred rows or queries at a step.
    fn with_batches(mut self) -> Experiment {
        for mut contender in self.contenders.clone() {
            contender.request.fit.batch = Some(100);
            contender.method = match contender.method {
                "unconstrained" => "unconstrained, batches",
                "beutel" => "beutel, batches",
                _ => "constrained, batches",
            };
            self.contenders.push(contender);
        }
        self
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

/// The paper's protocol with a linear scorer, all step sizes.
fn goal(maximize: &str, subject_to: &[String]) -> TrainRequest {
    let goal = Goal::new(Some(maximize.to_owned()), None, subject_to.to_vec());
    let fit = FitRequest { goal, ..FitRequest::default() };
    TrainRequest { fit, ..TrainRequest::default() }
}
