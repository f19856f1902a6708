//! What every request that trains has in common, and its defaults.

use super::RunError;
use crate::goals::Goal;
use crate::learners::text::{Ngrams, TextLayout};
use crate::learners::{GroupUse, ScorerKind};
use crate::methods::{Method, MethodOptions, Stage};
use crate::metrics::Settings;
use crate::names::names;
use crate::pairs::SurrogateKind;
use crate::solvers::{Answer, Player, Select, SolverKind, TrainSettings, Within};
use std::time::Duration;

/// What is trained, for what, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRequest {
    /// What for.
    pub goal: Goal,
    /// The kind of scorer.
    pub scorer: ScorerKind,
    /// Units of the hidden layers of a network.
    pub hidden: Vec<usize>,
    /// Whether the scorer may use the protected attribute, and how.
    pub group_aware: Option<GroupAware>,
    /// Whether numbers get mean 0 and deviation 1.
    pub standardize: bool,
    /// Which terms of a text a linear scorer sees; words and n-grams of characters if nothing is said.
    pub ngrams: Option<Ngrams>,
    /// The most words, and the most n-grams of characters, of a text that are told apart; as many as the scorer's
    /// [layout](TextLayout::vocabulary) has if none is given.
    pub vocabulary: Option<usize>,
    /// Shares of training, validation and test; by default what is not given in rows of its own.
    pub split: Option<[f64; 3]>,
    /// Whether rows of the validation fold are given.
    pub own_validation: bool,
    /// Whether rows of the test fold are given.
    pub own_test: bool,
    /// Share of the training queries that only the constraints look at.
    pub multiplier_share: f64,
    /// What moves the scorer toward the goal; by default what [`FitRequest::way`] says.
    pub solver: Option<SolverKind>,
    /// What answers are selected on; by default what suits the solver.
    pub select: Option<Select>,
    /// Weight decay on standardized features, where the solver has one; found by itself if none is given.
    pub l2: Option<f64>,
    /// Who weighs the constraints.
    pub player: Player,
    /// What the scorer descends in place of rates.
    pub surrogate: SurrogateKind,
    /// Steps of each game.
    pub iterations: usize,
    /// Scorers that are kept on the way; by default 100, or 20 of a text network.
    pub snapshots: Option<usize>,
    /// Step sizes to try; the usual ones if none is given.
    pub step_sizes: Vec<f64>,
    /// Queries or rows that each step looks at; by default all, or 100 for a text network.
    pub batch: Option<usize>,
    /// Pairs inside parts of the rows alone, where workers that hold the features count them.
    pub within: Option<Within>,
    /// Snapshots in a row that are no better after which a run of the game ends, 0 for never; by default what the scorer's
    /// [defaults](crate::learners::LearnerDefaults::patience) say, and never in the paper's protocol.
    pub patience: Option<usize>,
    /// When to stop with the best so far.
    pub time_limit: Option<Duration>,
    /// What is set of methods.
    pub options: MethodOptions,
    /// How rates are measured; its average is also the one that is trained for.
    pub measure: Settings,
    /// Seed of the split and of training.
    pub seed: u64,
}

impl Default for FitRequest {
    fn default() -> FitRequest {
        let settings = TrainSettings::default();
        FitRequest {
            goal: Goal::default(),
            scorer: ScorerKind::Linear,
            hidden: vec![10],
            group_aware: None,
            standardize: true,
            ngrams: None,
            vocabulary: None,
            split: None,
            own_validation: false,
            own_test: false,
            multiplier_share: 0.0,
            solver: None,
            select: None,
            l2: settings.l2,
            player: settings.player,
            surrogate: settings.surrogate,
            iterations: settings.iterations,
            snapshots: None,
            step_sizes: Vec::new(),
            batch: None,
            within: None,
            patience: None,
            time_limit: None,
            options: MethodOptions::default(),
            measure: Settings::default(),
            seed: 0,
        }
    }
}

impl FitRequest {
    /// Whether the scorer fits what will be given: a front end may ask before it reads a table.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, has_text: bool, has_vectors: bool) -> Result<(), RunError> {
        match self.scorer.defaults().needs_text {
            true if !has_text => Err(RunError::NoText),
            true if self.ngrams.is_some() => Err(RunError::NgramsUnused(self.scorer.name())),
            false if has_vectors => Err(RunError::VectorsUnused(self.scorer.name())),
            _ => Ok(()),
        }
    }

    /// What of a text is kept, and how many words or n-grams of characters are told apart.
    pub(super) fn text_layout(&self) -> (TextLayout, usize) {
        let layout = match (self.scorer.defaults().text, self.ngrams) {
            (TextLayout::Terms(_), Some(ngrams)) => TextLayout::Terms(ngrams),
            (layout, _) => layout,
        };
        (layout, self.vocabulary.unwrap_or_else(|| layout.vocabulary()))
    }

    /// The shares of training, validation and test in the rows that are split.
    ///
    /// # Errors
    /// A share for a part that has rows of its own.
    pub fn shares(&self) -> Result<[f64; 3], RunError> {
        let shares = self.split.unwrap_or(match (self.own_validation, self.own_test) {
            (false, false) => [0.5, 0.25, 0.25],
            (false, true) => [0.75, 0.25, 0.0],
            (true, _) => [1.0, 0.0, 0.0],
        });
        let own = [(self.own_validation, shares[1], "validation"), (self.own_test, shares[2], "test")];
        match own.into_iter().find(|(own, share, _)| *own && *share > 0.0) {
            Some((.., part)) => Err(RunError::PartTwice(part)),
            None => Ok(shares),
        }
    }

    /// The same with the solver and the selection that a method has where none is given. Batches of features that are
    /// elsewhere are what only the game is for.
    pub(super) fn by(&self, method: &Method, elsewhere: bool) -> FitRequest {
        let mut fit = self.clone();
        if elsewhere && fit.batch.is_some() {
            return fit;
        }
        if fit.solver.is_none() {
            fit.solver = method.solver;
        }
        // The paper's protocol, where it is asked for, makes all its steps.
        if fit.solver != Some(SolverKind::Paper) {
            fit.patience = fit.patience.or(fit.scorer.defaults().patience);
        }
        // What is tuned after scoring is tuned on rows that the scorer was not fit to.
        if method.stage == Stage::Scores {
            fit.select = fit.select.or(Some(Select::Validation));
        }
        let (solver, select) = fit.way();
        (fit.solver, fit.select) = (Some(solver), Some(select));
        fit
    }

    /// How the goal is reached, and what the answer is selected on, where that is not given: by column generation and
    /// cross-fitting, unless the scorer is one for batches or a setting is one of the game's own, which then is played as
    /// the paper has it. Rows of the validation fold that are given are what the answer is selected on.
    pub fn way(&self) -> (SolverKind, Select) {
        let FitRequest { player, surrogate, iterations, multiplier_share, .. } = FitRequest::default();
        let defaults = self.scorer.defaults();
        let plays = self.player != player
            || self.surrogate != surrogate
            || self.iterations != iterations
            || self.multiplier_share != multiplier_share
            || self.snapshots.is_some_and(|own| own != defaults.snapshots)
            || !self.step_sizes.is_empty()
            || self.batch.or(defaults.batch).is_some()
            || self.within.is_some()
            || self.patience.is_some_and(|most| most > 0);
        let asks_for_columns = self.l2.is_some() || self.select == Some(Select::CrossFit);
        let solver = self.solver.unwrap_or(match plays && !asks_for_columns {
            true => SolverKind::Paper,
            false => SolverKind::Columns,
        });
        let select = self.select.unwrap_or(match solver == SolverKind::Columns && !self.own_validation {
            true => Select::CrossFit,
            false => Select::Validation,
        });
        (solver, select)
    }

    /// How a scorer is trained; as in the paper, where that is not given.
    pub fn settings(&self, answer: Answer) -> TrainSettings {
        let defaults = self.scorer.defaults();
        let mut settings = TrainSettings {
            iterations: self.iterations,
            snapshots: self.snapshots.unwrap_or(defaults.snapshots).min(self.iterations),
            solver: self.solver.unwrap_or_default(),
            select: self.select.unwrap_or_default(),
            l2: self.l2,
            player: self.player,
            surrogate: self.surrogate,
            average: self.measure.average,
            ties: self.measure.ties,
            batch: self.batch.or(defaults.batch),
            within: self.within,
            patience: self.patience.filter(|&most| most > 0),
            seed: self.seed,
            time_limit: self.time_limit,
            answer,
            ..TrainSettings::default()
        };
        if !self.step_sizes.is_empty() {
            settings.step_sizes.clone_from(&self.step_sizes);
        } else if let Some(sizes) = defaults.step_sizes {
            settings.step_sizes = sizes.to_vec();
        }
        settings
    }
}

/// How a scorer may use the protected attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupAware {
    /// Weights for each group.
    Weights,
    /// A constant for each group.
    Offsets,
}

names! { GroupAware:
    "weights" => Weights, "Weights for each group";
    "offsets" => Offsets, "A constant for each group";
}

impl GroupAware {
    pub(super) fn of(self, groups: usize) -> GroupUse {
        match self {
            GroupAware::Weights => GroupUse::Weights { groups },
            GroupAware::Offsets => GroupUse::Offsets { groups },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_their_own_take_the_place_of_a_share() {
        let shares = |own_validation, own_test, split| {
            FitRequest { own_validation, own_test, split, ..FitRequest::default() }.shares().ok()
        };
        assert_eq!(shares(false, false, None), Some([0.5, 0.25, 0.25]));
        assert_eq!(shares(false, true, None), Some([0.75, 0.25, 0.0]));
        assert_eq!(shares(true, false, None), Some([1.0, 0.0, 0.0]));
        assert_eq!(shares(true, false, Some([0.5, 0.0, 0.5])), Some([0.5, 0.0, 0.5]));
        assert_eq!(shares(true, false, Some([0.5, 0.5, 0.0])), None);
        assert_eq!(shares(false, true, Some([0.5, 0.0, 0.5])), None);
    }

    #[test]
    fn columns_are_the_default_until_a_setting_is_one_of_the_games_own() {
        let way = |change: fn(&mut FitRequest)| {
            let mut request = FitRequest::default();
            change(&mut request);
            let (solver, select) = request.way();
            (solver.name(), select.name())
        };
        assert_eq!(way(|_| ()), ("columns", "cross-fit"));
        assert_eq!(way(|own| own.scorer = ScorerKind::Mlp), ("columns", "cross-fit"));
        assert_eq!(way(|own| own.own_validation = true), ("columns", "validation"));
        assert_eq!(way(|own| own.snapshots = Some(100)), ("columns", "cross-fit"));
        let game: [fn(&mut FitRequest); 11] = [
            |own| own.player = Player::External,
            |own| own.surrogate = SurrogateKind::Ramp,
            |own| own.iterations = 100,
            |own| own.snapshots = Some(10),
            |own| own.step_sizes = vec![0.1],
            |own| own.batch = Some(100),
            |own| own.patience = Some(3),
            |own| own.within = Some(Within { parts: 2, steps: 10 }),
            |own| own.multiplier_share = 0.5,
            |own| own.scorer = ScorerKind::TextCnn,
            |own| own.solver = Some(SolverKind::Paper),
        ];
        for change in game {
            assert_eq!(way(change), ("paper", "validation"));
        }
        // What only columns can do asks for them, and what is given is kept.
        let both = |own: &mut FitRequest| (own.iterations, own.l2) = (100, Some(0.1));
        assert_eq!(way(both), ("columns", "cross-fit"));
        assert_eq!(way(|own| own.select = Some(Select::Validation)), ("columns", "validation"));
        assert_eq!(way(|own| own.solver = Some(SolverKind::Columns)), ("columns", "cross-fit"));
    }

    #[test]
    fn a_text_network_has_defaults_of_its_own() {
        let request = FitRequest { scorer: ScorerKind::TextCnn, ..FitRequest::default() };
        let settings = request.settings(Answer::Mixture);
        assert_eq!((settings.snapshots, settings.batch, settings.step_sizes.len()), (20, Some(100), 3));
        let few = FitRequest { iterations: 7, step_sizes: vec![0.5], ..FitRequest::default() };
        let settings = few.settings(Answer::Mixture);
        assert_eq!((settings.snapshots, settings.batch, settings.step_sizes), (7, None, vec![0.5]));
    }
}
