//! Simulated ranking data with two groups, one of which is rare and harder to rank.
//!
//! Each query has 11 candidates, of which one, chosen uniformly, is positive (y = +1) and ten are
//! negative (y = −1). A candidate belongs to group 1 with probability 0.1, otherwise to group 0, and has
//! two features x ~ N(μ(y, z), σ²(y, z) I):
//!
//! ```text
//! μ(−1, 0) = [−1, −1]    μ(−1, 1) = [−2, −1]    μ(+1, 0) = [1, 0]    μ(+1, 1) = [−1.5, 0.75]
//! σ²(+1, 1) = 0.5, otherwise 1
//! ```

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Candidates of a query.
pub const CANDIDATES: usize = 11;

/// Probability of group 1.
const RARE: f64 = 0.1;

/// Simulated rows, query by query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Simulated {
    /// Two features of each candidate.
    pub features: Vec<[f64; 2]>,
    /// 1 or −1.
    pub labels: Vec<f64>,
    /// Group 0 or 1.
    pub groups: Vec<u32>,
    /// Number of the query.
    pub queries: Vec<u32>,
}

impl Simulated {
    /// Draws so many queries; the same seed gives the same rows.
    pub fn draw(queries: u32, seed: u64) -> Simulated {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut rows = Simulated::default();
        for query in 0..queries {
            let positive = random.random_range(0..CANDIDATES);
            for candidate in 0..CANDIDATES {
                let label = if candidate == positive { 1.0 } else { -1.0 };
                let group = u32::from(random.random::<f64>() < RARE);
                let (mean, deviation) = distribution(label > 0.0, group == 1);
                let [a, b] = normal_pair(&mut random);
                rows.features.push([mean[0] + deviation * a, mean[1] + deviation * b]);
                rows.labels.push(label);
                rows.groups.push(group);
                rows.queries.push(query);
            }
        }
        rows
    }
}

/// Mean and standard deviation of the features.
fn distribution(positive: bool, rare: bool) -> ([f64; 2], f64) {
    match (positive, rare) {
        (false, false) => ([-1.0, -1.0], 1.0),
        (false, true) => ([-2.0, -1.0], 1.0),
        (true, false) => ([1.0, 0.0], 1.0),
        (true, true) => ([-1.5, 0.75], 0.5_f64.sqrt()),
    }
}

/// Two independent standard normal numbers, by Box and Muller.
fn normal_pair(random: &mut ChaCha8Rng) -> [f64; 2] {
    let (u, v): (f64, f64) = (random.random(), random.random());
    let radius = (-2.0 * (1.0 - u).ln()).sqrt();
    let angle = std::f64::consts::TAU * v;
    [radius * angle.cos(), radius * angle.sin()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_query_has_one_positive_among_eleven() {
        let rows = Simulated::draw(200, 3);
        assert_eq!(rows.labels.len(), 2200);
        for query in rows.labels.chunks(CANDIDATES) {
            assert_eq!(query.iter().filter(|&&label| label > 0.0).count(), 1);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_rows_and_another_does_not() {
        assert_eq!(Simulated::draw(20, 3), Simulated::draw(20, 3));
        assert_ne!(Simulated::draw(20, 3), Simulated::draw(20, 4));
    }

    #[test]
    fn means_spreads_and_shares_are_those_of_the_model() {
        let rows = Simulated::draw(20_000, 5);
        for (label, group) in [(-1.0, 0), (-1.0, 1), (1.0, 0), (1.0, 1)] {
            let (mean, deviation) = distribution(label > 0.0, group == 1);
            let of = |axis: usize| -> Vec<f64> {
                let pick = |i: &usize| rows.labels[*i] == label && rows.groups[*i] == group;
                (0..rows.labels.len()).filter(pick).map(|i| rows.features[i][axis]).collect()
            };
            for axis in [0, 1] {
                let values = of(axis);
                let n = values.len() as f64;
                let average = values.iter().sum::<f64>() / n;
                let variance = values.iter().map(|x| (x - average).powi(2)).sum::<f64>() / n;
                assert!((average - mean[axis]).abs() < 5.0 * deviation / n.sqrt());
                assert!((variance.sqrt() - deviation).abs() < 5.0 * deviation / n.sqrt());
            }
        }
        let rare = rows.groups.iter().filter(|&&group| group == 1).count() as f64;
        assert!((rare / rows.groups.len() as f64 - RARE).abs() < 0.005);
    }
}
