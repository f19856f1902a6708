//! Mini-batches of examples.

use crate::examples::{Examples, shuffled};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Mini-batches: queries, or rows without queries, in an order that is drawn anew when all were used.
///
/// The order follows from the seed and the number of the round alone, so that a run which is resumed
/// sees the same batches as one that was never interrupted.
pub(crate) struct Batches {
    size: usize,
    units: usize,
    seed: u64,
    round: Option<(usize, Vec<u32>)>,
}

impl Batches {
    /// None if one batch holds everything.
    pub(crate) fn new(examples: &Examples, size: Option<usize>, seed: u64) -> Option<Batches> {
        let units = examples.units();
        let size = size.filter(|&size| size < units)?.max(1);
        Some(Batches { size, units, seed, round: None })
    }

    /// The units of an iteration, counted from 0.
    pub(crate) fn units(&mut self, iteration: usize) -> &[u32] {
        let a_round = self.units.div_ceil(self.size);
        let (round, place) = (iteration / a_round, iteration % a_round);
        if self.round.as_ref().is_none_or(|(current, _)| *current != round) {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(round as u64 + 1);
            self.round = Some((round, shuffled(self.units, &mut random)));
        }
        let order = self.round.as_ref().map_or(&[][..], |(_, order)| order);
        &order[place * self.size..((place + 1) * self.size).min(self.units)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Columns;

    #[test]
    fn a_round_of_batches_holds_every_unit_once_and_rounds_differ() {
        let labels: Vec<f64> = (0..10).map(f64::from).collect();
        let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() }).unwrap();
        let mut batches = Batches::new(&examples, Some(4), 7).unwrap();
        let mut round = |first: usize| -> Vec<u32> {
            (first..first + 3).flat_map(|iteration| batches.units(iteration).to_vec()).collect()
        };
        let (first, second, again) = (round(0), round(3), round(0));
        assert_eq!(first, again);
        assert_ne!(first, second);
        for mut order in [first, second] {
            order.sort_unstable();
            assert_eq!(order, (0..10).collect::<Vec<_>>());
        }
        assert!(Batches::new(&examples, Some(10), 7).is_none());
        assert!(Batches::new(&examples, None, 7).is_none());
    }
}
