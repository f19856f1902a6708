//! The program as it is written, with a variable for each P_ij, and a search among all pairs of
//! rankings: slow and obvious, for tests.

use super::{Exposure, Policy, Utilities};
use crate::examples::NO_GROUP;
use microlp::{ComparisonOp, OptimizationDirection, Problem as Program, SolveOptions, Variable};

/// A query whose candidates have utilities and groups.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub u: Vec<f64>,
    /// For each group that has a ratio, what the exposure of each candidate adds to it.
    pub shares: Vec<Vec<f64>>,
    pub v: Vec<f64>,
}

impl Query {
    pub(super) fn new(scores: &[f64], codes: &[u32], exposure: Exposure, utilities: Utilities) -> Query {
        let u = utilities.of(scores);
        let largest = u.iter().map(|u| u.abs()).fold(0.0, f64::max);
        let mut shares = Vec::new();
        for group in 0..32 {
            let own = |i: usize| codes[i] == group && codes[i] != NO_GROUP;
            let members: Vec<usize> = (0..u.len()).filter(|&i| own(i)).collect();
            let n = members.len() as f64;
            let mean = members.iter().map(|&i| u[i] / n).sum::<f64>();
            if members.is_empty() || mean == 0.0 || mean.abs() / largest < f64::MIN_POSITIVE {
                continue;
            }
            let share = |i: usize| match exposure {
                _ if !own(i) => 0.0,
                Exposure::Treatment => 1.0 / n / mean,
                Exposure::Impact => u[i] / n / mean,
            };
            shares.push((0..u.len()).map(share).collect());
        }
        let v = (1..=u.len()).map(|j| 1.0 / (1.0 + j as f64).log2()).collect();
        Query { u, shares, v }
    }

    pub(super) fn largest_share(&self) -> f64 {
        self.shares.iter().flatten().map(|share| share.abs()).fold(0.0, f64::max)
    }

    /// Objective and slack of the exposure of each candidate.
    pub(super) fn value(&self, exposure: &[f64]) -> (f64, f64) {
        let dot = |a: &[f64]| a.iter().zip(exposure).map(|(a, e)| a * e).sum::<f64>();
        let ratios: Vec<f64> = self.shares.iter().map(|share| dot(share)).collect();
        let pairs = ratios.iter().flat_map(|a| ratios.iter().map(move |b| a - b));
        (dot(&self.u), pairs.fold(0.0, f64::max))
    }

    /// P from a policy, row by row; each ranking has to hold every candidate once.
    pub(super) fn matrix(&self, policy: &Policy) -> Vec<Vec<f64>> {
        let n = self.u.len();
        let mut matrix = vec![vec![0.0; n]; n];
        for ranking in &policy.rankings {
            assert_eq!(ranking.order.len(), n);
            for (j, &i) in ranking.order.iter().enumerate() {
                matrix[i as usize][j] += ranking.probability;
            }
        }
        matrix
    }

    /// Σ_j P_ij v_j of each candidate.
    pub(super) fn exposure(&self, matrix: &[Vec<f64>]) -> Vec<f64> {
        matrix.iter().map(|row| row.iter().zip(&self.v).map(|(p, v)| p * v).sum()).collect()
    }

    /// Objective and slack by two linear programs.
    pub(super) fn linear_program(&self) -> (f64, f64) {
        let slack = if self.shares.len() < 2 { 0.0 } else { self.solve(None).1 };
        // The second program may need the room that the solver took in the first.
        let room = if slack > 1e-9 { 1e-10 } else { 0.0 };
        (self.solve(Some(slack + room)).0, slack)
    }

    fn solve(&self, limit: Option<f64>) -> (f64, f64) {
        let n = self.u.len();
        let mut program = Program::new(OptimizationDirection::Maximize);
        let worth = |i: usize, j: usize| if limit.is_some() { self.u[i] * self.v[j] } else { 0.0 };
        let p: Vec<Vec<Variable>> =
            (0..n).map(|i| (0..n).map(|j| program.add_var(worth(i, j), (0.0, 1.0))).collect()).collect();
        let slack = match limit {
            None => program.add_var(-1.0, (0.0, f64::INFINITY)),
            Some(limit) => program.add_var(0.0, (0.0, limit)),
        };
        for (k, row) in p.iter().enumerate() {
            let row: Vec<_> = row.iter().map(|&p| (p, 1.0)).collect();
            let column: Vec<_> = p.iter().map(|row| (row[k], 1.0)).collect();
            program.add_constraint(row, ComparisonOp::Eq, 1.0);
            program.add_constraint(column, ComparisonOp::Eq, 1.0);
        }
        for a in &self.shares {
            for b in self.shares.iter().filter(|&b| a != b) {
                let mut terms = vec![(slack, -1.0)];
                for (i, row) in p.iter().enumerate() {
                    terms.extend(row.iter().zip(&self.v).map(|(&p, v)| (p, (a[i] - b[i]) * v)));
                }
                program.add_constraint(terms, ComparisonOp::Le, 0.0);
            }
        }
        let mut options = SolveOptions::default();
        options.tolerances.feasibility = 1e-10;
        let solution = program.solve_with(options).unwrap().into_solution().unwrap();
        (solution.objective(), solution.var_value(slack))
    }

    /// Objective and slack for two groups: the best of all rankings and of all mixtures of two.
    pub(super) fn every_pair_of_rankings(&self) -> (f64, f64) {
        let (a, b) = (&self.shares[0], &self.shares[1]);
        let measure = |order: &[usize]| {
            let sum = |worth: &dyn Fn(usize) -> f64| {
                order.iter().zip(&self.v).map(|(&i, v)| worth(i) * v).sum::<f64>()
            };
            (sum(&|i| self.u[i]), sum(&|i| a[i]) - sum(&|i| b[i]))
        };
        let all: Vec<(f64, f64)> = permutations(self.u.len()).iter().map(|order| measure(order)).collect();
        let least = all.iter().map(|(_, gap)| gap.abs()).fold(f64::INFINITY, f64::min);
        let (low, high) =
            all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x.1), h.max(x.1)));
        let rounding = 1e-14 * self.largest_share();
        if low > rounding || high < -rounding {
            let near = all.iter().filter(|(_, gap)| gap.abs() <= least + rounding);
            return (near.map(|x| x.0).fold(0.0, f64::max), least);
        }
        let mut best: f64 = 0.0;
        for (utility, gap) in &all {
            if gap.abs() <= rounding {
                best = best.max(*utility);
                continue;
            }
            for (other, down) in all.iter().filter(|(_, down)| down.signum() != gap.signum()) {
                best = best.max((utility * down.abs() + other * gap.abs()) / (gap.abs() + down.abs()));
            }
        }
        (best, 0.0)
    }
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    shorter.iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}
