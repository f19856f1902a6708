//! The paper's experiments: what is trained on which data, and what the paper found.

use crate::data::{self, DataError};
use crate::dataset::Dataset;
use crate::simulated::SimulatedTask;
use pairity::goals::{Criterion, Goal, Objective};
use pairity::learners::ScorerKind;
use pairity::methods::kallus_zhou::LogisticGrid;
use pairity::methods::named;
use pairity::model::exposure::Utilities;
use pairity::pairs::SurrogateKind;
use pairity::rates::Average;
use pairity::run::{FitRequest, GroupAware, TrainRequest};
use pairity::solvers::{Select, SolverKind};
use std::path::{Path, PathBuf};

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
    /// What is trained; data, seed and split come from the run, and the steps unless fewer are enough.
    pub request: TrainRequest,
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
    /// What a reader should know of how it is run.
    pub notes: Vec<String>,
    /// Whether a simulated task has the means that the paper prints, which are not those it used.
    pub as_printed: bool,
    /// The name of its data.
    pub(crate) data: &'static str,
}

/// Steps of text networks, each of which is slow.
const TEXT_STEPS: usize = 400;

/// What is also done with a linear scorer of terms, and what it is called.
const TERMS: [(&str, &str); 6] = [
    ("unconstrained", "unconstrained, terms"),
    ("debiased", "debiased, terms"),
    ("kallus-zhou", "kallus-zhou, terms"),
    ("beutel", "beutel, terms"),
    ("constrained", "constrained, terms"),
    ("robust", "robust, terms"),
];

/// The columns of the paper's tables.
const METHODS: [&str; 7] = [
    "unconstrained",
    "debiased",
    "singh-joachims (impact)",
    "singh-joachims (treatment)",
    "kallus-zhou",
    "beutel",
    "constrained",
];

/// What is most likely meant by the paper, beside our own.
const SINGH_JOACHIMS_LIKELY: [&str; 2] =
    ["singh-joachims (impact), likely", "singh-joachims (treatment), likely"];
const KALLUS_ZHOU_LIKELY: &str = "kallus-zhou, likely";

/// What the paper did not try.
const NO: f64 = f64::NAN;

impl Experiment {
    /// All experiments.
    pub fn all() -> Vec<Experiment> {
        Experiment::as_stated().into_iter().map(Experiment::with_likely_readings).collect()
    }

    fn as_stated() -> Vec<Experiment> {
        use Criterion::{Continuous, CrossGroup, Marginal, WithinGroup};
        vec![
            Experiment::new(
                "simulated",
                "simulated, two groups",
                &[CrossGroup],
                [[0.92, 0.92, 0.88, 0.84, 0.91, 0.84, 0.86], [0.28, 0.28, 0.14, 0.05, 0.12, 0.04, 0.01]],
            )
            .robust("min(auc, A[0 > 1], A[1 > 0])", 0.86, 0.02)
            .also("constrained", "group-aware", |own| {
                own.request.fit.group_aware = Some(GroupAware::Weights);
                own.published = None;
            })
            .with_columns(),
            Experiment::new(
                "simulated-all",
                "simulated, two groups, all entries",
                &[CrossGroup, WithinGroup],
                [[0.92, 0.92, NO, NO, NO, NO, 0.75], [0.28, 0.28, NO, NO, NO, NO, 0.05]],
            )
            .on("simulated")
            .robust("min(A[0 > 1], A[1 > 0]) + min(A[0 > 0], A[1 > 1])", 0.89, 0.05)
            .with_columns(),
            Experiment::new(
                "simulated-marginal",
                "simulated, three groups",
                &[Marginal],
                [[0.95, NO, NO, NO, NO, NO, 0.72], [0.28, NO, NO, NO, NO, NO, 0.03]],
            )
            .on("simulated-3")
            .robust("min(A[0 > *], A[1 > *], A[2 > *])", 0.91, 0.07)
            .with_columns(),
            Experiment::new(
                "business",
                "business matching (synthetic stand-in)",
                &[Marginal],
                [[0.70, 0.70, NO, NO, 0.66, 0.69, 0.68], [0.06, 0.06, NO, NO, 0.00, 0.05, 0.00]],
            )
            .robust("min(A[chain > *], A[\"non-chain\" > *])", 0.68, 0.07)
            .each(|fit| fit.scorer = ScorerKind::Mlp)
            .with_columns(),
            Experiment::new(
                "wiki",
                "Wikipedia comments, toxicity, the word \"gay\"",
                &[CrossGroup],
                [[0.97, 0.97, NO, NO, 0.97, 0.95, 0.96], [0.10, 0.01, NO, NO, 0.04, 0.01, 0.01]],
            )
            .robust("min(auc, A[other > gay], A[gay > other])", 0.94, 0.02)
            .with_terms(),
            // Rates averaged over queries, both in training and in the table: where queries differ much in
            // size, the paper's numbers are those of the average query.
            Experiment::new(
                "w3c",
                "W3C experts, gender",
                &[CrossGroup],
                [[0.53, 0.54, 0.37, 0.38, 0.45, 0.55, 0.54], [0.96, 0.90, 0.85, 0.92, 0.65, 0.09, 0.10]],
            )
            .robust("min(auc, A[male > female], A[female > male])", 0.54, 0.14)
            .each(|fit| fit.measure.average = Average::Queries)
            .with_columns(),
            // With a bounded surrogate, a few rows that are far off do not decide where the rest goes.
            Experiment::new(
                "crime-ranking",
                "Communities and Crime, ranking, race percentage",
                &[Continuous],
                [[0.93, NO, NO, NO, NO, 0.91, 0.81], [0.18, NO, NO, NO, NO, 0.10, 0.04]],
            )
            .also("constrained", "constrained, ramp", |own| own.request.fit.surrogate = SurrogateKind::Ramp)
            .robust("min(auc, A[z > z'], A[z < z'])", 0.86, 0.04)
            .with_columns(),
            // The paper's way beside ours, as it was where data is large: a hundred rows or queries at a step.
            Experiment::new(
                "law",
                "law school, grades, gender",
                &[CrossGroup],
                [[0.142, NO, NO, NO, NO, 0.167, 0.143], [0.30, NO, NO, NO, NO, 0.06, 0.02]],
            )
            .of_errors()
            .also("unconstrained", "unconstrained, batches", |own| own.request.fit.batch = Some(100))
            .also("beutel", "beutel, batches", |own| own.request.fit.batch = Some(100))
            .also("constrained", "constrained, batches", |own| own.request.fit.batch = Some(100))
            .with_columns(),
            Experiment::new(
                "crime-regression",
                "Communities and Crime, regression, race percentage",
                &[Continuous],
                [[0.021, NO, NO, NO, NO, 0.033, 0.028], [0.33, NO, NO, NO, NO, 0.02, 0.03]],
            )
            .of_errors()
            .with_columns(),
        ]
    }

    /// The experiment of a name.
    pub fn of(name: &str) -> Option<Experiment> {
        Experiment::all().into_iter().find(|experiment| experiment.name == name)
    }

    /// A ranking experiment on data of the same name, with the objectives and the violations that the paper
    /// found. Whatever is trained without constraints is measured by them all the same.
    fn new(
        name: &'static str,
        title: &'static str,
        violation: &[Criterion],
        [objectives, violations]: [[f64; METHODS.len()]; 2],
    ) -> Experiment {
        let subject_to: Vec<String> = violation.iter().map(|own| format!("{} <= 0.01", own.name())).collect();
        let found = METHODS.iter().zip(objectives).zip(violations).filter(|((_, found), _)| !found.is_nan());
        let contender = |((&method, objective), violation): ((&&'static str, f64), f64)| {
            let request = TrainRequest { method: named(method)?, ..goal("auc", &subject_to) };
            let published = Some(Published { objective, violation });
            Some(Contender { method, request, published })
        };
        Experiment {
            name,
            title,
            violation: violation.to_vec(),
            objective: "auc",
            contenders: found.filter_map(contender).collect(),
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
        self.contenders.push(Contender { method: "robust", request, published });
        self
    }

    /// With another contender, which is one of them with a change.
    fn also(mut self, of: &str, method: &'static str, change: fn(&mut Contender)) -> Experiment {
        if let Some(one) = self.contenders.iter().find(|contender| contender.method == of) {
            let mut own = Contender { method, ..one.clone() };
            change(&mut own);
            self.contenders.push(own);
        }
        self
    }

    /// With our own solver beside the paper's: column generation, and answers that are selected on rows which their
    /// scorers have not seen.
    fn with_columns(mut self) -> Experiment {
        self.notes.push(
            "pairity: column generation in place of the game, selected by cross-fitting on all rows but the test rows"
                .to_owned(),
        );
        self.also("constrained", "pairity", |own| {
            (own.request.fit.solver, own.request.fit.select) =
                (Some(SolverKind::Columns), Some(Select::CrossFit));
            own.published = None;
        })
    }

    /// With what the paper most likely did beside what we do, where it does not say how a method was applied.
    fn with_likely_readings(mut self) -> Experiment {
        let likely = |own: Contender| {
            let mut other = own.clone();
            let options = &mut other.request.fit.options;
            (other.method, options.utilities, options.logistic) = match own.method {
                "singh-joachims (impact)" => (SINGH_JOACHIMS_LIKELY[0], Utilities::Raw, options.logistic),
                "singh-joachims (treatment)" => (SINGH_JOACHIMS_LIKELY[1], Utilities::Raw, options.logistic),
                "kallus-zhou" => (KALLUS_ZHOU_LIKELY, options.utilities, LogisticGrid::Likely),
                _ => return vec![own],
            };
            vec![own, other]
        };
        let stated = self.contenders.len();
        self.contenders = self.contenders.into_iter().flat_map(likely).collect();
        if self.contenders.len() > stated {
            self.notes.push(
                "likely: the paper's likely reading, where it does not say how a method was applied; Kallus & Zhou \
                 with the map on the disadvantaged group and raw scores of the other, Singh & Joachims with signed raw \
                 scores as utilities"
                    .to_owned(),
            );
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

    /// The text network in mini-batches, as in the paper, and beside it linear scorers of words and n-grams of characters:
    /// those that are tuned afterwards start from the unconstrained one, with weight decay chosen on validation, and what
    /// is trained to a goal sees other rows by cross-fitting, since the rows that are fit are all in order.
    fn with_terms(mut self) -> Experiment {
        let networks = self.contenders.len();
        for (of, method) in TERMS {
            self = self.also(of, method, |own| {
                own.published = None;
                own.request.fit.solver = Some(SolverKind::Columns);
            });
        }
        for contender in &mut self.contenders[..networks] {
            contender.request.fit.scorer = ScorerKind::TextCnn;
            contender.request.fit.step_sizes = vec![0.001];
            contender.request.fit.iterations = TEXT_STEPS;
        }
        for contender in &mut self.contenders[networks..] {
            match contender.method {
                "constrained, terms" | "robust, terms" => {
                    contender.request.fit.select = Some(Select::CrossFit)
                }
                "beutel, terms" => {
                    (contender.request.fit.step_sizes, contender.request.fit.iterations) =
                        (vec![0.001, 0.01], TEXT_STEPS);
                }
                _ => {}
            }
        }
        let start = "text networks start from random embeddings and make at most";
        self.notes = vec![
            format!("{start} {TEXT_STEPS} steps of size 0.001, 100 comments each"),
            "terms: linear scorers of words and n-grams of characters with weight decay, by column generation; \
             constrained and robust ones are selected by cross-fitting on all rows but the test rows"
                .to_owned(),
        ];
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

    /// The files of its data, where there are any.
    pub fn files(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        data::find(data::published(self.data), folder).unwrap_or_default()
    }

    /// The simulated task that its data is drawn from.
    pub fn task(&self) -> Option<SimulatedTask> {
        let task = SimulatedTask::named(self.data)?;
        Some(if self.as_printed { task.as_printed() } else { task })
    }
}

/// The paper's protocol with a linear scorer, all step sizes.
fn goal(maximize: &str, subject_to: &[String]) -> TrainRequest {
    let goal = Goal::new(Some(maximize.to_owned()), None, subject_to.to_vec());
    let (solver, select) = (Some(SolverKind::Paper), Some(Select::Validation));
    let fit = FitRequest { goal, iterations: usize::MAX, solver, select, ..FitRequest::default() };
    TrainRequest { fit, ..TrainRequest::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_the_paper_has_its_contender() {
        let counts =
            Experiment::all().iter().map(|experiment| experiment.contenders.len()).collect::<Vec<_>>();
        assert_eq!(counts, [13, 5, 4, 8, 13, 12, 6, 7, 4]);
        assert!(METHODS.iter().all(|method| named(method).is_some_and(|found| found.full_name == *method)));
    }
}
