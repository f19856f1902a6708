//! All rates of a scored table, or expected of a stochastic model, ready to be asked for any expression of them.

use super::Settings;
use super::draws::Normals;
use super::influence::Influence;
use super::partial::{Partial, TableFacts};
use crate::examples::{Examples, ExamplesError};
use crate::goals::{Expression, LinearForm, Vocabulary};
use crate::pairs::CellLayout;
use crate::rates::{Rate, shortened};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// How far chances may be from adding up to 1.
const TOLERANCE: f64 = 1e-6;

/// A group of fewer units than this, rows or queries where there are queries, is marked where it decides something:
/// 18 people may have 15,000 pairs. Where the table has not as many, or the group is in half of it, the table is small.
const FEW: u64 = 30;

/// A number with its interval, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metric {
    /// The estimate.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
    /// Number of pairs it is made from (of examples, for the mean squared error).
    pub pairs: u64,
    /// Why the value or its interval can't be estimated.
    pub reason: Option<String>,
    /// Which group of few rows, or queries, decides it: said of criteria and checks.
    pub few: Option<String>,
}

impl Metric {
    /// A metric that can't be estimated.
    pub fn missing(reason: impl Into<String>) -> Metric {
        Metric { reason: Some(reason.into()), ..Metric::default() }
    }
}

/// That rates are estimated from some of the pairs: those inside random blocks of the rows, and between some of them.
/// Intervals include that pairs were sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Pairs of rows that were compared.
    pub compared: u128,
    /// Pairs of rows that there are.
    pub all: u128,
}

impl Estimate {
    /// The share of the pairs that were compared.
    pub fn share(&self) -> f64 {
        self.compared as f64 / self.all as f64
    }
}

/// How likely one scorer of a stochastic model is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chance<'a> {
    /// The same for every query.
    Same(f64),
    /// By row; all rows of a query have the same.
    ByRow(&'a [f64]),
}

/// One scorer of a stochastic model, by the scores it gives to the rows of a table. One scorer is drawn
/// for each query, and a rate of the model is the expected rate of that draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member<'a> {
    /// How likely it is drawn.
    pub chance: Chance<'a>,
    /// Its scores, in the order of the rows.
    pub scores: &'a [f64],
}

impl<'a> Member<'a> {
    /// The one scorer of a deterministic model.
    pub fn only(scores: &'a [f64]) -> Member<'a> {
        Member { chance: Chance::Same(1.0), scores }
    }
}

/// Mixes the few small numbers of a rate: what the library does against keys that were made to collide takes longer than
/// all else that is asked of a rate.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RateHasher(u64);

impl Hasher for RateHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize((*byte).into()));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0.rotate_left(8) ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_usize(number as usize);
    }
}

/// The rates of a scored table and their covariance.
#[derive(Debug, Clone)]
pub struct Measurement {
    vocabulary: Vocabulary,
    layout: CellLayout,
    pub(super) facts: TableFacts,
    pub(super) influence: Influence,
    /// The place of each rate in the lists of the influence.
    pub(super) index: HashMap<Rate, usize, BuildHasherDefault<RateHasher>>,
    pub(super) settings: Settings,
    pub(super) estimate: Option<Estimate>,
    pub(super) normals: Normals,
}

impl Measurement {
    /// Measures every rate; `scores` are in the order of the rows.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples};
    /// use pairity::metrics::{Measurement, Settings};
    /// use pairity::rates::Rate;
    ///
    /// let labels = [0.0, 0.0, 1.0, 1.0];
    /// let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() })?;
    /// let measured = Measurement::new(&examples, &[0.1, 0.4, 0.3, 0.8], &Settings::default())?;
    /// assert_eq!(measured.rate(Rate::AUC).value, Some(0.75));
    /// # Ok::<(), pairity::examples::ExamplesError>(())
    /// ```
    pub fn new(
        examples: &Examples,
        scores: &[f64],
        settings: &Settings,
    ) -> Result<Measurement, ExamplesError> {
        Measurement::of_mixture(examples, &[Member::only(scores)], settings)
    }

    /// Measures every rate that is expected of a stochastic model.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows; chances that don't add up to 1.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples};
    /// use pairity::metrics::{Chance, Measurement, Member, Settings};
    /// use pairity::rates::Rate;
    ///
    /// let examples = Examples::new(Columns { labels: Some(&[0.0, 1.0]), ..Columns::default() })?;
    /// let right = Member { chance: Chance::Same(0.75), scores: &[0.1, 0.9] };
    /// let wrong = Member { chance: Chance::Same(0.25), scores: &[0.9, 0.1] };
    /// let measured = Measurement::of_mixture(&examples, &[right, wrong], &Settings::default())?;
    /// assert_eq!(measured.rate(Rate::AUC).value, Some(0.75));
    /// # Ok::<(), pairity::examples::ExamplesError>(())
    /// ```
    pub fn of_mixture(
        examples: &Examples,
        members: &[Member],
        settings: &Settings,
    ) -> Result<Measurement, ExamplesError> {
        let members = arrange(examples, members)?;
        let layout = CellLayout::of(examples);
        let rates = all_rates(&layout);
        let influence = Influence::measure(examples, &members, &rates, settings);
        let (vocabulary, facts) = (examples.vocabulary(), TableFacts::new(examples));
        Ok(Measurement::of_influence(vocabulary, layout, facts, influence, settings))
    }

    /// What is known of a table and its rates.
    pub(super) fn of_influence(
        vocabulary: Vocabulary,
        layout: CellLayout,
        facts: TableFacts,
        influence: Influence,
        settings: &Settings,
    ) -> Measurement {
        let index = all_rates(&layout).into_iter().enumerate().map(|(i, rate)| (rate, i)).collect();
        let (settings, estimate, normals) = (*settings, None, Normals::default());
        Measurement { vocabulary, layout, facts, influence, index, settings, estimate, normals }
    }

    /// The whole that a partial audit, merged of all parts, is about. How ties and queries count was settled when it
    /// was made.
    pub fn of_partial(partial: &Partial, settings: &Settings) -> Measurement {
        let layout = partial.layout();
        let rates = all_rates(&layout);
        let (ties, average) = partial.ties_and_average();
        let influence = partial.sums.influence(&layout, &rates);
        let settings = Settings { ties, average, ..*settings };
        Measurement::of_influence(partial.vocabulary(), layout, partial.facts.clone(), influence, &settings)
    }

    /// The names that goals about this table may use.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// One rate.
    pub fn rate(&self, rate: Rate) -> Metric {
        self.expression(&Expression::Linear(LinearForm::rate(rate)))
    }

    /// Any expression of rates.
    pub fn expression(&self, expression: &Expression) -> Metric {
        self.expression_at(expression, self.settings.confidence)
    }

    /// Any expression of rates, with an interval of that confidence.
    pub(super) fn expression_at(&self, expression: &Expression, confidence: f64) -> Metric {
        let rates = expression.rates();
        let pairs = self.pairs(&rates);
        if let Some(reason) = rates.iter().find_map(|&rate| self.not_estimable(rate)) {
            return Metric { pairs, ..Metric::missing(reason) };
        }
        let value = expression.value(&mut |rate| self.influence.values[self.index[&rate]]);
        if let Some(reason) = rates.iter().find_map(|&rate| self.no_interval(rate)) {
            return Metric { value: Some(value), pairs, ..Metric::missing(reason) };
        }
        let interval = self.interval(expression, confidence);
        let (low, high) = (Some(interval.low), Some(interval.high));
        Metric { value: Some(value), low, high, pairs, ..Metric::default() }
    }

    /// Which group of few units decides an expression, if one does.
    pub(super) fn few(&self, expression: &Expression) -> Option<String> {
        if self.facts.units() < FEW
            || expression.rates().iter().any(|&rate| self.not_estimable(rate).is_some())
        {
            return None;
        }
        let rates = expression.deciding(&mut |rate| self.influence.values[self.index[&rate]]);
        let groups = rates.into_iter().flat_map(|rate| rate.groups().map(move |group| (rate, group)));
        let (rate, group) = groups.min_by_key(|&(_, group)| self.facts.group_units[group])?;
        let (rate, name) =
            (rate.in_words(&self.vocabulary.groups), shortened(&self.vocabulary.groups[group]));
        let has = match (self.facts.group_units[group], self.facts.queries.is_some()) {
            (units, _) if units >= FEW || 2 * units >= self.facts.units() => return None,
            (1, true) => "is in one query".to_owned(),
            (1, false) => "has one row".to_owned(),
            (units, true) => format!("is in {units} queries"),
            (units, false) => format!("has {units} rows"),
        };
        Some(format!("{rate} decides it, and the group {name:?} {has} only"))
    }

    /// Pairs in at least one of the rates.
    fn pairs(&self, rates: &[Rate]) -> u64 {
        let rates = rates.iter().filter(|rate| self.index.contains_key(rate));
        let cells: BTreeSet<usize> = rates.flat_map(|&rate| self.layout.cells(rate)).collect();
        cells.iter().map(|&cell| self.influence.cell_pairs[cell]).sum()
    }

    /// Why a rate has no value, if it has none.
    pub(super) fn not_estimable(&self, rate: Rate) -> Option<String> {
        let name = || rate.in_words(&self.vocabulary.groups);
        let Some(&r) = self.index.get(&rate) else {
            let needs = match rate {
                Rate::Greater | Rate::Less | Rate::ParityGreater | Rate::ParityLess
                    if !self.layout.continuous =>
                {
                    "a continuous protected attribute"
                }
                Rate::Parity { .. } => "groups",
                _ => "labels",
            };
            return Some(format!("{} needs {needs}", name()));
        };
        let pairs = self.influence.pairs[r];
        if pairs == 0 {
            return Some(format!("{} has no pairs", name()));
        }
        if pairs < self.settings.min_pairs {
            return Some(format!("{} has {pairs} pairs, fewer than {}", name(), self.settings.min_pairs));
        }
        match self.influence.values[r] {
            value if value.is_nan() => Some(format!("{} has no pairs of positive weight", name())),
            value if value.is_infinite() => Some(format!("{} is too large a number", name())),
            _ => None,
        }
    }

    fn no_interval(&self, rate: Rate) -> Option<String> {
        let &r = self.index.get(&rate)?;
        if self.influence.freedom[r] > 0.0 && self.influence.variances[r].is_finite() {
            return None;
        }
        let name = rate.in_words(&self.vocabulary.groups);
        let why = match (rate, self.facts.queries.is_some()) {
            (_, true) => format!("one query alone has pairs of {name}"),
            (Rate::Mse, _) => "there is one example".to_owned(),
            (Rate::Parity { .. } | Rate::ParityGreater | Rate::ParityLess, _) => {
                format!("one side of {name} has a single example")
            }
            _ => format!("the better or the worse side of {name} has a single example"),
        };
        Some(format!("the interval can't be estimated: {why}"))
    }
}

/// The scores of a member in the order of the examples, and its chance in each query.
pub(super) type Arranged = (Vec<f64>, Vec<f64>);

/// Checks the members and puts them in the order of the examples.
pub(super) fn arrange(examples: &Examples, members: &[Member]) -> Result<Vec<Arranged>, ExamplesError> {
    let queries = examples.queries();
    let mut sums = vec![0.0; queries];
    let mut arranged = Vec::with_capacity(members.len());
    for member in members {
        let chances = match member.chance {
            Chance::Same(chance) => vec![chance; queries],
            Chance::ByRow(chances) => {
                let in_order = examples.arrange(chances)?;
                (0..queries).map(|query| in_order[examples.query(query).start]).collect()
            }
        };
        sums.iter_mut().zip(&chances).for_each(|(sum, chance)| *sum += chance);
        if let Some(&found) = chances.iter().find(|chance| !(0.0..=1.0).contains(*chance)) {
            return Err(ExamplesError::Chances(found));
        }
        arranged.push((examples.arrange(member.scores)?, chances));
    }
    match sums.iter().find(|sum| (**sum - 1.0).abs() > TOLERANCE) {
        Some(&found) => Err(ExamplesError::Chances(found)),
        None => Ok(arranged),
    }
}

/// Every rate that a table has.
pub(super) fn all_rates(layout: &CellLayout) -> Vec<Rate> {
    let k = layout.groups;
    let pairs = || (0..k).flat_map(|a| (0..k).map(move |b| (a, b)));
    let mut rates = Vec::new();
    if layout.labels {
        rates.extend([Rate::AUC, Rate::Mse]);
        rates.extend(pairs().map(|(a, b)| Rate::accuracy(a, b)));
        rates.extend((0..k).flat_map(|group| [Rate::row(group), Rate::column(group)]));
        if layout.continuous {
            rates.extend([Rate::Greater, Rate::Less]);
        }
    }
    let others = pairs().filter(|(a, b)| a != b);
    rates.extend(others.map(|(first, second)| Rate::Parity { first, second }));
    if layout.continuous {
        rates.extend([Rate::ParityGreater, Rate::ParityLess]);
    }
    rates
}
