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

    fn add(&mut self, cell: usize, up: f64, down: f64) {
        self.first[cell] += up;
        self.second[cell] += down;
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
    pub margin: f64,
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
        for (rate, share) in shares {
            let rate = rate as usize;
            let (up, down) = (holds.up[rate] * share, holds.down[rate] * share);
            if up == 0.0 && down == 0.0 {
                continue;
            }
            match holds.rates[rate] {
                Rate::Accuracy { better, worse } => {
                    for a in lanes(better) {
                        lanes(worse).for_each(|b| self.accuracy.add(a * k + b, up, down));
                    }
                }
                Rate::Parity { first, second } => {
                    if let (Some(a), Some(b)) = (lane(first), lane(second)) {
                        self.parity.add(a * k + b, up, 0.0);
                        self.parity.add(b * k + a, down, 0.0);
                    }
                }
                Rate::Greater if continuous => self.orders.add(GREATER, up, down),
                Rate::Less if continuous => self.orders.add(LESS, up, down),
                Rate::Greater | Rate::Less | Rate::Mse => {}
            }
        }
        for table in [&mut self.accuracy, &mut self.parity, &mut self.orders] {
            holds.kind.scale(&mut table.first, &mut table.second, holds.margin);
        }
        self.joint.clone_from(&self.orders);
        if let (Some(&first), Some(&second)) = (self.accuracy.first.first(), self.accuracy.second.first()) {
            (0..self.joint.first.len()).for_each(|class| self.joint.add(class, first, second));
        }
        self.find_zeros();
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
                    to.add(a * k + b, from.first[row * of + column], from.second[row * of + column]);
                }
            }
        }
        self.find_zeros();
    }

    fn find_zeros(&mut self) {
        self.has_accuracy = !self.accuracy.is_zero();
        self.has_parity = !self.parity.is_zero();
        self.has_orders = !self.orders.is_zero();
    }
}
