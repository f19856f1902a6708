//! The gap, query by query.

use super::AuditPage;
use crate::html::chart::{Chart, Mark, Swatch};
use crate::html::frame::{Section, paragraphs, section};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::scale::{Scale, minus};
use crate::text::words::{count, many, rate, shorten};
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
        let several = if self.report.audit.groups.len() > 2 {
            vec!["Of several groups, those with the highest and the lowest accuracy as the better one are compared."
                .to_owned()]
        } else {
            Vec::new()
        };
        let words = format!(
            "The gap is {difference}. Of {} with both kinds of pairs, it is above 0 in {}, below 0 in {} and 0 in \
             {}; the mean is {}.",
            many(gaps.queries, "query"),
            count(gaps.positive as u64),
            count(gaps.negative as u64),
            count(equal as u64),
            minus(&rate(mean))
        );
        [several, vec![words]].concat()
    }

    fn gap_chart(&self, gaps: &QueryGaps) -> Html {
        let values: Vec<f64> = gaps.counts.iter().map(|&count| count as f64).collect();
        let mut marks = vec![
            Mark::Bars {
                series: 0,
                about: abouts(&gaps.bins, &gaps.counts),
                edges: gaps.bins.edges.clone(),
                values: values.clone(),
            },
            Mark::Up { x: 0.0, about: "no gap".to_owned() },
        ];
        let mut legend =
            vec![(Swatch::Bars, 0, many(gaps.queries, "query")), (Swatch::Rule, 0, "no gap".to_owned())];
        if let Some(mean) = gaps.mean {
            let about = format!("the mean, {}", minus(&rate(mean)));
            marks.push(Mark::Line {
                series: 1,
                points: vec![(mean, 0.0), (mean, Scale::over(values.iter().copied().chain([0.0])).high())],
            });
            legend.push((Swatch::Line, 1, about));
        }
        Chart {
            label: format!("Histogram of the gap in each query: {}", self.query_words(gaps).join(" ")),
            title: format!("Gap in each query: {}", self.difference(gaps)),
            x_title: "gap".to_owned(),
            y_title: "number of queries".to_owned(),
            x: Scale::over([-1.0, 1.0]).with_room(&gaps.bins.edges),
            y: Scale::over(values.into_iter().chain([0.0])),
            marks,
            legend,
        }
        .html()
    }

    fn rate_chart(&self, gaps: &QueryGaps) -> Html {
        let (first, second) = self.names(gaps);
        let share = |counts: &[u64], all: usize| -> Vec<f64> {
            counts.iter().map(|&count| if all > 0 { count as f64 / all as f64 } else { 0.0 }).collect()
        };
        let shares =
            [share(&gaps.first.counts, gaps.first.queries), share(&gaps.second.counts, gaps.second.queries)];
        let edges = &gaps.rate_bins.edges;
        let legend = |name: &str, queries: usize| format!("{name} ({})", many(queries, "query"));
        let y = Scale::over(shares.iter().flatten().copied().chain([0.0]));
        let [bars, outline] = shares;
        Chart {
            label: format!("Histograms of the accuracies {first} and {second} in each query"),
            title: "Accuracy in each query".to_owned(),
            x_title: "accuracy".to_owned(),
            y_title: "share of queries that have such pairs".to_owned(),
            x: Scale::over([0.0, 1.0]).with_room(edges),
            y,
            marks: vec![
                Mark::Bars {
                    series: 0,
                    edges: edges.clone(),
                    values: bars,
                    about: abouts(&gaps.rate_bins, &gaps.first.counts),
                },
                Mark::Outline {
                    series: 1,
                    edges: edges.clone(),
                    values: outline,
                    about: abouts(&gaps.rate_bins, &gaps.second.counts),
                },
            ],
            legend: vec![
                (Swatch::Bars, 0, legend(&first, gaps.first.queries)),
                (Swatch::Outline, 1, legend(&second, gaps.second.queries)),
            ],
        }
        .html()
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
