//! The gap, query by query.

use super::AuditPage;
use crate::html::chart::{Chart, Swatch};
use crate::html::frame::{Section, paragraphs, section};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::scale::{Scale, minus};
use crate::words::{count, many, rate, shorten};
use pairity::metrics::{Bins, QueryGaps};

impl AuditPage<'_> {
    pub(super) fn queries(&self) -> Option<Section> {
        let gaps = self.distributions?.gaps.as_ref()?;
        let mut body = vec![paragraphs(&self.query_words(gaps))];
        if gaps.queries > 0 {
            body.push(self.gap_chart(gaps));
            let caption = format!("Queries by gap {}", self.difference(gaps));
            body.push(self.gap_table(&caption, &gaps.bins, &[("Queries", &gaps.counts)]));
        }
        body.push(self.rate_chart(gaps));
        let (first, second) = self.names(gaps);
        let columns: [(&str, &[u64]); 2] = [(&first, &gaps.first.counts), (&second, &gaps.second.counts)];
        body.push(self.gap_table("Queries by accuracy", &gaps.rate_bins, &columns));
        let about = "An average can hide queries whose gaps have opposite signs: here is each query’s own.";
        section("queries", "Query by query", about, body)
    }

    fn names(&self, gaps: &QueryGaps) -> (String, String) {
        let name = |rate: pairity::rates::Rate| shorten(&rate.name(&self.report.audit.groups), 80);
        (name(gaps.first.rate), name(gaps.second.rate))
    }

    /// What the gap is: first minus second.
    fn difference(&self, gaps: &QueryGaps) -> String {
        let (first, second) = self.names(gaps);
        format!("{first} − {second}")
    }

    fn query_words(&self, gaps: &QueryGaps) -> Vec<String> {
        let (first, second) = self.names(gaps);
        let difference = self.difference(gaps);
        let Some(mean) = gaps.mean else {
            let words = format!(
                "No query has pairs of both kinds, {first} and {second}, so that no query has a gap of its own; \
                 the accuracies of queries that have one kind are shown instead."
            );
            return vec![words];
        };
        let equal = gaps.queries - gaps.positive - gaps.negative;
        let several = "Of several groups, those with the highest and the lowest accuracy as the better one are compared.";
        let mut all: Vec<String> = Vec::new();
        all.extend((self.report.audit.groups.len() > 2).then(|| several.to_owned()));
        all.push(format!(
            "The gap is {difference}. Of {} with both kinds of pairs, it is above 0 in {}, below 0 in {} and 0 in \
             {}; the mean is {}.",
            many(gaps.queries, "query"),
            count(gaps.positive as u64),
            count(gaps.negative as u64),
            count(equal as u64),
            minus(&rate(mean))
        ));
        all
    }

    fn gap_chart(&self, gaps: &QueryGaps) -> Html {
        let values: Vec<f64> = gaps.counts.iter().map(|&count| count as f64).collect();
        let y = Scale::over(values.iter().copied().chain([0.0]));
        let x = Scale::over([-1.0, 1.0]).with_room(&gaps.bins.edges);
        let title = format!("Gap in each query: {}", self.difference(gaps));
        let label = format!("Histogram of the gap in each query: {}", self.query_words(gaps).join(" "));
        let mut chart = Chart::new(&title, ("gap", x), ("number of queries", y), label);
        chart.bars(0, &gaps.bins.edges, &values, &abouts(&gaps.bins, &gaps.counts));
        chart.explain(Swatch::Bars, 0, many(gaps.queries, "query"));
        chart.up(0.0, "no gap");
        chart.explain(Swatch::Rule, 0, "no gap");
        if let Some(mean) = gaps.mean {
            chart.line(1, &[(mean, 0.0), (mean, chart.y.high)]);
            chart.explain(Swatch::Line, 1, format!("the mean, {}", minus(&rate(mean))));
        }
        chart.html()
    }

    fn rate_chart(&self, gaps: &QueryGaps) -> Html {
        let (first, second) = self.names(gaps);
        let shares = [&gaps.first, &gaps.second].map(|own| {
            let share = |&count: &u64| if own.queries > 0 { count as f64 / own.queries as f64 } else { 0.0 };
            own.counts.iter().map(share).collect::<Vec<f64>>()
        });
        let edges = &gaps.rate_bins.edges;
        let x = Scale::over([0.0, 1.0]).with_room(edges);
        let y = (
            "share of queries that have such pairs",
            Scale::over(shares.iter().flatten().copied().chain([0.0])),
        );
        let label = format!("Histograms of the accuracies {first} and {second} in each query");
        let mut chart = Chart::new("Accuracy in each query", ("accuracy", x), y, label);
        chart.bars(0, edges, &shares[0], &abouts(&gaps.rate_bins, &gaps.first.counts));
        chart.outline(1, edges, &shares[1], &abouts(&gaps.rate_bins, &gaps.second.counts));
        let words = |name: &str, queries: usize| format!("{name} ({})", many(queries, "query"));
        chart.explain(Swatch::Bars, 0, words(&first, gaps.first.queries));
        chart.explain(Swatch::Outline, 1, words(&second, gaps.second.queries));
        chart.html()
    }

    fn gap_table(&self, caption: &str, bins: &Bins, columns: &[(&str, &[u64])]) -> Html {
        let mut table = HtmlTable::new(caption, &["About"]);
        columns.iter().for_each(|(title, _)| table.add_column((*title).to_owned()));
        for (bin, ends) in bins.edges.windows(2).enumerate() {
            table.row(
                TableCell::name(&middle(ends)),
                columns.iter().map(|(_, counts)| TableCell::count(counts[bin])),
            );
        }
        table.behind("These numbers as a table")
    }
}

fn abouts(bins: &Bins, counts: &[u64]) -> Vec<String> {
    let about = |(ends, &number): (&[f64], &u64)| {
        format!("about {}: {}", middle(ends), many(number as usize, "query"))
    };
    bins.edges.windows(2).zip(counts).map(about).collect()
}

/// The middle of a bin.
fn middle(ends: &[f64]) -> String {
    let middle = (ends[0] + ends[1]) / 2.0;
    minus(&format!("{:.2}", if middle.abs() < 1e-9 { 0.0 } else { middle }))
}
