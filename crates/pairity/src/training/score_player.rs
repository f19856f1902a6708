//! The game in score space, for scorers that live elsewhere: a network of another library, or boosted trees.
//!
//! The scorer's player is whoever asks: given scores, it is told the value that it should descend and the
//! slope by each score. The other player, who weighs the objective against the constraints by their true
//! violations, is in here and moves with every step.

use super::adam::Adam;
use super::answer::Reach;
use super::game::Holds;
use super::players::{Multipliers, Player};
use super::shrink::shrink;
use super::trainer::{TrainError, check_pairs};
use crate::examples::Examples;
use crate::goals::Problem;
use crate::pairs::{RateIndex, Surrogate, SurrogateKind};
use crate::rates::Average;

/// How the game is played.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreSettings {
    /// Who weighs the constraints.
    pub player: Player,
    /// What is descended in place of rates.
    pub surrogate: SurrogateKind,
    /// Difference of scores from which a pair counts as ordered.
    pub margin: f64,
    /// How rates of queries become one.
    pub average: Average,
    /// Of the player who weighs the constraints.
    pub step_size: f64,
}

impl Default for ScoreSettings {
    fn default() -> ScoreSettings {
        ScoreSettings {
            player: Player::Swap,
            surrogate: SurrogateKind::Hinge,
            margin: 1.0,
            average: Average::Pairs,
            step_size: 0.1,
        }
    }
}

/// What a scorer should descend, by row.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreStep {
    /// The weighted sum of surrogates.
    pub value: f64,
    /// Its slope by each score; 0 in rows of weight 0.
    pub gradient: Vec<f64>,
    /// A curvature by each score, at least 0, for steps in the manner of Newton: the exact diagonal of
    /// second derivatives for the squared hinge. The hinge and the ramp, which have none, count each active
    /// pair as half a squared hinge.
    pub curvature: Vec<f64>,
}

/// How the game stands at the last scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreStatus {
    /// Steps made.
    pub steps: usize,
    /// The stated objective.
    pub objective: f64,
    /// By how much each constraint is missed; 0 or less where it is met.
    pub violations: Vec<f64>,
    /// Whether every constraint is met.
    pub meets_goal: bool,
    /// What the objective (first) and each constraint weigh.
    pub weights: Vec<f64>,
}

/// The player who weighs the constraints, and the surrogates of fixed examples.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::goals::{Problem, parse_constraint, parse_maximize};
/// use pairity::training::{ScorePlayer, ScoreSettings};
///
/// let groups = Groups::from_names(&["a", "b", "b", "a"]);
/// let examples = Examples::new(Columns {
///     labels: Some(&[1.0, 0.0, 1.0, 0.0]), groups: Some(&groups), queries: Some(&[0, 0, 1, 1]), ..Columns::default()
/// })?;
/// let words = examples.vocabulary();
/// let fair = parse_constraint("cross_group <= 0.1", &words)?;
/// let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
/// let mut player = ScorePlayer::new(problem, examples, &ScoreSettings::default())?;
///
/// // Scores of a model that gets the first query right and the second one wrong.
/// let mut scores = vec![1.0, 0.0, 0.0, 0.5];
/// for _ in 0..200 {
///     let step = player.step(&scores)?;
///     scores.iter_mut().zip(&step.gradient).for_each(|(score, slope)| *score -= 0.1 * slope);
/// }
/// assert!(player.status().meets_goal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ScorePlayer {
    problem: Problem,
    index: RateIndex<'static>,
    surrogate: Surrogate,
    multipliers: Multipliers,
    /// Stands for the objective where that has several forms.
    slack: Option<(f64, Adam)>,
    step_size: f64,
    steps: usize,
    /// At the last scores.
    rates: Vec<f64>,
    snapshots: Vec<Vec<f64>>,
}

impl ScorePlayer {
    /// A game at its start.
    ///
    /// # Errors
    /// Rates without pairs, a step size or a margin that is not a number above 0.
    pub fn new(
        problem: Problem,
        examples: Examples,
        settings: &ScoreSettings,
    ) -> Result<ScorePlayer, TrainError> {
        if !(settings.step_size > 0.0 && settings.step_size.is_finite()) {
            let (name, allowed) = ("the step size", "a number above 0");
            return Err(TrainError::Setting { name, found: settings.step_size.to_string(), allowed });
        }
        check_pairs(&problem, &examples, settings.average)?;
        let surrogate = Surrogate::new(settings.surrogate, settings.margin)?;
        let index = RateIndex::owning(examples, &problem.rates, settings.average);
        let rates = vec![f64::NAN; problem.rates.len()];
        Ok(ScorePlayer {
            multipliers: Multipliers::new(settings.player, problem.game_bounds().count()),
            slack: problem.has_slack().then(|| (problem.ideal(), Adam::new(1))),
            step_size: settings.step_size,
            steps: 0,
            rates,
            snapshots: Vec::new(),
            problem,
            index,
            surrogate,
        })
    }

    /// What to descend at these scores, one a row; then the constraints are weighed anew.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn step(&mut self, scores: &[f64]) -> Result<ScoreStep, TrainError> {
        let step = self.look(scores)?;
        let slack = self.slack.as_ref().map(|(slack, _)| *slack);
        let slacked = if slack.is_some() { self.problem.objective.len() } else { 0 };
        let violations: Vec<f64> = self
            .problem
            .game_bounds()
            .enumerate()
            .map(|(i, form)| {
                let own = if i < slacked { slack.unwrap_or(0.0) } else { 0.0 };
                self.problem.value(form, &self.rates) - own
            })
            .collect();
        if let Some((slack, adam)) = &mut self.slack {
            let weights = &self.multipliers.weights;
            let slope = weights[0] - weights[1..=slacked].iter().sum::<f64>();
            adam.descend(std::slice::from_mut(slack), &[slope], self.step_size);
        }
        self.multipliers.ascend(&violations, self.step_size);
        self.steps += 1;
        Ok(step)
    }

    /// What to descend at these scores as the constraints are weighed now, which stays as it is.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn look(&mut self, scores: &[f64]) -> Result<ScoreStep, TrainError> {
        let examples = self.index.examples();
        let scores = examples.arrange(scores)?;
        let order = self.index.order(&scores);
        let weights = &self.multipliers.weights;
        let mut holds = Holds::new(self.problem.rates.len());
        if self.slack.is_none() {
            holds.add(&self.problem, &self.problem.objective[0], weights[0]);
        }
        for (form, &weight) in self.problem.game_bounds().zip(&weights[1..]) {
            holds.add(&self.problem, form, weight);
        }
        let mut own = vec![0.0; scores.len()];
        let found = self.surrogate.evaluate(&self.index, &order, holds.weights(), &mut own);
        let gradient = examples.by_row(&own);
        self.surrogate.curvature(&self.index, &order, holds.weights(), &mut own);
        let curvature = examples.by_row(&own);
        self.rates = self.index.true_rates(&order);
        Ok(ScoreStep { value: found.total, gradient, curvature })
    }

    /// The rates of the goal at the last scores, by the names that goals give them.
    pub fn rates(&self) -> Vec<(String, f64)> {
        let groups = self.index.examples().groups();
        self.problem.rates.iter().zip(&self.rates).map(|(rate, &value)| (rate.name(groups), value)).collect()
    }

    /// How the game stands at the last scores.
    pub fn status(&self) -> ScoreStatus {
        let found = self.problem.assess(&self.rates);
        ScoreStatus {
            steps: self.steps,
            objective: self.problem.stated_objective(found.cost),
            meets_goal: found.met,
            violations: found.misses,
            weights: self.problem.weights_by_constraint(&self.multipliers.weights),
        }
    }

    /// Remembers the rates of a scorer: at given scores, or at the last ones.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn snapshot(&mut self, scores: Option<&[f64]>) -> Result<(), TrainError> {
        let rates = match scores {
            None => self.rates.clone(),
            Some(scores) => {
                let scores = self.index.examples().arrange(scores)?;
                self.index.true_rates(&self.index.order(&scores))
            }
        };
        self.snapshots.push(rates);
        Ok(())
    }

    /// The best mixture of the snapshots, by their places.
    ///
    /// # Errors
    /// No snapshots.
    pub fn shrink(&self) -> Result<Reach, TrainError> {
        let mixture = shrink(&self.problem, &self.snapshots).ok_or(TrainError::Nothing)?;
        Ok(Reach {
            members: mixture.members,
            objective: self.problem.stated_objective(mixture.cost),
            violation: mixture.violation,
        })
    }
}
