//! Dots with whiskers: values and their intervals on one scale, in a table that says the numbers too.

use super::markup::{Html, render};
use super::table::{Name, interval, short_reason};
use crate::scale::{Scale, ends, minus};
use crate::words::{count, or_dash, rate};
use minijinja::value::Serde;
use minijinja::{Value, context};
use pairity::metrics::{Check, ContinuousRates, Metric, Verdict};

/// One value.
pub(crate) struct Whisker<'a> {
    pub(crate) name: &'a str,
    /// What it is, smaller, below the name.
    pub(crate) about: String,
    pub(crate) metric: &'a Metric,
    /// Checks that it is at most a bound.
    pub(crate) bounds: Vec<&'a Check>,
}

/// Rates one below the other.
pub(crate) struct Whiskers<'a> {
    caption: &'a str,
    /// What the names are.
    title: &'a str,
    rows: Vec<Whisker<'a>>,
    /// Numbers that the scale must hold beside the values.
    holds: Vec<f64>,
    /// A line through all rows at the overall accuracy.
    overall: Option<f64>,
}

impl<'a> Whisker<'a> {
    /// A rate of pairs without a bound.
    pub(crate) fn of(name: &'a str, metric: &'a Metric, about: String) -> Whisker<'a> {
        Whisker { name, about, metric, bounds: Vec::new() }
    }

    /// Both accuracies of a continuous attribute that is called `z`; `when` stands before what they are.
    pub(crate) fn of_continuous(rates: &'a ContinuousRates, when: &str, z: &str) -> [Whisker<'a>; 2] {
        let about = |order: &str| format!("{when}the better one has {order} {z}");
        [
            Whisker::of("A[z > z']", &rates.greater, about("the higher")),
            Whisker::of("A[z < z']", &rates.less, about("the lower")),
        ]
    }

    /// The same of its parities.
    pub(crate) fn of_continuous_parity(rates: &'a ContinuousRates, when: &str, z: &str) -> [Whisker<'a>; 2] {
        let about = |order: &str| format!("{when}the one with {order} {z} scores higher");
        [
            Whisker::of("P[z > z']", &rates.parity_greater, about("the higher")),
            Whisker::of("P[z < z']", &rates.parity_less, about("the lower")),
        ]
    }

    fn drawn(&self, scale: &Scale) -> Value {
        let metric = self.metric;
        let bound = |check: &&Check| {
            let words = format!("at most {}", minus(&check.bound.to_string()));
            context! { place => scale.place(check.bound), words, verdict => verdict(check.verdict) }
        };
        context! {
            name => Serde(Name::new(self.name)),
            about => &self.about,
            value => or_dash(metric.value, |value| minus(&rate(value))),
            interval => interval(metric, rate),
            pairs => format!("{} pairs", count(metric.pairs)),
            // Why there is no value or no interval, or which few rows decide.
            reason => metric.reason.as_deref().or(metric.few.as_deref()).map(|reason| match metric.value {
                Some(_) => short_reason(reason),
                None => format!("can’t be estimated: {}", short_reason(reason)),
            }),
            dot => metric.value.map(|value| scale.place(value)),
            whisker => Serde(metric.low.zip(metric.high).map(|(low, high)| (scale.place(low), scale.place(high)))),
            bounds => self.bounds.iter().map(bound).collect::<Vec<Value>>(),
        }
    }
}

impl<'a> Whiskers<'a> {
    /// Rates on a scale of their own.
    pub(crate) fn of(
        caption: &'a str,
        title: &'a str,
        rows: impl IntoIterator<Item = Whisker<'a>>,
    ) -> Whiskers<'a> {
        Whiskers { caption, title, rows: rows.into_iter().collect(), holds: Vec::new(), overall: None }
    }

    /// The same on a scale that holds other numbers too.
    pub(crate) fn holding(self, holds: impl Into<Vec<f64>>) -> Whiskers<'a> {
        Whiskers { holds: holds.into(), ..self }
    }

    /// The same with a line at the overall accuracy.
    pub(crate) fn beside(self, overall: &Metric) -> Whiskers<'a> {
        Whiskers { overall: overall.value, ..self }
    }

    pub(crate) fn html(&self) -> Html {
        let shown = self
            .rows
            .iter()
            .flat_map(|row| ends(row.metric).chain(row.bounds.iter().map(|check| check.bound)));
        let scale = Scale::over(shown.chain(self.holds.iter().copied()));
        let data = context! {
            caption => self.caption,
            title => self.title,
            ticks => Serde(scale.drawn(Scale::place)),
            overall => self.overall.map(|value| scale.place(value)),
            rows => self.rows.iter().map(|row| row.drawn(&scale)).collect::<Vec<Value>>(),
        };
        render("whiskers.html", data)
    }
}

/// A verdict with its sign, so that it can be told without color.
pub(crate) fn verdict(verdict: Verdict) -> Html {
    let (class, sign, word) = match verdict {
        Verdict::Pass => ("pass", "✓", "pass"),
        Verdict::Fail => ("fail", "✕", "fail"),
        Verdict::Undecided => ("undecided", "?", "undecided"),
        Verdict::NotEstimable => ("unknown", "–", "not estimable"),
    };
    render("badge.html", context! { class, sign, word })
}
