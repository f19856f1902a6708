//! The candidates of a query as the program sees them, and their sortings.

use super::Exposure;
use crate::examples::NO_GROUP;

/// The group of a candidate that is in no ratio.
const NONE: u32 = u32::MAX;

/// Slacks below this are rounding, in the unit of the program's ratios.
pub(super) const REACHED: f64 = 1e-11;

/// The candidates of one query.
///
/// Utilities are in units of the largest, ratios in a unit in which no weight exceeds 1: the numbers of
/// the program are then neither huge nor all tiny, whatever the scores were.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    /// Of at most 1 in size.
    pub utility: Vec<f64>,
    /// The size of the largest utility, as given.
    pub unit: f64,
    /// Index of the group among those that have a ratio, or [`NONE`].
    group: Vec<u32>,
    /// What one unit of exposure of the candidate adds to its group's ratio.
    weight: Vec<f64>,
    /// Number of groups whose ratios have to be equal: 0, or at least 2.
    pub groups: usize,
    /// The candidates by group, each by falling utility.
    by_group: Vec<u32>,
    /// One unit of a ratio, as given.
    ratio_unit: f64,
    position: &'a [f64],
}

/// The candidates in an order, and what it gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sorting {
    pub order: Vec<u32>,
    pub utility: f64,
    /// Of each group.
    pub ratios: Vec<f64>,
}

impl<'a> Candidates<'a> {
    /// From utilities and group codes of equal lengths, and the exposure of at least as many ranks.
    pub(super) fn new(
        utilities: &[f64],
        codes: &[u32],
        exposure: Exposure,
        position: &'a [f64],
    ) -> Candidates<'a> {
        let unit = utilities.iter().map(|u| u.abs()).fold(0.0, f64::max);
        let utility: Vec<f64> =
            utilities.iter().map(|u| if unit > 0.0 { (u / unit).clamp(-1.0, 1.0) } else { 0.0 }).collect();

        let mut names: Vec<u32> = codes.iter().copied().filter(|&code| code != NO_GROUP).collect();
        names.sort_unstable();
        names.dedup();
        let index = |code: u32| if code == NO_GROUP { None } else { names.binary_search(&code).ok() };
        let mut totals = vec![(0.0, 0.0); names.len()];
        for (&code, u) in codes.iter().zip(&utility) {
            if let Some(g) = index(code) {
                totals[g].0 += u;
                totals[g].1 += 1.0;
            }
        }
        let mean = |g: usize| totals[g].0 / totals[g].1;
        // Below the smallest normal number there is no 1 / U.
        let mut kept: Vec<usize> = (0..names.len()).filter(|&g| mean(g).abs() >= f64::MIN_POSITIVE).collect();
        if kept.len() < 2 {
            kept.clear();
        }
        let smallest = kept.iter().map(|&g| mean(g).abs()).fold(f64::INFINITY, f64::min);

        let mut group = vec![NONE; codes.len()];
        let mut weight = vec![0.0; codes.len()];
        for (i, &code) in codes.iter().enumerate() {
            if let Some(g) = index(code)
                && let Ok(place) = kept.binary_search(&g)
            {
                group[i] = place as u32;
                weight[i] = match exposure {
                    Exposure::Treatment => smallest / mean(g) / totals[g].1,
                    Exposure::Impact => utility[i] / totals[g].0,
                };
            }
        }
        let mut ratio_unit = match exposure {
            Exposure::Treatment => 1.0 / smallest / unit,
            Exposure::Impact => 1.0,
        };
        // Utilities of both signs may add up to little beside any one of them.
        let largest = weight.iter().map(|weight| weight.abs()).fold(1.0, f64::max);
        if largest > 1.0 {
            weight.iter_mut().for_each(|weight| *weight /= largest);
            ratio_unit *= largest;
        }
        let mut by_group: Vec<u32> = (0..codes.len() as u32).collect();
        by_group.sort_by(|&a, &b| {
            let (i, j) = (a as usize, b as usize);
            group[i].cmp(&group[j]).then_with(|| utility[j].total_cmp(&utility[i]))
        });
        Candidates { utility, unit, group, weight, groups: kept.len(), by_group, ratio_unit, position }
    }

    /// What one unit of exposure of a candidate adds to Σ_g y_g ratio_g.
    pub(super) fn weight(&self, candidate: usize, y: &[f64]) -> f64 {
        y.get(self.group[candidate] as usize).map_or(0.0, |y| y * self.weight[candidate])
    }

    /// The candidates by falling key; equal keys by group, then by falling utility, so that candidates of
    /// one group with equal utilities are neighbors.
    pub(super) fn sort(&self, key: impl Fn(usize) -> f64) -> Sorting {
        // Adding 0 makes −0 and 0 equal.
        let mut keys: Vec<(f64, u32)> = self.by_group.iter().map(|&i| (key(i as usize) + 0.0, i)).collect();
        // Stable, for ties, and since such a sort merges runs in order, which those of groups mostly are.
        keys.sort_by(|(x, _), (y, _)| y.total_cmp(x));
        let order: Vec<u32> = keys.into_iter().map(|(_, i)| i).collect();
        let (mut utility, mut ratios) = (0.0, vec![0.0; self.groups]);
        for (&i, v) in order.iter().zip(self.position) {
            utility += self.utility[i as usize] * v;
            if let Some(ratio) = ratios.get_mut(self.group[i as usize] as usize) {
                *ratio += self.weight[i as usize] * v;
            }
        }
        Sorting { order, utility, ratios }
    }

    /// The largest ratio less the smallest, as given; 0 if that is rounding.
    pub(super) fn slack(&self, ratios: &[f64]) -> f64 {
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let slack = (high - low).max(0.0);
        // The ratio of a group is at most 1, the exposure of the first rank.
        if slack <= REACHED { 0.0 } else { slack * self.ratio_unit }
    }

    /// Minus the rank of each candidate, from 1; neighbors that the program can't tell apart share their
    /// mean rank, so that the order of the rows is worth nothing.
    pub(super) fn scores(&self, order: &[u32]) -> Vec<f64> {
        let mut scores = vec![0.0; order.len()];
        let kind = |i: u32| (self.utility[i as usize], self.group[i as usize]);
        let mut before = 0;
        for run in order.chunk_by(|&a, &b| kind(a) == kind(b)) {
            let rank = before as f64 + (run.len() as f64 + 1.0) / 2.0;
            run.iter().for_each(|&i| scores[i as usize] = -rank);
            before += run.len();
        }
        scores
    }
}
