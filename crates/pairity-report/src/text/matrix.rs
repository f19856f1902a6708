//! A square of metrics with named rows and columns, as wide as it may be and no wider; and pictures made of
//! letters, for terminals: blocks as high as a share, and whiskers.

use super::{BAD, FAINT, TextPage};
use crate::facts::Matrix;
use crate::scale::Scale;
use crate::words::{columns, or_dash, pad, rate, shorten, with_interval};
use pairity::metrics::Metric;

/// What marks the worst cell, with or without color.
pub(super) const MARK: &str = "◄";

/// Columns between two cells.
const SPACE: usize = 2;

/// Columns of a block and the space behind it.
const BLOCK: usize = 2;

/// Rows longer than this have their names cut.
const MAX_NAME: usize = 24;

/// The fewest columns that a name in the header is cut to.
const MIN_NAME: usize = 7;

/// How much of each metric fits, and the columns of a cell with the mark behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatrixLayout {
    /// Value and interval: `0.123 [0.123, 0.123] ◄`.
    OneLine = 22,
    /// The interval below the value: `0.123–0.123`.
    TwoLines = 11,
    /// The value alone: `0.123 ◄`.
    Values = 7,
}

/// A matrix of metrics; empty cells are blank.
pub(super) struct TextMatrix<'a> {
    /// What rows and columns are.
    pub(super) corner: &'a str,
    /// Of rows and columns.
    pub(super) names: Vec<String>,
    pub(super) cells: Matrix<'a>,
    pub(super) worst: Option<(usize, usize)>,
}

impl<R> TextPage<'_, R> {
    /// A matrix in text, and whether intervals had to be left out. With pictures, a block before each value
    /// shows how high it is, if no interval has to go for that.
    pub(super) fn matrix(&self, matrix: &TextMatrix) -> (String, bool) {
        let (names, width) = (&matrix.names, self.look.width);
        let longest = names.iter().map(|name| columns(&shorten(name, MAX_NAME))).max().unwrap_or(0);
        let first = longest.max(columns(matrix.corner)) + SPACE;
        let needs = |layout: MatrixLayout| 2 + first + names.len() * (layout as usize + SPACE);
        let layout = [MatrixLayout::OneLine, MatrixLayout::TwoLines]
            .into_iter()
            .find(|&layout| needs(layout) <= width + SPACE)
            .unwrap_or(MatrixLayout::Values);
        let pictures = self.look.pictures && needs(layout) + names.len() * BLOCK <= width + SPACE;
        let block_room = if pictures { BLOCK } else { 0 };
        // Names may be wider than cells where there is room.
        let spare = (width.saturating_sub(2 + first) / names.len().max(1)).saturating_sub(SPACE);
        let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let cell = widest.min(spare).min(MAX_NAME).max(layout as usize + block_room).max(MIN_NAME);
        let line = |name: &str, cells: &mut dyn Iterator<Item = String>| {
            format!("  {}{}", pad(name, first), cells.collect::<String>()).trim_end().to_owned()
        };

        let head = &mut names.iter().map(|name| pad(&shorten(name, cell), cell + SPACE));
        let mut out = self.paint(FAINT, &line(matrix.corner, head)) + "\n";
        for (r, row) in matrix.cells.iter().enumerate() {
            let cells = &mut row.iter().enumerate().map(|(c, metric)| {
                let mut text = match (metric, layout) {
                    (None, _) => "·".to_owned(),
                    (Some(metric), MatrixLayout::OneLine) => with_interval(metric, rate),
                    (Some(metric), _) => or_dash(metric.value, rate),
                };
                if let (true, Some(value)) = (pictures, metric.and_then(|metric| metric.value)) {
                    text = format!("{} {text}", block(value));
                }
                if matrix.worst == Some((r, c)) {
                    text = format!("{text} {MARK}");
                    let rest = " ".repeat((cell + SPACE).saturating_sub(columns(&text)));
                    return self.paint(BAD, &text) + &rest;
                }
                pad(&text, cell + SPACE)
            });
            out += &(line(&shorten(&names[r], MAX_NAME), cells) + "\n");
            if layout == MatrixLayout::TwoLines {
                let intervals = &mut row.iter().map(|metric| {
                    let interval = metric.map_or(String::new(), interval);
                    pad(&format!("{}{interval}", " ".repeat(block_room)), cell + SPACE)
                });
                out += &(self.paint(FAINT, &line("", intervals)) + "\n");
            }
        }
        (out, layout == MatrixLayout::Values)
    }
}

fn interval(metric: &Metric) -> String {
    match (metric.value, metric.low, metric.high) {
        (Some(_), Some(low), Some(high)) => format!("{}–{}", rate(low), rate(high)),
        (Some(_), ..) => "no interval".to_owned(),
        _ => String::new(),
    }
}

/// Columns of a whisker.
pub(super) const WHISKER: usize = 25;

/// From none to all.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A value and its interval on a scale: `├──●──┤`.
pub(super) fn whisker(metric: &Metric, scale: &Scale) -> String {
    let mut line = [' '; WHISKER];
    let place = |value: f64| (scale.place(value) / 100.0 * (WHISKER - 1) as f64).round() as usize;
    if let (Some(low), Some(high)) = (metric.low, metric.high) {
        let (low, high) = (place(low), place(high));
        line[low..=high].fill('─');
        (line[low], line[high]) = ('├', '┤');
    }
    if let Some(value) = metric.value {
        line[place(value)] = '●';
    }
    line.iter().collect()
}

/// The ends of a scale above its whiskers.
pub(super) fn axis(scale: &Scale) -> String {
    let labels = scale.ticks();
    let end = |tick: Option<&(f64, String)>| tick.map_or(String::new(), |(_, label)| label.clone());
    let (first, last) = (end(labels.first()), end(labels.last()));
    let space = WHISKER.saturating_sub(first.chars().count() + last.chars().count());
    format!("{first}{}{last}", " ".repeat(space))
}

/// A block as high as a share, from 0 to 1.
pub(super) fn block(share: f64) -> char {
    BLOCKS[((share * BLOCKS.len() as f64) as usize).min(BLOCKS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(value: f64, low: f64, high: f64) -> Metric {
        Metric { value: Some(value), low: Some(low), high: Some(high), ..Metric::default() }
    }

    #[test]
    fn whiskers_stand_where_their_numbers_are() {
        let scale = Scale::over([0.0, 1.0]);
        assert_eq!(whisker(&metric(0.5, 0.25, 0.75), &scale), "      ├─────●─────┤      ");
        assert_eq!(whisker(&metric(0.0, 0.0, 1.0), &scale), "●───────────────────────┤");
        let alone = Metric { value: Some(1.0), ..Metric::default() };
        assert_eq!(whisker(&alone, &scale), "                        ●");
        assert_eq!(axis(&scale), "0.0                   1.0");
    }

    #[test]
    fn blocks_are_as_high_as_shares() {
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(block), ['▁', '▅', '█', '█']);
    }
}
