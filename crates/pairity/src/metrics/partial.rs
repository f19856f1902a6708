//! Audits of parts of a table, which merge into the audit of the whole.

use super::exact::{ExactSum, as_text};
use super::measurement::{Arranged, all_rates, arrange};
use super::query_sums::QuerySums;
use super::{Member, Settings};
use crate::examples::{Examples, ExamplesError, compare_names};
use crate::goals::Vocabulary;
use crate::pairs::{CellLayout, DrawnOrder, PairIndex};
use crate::rates::{Average, Rate, Side, Ties};
use crate::threads::{self, both};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Texts of partial audits that a task reads.
const AT_ONCE: usize = 64;

/// Labels with no more values than this are grades rather than amounts.
const GRADES: usize = 10;

/// What is wrong with partial audits.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartialError {
    /// Rows that are one query can't be audited in parts.
    #[error("a partial audit is made of queries: name the columns that tell them apart")]
    NoQueries,
    /// Weights that are scaled table by table.
    #[error("weights of partial audits are between 1e-30 and 1e30: scale them alike in all parts")]
    Weights,
    /// Rows or scores that can't be audited.
    #[error(transparent)]
    Examples(#[from] ExamplesError),
    /// Two that were not made alike.
    #[error("partial audits of one table are made alike: one has {0}, another {1}")]
    Different(String, String),
    /// No partial audit at all.
    #[error("there is no partial audit to merge")]
    None,
    /// A text that is none.
    #[error("this is no partial audit, as audit --partial writes one: {0}")]
    Format(String),
}

/// What a measurement knows of its table beside rates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TableFacts {
    pub rows: u64,
    /// None where rows are the independent units.
    pub queries: Option<u64>,
    pub without_attribute: u64,
    /// Independent units of each group: queries that hold some of it, or its rows.
    pub group_units: Vec<u64>,
    pub labels: Option<LabelFacts>,
}

/// What is known of labels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LabelFacts {
    /// Some of the values, by their bits: at most one more than grades have.
    values: BTreeSet<u64>,
    count: u64,
    /// Their sum and that of their squares.
    #[serde(with = "as_text")]
    moments: Vec<ExactSum>,
}

impl LabelFacts {
    pub(super) fn new(labels: &[f64]) -> LabelFacts {
        let mut facts = LabelFacts { count: labels.len() as u64, ..LabelFacts::default() };
        for label in labels {
            if facts.values.len() > GRADES {
                break;
            }
            facts.values.insert(label.to_bits());
        }
        let sum = |numbers: &mut dyn Iterator<Item = f64>| {
            let mut sum = ExactSum::default();
            sum.extend(numbers);
            sum
        };
        let (first, second) = both(
            labels.len() > threads::WORTH,
            || sum(&mut labels.iter().copied()),
            || sum(&mut labels.iter().map(|label| label * label)),
        );
        facts.moments = vec![first, second];
        facts
    }

    pub(super) fn merge(&mut self, other: &LabelFacts) {
        self.values.extend(&other.values);
        while self.values.len() > GRADES + 1 {
            self.values.pop_last();
        }
        self.count += other.count;
        self.moments.iter_mut().zip(&other.moments).for_each(|(own, other)| own.merge(other));
    }

    /// Whether scores look like predictions of the labels, by their mean squared error: labels have more than
    /// [`GRADES`] values, and scores miss them by at most twice what their mean does. Scores on another scale miss by
    /// more.
    pub(super) fn are_predicted(&self, mse: f64) -> bool {
        let mean = |power: usize| self.moments[power - 1].value() / self.count as f64;
        let variance = (mean(2) - mean(1).powi(2)).max(0.0);
        self.values.len() > GRADES && mse <= 2.0 * variance
    }
}

impl TableFacts {
    pub(super) fn new(examples: &Examples) -> TableFacts {
        TableFacts {
            rows: examples.len() as u64,
            queries: examples.has_queries().then(|| examples.queries() as u64),
            without_attribute: examples.without_attribute() as u64,
            group_units: examples.group_units().into_iter().map(|units| units as u64).collect(),
            labels: examples.labels.as_deref().map(LabelFacts::new),
        }
    }

    /// Independent units: queries, or rows.
    pub(super) fn units(&self) -> u64 {
        self.queries.unwrap_or(self.rows)
    }

    /// Adds those of other rows, `groups` being the numbers of their groups here.
    fn merge(&mut self, other: &TableFacts, groups: &[usize]) {
        self.rows += other.rows;
        self.queries = self.queries.zip(other.queries).map(|(own, other)| own + other);
        self.without_attribute += other.without_attribute;
        groups.iter().zip(&other.group_units).for_each(|(&group, units)| self.group_units[group] += units);
        if let (Some(own), Some(other)) = (&mut self.labels, &other.labels) {
            own.merge(other);
        }
    }
}

/// The audit of some queries of a table: sums over queries, from which rates, intervals and checks follow. Parts of a
/// table can be audited apart and merged in any order, with the same bits as an audit of the whole.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::metrics::{Measurement, Partial, Settings};
/// use pairity::rates::Rate;
///
/// let (labels, queries) = ([0.0, 1.0, 0.0, 1.0, 1.0, 0.0], [1, 1, 2, 2, 3, 3]);
/// let scores = [0.1, 0.9, 0.4, 0.3, 0.8, 0.2];
/// let settings = Settings::default();
/// let rows = |from: usize, to: usize| {
///     Examples::new(Columns { labels: Some(&labels[from..to]), queries: Some(&queries[from..to]), ..Columns::default() })
/// };
/// let first = Partial::new(&rows(0, 2)?, &scores[..2], &settings)?;
/// let rest = Partial::new(&rows(2, 6)?, &scores[2..], &settings)?;
/// let merged = Partial::merge([Partial::from_json(&rest.to_json())?, first])?;
/// let auc = Measurement::of_partial(&merged, &settings).rate(Rate::AUC);
/// assert_eq!(auc, Measurement::new(&rows(0, 6)?, &scores, &settings)?.rate(Rate::AUC));
/// # Ok::<(), pairity::metrics::PartialError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// What this is, and the version of its form.
    partial: u32,
    groups: Vec<String>,
    continuous: bool,
    /// Names of what equal scores earn, and of how queries become one rate.
    ties: String,
    average: String,
    label_gap: bool,
    pub(super) facts: TableFacts,
    pub(super) sums: QuerySums,
}

/// The version of the form of partial audits.
const VERSION: u32 = 2;

impl Partial {
    /// Sums over the queries of a scored table; `scores` are in the order of the rows.
    ///
    /// # Errors
    /// No queries; scores that are not finite, or not as many as rows; weights beyond 1e30 or all below 1e-30.
    pub fn new(examples: &Examples, scores: &[f64], settings: &Settings) -> Result<Partial, PartialError> {
        if !examples.has_queries() {
            return Err(PartialError::NoQueries);
        }
        if examples.rescaled {
            return Err(PartialError::Weights);
        }
        Ok(Partial::of_members(examples, &arrange(examples, &[Member::only(scores)])?, settings))
    }

    /// The same, as expected of a mixture.
    pub(super) fn of_members(examples: &Examples, members: &[Arranged], settings: &Settings) -> Partial {
        let index = &PairIndex::new(examples, &all_rates(&CellLayout::of(examples)));
        let drawn =
            members.iter().map(|(scores, chances)| DrawnOrder { order: index.order(scores), chances });
        let by_query = index.is_by_query(settings.average);
        Partial {
            partial: VERSION,
            groups: examples.groups().to_vec(),
            continuous: examples.is_continuous(),
            ties: settings.ties.name().to_owned(),
            average: settings.average.name().to_owned(),
            label_gap: examples.label_gap,
            facts: TableFacts::new(examples),
            sums: QuerySums::count(index, &drawn.collect::<Vec<_>>(), settings.ties, by_query),
        }
    }

    /// What the partial audit was made with.
    pub fn ties_and_average(&self) -> (Ties, Average) {
        (Ties::named(&self.ties).unwrap_or_default(), Average::named(&self.average).unwrap_or_default())
    }

    /// The names that goals about it may use.
    pub fn vocabulary(&self) -> Vocabulary {
        Vocabulary { groups: self.groups.clone(), continuous: self.continuous }
    }

    pub(super) fn layout(&self) -> CellLayout {
        CellLayout {
            groups: self.groups.len(),
            labels: self.facts.labels.is_some(),
            continuous: self.continuous,
        }
    }

    /// One of several, with the groups of all.
    ///
    /// # Errors
    /// None at all, or some that were made in different ways.
    pub fn merge(parts: impl IntoIterator<Item = Partial>) -> Result<Partial, PartialError> {
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or(PartialError::None)?;
        parts.try_fold(first, |all, part| all.merged(part))
    }

    /// One of the texts of several, which are read side by side.
    ///
    /// # Errors
    /// A text that is no partial audit, and those of [`merge`](Partial::merge).
    pub fn merge_texts(texts: &[String]) -> Result<Partial, PartialError> {
        let parts: Vec<&[String]> = texts.chunks(AT_ONCE).collect();
        let merged = threads::map(&parts, &|texts| {
            let read = texts.iter().map(|text| Partial::from_json(text)).collect::<Result<Vec<_>, _>>()?;
            Partial::merge(read)
        });
        Partial::merge(merged.into_iter().collect::<Result<Vec<_>, _>>()?)
    }

    fn merged(self, other: Partial) -> Result<Partial, PartialError> {
        let way = |part: &Partial| (part.facts.labels.is_some(), part.continuous, part.label_gap);
        if (way(&self), &self.ties, &self.average) != (way(&other), &other.ties, &other.average) {
            let made = |part: &Partial| {
                let labels = if part.facts.labels.is_some() { "labels" } else { "no labels" };
                let protected = if part.continuous { "a continuous attribute" } else { "groups or none" };
                let weights = if part.label_gap { "pairs weighted by label gap" } else { "no label gaps" };
                let Partial { ties, average, .. } = part;
                format!("{labels}, {protected}, {weights}, ties {ties}, average {average}")
            };
            return Err(PartialError::Different(made(&self), made(&other)));
        }
        let mut groups = self.groups.clone();
        if other.groups != groups {
            groups.extend_from_slice(&other.groups);
            groups.sort_by(|a, b| compare_names(a, b));
            groups.dedup();
        }
        let mut all = self.among(&groups);
        let other = other.among(&groups);
        // Both have the same items then: which they are follows from the number of groups, unless one had too many.
        let other = match all.sums.is_alone() == other.sums.is_alone() {
            true => other,
            false => {
                let layout = all.layout();
                let rates = all_rates(&layout);
                all.sums = all.sums.alone(&layout, &rates);
                Partial { sums: other.sums.alone(&layout, &rates), ..other }
            }
        };
        all.facts.merge(&other.facts, &(0..groups.len()).collect::<Vec<_>>());
        all.sums.merge(&other.sums);
        Ok(all)
    }

    /// The same in a table that has these groups.
    fn among(self, groups: &[String]) -> Partial {
        if self.groups == groups {
            return self;
        }
        let (own, layout) = (self.layout(), CellLayout { groups: groups.len(), ..self.layout() });
        let place = |name: &String| groups.iter().position(|group| group == name).unwrap_or_default();
        // Rows of no group stand behind the last one.
        let codes: Vec<usize> = self.groups.iter().map(place).chain([groups.len()]).collect();
        let (own_rates, rates) = (all_rates(&own), all_rates(&layout));
        let numbers: HashMap<Rate, usize> = rates.iter().enumerate().map(|(at, rate)| (*rate, at)).collect();
        let side = |side| match side {
            Side::Group(group) => Side::Group(codes[group]),
            Side::Any => Side::Any,
        };
        let rate = |rate: &Rate| match *rate {
            Rate::Accuracy { better, worse } => Rate::Accuracy { better: side(better), worse: side(worse) },
            Rate::Parity { first, second } => Rate::Parity { first: codes[first], second: codes[second] },
            other => other,
        };
        let own_numbers: Vec<usize> = own_rates.iter().map(|own| numbers[&rate(own)]).collect();
        let sums = match rates.len() > super::influence::MAX_COVARIANCES && !self.sums.is_alone() {
            true => self.sums.alone(&own, &own_rates),
            false => self.sums,
        };
        let mut facts = TableFacts { group_units: vec![0; groups.len()], ..self.facts.clone() };
        for (code, units) in codes.iter().zip(&self.facts.group_units) {
            facts.group_units[*code] = *units;
        }
        let sums = sums.widened(&layout, rates.len(), &own.cells_among(&layout, &codes), &own_numbers);
        Partial { groups: groups.to_vec(), facts, sums, ..self }
    }

    /// As a text of one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// From what [`Partial::to_json`] wrote.
    ///
    /// # Errors
    /// A text that is no partial audit, or of another version.
    pub fn from_json(text: &str) -> Result<Partial, PartialError> {
        let partial: Partial = serde_json::from_str(text).map_err(|e| PartialError::Format(e.to_string()))?;
        let wrong = |what: &str| Err(PartialError::Format(what.to_owned()));
        if partial.partial != VERSION {
            return wrong("it is of another version");
        }
        let distinct: BTreeSet<&String> = partial.groups.iter().collect();
        let sound = distinct.len() == partial.groups.len() && partial.facts.queries.is_some();
        let names = Ties::named(&partial.ties).is_some() && Average::named(&partial.average).is_some();
        let fits = partial.sums.fit(&partial.layout(), all_rates(&partial.layout()).len());
        let moments = partial.facts.labels.as_ref().is_none_or(|labels| labels.moments.len() == 2);
        if !sound || !moments || !names || !fits || partial.facts.group_units.len() != partial.groups.len() {
            return wrong("its parts don't fit each other");
        }
        Ok(partial)
    }
}
