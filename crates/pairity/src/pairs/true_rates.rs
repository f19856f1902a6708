//! The true rates at scores, for a loop that asks again and again.
//!
//! Small queries whose pairs all count alike are compared in label order, with nothing to collect by query;
//! anything else is counted as an audit counts it.

use super::index::with_masses;
use super::mass::Mass;
use super::order::ScoreOrder;
use super::rate_index::{Fractions, RateIndex};
use super::tally::Tally;
use crate::rates::{Rate, Ties};
use rayon::prelude::*;

impl RateIndex<'_> {
    /// The value of each rate, equal scores earning a half; NaN for one without pairs.
    pub(crate) fn true_rates(&self, order: &ScoreOrder) -> Vec<f64> {
        let examples = self.examples();
        let small =
            (0..examples.queries()).all(|query| examples.query(query).len() <= self.pairs.sizes.small);
        let simple = self.rates().iter().all(|rate| matches!(rate, Rate::Accuracy { .. }));
        match &self.fractions {
            Fractions::Pooled(fractions) if examples.has_labels() && small && simple => {
                with_masses!(&self.pairs.label_ordered, masses => self.pooled_rates(order, masses, fractions))
            }
            _ => Tally::count(&self.pairs, order, Ties::Half).values(&self.pairs, self.average),
        }
    }

    fn pooled_rates<M: Mass>(&self, order: &ScoreOrder, masses: &[M], fractions: &[(u32, f64)]) -> Vec<f64> {
        let layout = &self.pairs.layout;
        let codes = layout.codes();
        // Half wins by better and worse group. The parts are added in order: the same bits for any number
        // of threads.
        let parts: Vec<Vec<f64>> = self
            .pairs
            .tasks
            .par_iter()
            .map(|task| {
                let mut halves = vec![0.0; codes * codes];
                let mut ordered = vec![0.0; self.pairs.sizes.small];
                for query in task.clone() {
                    let query = self.pairs.query(query);
                    let (own, masses) = (order.scores(&query), &masses[query.range.clone()]);
                    for (to, &e) in ordered.iter_mut().zip(query.example) {
                        *to = own[e as usize];
                    }
                    let code = |at: usize| usize::from(query.present[usize::from(query.group[at])]);
                    for (i, &worse) in query.first.iter().enumerate().filter(|(_, worse)| **worse > 0) {
                        let row = code(i) * codes;
                        for (j, &score) in ordered[..worse as usize].iter().enumerate() {
                            let half = u8::from(ordered[i] > score) + u8::from(ordered[i] >= score);
                            halves[row + code(j)] += f64::from(half) * masses[i].pair(masses[j]);
                        }
                    }
                }
                halves
            })
            .collect();
        let mut rates = vec![f64::NAN; self.rates().len()];
        for &(rate, fraction) in fractions {
            let cells = layout.cells(self.rates()[rate as usize]);
            let halves: f64 = parts.iter().flat_map(|part| cells.iter().map(|&cell| part[cell])).sum();
            rates[rate as usize] = halves * 0.5 * fraction;
        }
        rates
    }
}
