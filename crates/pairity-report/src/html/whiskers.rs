//! Dots with whiskers: values and their intervals on one scale, in a table that says the numbers too.

use super::markup::{Html, render};
use super::table::{Name, interval, short_reason};
use crate::scale::{Scale, minus};
use crate::text::words::count;
use minijinja::value::Serde;
use minijinja::{Value, context};
use pairity::goals::Sense;
use pairity::metrics::{Metric, Verdict};

/// A bound that a value has to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DrawnBound {
    pub(crate) value: f64,
    pub(crate) sense: Sense,
    pub(crate) verdict: Verdict,
}

/// One value.
pub(crate) struct Whisker<'a> {
    pub(crate) name: &'a str,
    /// What it is, smaller, below the name.
    pub(crate) about: String,
    pub(crate) metric: &'a Metric,
    /// What it was counted in.
    pub(crate) unit: &'a str,
    pub(crate) bounds: Vec<DrawnBound>,
}

/// Values one below the other.
pub(crate) struct Whiskers<'a> {
    pub(crate) caption: &'a str,
    /// What the names are.
    pub(crate) title: &'a str,
    pub(crate) rows: Vec<Whisker<'a>>,
    /// Numbers that the scale must hold beside the values.
    pub(crate) holds: Vec<f64>,
    /// A line through all rows, and what it is.
    pub(crate) rule: Option<(f64, &'a str)>,
    pub(crate) write: fn(f64) -> String,
}

impl<'a> Whisker<'a> {
    /// A rate of pairs without a bound.
    pub(crate) fn of(name: &'a str, metric: &'a Metric, about: String) -> Whisker<'a> {
        Whisker { name, about, metric, unit: "pairs", bounds: Vec::new() }
    }

    /// Both accuracies of a continuous attribute that is called `z`; `when` stands before what they are.
    pub(crate) fn of_continuous(
        (greater, less): &'a (Metric, Metric),
        when: &str,
        z: &str,
    ) -> [Whisker<'a>; 2] {
        let about = |order: &str| format!("{when}the better one has {order} {z}");
        [
            Whisker::of("A[z > z']", greater, about("the higher")),
            Whisker::of("A[z < z']", less, about("the lower")),
        ]
    }
}

impl Whiskers<'_> {
    pub(crate) fn html(&self) -> Html {
        let shown = self.rows.iter().flat_map(|row| {
            let metric = row.metric;
            let ends = [metric.value, metric.low, metric.high].into_iter().flatten();
            ends.chain(row.bounds.iter().map(|bound| bound.value))
        });
        let scale = Scale::over(shown.chain(self.holds.iter().copied()));
        let data = context! {
            caption => self.caption,
            title => self.title,
            ticks => Serde(scale.drawn()),
            rule => Serde(self.rule.map(|(value, words)| (scale.place(value), words))),
            rows => self.rows.iter().map(|row| self.row(row, &scale)).collect::<Vec<Value>>(),
        };
        render("whiskers.html", data)
    }

    fn row(&self, row: &Whisker, scale: &Scale) -> Value {
        let metric = row.metric;
        let bound = |bound: &DrawnBound| {
            context! {
                place => scale.place(bound.value),
                words => bound_words(bound.sense, bound.value),
                verdict => verdict(bound.verdict),
            }
        };
        context! {
            name => Serde(Name::new(row.name)),
            about => &row.about,
            value => metric.value.map_or("—".to_owned(), |value| minus(&(self.write)(value))),
            interval => interval(metric, self.write),
            pairs => format!("{} {}", count(metric.pairs), row.unit),
            // Why there is no value or no interval.
            reason => metric.reason.as_deref().map(|reason| match metric.value {
                Some(_) => short_reason(reason),
                None => format!("can’t be estimated: {}", short_reason(reason)),
            }),
            dot => metric.value.map(|value| scale.place(value)),
            whisker => Serde(metric.low.zip(metric.high).map(|(low, high)| (scale.place(low), scale.place(high)))),
            bounds => row.bounds.iter().map(bound).collect::<Vec<Value>>(),
        }
    }
}

/// A bound in words.
fn bound_words(sense: Sense, value: f64) -> String {
    let words = match sense {
        Sense::AtMost => "at most",
        Sense::AtLeast => "at least",
    };
    format!("{words} {}", minus(&value.to_string()))
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
