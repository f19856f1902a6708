//! An audit: every metric of a scored table, and the verdict on each check.

use super::measurement::{Estimate, Measurement, Metric};
use crate::examples::{Examples, ExamplesError};
use crate::goals::{Constraint, Criterion, Expression, LinearForm, Sense, Vocabulary, symmetric};
use crate::rates::{Average, Rate, Ties};

/// How an audit is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How rates of queries become one rate.
    pub average: Average,
    /// What equal scores earn.
    pub ties: Ties,
    /// Probability that an interval holds the true value, between 0 and 1.
    pub confidence: f64,
    /// A rate with fewer pairs is not estimated.
    pub min_pairs: u64,
    /// Of the draws behind simultaneous intervals.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { average: Average::Pairs, ties: Ties::Half, confidence: 0.95, min_pairs: 1, seed: 0 }
    }
}

/// Whether a check holds, as far as the data can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval meets the bound.
    Pass,
    /// The whole interval misses the bound.
    Fail,
    /// The bound lies inside the interval.
    Undecided,
    /// There is no value or no interval.
    NotEstimable,
}

impl Verdict {
    /// The verdict as it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Undecided => "undecided",
            Verdict::NotEstimable => "not_estimable",
        }
    }
}

/// A constraint held against the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The constraint as it was written.
    pub expression: String,
    /// Its left side, with all rates on it.
    pub metric: Metric,
    /// Its right side.
    pub bound: f64,
    /// Whether the left side has to stay below or above.
    pub sense: Sense,
    /// Confidence of its own interval: higher than that of the audit if there are several checks.
    pub confidence: f64,
    /// Whether it holds.
    pub verdict: Verdict,
}

/// Everything that can be said about a scored table.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Number of examples.
    pub rows: usize,
    /// Number of queries, where there is a query column.
    pub queries: Option<usize>,
    /// Examples of no group, or without a value of the continuous attribute.
    pub without_attribute: usize,
    /// How it was made.
    pub settings: Settings,
    /// Whether rates are estimated from some of the pairs.
    pub estimate: Option<Estimate>,
    /// Accuracy over all pairs.
    pub auc: Metric,
    /// Whether there are labels.
    pub has_labels: bool,
    /// Mean squared error, where scores are to be the labels.
    pub mse: Option<Metric>,
    /// Names of the groups.
    pub groups: Vec<String>,
    /// `A[row > column]`.
    pub accuracy: Vec<Vec<Metric>>,
    /// `A[group > *]`.
    pub row_marginals: Vec<Metric>,
    /// `A[* > group]`.
    pub column_marginals: Vec<Metric>,
    /// `P[row > column]`, nothing on the diagonal.
    pub parity: Vec<Vec<Option<Metric>>>,
    /// `S[group]`.
    pub symmetric: Vec<Metric>,
    /// The rates of a continuous attribute.
    pub continuous: Option<ContinuousRates>,
    /// Every named criterion.
    pub gaps: Vec<(Criterion, Metric)>,
    /// The checks asked for.
    pub checks: Vec<Check>,
}

/// The rates by the order of a continuous attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct ContinuousRates {
    /// `A[z > z']`.
    pub greater: Metric,
    /// `A[z < z']`.
    pub less: Metric,
    /// `P[z > z']`.
    pub parity_greater: Metric,
    /// `P[z < z']`.
    pub parity_less: Metric,
}

impl Audit {
    /// Measures a scored table; `scores` are in the order of the rows. The intervals of all checks hold together
    /// with the confidence of the settings.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples, Groups};
    /// use pairity::metrics::{Audit, Settings};
    ///
    /// let labels = [0.0, 1.0, 0.0, 1.0];
    /// let groups = Groups::from_names(&["a", "a", "b", "b"]);
    /// let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    /// let examples = Examples::new(columns)?;
    /// let audit = Audit::run(&examples, &[0.1, 0.9, 0.2, 0.15], &[], &Settings::default())?;
    /// assert_eq!(audit.accuracy[0][1].value, Some(1.0)); // A[a > b]
    /// assert_eq!(audit.accuracy[1][1].value, Some(0.0)); // A[b > b]
    /// # Ok::<(), pairity::examples::ExamplesError>(())
    /// ```
    pub fn run(
        examples: &Examples,
        scores: &[f64],
        checks: &[Constraint],
        settings: &Settings,
    ) -> Result<Audit, ExamplesError> {
        let measured = Measurement::new(examples, scores, settings)?;
        Ok(Audit::checked(&measured, checks))
    }

    /// Everything that was measured, with checks whose intervals hold together.
    pub fn checked(measured: &Measurement, checks: &[Constraint]) -> Audit {
        let audit = Audit::of(measured, &[]);
        let asked = checks.iter().any(|check| check.expression.rates().contains(&Rate::Mse));
        let labels = measured.facts.labels.as_ref();
        let predicted = |mse: f64| labels.is_some_and(|labels| labels.are_predicted(mse));
        let mse = audit.mse.filter(|mse| asked || mse.value.is_some_and(predicted));
        Audit { mse, checks: measured.checks(checks), ..audit }
    }

    /// Everything that was measured, such as what is expected of a stochastic model. Each check has an interval of its
    /// own.
    pub fn of(measured: &Measurement, checks: &[Constraint]) -> Audit {
        let (Vocabulary { groups, continuous }, facts) = (measured.vocabulary(), &measured.facts);
        let k = groups.len();
        let rate = |rate| measured.rate(rate);
        let symmetric = |group| measured.expression(&Expression::Linear(symmetric(group)));
        let parity =
            |first: usize, second: usize| (first != second).then(|| rate(Rate::Parity { first, second }));
        Audit {
            rows: facts.rows as usize,
            queries: facts.queries.map(|queries| queries as usize),
            without_attribute: facts.without_attribute as usize,
            settings: measured.settings,
            estimate: measured.estimate,
            auc: rate(Rate::AUC),
            has_labels: facts.labels.is_some(),
            mse: facts.labels.is_some().then(|| rate(Rate::Mse)),
            groups: groups.clone(),
            accuracy: square(k, |a, b| rate(Rate::accuracy(a, b))),
            row_marginals: (0..k).map(|group| rate(Rate::row(group))).collect(),
            column_marginals: (0..k).map(|group| rate(Rate::column(group))).collect(),
            parity: square(k, parity),
            symmetric: (0..k).map(symmetric).collect(),
            continuous: continuous.then(|| ContinuousRates {
                greater: rate(Rate::Greater),
                less: rate(Rate::Less),
                parity_greater: rate(Rate::ParityGreater),
                parity_less: rate(Rate::ParityLess),
            }),
            gaps: Criterion::ALL.into_iter().map(|c| (c, measured.criterion(c))).collect(),
            checks: checks.iter().map(|constraint| measured.check(constraint)).collect(),
        }
    }
}

fn square<T>(k: usize, cell: impl Fn(usize, usize) -> T) -> Vec<Vec<T>> {
    (0..k).map(|a| (0..k).map(|b| cell(a, b)).collect()).collect()
}

impl Measurement {
    /// A named criterion: the largest difference between the rates it wants equal.
    ///
    /// If one of them can't be estimated, neither can the criterion; the reason then tells the largest
    /// difference among the others.
    pub fn criterion(&self, criterion: Criterion) -> Metric {
        let expression = match criterion.expression(self.vocabulary()) {
            Ok(expression) => expression,
            Err(reason) => return Metric::missing(reason),
        };
        let metric = Metric { few: self.few(&expression), ..self.expression(&expression) };
        if let (None, Expression::Spread(forms), Some(reason)) = (metric.value, &expression, &metric.reason) {
            let has_value = |&(rate, _): &(Rate, f64)| self.not_estimable(rate).is_none();
            let estimable = |form: &&LinearForm| form.terms.iter().all(has_value);
            let rest: Vec<LinearForm> = forms.iter().filter(estimable).cloned().collect();
            if rest.len() > 1
                && let Some(gap) = self.expression(&Expression::Spread(rest.clone())).value
            {
                let reason = format!("{reason}; over the other {} the gap is {gap:.3}", rest.len());
                return Metric { reason: Some(reason), ..metric };
            }
        }
        metric
    }

    /// Constraints held against the data, with intervals that hold together with the confidence of the settings.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples};
    /// use pairity::goals::parse_constraint;
    /// use pairity::metrics::{Measurement, Settings};
    ///
    /// let examples = Examples::new(Columns { labels: Some(&[0.0, 0.0, 1.0, 1.0]), ..Columns::default() })?;
    /// let measured = Measurement::new(&examples, &[0.1, 0.4, 0.3, 0.8], &Settings::default())?;
    /// let check = |text| parse_constraint(text, measured.vocabulary()).unwrap();
    /// let checks = measured.checks(&[check("auc >= 0.5"), check("mse <= 0.5")]);
    /// assert_eq!(checks[0].confidence, 0.975);
    /// # Ok::<(), pairity::examples::ExamplesError>(())
    /// ```
    pub fn checks(&self, constraints: &[Constraint]) -> Vec<Check> {
        let confidence = match constraints.len() {
            0 | 1 => self.settings.confidence,
            several => 1.0 - (1.0 - self.settings.confidence) / several as f64,
        };
        constraints.iter().map(|constraint| self.check_at(constraint, confidence)).collect()
    }

    /// A constraint held against the data.
    pub fn check(&self, constraint: &Constraint) -> Check {
        self.check_at(constraint, self.settings.confidence)
    }

    fn check_at(&self, constraint: &Constraint, confidence: f64) -> Check {
        let metric = match &constraint.lacks {
            Some(reason) => Metric::missing(reason.as_str()),
            None => Metric {
                few: self.few(&constraint.expression),
                ..self.expression_at(&constraint.expression, confidence)
            },
        };
        let &Constraint { bound, sense, .. } = constraint;
        let verdict = match (metric.low, metric.high, sense) {
            (Some(_), Some(high), Sense::AtMost) if high <= bound => Verdict::Pass,
            (Some(low), Some(_), Sense::AtMost) if low > bound => Verdict::Fail,
            (Some(low), Some(_), Sense::AtLeast) if low >= bound => Verdict::Pass,
            (Some(_), Some(high), Sense::AtLeast) if high < bound => Verdict::Fail,
            (Some(_), Some(_), _) => Verdict::Undecided,
            _ => Verdict::NotEstimable,
        };
        Check { expression: constraint.text.clone(), metric, bound, sense, confidence, verdict }
    }
}
