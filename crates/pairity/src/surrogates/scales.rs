//! What a rate's weight comes to in each of its pairs.

use crate::examples::Examples;
use crate::pairs::{Layout, Tally};
use crate::rates::{Average, Rate, Ties};

/// The share of each rate in one of its pairs, of weight 1.
pub(super) struct Scales {
    /// Whether a rate has pairs.
    estimable: Vec<bool>,
    shares: Shares,
    /// The same for the squared error of one example.
    examples: Shares,
}

/// A list of (rate, share): one for all queries, or one for each of them.
enum Shares {
    Pooled(Vec<(u32, f64)>),
    ByQuery { shares: Vec<(u32, f64)>, ends: Vec<usize> },
}

impl Shares {
    /// From the totals of each rate in each query.
    fn new<'a>(
        queries: impl Iterator<Item = &'a [(u32, f64)]> + Clone,
        rates: usize,
        by_query: bool,
    ) -> Shares {
        let mut sums = vec![0.0; rates];
        for &(rate, total) in queries.clone().flatten() {
            sums[rate as usize] += if by_query { 1.0 } else { total };
        }
        if !by_query {
            let share = |(rate, sum): (usize, f64)| (sum > 0.0).then(|| (rate as u32, 1.0 / sum));
            return Shares::Pooled(sums.into_iter().enumerate().filter_map(share).collect());
        }
        let (mut shares, mut ends) = (Vec::new(), Vec::new());
        for totals in queries {
            shares.extend(totals.iter().map(|&(rate, total)| (rate, 1.0 / (sums[rate as usize] * total))));
            ends.push(shares.len());
        }
        Shares::ByQuery { shares, ends }
    }

    fn of_query(&self, query: usize) -> &[(u32, f64)] {
        match self {
            Shares::Pooled(shares) => shares,
            Shares::ByQuery { shares, ends } => {
                &shares[if query == 0 { 0 } else { ends[query - 1] }..ends[query]]
            }
        }
    }
}

impl Scales {
    pub(super) fn new(examples: &Examples, rates: &[Rate], average: Average) -> Scales {
        let layout = Layout::of(examples);
        let mut rates_of: Vec<Vec<u32>> = vec![Vec::new(); layout.len()];
        for (rate, name) in rates.iter().enumerate().filter(|(_, name)| **name != Rate::Mse) {
            layout.cells(*name).into_iter().for_each(|cell| rates_of[cell].push(rate as u32));
        }
        // Totals don't depend on scores.
        let counted: Vec<Rate> = rates.iter().copied().chain([Rate::Mse]).collect();
        let tally = Tally::count(examples, &vec![0.0; examples.len()], &counted, Ties::Half);
        let (mut totals, mut ends) = (Vec::new(), Vec::new());
        let (mut errors, mut error_ends) = (Vec::new(), Vec::new());
        let mut sums = vec![0.0; rates.len()];
        for entries in tally.queries() {
            let mut touched: Vec<u32> = Vec::new();
            for entry in entries.iter().filter(|entry| entry.total > 0.0) {
                for &rate in &rates_of[entry.cell as usize] {
                    if sums[rate as usize] == 0.0 {
                        touched.push(rate);
                    }
                    sums[rate as usize] += entry.total;
                }
                if entry.cell as usize == layout.mse() {
                    errors.push((0, entry.total));
                }
            }
            touched.sort_unstable();
            totals.extend(touched.iter().map(|&rate| (rate, std::mem::take(&mut sums[rate as usize]))));
            ends.push(totals.len());
            error_ends.push(errors.len());
        }
        let by_query = average == Average::Queries && examples.has_queries();
        let mut estimable = vec![false; rates.len()];
        totals.iter().for_each(|&(rate, _)| estimable[rate as usize] = true);
        Scales {
            estimable,
            shares: Shares::new(lists(&totals, &ends), rates.len(), by_query),
            examples: Shares::new(lists(&errors, &error_ends), 1, by_query),
        }
    }

    /// Rates and shares, if they are the same for all queries.
    pub(super) fn pooled(&self) -> Option<impl Iterator<Item = (u32, f64)>> {
        match &self.shares {
            Shares::Pooled(shares) => Some(shares.iter().copied()),
            Shares::ByQuery { .. } => None,
        }
    }

    /// Rates and shares in one query.
    pub(super) fn of_query(&self, query: usize) -> impl Iterator<Item = (u32, f64)> {
        self.shares.of_query(query).iter().copied()
    }

    pub(super) fn has_pairs(&self, rate: usize) -> bool {
        self.estimable.get(rate).copied().unwrap_or(false)
    }

    /// What ramps lack: a win's ramp is taken as 1 less that of the error, except for parity, where the
    /// pair's mirror image stands for it.
    pub(super) fn constant(&self, rates: &[Rate], hold_down: &[f64]) -> f64 {
        let label_ordered = |rate: usize| !matches!(rates[rate], Rate::Parity { .. });
        (0..rates.len()).filter(|&r| self.estimable[r] && label_ordered(r)).map(|r| hold_down[r]).sum()
    }

    /// The part of one query in the mean squared error; adds `weight` times its gradient.
    pub(super) fn add_squared_error(
        &self,
        examples: &Examples,
        query: usize,
        weight: f64,
        scores: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        let (Some(labels), Some(&(_, share))) = (&examples.labels, self.examples.of_query(query).first())
        else {
            return 0.0;
        };
        let mut sum = 0.0;
        for (i, slope) in examples.query(query).zip(gradient) {
            let part = share * examples.weights.as_ref().map_or(1.0, |weights| weights[i]);
            let error = scores[i] - labels[i];
            sum += part * error * error;
            *slope += 2.0 * weight * part * error;
        }
        sum
    }

    /// Adds `weight` times the second derivatives of one query's part in the mean squared error.
    pub(super) fn add_error_curvature(
        &self,
        examples: &Examples,
        query: usize,
        weight: f64,
        curvature: &mut [f64],
    ) {
        let Some(&(_, share)) = self.examples.of_query(query).first() else { return };
        for (i, curvature) in examples.query(query).zip(curvature) {
            let part = share * examples.weights.as_ref().map_or(1.0, |weights| weights[i]);
            *curvature += 2.0 * weight * part;
        }
    }
}

/// The parts of a list, each up to its end.
fn lists<'a, T>(all: &'a [T], ends: &'a [usize]) -> impl Iterator<Item = &'a [T]> + Clone {
    (0..ends.len()).map(|i| &all[if i == 0 { 0 } else { ends[i - 1] }..ends[i]])
}
