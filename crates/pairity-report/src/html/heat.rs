//! A heat map of metrics: a table whose cells are colored by how far they are from a middle. Blue and orange
//! can be told apart by all; the numbers stand in the cells, so that color alone says nothing.

use super::markup::{Html, render};
use super::table::{Name, interval};
use crate::facts::{Matrix, with_marginals, worst_cell};
use crate::words::{many, or_dash, rate};
use minijinja::value::Serde;
use minijinja::{Value, context};
use pairity::metrics::{Audit, Metric};

/// Distances from the middle from which a cell has the next stronger color.
const STEPS: [f64; 4] = [0.02, 0.05, 0.1, 0.2];

/// Names of more letters make columns wider.
const LONG_NAME: usize = 16;

/// More columns are printed in smaller letters.
const MANY: usize = 6;

/// Matrices of more groups than this are not shown whole.
pub(crate) const MAX_MATRIX: usize = 12;

/// The name of all examples together.
pub(crate) const ANYONE: &str = "anyone";

/// A square of metrics with named rows and columns.
pub(crate) struct HeatMap<'a> {
    pub(crate) caption: &'a str,
    /// What rows and columns are.
    pub(crate) corner: [&'a str; 2],
    pub(crate) names: Vec<&'a str>,
    /// `[row][column]`; what is absent is blank.
    pub(crate) cells: Matrix<'a>,
    /// The value without color, and what it is.
    pub(crate) middle: Option<(f64, &'a str)>,
    /// The cell to point at as the lowest.
    pub(crate) lowest: Option<(usize, usize)>,
    /// Whether the last row and column are of all together.
    pub(crate) totals: bool,
}

impl<'a> HeatMap<'a> {
    /// The accuracies of an audit with their marginals. Colors are distances from `middle`, the overall
    /// accuracy.
    pub(crate) fn of_accuracy(caption: &'a str, audit: &'a Audit, middle: Option<f64>) -> HeatMap<'a> {
        HeatMap {
            caption,
            corner: ["better", "worse"],
            names: audit.groups.iter().map(String::as_str).chain([ANYONE]).collect(),
            cells: with_marginals(audit),
            middle: middle.map(|auc| (auc, "the overall accuracy")),
            lowest: worst_cell(audit).map(|worst| worst.place),
            totals: true,
        }
    }

    /// The table, and below it what colors mean.
    pub(crate) fn html(&self) -> Html {
        side_by_side(std::slice::from_ref(self))
    }

    fn table(&self) -> Html {
        let last = self.names.len().wrapping_sub(1);
        let row = |(r, cells): (usize, &Vec<Option<&Metric>>)| {
            let cells = cells.iter().enumerate().map(|(c, metric)| {
                let total = self.totals && (r == last || c == last);
                metric.map(|metric| self.cell(metric, total, self.lowest == Some((r, c))))
            });
            let name = Serde(Name::new(self.names.get(r).copied().unwrap_or("")));
            context! { name, cells => cells.collect::<Vec<Option<Value>>>() }
        };
        let data = context! {
            caption => self.caption,
            corner => Serde(self.corner),
            columns => Serde(self.names.iter().map(|name| Name::new(name)).collect::<Vec<_>>()),
            rows => self.cells.iter().enumerate().map(row).collect::<Vec<Value>>(),
            totals => self.totals,
            // Whether names need wider columns, and whether columns are too many for a sheet of paper.
            long => self.names.iter().any(|name| name.chars().count() > LONG_NAME),
            many => self.names.len() > MANY,
        };
        render("heat.html", data)
    }

    fn cell(&self, metric: &Metric, total: bool, lowest: bool) -> Value {
        let color = match (metric.value, self.middle) {
            (Some(value), Some((middle, _))) => color(step(value - middle)),
            _ => "none".to_owned(),
        };
        let pairs = match metric.pairs {
            0 => "no pairs".to_owned(),
            pairs => many(pairs as usize, "pair"),
        };
        context! {
            color,
            total,
            value => or_dash(metric.value, rate),
            interval => interval(metric, rate),
            pairs,
            lowest,
        }
    }
}

/// Heat maps beside each other where there is room, and below them what the colors of the last one mean;
/// those of the others should mean the same.
pub(crate) fn side_by_side(maps: &[HeatMap]) -> Html {
    let middle = maps.last().and_then(|map| map.middle);
    let middle = middle.map(|(middle, words)| format!("{words} ({})", rate(middle)));
    let steps = Serde((-4..=4).map(legend).collect::<Vec<_>>());
    let parts: Vec<Html> = maps.iter().map(HeatMap::table).collect();
    render("side.html", context! { parts, middle, steps })
}

/// How strong the color is: from −4 for far below to 4 for far above.
fn step(distance: f64) -> i32 {
    let strength = STEPS.iter().filter(|&&step| distance.abs() >= step).count() as i32;
    if distance < 0.0 { -strength } else { strength }
}

fn color(step: i32) -> String {
    match step {
        0 => "even".to_owned(),
        step if step < 0 => format!("low{}", -step),
        step => format!("high{step}"),
    }
}

/// A color and the distances it stands for.
fn legend(step: i32) -> (String, String) {
    let at = |strength: i32| STEPS[(strength - 1) as usize];
    let words = match step {
        0 => format!("within {}", at(1)),
        -4 => format!("{}+ below", at(4)),
        4 => format!("{}+ above", at(4)),
        _ if step < 0 => format!("{}–{} below", at(-step), at(-step + 1)),
        _ => format!("{}–{} above", at(step), at(step + 1)),
    };
    (color(step), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_grow_stronger_with_the_distance() {
        let steps = [-0.5, -0.1, -0.03, -0.01, 0.0, 0.02, 0.19, 0.2].map(step);
        assert_eq!(steps, [-4, -3, -1, 0, 0, 1, 3, 4]);
        assert_eq!(legend(-1), ("low1".to_owned(), "0.02–0.05 below".to_owned()));
        assert_eq!(legend(4), ("high4".to_owned(), "0.2+ above".to_owned()));
    }
}
