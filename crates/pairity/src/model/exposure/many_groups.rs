//! Three groups or more: column generation, with a sort as the oracle.
//!
//! Ratios that are within a slack t of each other are a constant plus Σ_A σ_A 1_A, where 1_A is 1 in a set
//! A of groups and 0 in the others, σ ≥ 0 and Σ σ_A = t. So with a probability λ_p for each sorting p the
//! program is
//!
//! ```text
//! max Σ_p λ_p utility_p − price Σ_A σ_A
//!     subject to  Δ (Σ_p λ_p ratio_p) = Δ (Σ_A σ_A 1_A),   Σ λ_p = 1
//! ```
//!
//! where Δ takes the differences of neighbors in an order of the groups: the one by the ratios of the
//! candidates sorted by utility, with which the search starts. Without utilities it gives the least slack.
//! With them, any price that is high enough gives the best utility at that slack.
//!
//! Neither sortings nor sets are listed. With y for the duals of Δ, turned into multipliers of the ratios,
//! the sorting that improves a mixture most is that by u_i − y_g a_i, and the set that does is that of the
//! groups with y_g > 0.

use super::basis::Basis;
use super::candidates::{Candidates, REACHED, Sorting};

/// Prices of one unit of slack, in utilities of the best candidate. The first is enough but where a group
/// is worth very little; a lower price keeps more digits.
const PRICES: [f64; 4] = [1e2, 1e4, 1e6, 1e8];

/// Gains below this, beside the numbers that they are differences of, are rounding.
const ROUNDING: f64 = 1e-14;

/// Far beyond what any query took; so that no rounding can make it endless.
const STEPS: usize = 100_000;

/// What a column of the program is of.
#[derive(Debug, PartialEq)]
enum ProgramColumn {
    Sorting(Sorting),
    /// The groups that are in the set.
    Set(Vec<bool>),
}

/// The probabilities and the sortings of the best mixture.
pub(super) fn solve(candidates: &Candidates) -> Vec<(f64, Sorting)> {
    let best = candidates.sort(|i| candidates.utility(i));
    let mut groups: Vec<usize> = (0..candidates.groups()).collect();
    groups.sort_by(|&a, &b| best.ratios[a].total_cmp(&best.ratios[b]));
    let search = ExposureSearch { candidates, groups };
    search.run(&best).unwrap_or_else(|| vec![(1.0, best)])
}

struct ExposureSearch<'a> {
    candidates: &'a Candidates<'a>,
    /// The groups by rising ratio of the candidates sorted by utility.
    groups: Vec<usize>,
}

impl ExposureSearch<'_> {
    /// Never none: the first columns are independent.
    fn run(&self, best: &Sorting) -> Option<Vec<(f64, Sorting)>> {
        let m = self.groups.len();
        // The sets of the groups with the highest ratios, one for each row of Δ.
        let set = |k: usize| ProgramColumn::Set((0..m).map(|g| self.groups[k..].contains(&g)).collect());
        let members = (1..m).map(set).chain([ProgramColumn::Sorting(best.clone())]);
        let members = members.map(|member| {
            let column = self.column(&member);
            (member, column)
        });
        let mut right = vec![0.0; m - 1];
        right.push(1.0);
        let mut basis = Basis::new(members.collect(), right)?;

        self.improve(&mut basis, 0.0, 1.0);
        let least = slack(&basis);
        for price in PRICES {
            self.improve(&mut basis, 1.0, price);
            if slack(&basis) <= least + REACHED {
                break;
            }
        }

        let mut mixture = Vec::new();
        for (probability, member) in basis.values().into_iter().zip(basis.members) {
            if let ProgramColumn::Sorting(sorting) = member
                && probability > ROUNDING
            {
                mixture.push((probability, sorting));
            }
        }
        let sum: f64 = mixture.iter().map(|(probability, _)| probability).sum();
        mixture.iter_mut().for_each(|(probability, _)| *probability /= sum);
        Some(mixture)
    }

    /// Exchanges columns until none raises `worth` · utility − `price` · slack any more.
    fn improve(&self, basis: &mut Basis<ProgramColumn>, worth: f64, price: f64) {
        let candidates = self.candidates;
        for _ in 0..STEPS {
            let duals = basis.duals(|member| match member {
                ProgramColumn::Sorting(sorting) => -worth * sorting.utility,
                ProgramColumn::Set(_) => price,
            });
            let mut y = vec![0.0; self.groups.len()];
            for (pair, dual) in self.groups.windows(2).zip(&duals) {
                y[pair[0]] -= dual;
                y[pair[1]] += dual;
            }
            let sorting = candidates.sort(|i| worth * candidates.utility(i) - candidates.weight(i, &y));
            let against: f64 = y.iter().zip(&sorting.ratios).map(|(y, ratio)| y * ratio).sum();
            let of_sorting = worth * sorting.utility - against + duals.last().copied().unwrap_or(0.0);
            let of_set = y.iter().map(|y| y.max(0.0)).sum::<f64>() - price;

            let gain = of_sorting.max(of_set);
            if gain <= ROUNDING * (worth * sorting.utility + price) {
                return;
            }
            let member = if of_sorting >= of_set {
                ProgramColumn::Sorting(sorting)
            } else {
                ProgramColumn::Set(y.iter().map(|&y| y > 0.0).collect())
            };
            // A column that is there already gains nothing but rounding.
            let column = self.column(&member);
            if basis.members.contains(&member) || !basis.enter(member, column) {
                return;
            }
        }
    }

    /// The rows of Δ, and that of the probabilities.
    fn column(&self, member: &ProgramColumn) -> Vec<f64> {
        let row = |pair: &[usize]| match member {
            ProgramColumn::Sorting(sorting) => sorting.ratios[pair[0]] - sorting.ratios[pair[1]],
            ProgramColumn::Set(set) => f64::from(u8::from(set[pair[1]])) - f64::from(u8::from(set[pair[0]])),
        };
        let probability = if matches!(member, ProgramColumn::Sorting(_)) { 1.0 } else { 0.0 };
        self.groups.windows(2).map(row).chain([probability]).collect()
    }
}

/// Σ σ_A.
fn slack(basis: &Basis<ProgramColumn>) -> f64 {
    let values = basis.values();
    let sets = basis.members.iter().zip(values).filter(|(member, _)| matches!(member, ProgramColumn::Set(_)));
    sets.map(|(_, value)| value).sum()
}
