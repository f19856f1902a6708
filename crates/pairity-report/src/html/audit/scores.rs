//! How scores spread, by group and label.

use super::AuditPage;
use crate::html::chart::{Chart, Swatch, multiples};
use crate::html::frame::{Section, remarks, section};
use crate::html::table::{HtmlTable, TableCell};
use crate::report::Role;
use crate::scale::{Scale, minus};
use crate::words::{fine, many, number, plain, rate, shorten};
use pairity::metrics::{Halves, ScoreHistogram, ScoreHistograms};

/// Of more groups than this only the largest are shown.
const MAX_GROUPS: usize = 12;

impl AuditPage<'_> {
    pub(super) fn scores(&self) -> Option<Section> {
        let all = &self.distributions?.scores;
        let mut parts: Vec<usize> = all.histograms.iter().map(|histogram| histogram.part).collect();
        parts.dedup();
        let of = |part: usize| all.histograms.iter().filter(move |histogram| histogram.part == part);
        let left_out = parts.len().saturating_sub(MAX_GROUPS);
        if left_out > 0 {
            parts.sort_by_key(|&part| std::cmp::Reverse(of(part).map(|h| h.rows).sum::<usize>()));
            parts.truncate(MAX_GROUPS);
            parts.sort_unstable();
        }
        let highest = parts.iter().flat_map(|&part| of(part)).flat_map(shares).fold(0.0, f64::max);
        let charts: Vec<Chart> = parts.iter().map(|&part| self.part(all, part, highest)).collect();
        let mut words = Vec::new();
        let (first, last) = (all.bins.edges.first().copied()?, all.bins.edges.last().copied()?);
        if all.low < first || all.high > last {
            words.push(format!(
                "Scores reach from {} to {}; the first and the last bar hold what lies beyond.",
                minus(&fine(all.low)),
                minus(&fine(all.high))
            ));
        }
        if left_out > 0 {
            let others = many(left_out, "group");
            words.push(format!("The {MAX_GROUPS} largest groups are shown; {others} are not."));
        }
        let body = vec![
            multiples(&charts),
            remarks(&words),
            self.score_table(all, &parts).behind("These numbers as a table"),
        ];
        let about = "Each picture shows how the scores of a group spread; bars and outline have the same area. The \
                     further the bars stand to the right of the outline, the better the model tells the two apart.";
        let alone = "How the scores of each group spread.";
        section("scores", "Scores by group and label", if all.labels.is_some() { about } else { alone }, body)
    }

    /// The histograms of a part, on a scale that those of all parts share.
    fn part(&self, all: &ScoreHistograms, part: usize, highest: f64) -> Chart {
        let histograms = all.histograms.iter().filter(|histogram| histogram.part == part);
        let edges = &all.bins.edges;
        let words = |histogram: &ScoreHistogram| {
            format!("{} ({})", self.class(all, histogram), many(histogram.rows, "row"))
        };
        let title = self.part_name(all, part);
        let said: Vec<String> = histograms.clone().map(words).collect();
        let label = format!("Histogram of scores, {title}: {}", said.join(", "));
        let score = shorten(self.report.column(Role::Score).unwrap_or("score"), 40);
        let ends = (edges.first().copied().unwrap_or(0.0), edges.last().copied().unwrap_or(1.0));
        let x = (score.as_str(), Scale::between(ends.0, ends.1));
        let mut chart = Chart::new(&title, x, ("share of rows", Scale::over([0.0, highest])), label);
        for histogram in histograms {
            let values: Vec<f64> = shares(histogram).collect();
            let class = self.class(all, histogram);
            let about = edges.windows(2).zip(&values).map(|(ends, share)| {
                format!("{class}: {:.1}% from {} to {}", share * 100.0, write(ends[0]), write(ends[1]))
            });
            let about: Vec<String> = about.collect();
            // Those that should score low are drawn over the others.
            if histogram.upper_label == Some(false) {
                chart.explain(Swatch::Outline, 1, words(histogram));
                chart.outline(1, edges, &values, &about);
            } else {
                chart.explain(Swatch::Bars, 0, words(histogram));
                chart.bars(0, edges, &values, &about);
            }
        }
        chart
    }

    fn score_table(&self, all: &ScoreHistograms, parts: &[usize]) -> HtmlTable {
        let shown: Vec<&ScoreHistogram> = all.histograms.iter().filter(|h| parts.contains(&h.part)).collect();
        let mut table = HtmlTable::new("Share of rows by score", &["Score"]);
        for histogram in &shown {
            let (part, class) = (self.part_name(all, histogram.part), self.class(all, histogram));
            table.add_column(format!("{part}, {class}"));
        }
        for (bin, ends) in all.bins.edges.windows(2).enumerate() {
            let share = |histogram: &&ScoreHistogram| shares(histogram).nth(bin).unwrap_or(0.0);
            table.row(
                TableCell::name(&format!("{} to {}", write(ends[0]), write(ends[1]))),
                shown.iter().map(|histogram| TableCell::number(rate(share(histogram)))),
            );
        }
        table.row(TableCell::name("rows"), shown.iter().map(|h| TableCell::count(h.rows as u64)));
        table
    }

    /// A group, or a half of a continuous attribute.
    fn part_name(&self, all: &ScoreHistograms, part: usize) -> String {
        if let Some(name) = self.report.audit.groups.get(part) {
            return shorten(name, 40);
        }
        match all.attribute {
            Some(halves) => half(&shorten(&self.attribute(), 30), halves, part == 1),
            None => "all rows".to_owned(),
        }
    }

    /// Which labels.
    fn class(&self, all: &ScoreHistograms, histogram: &ScoreHistogram) -> String {
        match (all.labels, histogram.upper_label) {
            (Some(halves), Some(upper)) => {
                half(&shorten(self.report.column(Role::Label).unwrap_or("label"), 30), halves, upper)
            }
            _ => "all labels".to_owned(),
        }
    }
}

/// What the bars of a histogram add up to 1 with.
fn shares(histogram: &ScoreHistogram) -> impl Iterator<Item = f64> {
    let all: f64 = histogram.weights.iter().sum();
    histogram.weights.iter().map(move |weight| if all > 0.0 { weight / all } else { 0.0 })
}

/// Values of a column on one side of a cut, in words.
fn half(column: &str, halves: Halves, upper: bool) -> String {
    let column = plain(column);
    match (halves.two_values, upper) {
        (true, true) => format!("{column} {}", write(halves.above)),
        (true, false) => format!("{column} {}", write(halves.cut)),
        (false, true) => format!("{column} above {}", write(halves.cut)),
        (false, false) => format!("{column} at most {}", write(halves.cut)),
    }
}

/// A number as short as it can be.
pub(super) fn write(value: f64) -> String {
    let short = value.to_string();
    minus(&if short.len() <= 8 { short } else { number(value, 3) })
}
