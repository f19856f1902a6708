//! The player who weighs the objective against the constraints, by their true violations.
//!
//! | player     | weights                                                     | step                           |
//! |------------|-------------------------------------------------------------|--------------------------------|
//! | swap       | stationary distribution λ = M λ of a left-stochastic matrix | log M += step of c λᵀ, columns normalized |
//! | external   | λ on the simplex of objective and constraints               | log λ += step of c, normalized |
//! | Lagrangian | λ₀ = 1, λᵢ ≥ 0 without bound                                | λ += step of c, cut at 0       |
//!
//! Of more than 100 bounds the external player weighs what was to be the swap player's, whose matrix would be
//! their square.
//!
//! c = (0, violations). Steps are Adam's, as in the reference solver, whose rescaling makes them depend
//! on the sign of a violation more than on its size.

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
}

names! { Player:
    "swap" => Swap, "Low swap regret";
    "external" => External, "Low external regret";
    "lagrangian" => Lagrangian, "Additive multipliers";
}

impl Player {
    /// The most bounds that swap regret is kept low for: its matrix has as many entries as their square, in
    /// memory and in every step.
    pub(crate) const MOST_SWAPS: usize = 100;

    /// Itself, or external regret where there are too many bounds for swap regret.
    pub(crate) fn affordable(self, bounds: usize) -> Player {
        if self == Player::Swap && bounds > Player::MOST_SWAPS { Player::External } else { self }
    }
}

/// Weight that the constraints have together at the start, and the floor of every entry, times D.
const SMALLEST: f64 = 1e-3;

/// The weights of the objective (first) and the constraints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Multipliers {
    player: Player,
    /// Log matrix by columns, log weights, or the multipliers themselves.
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
            Player::Lagrangian => vec![0.0; constraints],
        };
        let adam = Adam::new(state.len());
        let scratch = Scratch::default();
        let mut multipliers = Multipliers { player, state, adam, weights: vec![0.0; d], scratch };
        multipliers.refresh();
        multipliers
    }

    /// Goes up in the true violations.
    pub(crate) fn ascend(&mut self, violations: &[f64], step_size: f64) {
        let d = self.weights.len();
        if d == 1 {
            return;
        }
        let gain = |row: usize| if row == 0 { 0.0 } else { violations[row - 1] };
        let (weights, gradient) = (&self.weights, &mut self.scratch.0);
        gradient.clear();
        match self.player {
            Player::Swap => gradient.extend((0..d * d).map(|at| -gain(at % d) * weights[at / d])),
            Player::External => gradient.extend((0..d).map(|row| -gain(row))),
            Player::Lagrangian => gradient.extend(violations.iter().map(|c| -c)),
        }
        self.adam.descend(&mut self.state, gradient, step_size);
        let floor = (SMALLEST / d as f64).ln();
        match self.player {
            Player::Lagrangian => self.state.iter_mut().for_each(|x| *x = x.max(0.0)),
            _ => self.state.chunks_mut(d).for_each(|column| normalize(column, floor)),
        }
        self.refresh();
    }

    fn refresh(&mut self) {
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
            Player::Lagrangian => {
                let all = std::iter::once(1.0).chain(self.state.iter().copied());
                weights.iter_mut().zip(all).for_each(|(weight, x)| *weight = x);
            }
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

    #[test]
    fn nearly_all_weight_is_on_the_objective_at_the_start() {
        for player in [Player::Swap, Player::External] {
            let start = Multipliers::new(player, 3);
            assert!((start.weights[0] - (1.0 - 0.75e-3)).abs() < 1e-9, "{:?}", start.weights);
            assert!((start.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert_eq!(Multipliers::new(Player::Lagrangian, 2).weights, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_violated_constraint_gains_weight_and_a_met_one_loses_it() {
        for player in [Player::Swap, Player::External, Player::Lagrangian] {
            let mut multipliers = Multipliers::new(player, 2);
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
}
