//! A square of metrics with named rows and columns, as wide as it may be and no wider.

use super::paint::Paint;
use super::pictures::block;
use super::words::{columns, pad, rate, shorten, with_interval};
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

/// How much of each metric fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatrixLayout {
    /// Value and interval.
    OneLine,
    /// The interval below the value.
    TwoLines,
    /// The value alone.
    Values,
}

impl MatrixLayout {
    /// Columns of a cell and of the mark behind it.
    fn cell(self) -> usize {
        match self {
            MatrixLayout::OneLine => "0.123 [0.123, 0.123] ◄".chars().count(),
            MatrixLayout::TwoLines => "0.123–0.123".chars().count(),
            MatrixLayout::Values => "0.123 ◄".chars().count(),
        }
    }
}

/// A matrix of metrics; empty cells are blank.
pub(super) struct TextMatrix<'a> {
    /// What rows and columns are.
    pub(super) corner: &'a str,
    pub(super) rows: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) cells: Vec<Vec<Option<&'a Metric>>>,
    pub(super) worst: Option<(usize, usize)>,
}

impl TextMatrix<'_> {
    /// The matrix in text, and whether intervals had to be left out. With pictures, a block before each value
    /// shows how high it is, if no interval has to go for that.
    pub(super) fn text(&self, width: usize, paint: Paint, pictures: bool) -> (String, bool) {
        let longest = self.rows.iter().map(|name| columns(&shorten(name, MAX_NAME))).max().unwrap_or(0);
        let first = longest.max(columns(self.corner)) + SPACE;
        let count = self.columns.len();
        let needs = |layout: &MatrixLayout| 2 + first + count * (layout.cell() + SPACE);
        let fits = |layout: &MatrixLayout| needs(layout) <= width + SPACE;
        let layout = [MatrixLayout::OneLine, MatrixLayout::TwoLines]
            .into_iter()
            .find(fits)
            .unwrap_or(MatrixLayout::Values);
        let pictures = pictures && needs(&layout) + count * BLOCK <= width + SPACE;
        let own = layout.cell() + if pictures { BLOCK } else { 0 };
        // Names may be wider than cells where there is room.
        let spare = (width.saturating_sub(2 + first) / count.max(1)).saturating_sub(SPACE);
        let widest = self.columns.iter().map(|name| columns(name)).max().unwrap_or(0);
        let cell = widest.min(spare).min(MAX_NAME).max(own).max(MIN_NAME);
        let line = |name: &str, cells: &[String]| {
            let mut line = format!("  {}", pad(name, first));
            cells.iter().for_each(|text| line += text);
            line.trim_end().to_owned() + "\n"
        };

        let head: Vec<String> =
            self.columns.iter().map(|name| pad(&shorten(name, cell), cell + SPACE)).collect();
        let mut out = paint.faint(&line(self.corner, &head).replace('\n', "")) + "\n";
        for (r, row) in self.cells.iter().enumerate() {
            let name = shorten(&self.rows[r], MAX_NAME);
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(c, metric)| {
                    let mut text = match (metric, layout) {
                        (None, _) => "·".to_owned(),
                        (Some(metric), MatrixLayout::OneLine) => with_interval(metric, rate),
                        (Some(metric), _) => metric.value.map_or("—".to_owned(), rate),
                    };
                    if let (true, Some(value)) = (pictures, metric.and_then(|metric| metric.value)) {
                        text = format!("{} {text}", block(value));
                    }
                    if self.worst == Some((r, c)) {
                        text = format!("{text} {MARK}");
                        return paint.bad(&text) + &" ".repeat((cell + SPACE).saturating_sub(columns(&text)));
                    }
                    pad(&text, cell + SPACE)
                })
                .collect();
            out += &line(&name, &cells);
            if layout == MatrixLayout::TwoLines {
                let indent = " ".repeat(if pictures { BLOCK } else { 0 });
                let intervals: Vec<String> = row
                    .iter()
                    .map(|metric| {
                        pad(&format!("{indent}{}", metric.map_or(String::new(), interval)), cell + SPACE)
                    })
                    .collect();
                out += &(paint.faint(line("", &intervals).trim_end_matches('\n')) + "\n");
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
