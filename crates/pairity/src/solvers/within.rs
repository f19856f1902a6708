//! Pairs inside random parts of the rows only, which are drawn anew every few steps: whoever holds the features of a part
//! counts its pairs, and sends rates and a gradient in place of scores.
//!
//! A partition follows from the seed and its number, so that a run which is resumed sees the same ones.

use super::loss::SurrogateWeights;
use super::solver::Training;
use crate::examples::{Examples, shuffled};
use crate::learners::{Architecture, PairTask, PartWeights, PartsElsewhere};
use crate::pairs::RateSums;
use crate::rates::Rate;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Pairs of rows count in a step if both are in the same part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Within {
    /// How many parts there are.
    pub parts: usize,
    /// Steps with the same parts.
    pub steps: usize,
}

impl Within {
    /// The units of each part, in the partition of a number.
    pub(super) fn units(&self, units: usize, seed: u64, number: usize) -> Vec<Vec<u32>> {
        // Streams of their own: those of batches are counted from below.
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(u64::MAX - number as u64);
        let order = shuffled(units, &mut random);
        let parts = self.parts.min(units);
        (0..parts).map(|part| order[part * units / parts..(part + 1) * units / parts].to_vec()).collect()
    }
}

/// The partition of a run.
pub(crate) struct Partition {
    number: usize,
    parts: PartsElsewhere,
    /// What the pairs of each rate could earn, in all parts.
    totals: Vec<f64>,
}

impl Partition {
    /// That of an iteration; none if something went wrong elsewhere.
    pub(super) fn of(
        training: &Training,
        train: &Examples,
        within: Within,
        iteration: usize,
    ) -> Option<Partition> {
        let number = iteration / within.steps;
        let units = within.units(train.units(), training.settings.seed, number);
        let parts: Vec<Examples> = units.iter().filter_map(|units| train.part(units).ok()).collect();
        let task = PairTask {
            rates: training.problem.rates.clone(),
            ties: training.settings.ties,
            surrogate: training.settings.surrogate,
        };
        let parts = training.features.parts_elsewhere(&task, &parts)?;
        let sum = |rate: usize| parts.totals.iter().map(|own| own[rate]).sum();
        let totals = (0..task.rates.len()).map(sum).collect();
        Some(Partition { number, parts, totals })
    }

    /// Whether it is that of an iteration.
    pub(super) fn holds(&self, within: Within, iteration: usize) -> bool {
        iteration / within.steps == self.number
    }

    /// The gradient of a scorer's weighted surrogates, and what pairs earn; none if its scores are not finite.
    pub(super) fn loss(
        &self,
        rates: &[Rate],
        (scorer, parameters): (&Architecture, &[f64]),
        weights: &SurrogateWeights,
    ) -> Option<(Vec<f64>, RateSums)> {
        let of_part = |totals: &Vec<f64>| {
            let share = |rate: usize| if totals[rate] > 0.0 { totals[rate] / self.totals[rate] } else { 0.0 };
            let scaled = |all: &[f64]| all.iter().enumerate().map(|(rate, own)| own * share(rate)).collect();
            let given = weights.given();
            let error = rates.iter().position(|&rate| rate == Rate::Mse).map_or(0.0, share);
            PartWeights {
                hold_up: scaled(given.hold_up),
                hold_down: scaled(given.hold_down),
                mse: given.mse * error,
            }
        };
        let weights: Vec<PartWeights> = self.parts.totals.iter().map(of_part).collect();
        let mut gradient = vec![0.0; parameters.len()];
        let mut sums = RateSums { credits: vec![0.0; self.totals.len()], totals: self.totals.clone() };
        for own in self.parts.losses(scorer, parameters, &weights)? {
            gradient.iter_mut().zip(&own.gradient).for_each(|(sum, own)| *sum += own);
            sums.credits.iter_mut().zip(&own.earned).for_each(|(sum, own)| *sum += own);
        }
        gradient.iter().all(|slope| slope.is_finite()).then_some((gradient, sums))
    }
}
