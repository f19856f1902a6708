//! The coefficient of every pair, from the weights of the rates.
//!
//! Rates are means over their pairs, so a rate of weight h and total D adds h / D to each of its cells;
//! where queries count alike it adds h / (Q D_q) in each of the Q queries that have such pairs. All
//! rates together leave one coefficient a cell and side.

use super::shape::SurrogateKind;
use crate::pairs::index::NO_RANK;
use crate::pairs::surrogate::Weights;
use crate::rates::{Rate, Side};

/// Coefficients of one set of cells, of both parts of the slopes.
#[derive(Debug, Clone, Default)]
pub(in crate::pairs) struct CellCoefficients {
    pub first: Vec<f64>,
    pub second: Vec<f64>,
}

impl CellCoefficients {
    fn reset(&mut self, cells: usize) {
        for side in [&mut self.first, &mut self.second] {
            side.clear();
            side.resize(cells, 0.0);
        }
    }

    fn add(&mut self, cell: usize, [first, second]: [f64; 2]) {
        self.first[cell] += first;
        self.second[cell] += second;
    }

    /// Whether no pair has a coefficient.
    fn is_zero(&self) -> bool {
        self.first.iter().chain(&self.second).all(|&c| c == 0.0)
    }
}

/// Classes of pairs by the order of the continuous attribute.
pub(in crate::pairs) const GREATER: usize = 1;
pub(in crate::pairs) const LESS: usize = 2;

/// The class of a pair by the ranks of its attributes.
#[inline(always)]
pub(super) fn order(better: u32, worse: u32) -> usize {
    let known = (better != NO_RANK) & (worse != NO_RANK);
    usize::from(known & (better > worse)) * GREATER + usize::from(known & (better < worse)) * LESS
}

/// The weights of rates in one evaluation.
#[derive(Clone, Copy)]
pub(in crate::pairs) struct RateWeights<'a> {
    pub rates: &'a [Rate],
    pub weights: Weights<'a>,
    pub kind: SurrogateKind,
    /// What a slope of weight 1 comes to by score.
    pub unit: f64,
}

/// The coefficients of one query.
#[derive(Debug, Clone, Default)]
pub(in crate::pairs) struct Coefficients {
    /// `[better * groups + worse]`.
    pub accuracy: CellCoefficients,
    /// `[higher * groups + lower]`: what it costs that the second scores above the first. Bounding
    /// P[a > b] from above and P[b > a] from below is the same, so both stand in the first part.
    pub parity: CellCoefficients,
    /// By the order of the continuous attribute: neither, greater, less.
    pub orders: CellCoefficients,
    /// The same, with the accuracy of all pairs added.
    pub joint: CellCoefficients,
    pub has_accuracy: bool,
    pub has_parity: bool,
    pub has_orders: bool,
}

impl Coefficients {
    /// The coefficients between the groups `present`, from rates and the fraction of each in one pair.
    pub(in crate::pairs) fn fill(
        &mut self,
        weights: RateWeights,
        fractions: &[(u32, f64)],
        present: &[u16],
        continuous: bool,
    ) {
        let k = present.len();
        self.accuracy.reset(k * k);
        self.parity.reset(k * k);
        self.orders.reset(if continuous { 3 } else { 0 });
        let number = |group: usize| present.iter().position(|&code| usize::from(code) == group);
        let numbers = |side| match side {
            Side::Any => 0..k,
            Side::Group(group) => number(group).map_or(0..0, |number| number..number + 1),
        };
        (self.has_accuracy, self.has_parity, self.has_orders) = (false, false, false);
        for &(rate, fraction) in fractions {
            let (rate, fraction) = (rate as usize, fraction * weights.unit);
            let up = weights.weights.hold_up[rate] * fraction;
            let down = weights.weights.hold_down[rate] * fraction;
            if up == 0.0 && down == 0.0 {
                continue;
            }
            let both = weights.kind.coefficients(up, down);
            match weights.rates[rate] {
                Rate::Accuracy { better, worse } => {
                    for a in numbers(better) {
                        numbers(worse).for_each(|b| self.accuracy.add(a * k + b, both));
                    }
                    self.has_accuracy = true;
                }
                Rate::Parity { first, second } => {
                    if let (Some(a), Some(b)) = (number(first), number(second)) {
                        self.parity.add(a * k + b, weights.kind.coefficients(up, 0.0));
                        self.parity.add(b * k + a, weights.kind.coefficients(down, 0.0));
                        self.has_parity = true;
                    }
                }
                Rate::Greater | Rate::Less if continuous => {
                    self.orders.add(if weights.rates[rate] == Rate::Greater { GREATER } else { LESS }, both);
                    self.has_orders = true;
                }
                Rate::Greater | Rate::Less | Rate::Mse => {}
            }
        }
        if continuous {
            self.joint.clone_from(&self.orders);
            let all = [self.accuracy.first[0], self.accuracy.second[0]];
            (0..self.joint.first.len()).for_each(|class| self.joint.add(class, all));
        }
    }

    /// The coefficients between some of the groups of `all`, each given by its number there.
    pub(in crate::pairs) fn select(
        &mut self,
        all: &Coefficients,
        of: usize,
        numbers: impl Iterator<Item = usize> + Clone,
    ) {
        let k = numbers.clone().count();
        for (to, from) in [(&mut self.accuracy, &all.accuracy), (&mut self.parity, &all.parity)] {
            to.reset(k * k);
            for (a, row) in numbers.clone().enumerate() {
                for (b, column) in numbers.clone().enumerate() {
                    let cell = row * of + column;
                    to.add(a * k + b, [from.first[cell], from.second[cell]]);
                }
            }
        }
        self.has_accuracy = !self.accuracy.is_zero();
        self.has_parity = !self.parity.is_zero();
    }
}
