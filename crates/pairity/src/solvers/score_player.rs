//! The game in score space, for scorers that live elsewhere: a network of another library, or boosted trees.
//!
//! The scorer's player is whoever asks: given scores, it is told the value that it should descend and the
//! slope by each score. The other player, who weighs the objective against the constraints by their true
//! violations, moves with every step.

use super::game::{Buffers, Game, GameView};
use super::loss::Sample;
use super::players::Player;
use super::selection::Reach;
use super::train::{TrainError, check_step_size};
use crate::examples::Examples;
use crate::goals::Problem;
use crate::learners::{Learner, OutsideScores};
use crate::pairs::SurrogateKind;
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

/// How the last scores do.
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
/// use pairity::solvers::{ScorePlayer, ScoreSettings};
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
    sample: Sample<'static>,
    game: Game<OutsideScores>,
    buffers: Buffers,
    steps: usize,
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
        check_step_size(settings.step_size)?;
        let sample = Sample::of_scores(&problem, examples, settings)?;
        Ok(ScorePlayer {
            game: Game::new(&problem, OutsideScores::default(), settings.player, settings.step_size),
            buffers: Buffers::new(&problem),
            steps: 0,
            snapshots: Vec::new(),
            problem,
            sample,
        })
    }

    /// What to descend at these scores, one a row; then the constraints are weighed anew.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn step(&mut self, scores: &[f64]) -> Result<ScoreStep, TrainError> {
        let step = self.evaluate(scores, true)?;
        self.steps += 1;
        Ok(step)
    }

    /// What to descend at these scores as the constraints are weighed now, which stays as it is.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn look(&mut self, scores: &[f64]) -> Result<ScoreStep, TrainError> {
        self.evaluate(scores, false)
    }

    fn evaluate(&mut self, scores: &[f64], moves: bool) -> Result<ScoreStep, TrainError> {
        let ScorePlayer { problem, sample, game, buffers, .. } = self;
        let examples = sample.examples();
        game.learner.restore(&examples.arrange(scores)?);
        let view = GameView { problem, sample, multipliers: None, draw: 0, memory: None };
        match moves {
            true => drop(game.step(&view, buffers)),
            false => drop(game.look(&view, buffers)),
        }
        let Buffers { value, slopes, curvature, .. } = buffers;
        Ok(ScoreStep {
            value: *value,
            gradient: examples.by_row(slopes),
            curvature: examples.by_row(curvature),
        })
    }

    /// The rates of the goal at the last scores, by the names that goals give them.
    pub fn rates(&self) -> Vec<(String, f64)> {
        let groups = self.sample.examples().groups();
        let values = self.problem.rates.iter().zip(&self.buffers.rates);
        values.map(|(rate, &value)| (rate.name(groups), value)).collect()
    }

    /// How the last scores do.
    pub fn status(&self) -> ScoreStatus {
        let found = self.problem.assess(&self.buffers.rates);
        ScoreStatus {
            steps: self.steps,
            objective: self.problem.stated_objective(found.cost),
            meets_goal: found.met,
            violations: found.misses,
            weights: self.problem.weights_by_constraint(&self.game.multipliers.weights),
        }
    }

    /// Remembers the rates of a scorer: at given scores, or at the last ones.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn snapshot(&mut self, scores: Option<&[f64]>) -> Result<(), TrainError> {
        let rates = match scores {
            None => self.buffers.rates.clone(),
            Some(scores) => {
                let scores = self.sample.examples().arrange(scores)?;
                self.sample.true_rates(&self.sample.order(&scores))
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
        Reach::of(&self.problem, &self.snapshots)
    }
}
