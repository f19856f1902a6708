//! The player who weighs the objective against the constraints, by their true violations.
//!
//! | player     | weights                                                     | step                           |
//! |------------|-------------------------------------------------------------|--------------------------------|
//! | swap       | stationary distribution λ = M λ of a left-stochastic matrix | log M += step of c λᵀ, columns normalized |
//! | external   | λ on the simplex of objective and constraints               | log λ += step of c, normalized |
//! | Lagrangian | λ₀ = 1, λᵢ ≥ 0 without bound                                | λ += step of c, cut at 0       |
//! | nuPI       | λ₀ = 1, λᵢ ≥ 0 without bound                                | λ += κᵢ c + κₚ (ξ′ − ξ), cut at 0 |
//! | augmented  | λ₀ = 1, (λ + ρ c) cut at 0                                  | λ += κᵢ c, cut at 0            |
//!
//! Of more than 100 bounds the external player weighs what was to be the swap player's, whose matrix would be
//! their square.
//!
//! c = (0, violations). Steps are Adam's, as in the reference solver, whose rescaling makes them depend
//! on the sign of a violation more than on its size; but those of the last two are in proportion to it.
//!
//! nuPI (Sohrabi et al. 2024) is a controller with a proportional and an integral part. ξ′ = ν ξ + (1 − ν) c is a moving
//! average of violations, from 0: without the cut λ is κᵢ Σ c + κₚ ξ. The proportional part answers while a violation grows,
//! and gives way as it shrinks, so that scorers come to rest at a bound that an integral alone has them swing around.
//!
//! The augmented Lagrangian (Hestenes 1969, Powell 1969) adds (max(0, λ + ρ c)² − λ²) / 2ρ to the objective, whose slope
//! weighs a constraint by max(0, λ + ρ c). Where a minimum would be found for each λ it is raised by ρ c; here it is raised
//! in every step of the scorer, by less.

use crate::learners::{Adam, Scratch};
use crate::names::names;
use serde::{Deserialize, Serialize};

/// Which regret the player keeps low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Player {
    /// Swap regret: no exchange of one constraint for another would have paid.
    #[default]
    Swap,
    /// External regret: no fixed weights would have paid.
    External,
    /// Additive multipliers of the plain Lagrangian.
    Lagrangian,
    /// A controller of the violations, with a proportional and an integral part.
    NuPi,
    /// The multipliers of the augmented Lagrangian.
    Augmented,
}

names! { Player:
    "swap" => Swap, "Low swap regret";
    "external" => External, "Low external regret";
    "lagrangian" => Lagrangian, "Additive multipliers";
    "nupi" => NuPi, "A proportional-integral controller of the violations";
    "augmented" => Augmented, "The augmented Lagrangian";
}

impl Player {
    /// The most bounds that swap regret is kept low for: its matrix has as many entries as their square, in
    /// memory and in every step.
    pub(crate) const MOST_SWAPS: usize = 100;

    /// Whether its steps are in proportion to violations.
    fn is_proportional(self) -> bool {
        matches!(self, Player::NuPi | Player::Augmented)
    }

    /// Its step size beside a scorer's, which is in units of parameters: that of a controller is not.
    pub(crate) fn step_beside(self, step_size: f64) -> f64 {
        if self.is_proportional() { CONTROL_STEP } else { step_size }
    }

    /// Itself, or external regret where there are too many bounds for swap regret.
    pub(crate) fn affordable(self, bounds: usize) -> Player {
        if self == Player::Swap && bounds > Player::MOST_SWAPS { Player::External } else { self }
    }
}

/// Weight that the constraints have together at the start, and the floor of every entry, times D.
const SMALLEST: f64 = 1e-3;

/// κₚ of nuPI; κᵢ is the step size.
const PROPORTIONAL: f64 = 5.0;

/// How much of the moving average is kept.
const NU: f64 = 0.9;

/// ρ of the augmented Lagrangian; κᵢ is the step size.
const PENALTY: f64 = 5.0;

/// The step size of both in a game with a scorer.
const CONTROL_STEP: f64 = 0.05;

/// The weights of the objective (first) and the constraints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Multipliers {
    player: Player,
    /// Log matrix by columns, log weights, or the multipliers themselves; after those of nuPI their moving averages.
    state: Vec<f64>,
    adam: Adam,
    pub weights: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch,
}

impl Multipliers {
    pub(crate) fn new(player: Player, constraints: usize) -> Multipliers {
        let player = player.affordable(constraints);
        let d = constraints + 1;
        let small = SMALLEST / d as f64;
        let column: Vec<f64> = (0..d)
            .map(|row| if row == 0 { (1.0 - small * constraints as f64).ln() } else { small.ln() })
            .collect();
        let state = match player {
            Player::Swap => column.repeat(d),
            Player::External => column,
            Player::Lagrangian | Player::Augmented => vec![0.0; constraints],
            Player::NuPi => vec![0.0; 2 * constraints],
        };
        let adam = Adam::new(if player.is_proportional() { 0 } else { state.len() });
        let scratch = Scratch::default();
        let mut multipliers = Multipliers { player, state, adam, weights: vec![0.0; d], scratch };
        multipliers.refresh(&[]);
        multipliers
    }

    /// Goes up in the true violations.
    pub(crate) fn ascend(&mut self, violations: &[f64], step_size: f64) {
        let d = self.weights.len();
        if d == 1 {
            return;
        }
        match self.player {
            Player::NuPi => self.control(violations, step_size),
            Player::Augmented => {
                self.state.iter_mut().zip(violations).for_each(|(x, c)| *x = (*x + step_size * c).max(0.0));
            }
            Player::Swap | Player::External | Player::Lagrangian => self.adapt(violations, step_size),
        }
        self.refresh(violations);
    }

    /// A step of nuPI.
    fn control(&mut self, violations: &[f64], step_size: f64) {
        let (multipliers, averages) = self.state.split_at_mut(violations.len());
        for ((x, average), c) in multipliers.iter_mut().zip(averages).zip(violations) {
            let before = *average;
            *average = NU * before + (1.0 - NU) * c;
            *x = (*x + step_size * c + PROPORTIONAL * (*average - before)).max(0.0);
        }
    }

    /// A step of Adam.
    fn adapt(&mut self, violations: &[f64], step_size: f64) {
        let d = self.weights.len();
        let gain = |row: usize| if row == 0 { 0.0 } else { violations[row - 1] };
        let (weights, gradient) = (&self.weights, &mut self.scratch.0);
        gradient.clear();
        match self.player {
            Player::Swap => gradient.extend((0..d * d).map(|at| -gain(at % d) * weights[at / d])),
            Player::External => gradient.extend((0..d).map(|row| -gain(row))),
            _ => gradient.extend(violations.iter().map(|c| -c)),
        }
        self.adam.descend(&mut self.state, gradient, step_size);
        let floor = (SMALLEST / d as f64).ln();
        match self.player {
            Player::Lagrangian => self.state.iter_mut().for_each(|x| *x = x.max(0.0)),
            _ => self.state.chunks_mut(d).for_each(|column| normalize(column, floor)),
        }
    }

    /// The weights that follow from the state and the last violations, if there were any.
    fn refresh(&mut self, violations: &[f64]) {
        let exponentials = || self.state.iter().map(|x| x.exp());
        let (weights, room) = (&mut self.weights, &mut self.scratch.0);
        match self.player {
            Player::Swap => {
                room.clear();
                room.extend(exponentials());
                stationary(room, weights);
            }
            Player::External => {
                let sum: f64 = exponentials().sum();
                weights.iter_mut().zip(exponentials()).for_each(|(weight, x)| *weight = x / sum);
            }
            Player::Lagrangian | Player::NuPi | Player::Augmented => {
                let all = std::iter::once(1.0).chain(self.state.iter().copied());
                weights.iter_mut().zip(all).for_each(|(weight, x)| *weight = x);
            }
        }
        if self.player == Player::Augmented {
            let constraints = weights.iter_mut().skip(1).zip(violations);
            constraints.for_each(|(weight, c)| *weight = (*weight + PENALTY * c).max(0.0));
        }
    }
}

/// Subtracts the log of the sum of exponentials, then raises entries to the floor.
fn normalize(column: &mut [f64], floor: f64) {
    let highest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = column.iter().map(|x| (x - highest).exp()).sum();
    let shift = highest + sum.ln();
    column.iter_mut().for_each(|x| *x = (*x - shift).max(floor));
}

/// The distribution that a left-stochastic matrix (columns of length d) leaves alone, by power iteration
/// from uniform. It is put to `weights`; the matrix has room for another column behind.
fn stationary(matrix: &mut Vec<f64>, weights: &mut [f64]) {
    let d = weights.len();
    weights.fill(1.0 / d as f64);
    matrix.resize(d * (d + 1), 0.0);
    let (matrix, next) = matrix.split_at_mut(d * d);
    for _ in 0..100 {
        next.fill(0.0);
        for (column, weight) in matrix.chunks(d).zip(&*weights) {
            next.iter_mut().zip(column).for_each(|(next, entry)| *next += entry * weight);
        }
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|x| *x /= sum);
        let change = next.iter().zip(&*weights).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        weights.copy_from_slice(next);
        if change <= 1e-6 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNBOUNDED: [Player; 3] = [Player::Lagrangian, Player::NuPi, Player::Augmented];

    #[test]
    fn nearly_all_weight_is_on_the_objective_at_the_start() {
        for player in [Player::Swap, Player::External] {
            let start = Multipliers::new(player, 3);
            assert!((start.weights[0] - (1.0 - 0.75e-3)).abs() < 1e-9, "{:?}", start.weights);
            assert!((start.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        for player in UNBOUNDED {
            assert_eq!(Multipliers::new(player, 2).weights, [1.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn a_violated_constraint_gains_weight_and_a_met_one_loses_it() {
        for (_, player, _) in Player::NAMES {
            let mut multipliers = Multipliers::new(*player, 2);
            for _ in 0..200 {
                multipliers.ascend(&[0.1, -0.1], 0.1);
            }
            let weights = &multipliers.weights;
            assert!(weights[1] > 0.9 && weights[2] < 0.01, "{player:?} {weights:?}");
        }
    }

    #[test]
    fn the_stationary_distribution_of_a_known_chain_is_found() {
        // Columns: from the first state 0.1 leaves, from the second 0.3.
        let mut weights = [0.0; 2];
        stationary(&mut vec![0.9, 0.1, 0.3, 0.7], &mut weights);
        assert!((weights[0] - 0.75).abs() < 1e-5, "{weights:?}");
    }

    #[test]
    fn many_bounds_are_weighed_by_external_regret_without_a_matrix() {
        assert_eq!(Multipliers::new(Player::Swap, Player::MOST_SWAPS).player, Player::Swap);
        let many = Multipliers::new(Player::Swap, 100_000);
        assert_eq!((many.player, many.state.len()), (Player::External, 100_001));
    }

    #[test]
    fn entries_never_fall_below_the_floor() {
        let mut multipliers = Multipliers::new(Player::Swap, 1);
        for _ in 0..5_000 {
            multipliers.ascend(&[-1.0], 1.0);
        }
        assert!(multipliers.weights[1] >= 0.99 * SMALLEST / 2.0, "{:?}", multipliers.weights);
    }
    #[test]
    fn steps_of_a_controller_follow_the_formula() {
        let mut multipliers = Multipliers::new(Player::NuPi, 2);
        multipliers.ascend(&[0.2, -0.4], 0.5);
        // ξ = 0.1 · 0.2 = 0.02, λ = 0.5 · 0.2 + 5 · 0.02 = 0.2.
        assert_near(&multipliers.weights, &[1.0, 0.2, 0.0]);
        multipliers.ascend(&[-0.1, 0.3], 0.5);
        // ξ = 0.9 · 0.02 − 0.01 = 0.008, λ = 0.2 − 0.05 + 5 (0.008 − 0.02) = 0.09; and ξ = 0.9 · −0.04 + 0.03 = −0.006,
        // λ = 0.15 + 5 (−0.006 + 0.04) = 0.32: a violation counts from where the average was.
        assert_near(&multipliers.weights, &[1.0, 0.09, 0.32]);
    }

    #[test]
    fn steps_of_the_augmented_lagrangian_follow_the_formula() {
        let mut multipliers = Multipliers::new(Player::Augmented, 2);
        multipliers.ascend(&[0.2, -0.4], 0.5);
        // λ = 0.5 · 0.2 = 0.1, and 5 · 0.2 is added to what weighs.
        assert_near(&multipliers.weights, &[1.0, 1.1, 0.0]);
        multipliers.ascend(&[-0.01, 0.3], 0.5);
        // λ = 0.1 − 0.005 = 0.095 less 0.05; λ = 0.15 and 1.5.
        assert_near(&multipliers.weights, &[1.0, 0.045, 1.65]);
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
    }

    /// Gradient descent on an objective with a slope at x against multipliers, subject to x ≤ 0.5 and to x ≤ 2: the last x
    /// and weights.
    fn played(player: Player, slope: fn(f64) -> f64, step_size: f64, steps: usize) -> (f64, Vec<f64>) {
        let (mut x, mut multipliers) = (0.0, Multipliers::new(player, 2));
        for _ in 0..steps {
            let before = x;
            x -= step_size * (slope(x) + multipliers.weights[1] + multipliers.weights[2]);
            multipliers.ascend(&[before - 0.5, before - 2.0], step_size);
        }
        (x, multipliers.weights)
    }

    #[test]
    fn multipliers_of_a_quadratic_objective_are_found() {
        // min (x − 3)² / 2: at 0.5 the slope is −2.5, which the first multiplier has to be.
        for player in [Player::NuPi, Player::Augmented] {
            let (x, weights) = played(player, |x| x - 3.0, 0.05, 5_000);
            assert!((x - 0.5).abs() < 1e-6, "{player:?} {x}");
            assert!((weights[1] - 2.5).abs() < 1e-6 && weights[2] == 0.0, "{player:?} {weights:?}");
        }
    }

    #[test]
    fn where_plain_multipliers_swing_around_a_bound_the_proportional_part_comes_to_rest() {
        // min −x: the multiplier is 1, but an integral alone goes around it in circles.
        for player in [Player::NuPi, Player::Augmented] {
            let (x, weights) = played(player, |_| -1.0, 0.05, 5_000);
            assert!((x - 0.5).abs() < 1e-6 && (weights[1] - 1.0).abs() < 1e-6, "{player:?} {x} {weights:?}");
        }
        let farthest = (4_500..5_000)
            .map(|steps| (played(Player::Lagrangian, |_| -1.0, 0.05, steps).0 - 0.5).abs())
            .fold(0.0, f64::max);
        assert!(farthest > 0.01, "{farthest}");
    }

    #[test]
    fn a_player_that_was_written_down_goes_on_as_it_was() {
        for (_, player, _) in Player::NAMES {
            let mut multipliers = Multipliers::new(*player, 2);
            multipliers.ascend(&[0.1, -0.2], 0.1);
            let text = serde_json::to_string(&multipliers).unwrap();
            let mut again: Multipliers = serde_json::from_str(&text).unwrap();
            for violations in [[0.3, 0.1], [-0.1, 0.2]] {
                multipliers.ascend(&violations, 0.1);
                again.ascend(&violations, 0.1);
                assert_eq!(again.weights, multipliers.weights, "{player:?}");
            }
        }
    }
}
