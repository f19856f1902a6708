//! The best mixture of sortings: their probabilities, and the sortings.

use super::basis::Basis;
use super::candidates::{Candidates, REACHED, Sorting};

/// What the steps for two groups can't exceed unless rounding makes them repeat.
const STEPS_OF_TWO: usize = 200;

/// Prices of one unit of slack, in utilities of the best candidate. The first is enough but where a group
/// is worth very little; a lower price keeps more digits.
const PRICES: [f64; 4] = [1e2, 1e4, 1e6, 1e8];

/// Gains below this, beside the numbers that they are differences of, are rounding.
const ROUNDING: f64 = 1e-14;

/// Far beyond what any query took; so that no rounding can make it endless.
const STEPS: usize = 100_000;

/// Two groups: the mixture of at most two sortings.
///
/// With the gap c = ratio₀ − ratio₁ of a ranking, the Lagrangian's best value over rankings
///
/// ```text
/// g(μ) = max over rankings of  utility + μ c
/// ```
///
/// is reached by sorting by u + μ w, is convex, and is made of lines whose slopes are gaps. The best
/// utility at gap 0 is min g. One line that rises and one that falls meet above, at or below that minimum;
/// sorting at the μ where they meet either finds a line above their meeting point, which replaces one of
/// the two, or shows that both are best there: two sortings by one key whose ties are broken in favor of
/// the one and of the other group. Each step leaves at most a quarter of the triangle in which the
/// minimum lies, so few are needed.
pub(super) fn of_two(candidates: &Candidates) -> Vec<(f64, Sorting)> {
    let gap = |sorting: &Sorting| sorting.ratios[0] - sorting.ratios[1];
    let weight = |i: usize| candidates.weight(i, &[1.0, -1.0]);

    let best = candidates.sort(|i| candidates.utility[i]);
    let sign = if gap(&best) > 0.0 { 1.0 } else { -1.0 };
    if gap(&best) == 0.0 {
        return vec![(1.0, best)];
    }
    // As far to the other side as rankings go.
    let farthest = candidates.sort(|i| -sign * weight(i));
    if sign * gap(&farthest) >= 0.0 {
        return vec![(1.0, farthest)];
    }
    let (mut rising, mut falling) = if sign > 0.0 { (best, farthest) } else { (farthest, best) };
    for _ in 0..STEPS_OF_TWO {
        let mu = (falling.utility - rising.utility) / (gap(&rising) - gap(&falling));
        if !mu.is_finite() {
            break;
        }
        let value = |sorting: &Sorting| sorting.utility + mu * gap(sorting);
        let next = candidates.sort(|i| candidates.utility[i] + mu * weight(i));
        // Each of these is a sum of as many rounded products.
        let rounding =
            f64::EPSILON * (next.utility.abs() + mu.abs() * (next.ratios[0].abs() + next.ratios[1].abs()));
        let gain = value(&next) - value(&rising).max(value(&falling));
        if gain <= 4.0 * rounding {
            break;
        }
        match gap(&next) {
            0.0 => return vec![(1.0, next)],
            gap if gap > 0.0 => rising = next,
            _ => falling = next,
        }
    }
    let (up, down) = (gap(&rising), -gap(&falling));
    vec![(down / (up + down), rising), (up / (up + down), falling)]
}

/// What a column of the program is of.
#[derive(Debug, PartialEq)]
enum ProgramColumn {
    Sorting(Sorting),
    /// The groups that are in the set.
    Set(Vec<bool>),
}

/// Three groups or more: column generation, with a sort as the oracle.
///
/// Ratios that are within a slack t of each other are a constant plus Σ_A σ_A 1_A, where 1_A is 1 in a set
/// A of groups and 0 in the others, σ ≥ 0 and Σ σ_A = t. So with a probability λ_p for each sorting p the
/// program is
///
/// ```text
/// max Σ_p λ_p utility_p − price Σ_A σ_A
///     subject to  Δ (Σ_p λ_p ratio_p) = Δ (Σ_A σ_A 1_A),   Σ λ_p = 1
/// ```
///
/// where Δ takes the differences of neighbors in an order of the groups: the one by the ratios of the
/// candidates sorted by utility, with which the search starts. Without utilities it gives the least slack.
/// With them, any price that is high enough gives the best utility at that slack.
///
/// Neither sortings nor sets are listed. With y for the duals of Δ, turned into multipliers of the ratios,
/// the sorting that improves a mixture most is that by u_i − y_g a_i, and the set that does is that of the
/// groups with y_g > 0.
pub(super) fn of_many(candidates: &Candidates) -> Vec<(f64, Sorting)> {
    let best = candidates.sort(|i| candidates.utility[i]);
    let mut groups: Vec<usize> = (0..candidates.groups).collect();
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
        let members: Vec<ProgramColumn> = members.collect();
        let columns = members.iter().map(|member| self.column(member)).collect();
        let right = (1..=m).map(|row| if row == m { 1.0 } else { 0.0 });
        let mut basis = Basis::new(members, columns, right.collect())?;

        self.improve(&mut basis, 0.0, 1.0);
        let least = slack(&basis);
        for price in PRICES {
            self.improve(&mut basis, 1.0, price);
            if slack(&basis) <= least + REACHED {
                break;
            }
        }

        let drawn = |(probability, member)| match member {
            ProgramColumn::Sorting(sorting) if probability > ROUNDING => Some((probability, sorting)),
            _ => None,
        };
        let mut mixture: Vec<(f64, Sorting)> =
            basis.values().into_iter().zip(basis.members).filter_map(drawn).collect();
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
            let sorting = candidates.sort(|i| worth * candidates.utility[i] - candidates.weight(i, &y));
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
