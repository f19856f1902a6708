//! The coefficient of every pair, from the weights of the rates.
//!
//! Rates are means over their pairs, so a rate of weight h and total D adds h / D to each of its cells;
//! where queries count alike it adds h / (Q D_q) in each of the Q queries that have such pairs. All
//! rates together leave one coefficient a cell and side.

use super::kind::Kind;
use crate::rates::{Rate, Side};

/// Coefficients of one set of cells, of both parts of the slopes.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub first: Vec<f64>,
    pub second: Vec<f64>,
}

impl Table {
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
pub(super) const GREATER: usize = 1;
pub(super) const LESS: usize = 2;

/// The weights of rates, as they are given for one evaluation.
#[derive(Clone, Copy)]
pub(super) struct Holds<'a> {
    pub rates: &'a [Rate],
    pub up: &'a [f64],
    pub down: &'a [f64],
    pub kind: Kind,
    /// What a slope of weight 1 comes to by score.
    pub unit: f64,
}

/// The coefficients of one query.
#[derive(Debug, Clone, Default)]
pub(super) struct Coefficients {
    /// `[better * groups + worse]`.
    pub accuracy: Table,
    /// `[higher * groups + lower]`: what it costs that the second scores above the first. Bounding
    /// P[a > b] from above and P[b > a] from below is the same, so both stand in the first part.
    pub parity: Table,
    /// By the order of the continuous attribute: neither, greater, less.
    pub orders: Table,
    /// The same, with the accuracy of all pairs added.
    pub joint: Table,
    pub has_accuracy: bool,
    pub has_parity: bool,
    pub has_orders: bool,
}

impl Coefficients {
    /// The coefficients between the groups `present`, from rates and the share of each in one pair.
    pub(super) fn fill(
        &mut self,
        holds: Holds,
        shares: impl Iterator<Item = (u32, f64)>,
        present: &[u16],
        continuous: bool,
    ) {
        let k = present.len();
        self.accuracy.reset(k * k);
        self.parity.reset(k * k);
        self.orders.reset(if continuous { 3 } else { 0 });
        let lane = |group: usize| present.iter().position(|&code| usize::from(code) == group);
        let lanes = |side| match side {
            Side::Any => 0..k,
            Side::Group(group) => lane(group).map_or(0..0, |lane| lane..lane + 1),
        };
        (self.has_accuracy, self.has_parity, self.has_orders) = (false, false, false);
        for (rate, share) in shares {
            let (rate, share) = (rate as usize, share * holds.unit);
            let (up, down) = (holds.up[rate] * share, holds.down[rate] * share);
            if up == 0.0 && down == 0.0 {
                continue;
            }
            let both = holds.kind.coefficients(up, down);
            match holds.rates[rate] {
                Rate::Accuracy { better, worse } => {
                    for a in lanes(better) {
                        lanes(worse).for_each(|b| self.accuracy.add(a * k + b, both));
                    }
                    self.has_accuracy = true;
                }
                Rate::Parity { first, second } => {
                    if let (Some(a), Some(b)) = (lane(first), lane(second)) {
                        self.parity.add(a * k + b, holds.kind.coefficients(up, 0.0));
                        self.parity.add(b * k + a, holds.kind.coefficients(down, 0.0));
                        self.has_parity = true;
                    }
                }
                Rate::Greater | Rate::Less if continuous => {
                    self.orders.add(if holds.rates[rate] == Rate::Greater { GREATER } else { LESS }, both);
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

    /// The coefficients between some of the groups of `all`, each given by its lane there.
    pub(super) fn select(
        &mut self,
        all: &Coefficients,
        of: usize,
        lanes: impl Iterator<Item = usize> + Clone,
    ) {
        let k = lanes.clone().count();
        for (to, from) in [(&mut self.accuracy, &all.accuracy), (&mut self.parity, &all.parity)] {
            to.reset(k * k);
            for (a, row) in lanes.clone().enumerate() {
                for (b, column) in lanes.clone().enumerate() {
                    let cell = row * of + column;
                    to.add(a * k + b, [from.first[cell], from.second[cell]]);
                }
            }
        }
        self.has_accuracy = !self.accuracy.is_zero();
        self.has_parity = !self.parity.is_zero();
    }
}
