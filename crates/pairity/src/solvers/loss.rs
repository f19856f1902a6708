//! What is evaluated on one sample of examples: the true rates of scores, and the loss that they descend. A sample
//! may be a mini-batch.

use super::score_player::ScoreSettings;
use super::solver::Training;
use super::train::TrainError;
use crate::examples::{Examples, shuffled};
use crate::goals::{LinearForm, Problem, ProblemError};
use crate::learners::{Architecture, Features};
use crate::model::ModelError;
use crate::pairs::{RateIndex, RateSums, ScoreOrder, Surrogate, SurrogateError, Wanted, Weights};
use crate::rates::Rate;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt::Debug;

/// A term on given examples: its value at scores, and its gradient, which is overwritten.
pub type ScoreTerm<'a> = Box<dyn Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'a>;

/// A term that a method adds to the loss of the scorer.
pub trait LossTerm: Debug + Sync {
    /// Checks its settings.
    ///
    /// # Errors
    /// A setting that is out of its range.
    fn check(&self) -> Result<(), TrainError>;

    /// The term on some examples, prepared for any number of evaluations.
    ///
    /// # Errors
    /// Examples that it can't be taken over.
    fn on<'a>(&self, examples: &'a Examples) -> Result<ScoreTerm<'a>, SurrogateError>;
}

/// Examples with their features, both in the order of the examples.
pub(crate) struct Sample<'a> {
    pub features: Features,
    index: RateIndex<'a>,
    surrogate: Surrogate,
    term: Option<ScoreTerm<'a>>,
}

impl<'a> Sample<'a> {
    /// Picks the features of the examples, which are a part, out of those of all rows, and checks that all fits.
    pub(crate) fn new(
        training: &Training,
        examples: &'a Examples,
        part: &'static str,
    ) -> Result<Sample<'a>, TrainError> {
        let Training { problem, architecture, features, settings, term } = *training;
        if features.rows() != examples.rows() {
            return Err(ModelError::Rows { features: features.rows(), rows: examples.rows() }.into());
        }
        architecture.check(features)?;
        // Tiny queries are looked at in label order: where scorers don't know of rows, they are in that order once and
        // for all.
        let movable = term.is_none() && matches!(architecture, Architecture::Linear(_));
        let sorted = if movable { examples.by_label() } else { None };
        let index = match sorted {
            Some(sorted) => RateIndex::owning(sorted, &problem.rates, settings.average),
            None => RateIndex::new(examples, &problem.rates, settings.average),
        };
        let sample = Sample {
            features: features.select(&index.examples().row),
            index: index.with_ties(settings.ties),
            surrogate: Surrogate::new(settings.surrogate, 1.0)?,
            term: term.map(|term| term.on(examples)).transpose()?,
        };
        check_pairs(&sample.index, part)?;
        Ok(sample)
    }

    /// A mini-batch of it, whose pairs, and whose examples, count for so many. It may lack the pairs that a term is
    /// taken over: then that adds nothing.
    pub(crate) fn batch<'b>(
        &self,
        training: &Training,
        examples: &'b Examples,
        counts: [f64; 2],
    ) -> Sample<'b> {
        Sample {
            features: training.features.batch(&examples.row),
            index: self.index.batch(examples, counts),
            surrogate: self.surrogate,
            term: training.term.and_then(|term| term.on(examples).ok()),
        }
    }

    /// A part of the examples of a sample, with no term; it may lack the pairs of a rate.
    pub(super) fn owning(training: &Training, examples: Examples) -> Result<Sample<'static>, TrainError> {
        let Training { problem, features, settings, .. } = *training;
        Ok(Sample {
            features: features.select(&examples.row),
            index: RateIndex::owning(examples, &problem.rates, settings.average).with_ties(settings.ties),
            surrogate: Surrogate::new(settings.surrogate, 1.0)?,
            term: None,
        })
    }

    /// Examples of their own, for scores from outside.
    pub(crate) fn of_scores(
        problem: &Problem,
        examples: Examples,
        settings: &ScoreSettings,
    ) -> Result<Sample<'static>, TrainError> {
        let features = Features::none(examples.len());
        let index = RateIndex::owning(examples, &problem.rates, settings.average);
        check_pairs(&index, "the examples")?;
        let surrogate = Surrogate::new(settings.surrogate, settings.margin)?;
        Ok(Sample { features, index, surrogate, term: None })
    }

    pub(crate) fn examples(&self) -> &Examples {
        self.index.examples()
    }

    pub(super) fn index(&self) -> &RateIndex<'a> {
        &self.index
    }

    /// The order of scores, which everything below is evaluated on.
    pub(crate) fn order<'s>(&self, scores: &'s [f64]) -> ScoreOrder<'s> {
        self.index.order(scores)
    }

    /// The rates of scores, in the order of the problem's.
    pub(crate) fn true_rates(&self, order: &ScoreOrder) -> Vec<f64> {
        self.index.true_rates(order)
    }

    /// The same, put in place of others.
    pub(crate) fn fill_rates(&self, order: &ScoreOrder, rates: &mut Vec<f64>) {
        self.index.fill_rates(order, rates);
    }

    /// The rates of a scorer; not numbers where its scores are none.
    pub(super) fn true_rates_of(&self, architecture: &Architecture, parameters: &[f64]) -> Vec<f64> {
        self.rate_sums_of(architecture, parameters).values()
    }

    /// What the pairs of each rate earn with a scorer.
    pub(super) fn rate_sums_of(&self, architecture: &Architecture, parameters: &[f64]) -> RateSums {
        let mut scores = vec![0.0; self.examples().len()];
        architecture.score(parameters, &self.features, &mut scores);
        if scores.iter().all(|score| score.is_finite()) {
            return self.rate_sums(&self.order(&scores));
        }
        let rates = self.index.rates().len();
        RateSums { credits: vec![f64::NAN; rates], totals: vec![1.0; rates] }
    }

    /// What the pairs of each rate earn, and what they could.
    pub(crate) fn rate_sums(&self, order: &ScoreOrder) -> RateSums {
        self.index.rate_sums(order)
    }

    /// The weighted sum of surrogates with the term, and its slope by each score, which is overwritten; so
    /// are the true rates, if they are asked for.
    pub(crate) fn loss(
        &self,
        order: &ScoreOrder,
        weights: &SurrogateWeights,
        slopes: &mut [f64],
        wanted: Wanted,
        rates: Option<&mut Vec<f64>>,
    ) -> f64 {
        let (index, weights) = (&self.index, weights.given());
        let found = self.surrogate.evaluate(index, order, (weights, wanted), slopes, rates);
        let Some(term) = &self.term else { return found.total };
        let mut own = index.rooms().list::<f64>(slopes.len());
        let added = term(order.scores, &mut own);
        slopes.iter_mut().zip(own.iter()).for_each(|(slope, own)| *slope += *own);
        found.total + added
    }

    /// A curvature of the weighted sum of surrogates by each score, at least 0 and overwritten.
    pub(crate) fn curvature(&self, order: &ScoreOrder, weights: &SurrogateWeights, curvature: &mut [f64]) {
        self.surrogate.curvature(&self.index, order, weights.given(), curvature);
    }
}

/// Every rate of the problem needs pairs, in training and in selection.
fn check_pairs(index: &RateIndex, part: &'static str) -> Result<(), TrainError> {
    let labels = index.examples().has_labels();
    let has_value = |at: usize| if index.rates()[at] == Rate::Mse { labels } else { index.has_pairs(at) };
    let Some(rate) = (0..index.rates().len()).find(|&at| !has_value(at)) else { return Ok(()) };
    let rate = index.rates()[rate].in_words(index.examples().groups());
    Err(ProblemError::NoPairs { rate, part }.into())
}

/// Weights of the surrogates: of the error of each rate, of the rate itself, and of the squared error.
///
/// The proxy of a linear form Σ c_r A_r bounds each term by itself: a rate with c > 0 by its surrogate from
/// above, one with c < 0 by the surrogate of its error, as c A = |c| (1 − A) − |c|.
#[derive(Default)]
pub(crate) struct SurrogateWeights {
    up: Vec<f64>,
    down: Vec<f64>,
    mse: f64,
}

impl SurrogateWeights {
    pub(super) fn given(&self) -> Weights<'_> {
        Weights { hold_up: &self.up, hold_down: &self.down, mse: self.mse }
    }

    /// Whether any pair has a weight.
    pub(super) fn has_pairs(&self) -> bool {
        self.up.iter().zip(&self.down).any(|(up, down)| up != down)
    }

    /// Whether no rate is to be low.
    pub(super) fn hold_up_only(&self) -> bool {
        self.up.iter().zip(&self.down).all(|(up, down)| up >= down)
    }

    /// What rates earn by their net weights.
    pub(super) fn earned(&self, rates: &[f64]) -> f64 {
        let net = self.up.iter().zip(&self.down).map(|(up, down)| up - down).zip(rates);
        net.filter(|(net, _)| *net != 0.0).map(|(net, rate)| net * rate).sum()
    }

    /// The same weights on a scale of their own: that of the squared error is 1, or else those of all rates together.
    pub(super) fn normalized(&self) -> SurrogateWeights {
        let sum: f64 = self.up.iter().zip(&self.down).map(|(up, down)| (up - down).abs()).sum();
        let size = if self.mse > 0.0 { self.mse } else { sum };
        let scaled = |weights: &Vec<f64>| weights.iter().map(|weight| weight / size).collect();
        if size > 0.0 {
            SurrogateWeights { up: scaled(&self.up), down: scaled(&self.down), mse: self.mse / size }
        } else {
            SurrogateWeights { up: self.up.clone(), down: self.down.clone(), mse: self.mse }
        }
    }

    /// Gives the squared error a weight if it has none, so that scores have a scale.
    pub(super) fn anchor(&mut self, mse: f64) {
        self.mse = if self.mse > 0.0 { self.mse } else { mse };
    }

    /// Sets them to those of some weighted forms.
    pub(crate) fn set<'f>(&mut self, problem: &Problem, forms: impl Iterator<Item = (&'f LinearForm, f64)>) {
        for weights in [&mut self.up, &mut self.down] {
            weights.clear();
            weights.resize(problem.rates.len(), 0.0);
        }
        self.mse = 0.0;
        for (form, weight) in forms {
            for &(rate, factor) in &form.terms {
                match problem.rates.binary_search(&rate) {
                    _ if rate == Rate::Mse => self.mse += weight * factor,
                    Ok(at) if factor > 0.0 => self.down[at] += weight * factor,
                    Ok(at) => self.up[at] -= weight * factor,
                    Err(_) => {}
                }
            }
        }
    }
}

/// Mini-batches: queries, or rows without queries, in an order that is drawn anew when all were used.
///
/// The order follows from the seed and the number of the round alone, so that a run which is resumed
/// sees the same batches as one that was never interrupted.
pub(crate) struct Batches {
    size: usize,
    units: usize,
    seed: u64,
    round: Option<(usize, Vec<u32>)>,
    /// What a pair, and what an example, of a batch counts for, so that batches are on average the whole.
    pub counts: [f64; 2],
    /// What the last batches showed counts this much in the next.
    pub memory: f64,
}

/// The most batches that rates are estimated over: of more, the first are of a scorer that has moved on.
const REMEMBERED: usize = 100;

impl Batches {
    /// None if one batch holds everything.
    ///
    /// Every example is in one of the B batches of a round, and counts for B. So does a pair of a query, where whole
    /// queries are drawn; two of n rows are in the same batch in Σ b (b − 1) of n (n − 1) cases.
    pub(crate) fn new(examples: &Examples, size: Option<usize>, seed: u64) -> Option<Batches> {
        let units = examples.units();
        let size = size.filter(|&size| size < units)?.max(1);
        let a_round = units.div_ceil(size);
        let pairs = |rows: usize| rows as f64 * (rows as f64 - 1.0);
        let together = match examples.has_queries() {
            true => 1.0,
            false => ((units / size) as f64 * pairs(size) + pairs(units % size)) / pairs(units),
        };
        let counts = [a_round as f64 / together, a_round as f64];
        let memory = 1.0 - 1.0 / a_round.min(REMEMBERED) as f64;
        Some(Batches { size, units, seed, round: None, counts, memory })
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
    use crate::examples::{Columns, Groups, PairWeight};
    use crate::pairs::SurrogateKind;
    use crate::rates::Average;

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
    /// Every order of so many units.
    fn orders(units: u32) -> Vec<Vec<u32>> {
        let longer = |order: &Vec<u32>, unit: u32| -> Vec<Vec<u32>> {
            let put = |at: usize| [&order[..at], &[unit], &order[at..]].concat();
            (0..=order.len()).map(put).collect()
        };
        (0..units)
            .fold(vec![vec![]], |orders, unit| orders.iter().flat_map(|order| longer(order, unit)).collect())
    }

    #[test]
    fn slopes_of_batches_are_on_average_those_of_the_whole() {
        let names = ["0", "1", "0", "0", "0", "1", "0", "0", "0", "0"];
        let labels = [1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 0.0, 2.0, 1.0, 0.0];
        let scores = [0.1, -0.4, 0.3, 0.0, 0.9, 0.2, -0.7, 0.6, 0.5, 0.4];
        let weights = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.25, 1.0, 2.0];
        let (queries, rates) = ([0, 0, 0, 1, 1, 2, 2, 3, 3, 4], [Rate::accuracy(1, 0), Rate::AUC]);
        let surrogate = Surrogate::new(SurrogateKind::Hinge, 1.0).unwrap();
        let given = Weights { hold_up: &[1.0, 0.3], hold_down: &[0.5, 0.0], mse: 0.2 };
        // Without queries, of the first five rows: every order of ten would take a while.
        for (rows, queries) in [(10, Some(&queries[..])), (5, None)] {
            let groups = Groups::from_names(&names[..rows]);
            let columns = Columns {
                labels: Some(&labels[..rows]),
                groups: Some(&groups),
                queries,
                weights: Some(&weights[..rows]),
                pair_weight: PairWeight::LabelGap,
                ..Columns::default()
            };
            let examples = Examples::new(columns).unwrap();
            for (average, size) in [(Average::Pairs, 2), (Average::Queries, 2), (Average::Pairs, 3)] {
                let index = RateIndex::new(&examples, &rates, average);
                let slopes = |index: &RateIndex| surrogate.at_rows(index, &scores[..rows], given).unwrap().1;
                let batches = Batches::new(&examples, Some(size), 0).unwrap();
                let (mut sum, mut count) = (vec![0.0; rows], 0.0);
                for units in orders(5).iter().flat_map(|order| order.chunks(size)) {
                    let batch = examples.part(units).unwrap();
                    let own = slopes(&index.batch(&batch, batches.counts));
                    sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                    count += 1.0;
                }
                for (sum, whole) in sum.iter().zip(slopes(&index)) {
                    assert!(
                        (sum / count - whole).abs() < 1e-12,
                        "{average:?} {size}: {} {whole}",
                        sum / count
                    );
                }
            }
        }
    }
}
