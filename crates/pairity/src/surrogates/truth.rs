//! The true rates at scores, for a loop that asks again and again.
//!
//! Small queries are compared from the columns that are prepared anyway; anything else is counted as an
//! audit counts it.

use super::Surrogate;
use super::columns::Masses;
use super::pairing::Pairing;
use crate::examples::SMALL;
use crate::metrics::values_in_order;
use crate::pairs::Layout;
use crate::rates::{Average, Rate, Ties};
use rayon::prelude::*;

impl Surrogate<'_> {
    /// The value of each rate, equal scores earning a half; NaN for one without pairs. Scores are in the
    /// order of the examples.
    pub(crate) fn true_rates(&self, scores: &[f64]) -> Vec<f64> {
        let examples = &*self.examples;
        let small = (0..examples.queries()).all(|query| examples.query(query).len() <= SMALL);
        let simple = self.rates.iter().all(|rate| matches!(rate, Rate::Accuracy { .. }));
        match (examples.has_labels() && small && simple, self.scales.pooled()) {
            (true, Some(shares)) => match &self.columns.label_ordered {
                Masses::Equal(masses) => self.pooled_rates(scores, masses, shares),
                Masses::Product(masses) => self.pooled_rates(scores, masses, shares),
                Masses::Gap(masses) => self.pooled_rates(scores, masses, shares),
            },
            (_, pooled) => {
                let average = if pooled.is_some() { Average::Pairs } else { Average::Queries };
                values_in_order(examples, scores, &self.rates, Ties::Half, average)
            }
        }
    }

    fn pooled_rates<P: Pairing>(
        &self,
        scores: &[f64],
        masses: &[P],
        shares: impl Iterator<Item = (u32, f64)>,
    ) -> Vec<f64> {
        let layout = Layout::of(&self.examples);
        let codes = layout.codes();
        // Half wins by better and worse group. The parts are added in order: the same bits for any number
        // of threads.
        let parts: Vec<Vec<f64>> = self
            .tasks
            .par_iter()
            .map(|task| {
                let mut halves = vec![0.0; codes * codes];
                let mut ordered = [0.0; SMALL];
                for query in task.clone() {
                    let columns = self.columns.query(query);
                    let (own, masses) = (&scores[columns.range.clone()], &masses[columns.range.clone()]);
                    for (to, &e) in ordered.iter_mut().zip(columns.example) {
                        *to = own[e as usize];
                    }
                    let code = |place: usize| usize::from(columns.present[usize::from(columns.lane[place])]);
                    for (i, &worse) in columns.run.iter().enumerate().filter(|(_, worse)| **worse > 0) {
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
        let mut rates = vec![f64::NAN; self.rates.len()];
        for (rate, share) in shares {
            let cells = layout.cells(self.rates[rate as usize]);
            let halves: f64 = parts.iter().flat_map(|part| cells.iter().map(|&cell| part[cell])).sum();
            rates[rate as usize] = halves * 0.5 * share;
        }
        rates
    }
}
