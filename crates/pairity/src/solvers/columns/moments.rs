//! The second moments of what a linear scorer's parameters are multiplied with, from which descents know about how a
//! loss curves before their first step:
//!
//! ```text
//! P = 2 mse · M + pairs · W + l2 · D          M = Σ x xᵀ / n,   W = Σ (x − x̄_q) (x − x̄_q)ᵀ / n,   x̄_q the query's mean
//! ```
//!
//! A squared error curves by 2 M. A pair in the range of its hinge curves by half the square of its difference, which
//! is on average that of W.

use crate::learners::{Architecture, GroupUse, Trace};
use crate::solvers::curvature::Curvature;
use crate::solvers::loss::Sample;

/// The most parameters: the factor of a matrix takes their cube.
const LARGEST: usize = 320;

/// A share of each variance that is added, as features may be equal.
const RIDGE: f64 = 1e-4;

/// Rows that are added at once.
const ROWS: usize = 4;

/// The lower halves of M and W, row by row, of all parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moments {
    len: usize,
    raw: Vec<f64>,
    within: Vec<f64>,
}

/// Sums of which moments are made, of some queries, or of some rows without queries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MomentSums {
    len: usize,
    rows: usize,
    /// Σ x xᵀ, and of queries that are over Σ n_q x̄_q x̄_qᵀ, row by row, the lower halves.
    raw: Vec<f64>,
    means: Vec<f64>,
    /// Σ x of the rows without queries.
    open: Vec<f64>,
}

impl MomentSums {
    /// None of scorers that are not linear, see groups or words, or have too many parameters; nor of features elsewhere.
    pub(super) fn of(architecture: &Architecture, sample: &Sample) -> Option<MomentSums> {
        let (features, examples) = (&sample.features, sample.examples());
        let (dense, len) = (features.dense_width(), architecture.len());
        if !has_moments(architecture, sample) || features.is_elsewhere() || dense == 0 {
            return None;
        }
        let (mut raw, mut means) = (vec![0.0; len * len], vec![0.0; len * len]);
        let (mut sum, mut block, mut row) = (vec![0.0; len], 0, 0);
        let is_open = !examples.has_queries() && examples.blocks() == 1;
        for tile in features.tiles() {
            // The intercept is multiplied with 1.
            let mut wide = vec![1.0; tile.len() / dense * len];
            wide.chunks_exact_mut(len)
                .zip(tile.chunks_exact(dense))
                .for_each(|(to, x)| to[..dense].copy_from_slice(x));
            for rows in wide.chunks(ROWS * len) {
                add_squares(&mut raw, rows, len);
            }
            for x in wide.chunks_exact(len) {
                sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
                row += 1;
                let own = examples.block(block);
                if row == own.end && !is_open {
                    add_square(&mut means, &mut sum, own.len());
                    block += 1;
                }
            }
        }
        Some(MomentSums { len, rows: row, raw, means, open: sum })
    }

    /// Those of several parts.
    pub(super) fn of_all<'p>(parts: impl IntoIterator<Item = &'p MomentSums>) -> Option<MomentSums> {
        let mut parts = parts.into_iter();
        let mut all = parts.next()?.clone();
        for part in parts {
            all.rows += part.rows;
            for (to, from) in
                [(&mut all.raw, &part.raw), (&mut all.means, &part.means), (&mut all.open, &part.open)]
            {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
        Some(all)
    }

    pub(super) fn moments(mut self) -> Moments {
        if self.open.iter().any(|sum| *sum != 0.0) {
            add_square(&mut self.means, &mut self.open, self.rows);
        }
        let share = 1.0 / self.rows.max(1) as f64;
        let MomentSums { len, mut raw, means, .. } = self;
        let within = raw.iter().zip(&means).map(|(raw, mean)| (raw - mean) * share).collect();
        raw.iter_mut().for_each(|raw| *raw *= share);
        Moments { len, raw, within }
    }
}

/// Adds n x̄ x̄ᵀ, of n rows with a sum, which begins anew.
fn add_square(means: &mut [f64], sum: &mut [f64], rows: usize) {
    let by = (rows as f64).sqrt().recip();
    sum.iter_mut().for_each(|sum| *sum *= by);
    add_squares(means, sum, sum.len());
    sum.fill(0.0);
}

fn has_moments(architecture: &Architecture, sample: &Sample) -> bool {
    let plain = matches!(architecture, Architecture::Linear(_)) && architecture.groups() == GroupUse::Blind;
    plain && sample.features.sparse().is_none() && architecture.len() <= LARGEST
}

impl Moments {
    /// None of scorers that are not linear, see groups or words, or have too many parameters.
    pub(super) fn of(architecture: &Architecture, sample: &Sample) -> Option<Moments> {
        match has_moments(architecture, sample) && sample.features.is_elsewhere() {
            true => Some(Moments::by_asking(architecture, sample)),
            false => MomentSums::of(architecture, sample).map(MomentSums::moments),
        }
    }

    /// Those of features elsewhere: the scores of a scorer with one parameter are a column x_j, and the gradient of slopes
    /// x_j by the parameters is Σ x x_j.
    fn by_asking(architecture: &Architecture, sample: &Sample) -> Moments {
        let (features, examples, len) = (&sample.features, sample.examples(), architecture.len());
        let share = 1.0 / features.rows().max(1) as f64;
        let (mut raw, mut within) = (Vec::new(), Vec::new());
        for at in 0..len {
            let mut only = vec![0.0; len];
            only[at] = 1.0;
            let mut column = vec![0.0; features.rows()];
            architecture.score(&only, features, &mut column);
            let back = |slopes: &[f64]| {
                let sums = architecture.pull_back(&only, features, &Trace::default(), slopes);
                sums.into_iter().map(|sum| sum * share).collect::<Vec<f64>>()
            };
            raw.extend(back(&column));
            for block in 0..examples.blocks() {
                let own = &mut column[examples.block(block)];
                let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
                own.iter_mut().for_each(|x| *x -= mean);
            }
            within.extend(back(&column));
        }
        Moments { len, raw, within }
    }

    /// About how a loss curves in which squared errors and all pairs together have these weights.
    pub(super) fn curvature(&self, mse: f64, pairs: f64, l2: f64, decay: &[f64]) -> Option<Curvature> {
        let all = self.raw.iter().zip(&self.within);
        let mut matrix: Vec<f64> = all.map(|(raw, within)| 2.0 * mse * raw + pairs * within).collect();
        for (at, decay) in decay.iter().enumerate() {
            let own = &mut matrix[at * self.len + at];
            *own += l2 * decay + RIDGE * self.raw[at * self.len + at] + f64::MIN_POSITIVE;
        }
        Curvature::new(matrix, self.len)
    }
}

/// Adds the squares of some rows to the lower half of a matrix.
fn add_squares(matrix: &mut [f64], rows: &[f64], len: usize) {
    let mut each = rows.chunks_exact(len);
    let (Some(a), Some(b), Some(c), Some(d)) = (each.next(), each.next(), each.next(), each.next()) else {
        for x in rows.chunks_exact(len) {
            for (own, i) in matrix.chunks_exact_mut(len).zip(0..) {
                own.iter_mut().zip(&x[..=i]).for_each(|(m, own)| *m += x[i] * own);
            }
        }
        return;
    };
    for (own, i) in matrix.chunks_exact_mut(len).zip(0..) {
        let [e, f, g, h] = [a[i], b[i], c[i], d[i]];
        let all = a[..=i].iter().zip(&b[..=i]).zip(c[..=i].iter().zip(&d[..=i]));
        for (m, ((w, x), (y, z))) in own.iter_mut().zip(all) {
            *m += e * w + f * x + (g * y + h * z);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::{Problem, parse_minimize};
    use crate::learners::Linear;
    use crate::solvers::solver::Training;
    use crate::solvers::tests::data;
    use crate::solvers::{SolverKind, TrainSettings};

    /// The slow way: sums over rows, one cell after another.
    #[test]
    fn a_curvature_is_made_of_second_moments_and_of_those_within_queries() {
        let (rows, width) = (23_usize, 3);
        let number = |at: usize| ((at * 7919) % 1009) as f64 / 1009.0 - 0.3;
        let labels: Vec<f64> = (0..rows).map(|row| number(row + 5)).collect();
        let names: Vec<&str> = (0..rows).map(|row| if row % 3 == 0 { "b" } else { "a" }).collect();
        let queries: Vec<u32> = (0..rows as u32).map(|row| row / 5).collect();
        for queries in [None, Some(&queries[..])] {
            let drawn = data(&labels, &names, queries, width, (0..rows * width).map(number).collect());
            let linear = Linear { width, intercept: true, start: 0.0, groups: GroupUse::Blind };
            let (scorer, settings) = (
                Architecture::Linear(linear),
                TrainSettings { solver: SolverKind::Columns, ..TrainSettings::default() },
            );
            let objective = parse_minimize("mse", &drawn.examples.vocabulary()).unwrap();
            let problem = Problem::new(&objective, false, &[]).unwrap();
            let training = Training {
                problem: &problem,
                architecture: &scorer,
                features: &drawn.features,
                settings: &settings,
                term: None,
            };
            let sample = Sample::new(&training, &drawn.examples, "all rows").unwrap();
            let query = |row: usize| if queries.is_some() { row / 5 } else { 0 };
            let x = |row: usize, at: usize| if at < width { number(row * width + at) } else { 1.0 };
            let mean = |row: usize, at: usize| {
                let own: Vec<f64> =
                    (0..rows).filter(|&other| query(other) == query(row)).map(|other| x(other, at)).collect();
                own.iter().sum::<f64>() / own.len() as f64
            };
            let (mse, pairs, l2, decay) = (0.7, 0.4, 0.3, [1.0, 2.0, 0.5, 0.0]);
            let cell = |i: usize, j: usize| {
                let of = |row: usize| {
                    let centered = (x(row, i) - mean(row, i)) * (x(row, j) - mean(row, j));
                    2.0 * mse * x(row, i) * x(row, j) + pairs * centered
                };
                let sum = (0..rows).map(of).sum::<f64>() / rows as f64;
                let raw = (0..rows).map(|row| x(row, i) * x(row, i)).sum::<f64>() / rows as f64;
                sum + if i == j { l2 * decay[i] + RIDGE * raw } else { 0.0 }
            };
            let expected = [0.4, -1.0, 2.0, 0.7];
            let mut found: Vec<f64> =
                (0..4).map(|i| (0..4).map(|j| cell(i, j) * expected[j]).sum()).collect();
            Moments::of(&scorer, &sample)
                .unwrap()
                .curvature(mse, pairs, l2, &decay)
                .unwrap()
                .solve(&mut found);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }
}
