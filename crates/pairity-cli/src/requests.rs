//! From options to requests, and the engine's errors in words of the options.

use crate::options::{CompareOptions, FitOptions, FrontierOptions, TableOptions, TrainOptions};
use anyhow::anyhow;
use pairity::goals::Goal;
use pairity::methods::{self, Method, MethodOptions};
use pairity::metrics::Settings;
use pairity::run::{CompareRequest, FitRequest, FrontierRequest, RunError, TrainRequest};
use pairity::solvers::Answer;

impl TableOptions {
    /// How rates are measured.
    pub fn measure(&self, confidence: f64, seed: u64) -> Settings {
        Settings { average: self.average, ties: self.ties, confidence, min_pairs: 1, seed }
    }
}

/// Every kind of some methods, or of all.
fn kinds(choices: &[&'static Method]) -> Vec<&'static Method> {
    let mut methods: Vec<&Method> = Vec::new();
    for choice in if choices.is_empty() { methods::ALL } else { choices } {
        for &method in methods::ALL.iter().filter(|method| method.name == choice.name) {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
    }
    methods
}

impl FitOptions {
    /// What is trained, for what, and how.
    pub fn request(&self) -> FitRequest {
        FitRequest {
            goal: Goal::new(self.maximize.clone(), self.minimize.clone(), self.subject_to.clone()),
            scorer: self.model,
            hidden: self.hidden.iter().map(|&units| units as usize).collect(),
            group_aware: self.group_aware,
            standardize: !self.no_standardize,
            vocabulary: self.vocabulary,
            split: self.split,
            own_validation: !self.validation.is_empty(),
            own_test: !self.test.is_empty(),
            multiplier_share: self.multiplier_share,
            player: self.player,
            surrogate: self.surrogate,
            iterations: self.iterations,
            snapshots: self.snapshots,
            step_sizes: self.step_size.clone(),
            batch: self.batch,
            time_limit: self.time_limit,
            options: MethodOptions {
                penalty: self.penalty,
                utilities: self.utilities,
                ..MethodOptions::default()
            },
            measure: self.table.measure(self.confidence, self.seed),
            seed: self.seed,
        }
    }

    /// An error of the engine in words of these options.
    pub fn explain(&self, error: RunError) -> anyhow::Error {
        match error {
            RunError::NoText => anyhow!("--model text-cnn reads a text: name its column with --text"),
            RunError::VectorsUnused(scorer) => {
                anyhow!("--embeddings are for --model text-cnn: leave them out for {scorer}")
            }
            RunError::PartTwice(part) => anyhow!(
                "--{part} gives a table for a part that --split also takes from TABLE: make that share 0"
            ),
            RunError::NoGroups => anyhow!(
                "--group-aware needs a protected attribute: name its column with --group or --protected"
            ),
            RunError::NoConstraints => {
                anyhow!("say what fair means, such as --subject-to 'cross_group <= 0.01'")
            }
            RunError::Bound(found) => anyhow!("--bounds has {found}; bounds are numbers of at least 0"),
            RunError::Vectors(cause) => match &self.embeddings {
                Some(path) => anyhow::Error::from(cause).context(format!("--embeddings {}", path.display())),
                None => cause.into(),
            },
            other => other.into(),
        }
    }
}

impl TrainOptions {
    /// What is to be trained.
    pub fn request(&self) -> TrainRequest {
        // Of several kinds of a method, the one that --exposure names.
        let kind = format!("{} ({})", self.method.name, self.exposure.name());
        TrainRequest {
            fit: self.fit.request(),
            method: methods::named(&kind).unwrap_or(self.method),
            answer: if self.deterministic { Answer::Deterministic } else { self.answer },
            pictures: self.fit.page.html.is_some(),
        }
    }
}

impl CompareOptions {
    /// What is compared.
    pub fn request(&self) -> CompareRequest {
        CompareRequest { fit: self.fit.request(), methods: kinds(&self.methods) }
    }
}

impl FrontierOptions {
    /// What is traced.
    pub fn request(&self) -> FrontierRequest {
        FrontierRequest { compared: self.compared.request(), bounds: self.bounds.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser;
    use pairity::learners::ScorerKind;

    fn trained(words: &str) -> TrainRequest {
        let line = format!("pairity train people.csv --label hired -o model.json {words}");
        match Options::try_parse_from(line.split_whitespace()).unwrap().command {
            Command::Train(options) => options.request(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_that_are_not_given_are_the_defaults_of_the_engine() {
        assert_eq!(trained(""), TrainRequest::default());
    }

    #[test]
    fn options_become_a_request() {
        let request = trained(
            "--model mlp --hidden 4,5 --group-aware --deterministic --split 1,0,0 --seed 3 --average queries \
             --method singh-joachims --exposure treatment --utilities sigmoid --html page.html --step-size 0.1",
        );
        assert_eq!((request.fit.scorer, &request.fit.hidden[..]), (ScorerKind::Mlp, &[4, 5][..]));
        assert_eq!(request.fit.group_aware, Some(pairity::run::GroupAware::Weights));
        assert_eq!((request.answer, request.fit.split), (Answer::Deterministic, Some([1.0, 0.0, 0.0])));
        assert_eq!((request.fit.seed, request.fit.measure.seed), (3, 3));
        assert_eq!(request.method.full_name, "singh-joachims (treatment)");
        assert!(request.pictures && request.fit.step_sizes == [0.1]);
    }
}
