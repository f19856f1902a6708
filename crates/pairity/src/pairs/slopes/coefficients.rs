//! The coefficient of every pair, from the weights of the rates.
//!
//! Rates are means over their pairs, so a rate of weight h and total D adds h / D to each of its cells;
//! where queries count alike it adds h / (Q D_q) in each of the Q queries that have such pairs. All
//! rates together leave one coefficient a cell and part of the slopes.

use super::shape::SurrogateKind;
use crate::pairs::index::{NO_RANK, add};
use crate::pairs::surrogate::Weights;
use crate::rates::{Rate, Side};

/// Classes of pairs by the order of the continuous attribute.
pub(in crate::pairs) const GREATER: usize = 1;
pub(in crate::pairs) const LESS: usize = 2;

/// The class of a pair by the ranks of its attributes.
#[inline(always)]
pub(in crate::pairs) fn order(better: u32, worse: u32) -> usize {
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
    /// Whether pairs are chosen by a side column, so that the mirror image of a pair is none.
    pub chosen: bool,
}

/// The coefficients of one query, those of both parts in each cell.
#[derive(Debug, Clone, Default)]
pub(in crate::pairs) struct Coefficients {
    /// `[better * groups + worse]`.
    pub accuracy: Vec<[f64; 2]>,
    /// `[higher * groups + lower]`: what it costs that the second scores above the first. Bounding
    /// P[a > b] from above and P[b > a] from below is the same, so both stand in the first part.
    /// With a continuous attribute, one cell: what it costs that the one with the greater attribute scores lower, and
    /// that it scores higher, which P[z > z'] bounds from below and from above, and P[z < z'] the other way round.
    pub parity: Vec<[f64; 2]>,
    /// By the order of the continuous attribute: neither, greater, less.
    pub orders: [[f64; 2]; 3],
    /// The same, with the accuracy of all pairs added.
    pub joint: [[f64; 2]; 3],
    /// Whether any pair has a coefficient.
    pub has_accuracy: bool,
    pub has_parity: bool,
    pub has_orders: bool,
}

impl Coefficients {
    /// The coefficients between the groups `present`, from rates and the fraction of each in one pair.
    pub(in crate::pairs) fn fill(
        &mut self,
        of: RateWeights,
        fractions: &[(u32, f64)],
        present: &[u16],
    ) -> &Coefficients {
        let k = present.len();
        for cells in [&mut self.accuracy, &mut self.parity] {
            cells.clear();
            cells.resize(k * k, [0.0; 2]);
        }
        self.orders = [[0.0; 2]; 3];
        let number = |group: usize| present.iter().position(|&code| usize::from(code) == group);
        let numbers = |side| match side {
            Side::Any => 0..k,
            Side::Group(group) => number(group).map_or(0..0, |number| number..number + 1),
        };
        for &(rate, fraction) in fractions {
            let (rate, fraction) = (rate as usize, fraction * of.unit);
            let up = of.weights.hold_up[rate] * fraction;
            let down = of.weights.hold_down[rate] * fraction;
            if up == 0.0 && down == 0.0 {
                continue;
            }
            let both = of.kind.coefficients(up, down);
            match of.rates[rate] {
                Rate::Accuracy { better, worse } => {
                    for a in numbers(better) {
                        numbers(worse).for_each(|b| add(&mut self.accuracy[a * k + b], &both));
                    }
                }
                Rate::Parity { first, second } => {
                    if let (Some(a), Some(b)) = (number(first), number(second)) {
                        if of.chosen {
                            add(&mut self.parity[a * k + b], &both);
                            continue;
                        }
                        add(&mut self.parity[a * k + b], &of.kind.coefficients(up, 0.0));
                        add(&mut self.parity[b * k + a], &of.kind.coefficients(down, 0.0));
                    }
                }
                Rate::Greater => add(&mut self.orders[GREATER], &both),
                Rate::Less => add(&mut self.orders[LESS], &both),
                Rate::ParityGreater => add(&mut self.parity[0], &both),
                Rate::ParityLess => add(&mut self.parity[0], &of.kind.coefficients(down, up)),
                Rate::Mse => {}
            }
        }
        self.joint = self.orders;
        if let Some(all) = self.accuracy.first() {
            self.joint.iter_mut().for_each(|class| add(class, all));
        }
        self.find_kinds()
    }

    /// The coefficients between the groups `present`, from those between `groups` ones.
    pub(in crate::pairs) fn select(&mut self, all: &Self, groups: usize, present: &[u16]) -> &Self {
        let codes = || present.iter().map(|&code| usize::from(code));
        for (to, from) in [(&mut self.accuracy, &all.accuracy), (&mut self.parity, &all.parity)] {
            to.clear();
            to.extend(codes().flat_map(|a| codes().map(move |b| from[a * groups + b])));
        }
        self.find_kinds()
    }

    /// The coefficients of a shape, from net ones: where a pair of parity has a mirror image, of both orders only the
    /// one that weighs more has a weight left.
    pub(in crate::pairs) fn map_from(
        &mut self,
        net: &Coefficients,
        mirrored: bool,
        shape: impl Fn(f64) -> f64,
    ) -> &Coefficients {
        let mapped = |cell: &[f64; 2]| [shape(cell[0]), 0.0];
        self.accuracy.clear();
        self.accuracy.extend(net.accuracy.iter().map(mapped));
        self.joint = net.joint.map(|cell| mapped(&cell));
        self.orders = [[0.0; 2]; 3];
        if net.has_orders {
            // A class has the shape of its own net weight, of which the accuracy of all pairs is a part.
            let [all, ..] = self.joint;
            self.accuracy.iter_mut().for_each(|cell| *cell = all);
            self.orders = self.joint.map(|[class, _]| [class - all[0], 0.0]);
        }
        let k = net.parity.len().isqrt();
        self.parity.clear();
        self.parity.extend((0..net.parity.len()).map(|at| {
            let mirror = if mirrored { net.parity[at % k * k + at / k][0] } else { 0.0 };
            let own = net.parity[at][0] - mirror;
            [if mirrored { shape(own.max(0.0)) } else { shape(own) }, 0.0]
        }));
        self.find_kinds()
    }

    fn find_kinds(&mut self) -> &Coefficients {
        let any = |cells: &[[f64; 2]]| cells.as_flattened().iter().any(|&c| c != 0.0);
        (self.has_accuracy, self.has_parity) = (any(&self.accuracy), any(&self.parity));
        self.has_orders = any(&self.orders);
        self
    }
}
