//! A square of metrics with named rows and columns, as wide as it may be and no wider.

use super::paint::Paint;
use super::words::{columns, pad, rate, shorten, with_interval};
use pairity::metrics::Metric;

/// What marks the worst cell, with or without color.
pub(super) const MARK: &str = "◄";

/// Columns between two cells.
const SPACE: usize = 2;

/// Rows longer than this have their names cut.
const MAX_NAME: usize = 24;

/// The fewest columns that a name in the header is cut to.
const MIN_NAME: usize = 7;

/// How much of each metric fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Value and interval.
    OneLine,
    /// The interval below the value.
    TwoLines,
    /// The value alone.
    Values,
}

impl Layout {
    /// Columns of a cell and of the mark behind it.
    fn cell(self) -> usize {
        match self {
            Layout::OneLine => "0.123 [0.123, 0.123] ◄".chars().count(),
            Layout::TwoLines => "0.123–0.123".chars().count(),
            Layout::Values => "0.123 ◄".chars().count(),
        }
    }
}

/// A matrix of metrics; empty cells are blank.
pub(super) struct Matrix<'a> {
    /// What rows and columns are.
    pub(super) corner: &'a str,
    pub(super) rows: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) cells: Vec<Vec<Option<&'a Metric>>>,
    pub(super) worst: Option<(usize, usize)>,
}

impl Matrix<'_> {
    /// The matrix in text, and whether intervals had to be left out.
    pub(super) fn text(&self, width: usize, paint: Paint) -> (String, bool) {
        let longest = self.rows.iter().map(|name| columns(&shorten(name, MAX_NAME))).max().unwrap_or(0);
        let first = longest.max(columns(self.corner)) + SPACE;
        let count = self.columns.len();
        let fits = |layout: &Layout| 2 + first + count * (layout.cell() + SPACE) <= width + SPACE;
        let layout = [Layout::OneLine, Layout::TwoLines].into_iter().find(fits).unwrap_or(Layout::Values);
        // Names may be wider than cells where there is room.
        let spare = (width.saturating_sub(2 + first) / count.max(1)).saturating_sub(SPACE);
        let widest = self.columns.iter().map(|name| columns(name)).max().unwrap_or(0);
        let cell = widest.min(spare).min(MAX_NAME).max(layout.cell()).max(MIN_NAME);
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
                        (Some(metric), Layout::OneLine) => with_interval(metric, rate),
                        (Some(metric), _) => metric.value.map_or("—".to_owned(), rate),
                    };
                    if self.worst == Some((r, c)) {
                        text = format!("{text} {MARK}");
                        return paint.bad(&text) + &" ".repeat((cell + SPACE).saturating_sub(columns(&text)));
                    }
                    pad(&text, cell + SPACE)
                })
                .collect();
            out += &line(&name, &cells);
            if layout == Layout::TwoLines {
                let intervals: Vec<String> = row
                    .iter()
                    .map(|metric| pad(&metric.map_or(String::new(), interval), cell + SPACE))
                    .collect();
                out += &(paint.faint(line("", &intervals).trim_end_matches('\n')) + "\n");
            }
        }
        (out, layout == Layout::Values)
    }
}

fn interval(metric: &Metric) -> String {
    match (metric.value, metric.low, metric.high) {
        (Some(_), Some(low), Some(high)) => format!("{}–{}", rate(low), rate(high)),
        (Some(_), ..) => "no interval".to_owned(),
        _ => String::new(),
    }
}
