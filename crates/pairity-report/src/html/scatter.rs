//! Methods as points: objective against violation with the intervals of both, dominated ones in gray.

use super::chart::{Chart, ChartPoint, Swatch};
use super::markup::Html;
use super::table::with_interval;
use crate::scale::{Scale, ends};
use crate::words::shorten;
use pairity::metrics::Metric;

/// One point.
pub(crate) struct ScatterPoint<'a> {
    pub(crate) name: &'a str,
    /// Across: by how much the constraints are missed.
    pub(crate) x: &'a Metric,
    /// Up: the objective.
    pub(crate) y: &'a Metric,
    /// Whether another one is better in both.
    pub(crate) dominated: bool,
    /// Its color and shape.
    pub(crate) series: usize,
    /// What hovering says beside the name and both values.
    pub(crate) about: String,
}

impl<'a> ScatterPoint<'a> {
    /// A point that nothing more is said about.
    pub(crate) fn of(name: &'a str, x: &'a Metric, y: &'a Metric, series: usize) -> ScatterPoint<'a> {
        ScatterPoint { name, x, y, dominated: false, series, about: String::new() }
    }
}

/// Points on one pair of axes.
pub(crate) struct Scatter<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_title: &'a str,
    pub(crate) y_title: &'a str,
    pub(crate) spots: Vec<ScatterPoint<'a>>,
    /// Whether the points of a series are joined by lines, from one to the next.
    pub(crate) joined: bool,
}

impl Scatter<'_> {
    /// The chart; points without a value in both directions are left out.
    pub(crate) fn html(&self) -> Html {
        let shown: Vec<(&ScatterPoint, f64, f64)> =
            self.spots.iter().filter_map(|spot| Some((spot, spot.x.value?, spot.y.value?))).collect();
        let said: Vec<String> = shown.iter().map(|(spot, ..)| self.about(spot)).collect();
        let x = Scale::over(shown.iter().flat_map(|(spot, ..)| ends(spot.x)).chain([0.0]));
        let y = Scale::over(shown.iter().flat_map(|(spot, ..)| ends(spot.y)));
        let label = format!("{}: {}", self.title, said.join("; "));
        let mut chart = Chart::new(self.title, (self.x_title, x), (self.y_title, y), label);
        chart.tall = true;
        if self.joined {
            for own in shown.chunk_by(|(a, ..), (b, ..)| a.series == b.series) {
                chart.line(own[0].0.series, &own.iter().map(|&(_, x, y)| (x, y)).collect::<Vec<_>>());
            }
        }
        let mut explained: Vec<String> = Vec::new();
        for ((spot, x, y), about) in shown.into_iter().zip(said) {
            let (x_interval, y_interval) = (spot.x.low.zip(spot.x.high), spot.y.low.zip(spot.y.high));
            chart.dot(spot.series, spot.dominated, &ChartPoint { x, y, x_interval, y_interval, about });
            let (swatch, note) = match spot.dominated && !self.joined {
                true => (Swatch::Faded, " (dominated)"),
                false => (Swatch::Points, ""),
            };
            // Points of one name are one entry; more names than shapes share these.
            let words = format!("{}{note}", shorten(spot.name, 40));
            if !explained.contains(&words) {
                chart.explain(swatch, spot.series, words.clone());
                explained.push(words);
            }
        }
        chart.html()
    }

    /// A point in words.
    fn about(&self, spot: &ScatterPoint) -> String {
        let write = |metric: &Metric| with_interval(metric, "—");
        let name = shorten(spot.name, 40);
        let mut words =
            format!("{name}: {} {}, {} {}", self.y_title, write(spot.y), self.x_title, write(spot.x));
        for more in [spot.about.as_str(), if spot.dominated { "dominated" } else { "" }] {
            if !more.is_empty() {
                words += &format!(", {more}");
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(value: Option<f64>) -> Metric {
        Metric {
            value,
            low: value.map(|x| x - 0.1),
            high: value.map(|x| x + 0.1),
            pairs: 9,
            ..Metric::default()
        }
    }

    fn scatter(joined: bool) -> String {
        let (low, high, none) = (metric(Some(0.2)), metric(Some(0.8)), metric(None));
        let spots = vec![
            ScatterPoint::of("good", &low, &high, 0),
            ScatterPoint { dominated: true, ..ScatterPoint::of("<b>worse</b>", &high, &low, 1) },
            ScatterPoint::of("unknown", &none, &low, 2),
        ];
        let scatter = Scatter { title: "All", x_title: "violation", y_title: "auc", spots, joined };
        scatter.html().into_text()
    }

    #[test]
    fn points_have_whiskers_words_and_a_legend_and_dominated_ones_are_faded() {
        let html = scatter(false);
        assert_eq!(html.matches("whisker s").count(), 4, "{html}");
        assert!(
            html.contains("<title>good: auc 0.8000 (0.7000 to 0.9000), violation 0.2000 (0.1000 to 0.3000)")
        );
        assert!(html.contains("class=\"dot faded s1\""), "{html}");
        assert!(html.contains("&lt;b&gt;worse&lt;&#x2f;b&gt; (dominated)") && !html.contains("<b>worse"));
        assert!(!html.contains("unknown"));
    }

    #[test]
    fn points_of_a_series_can_be_joined() {
        assert_eq!(scatter(false).matches("class=\"line").count(), 0);
        // One point makes no line.
        assert_eq!(scatter(true).matches("class=\"line").count(), 0);
        let (a, b) = (metric(Some(0.2)), metric(Some(0.4)));
        let spot = |x, y| ScatterPoint::of("m", x, y, 0);
        let scatter = Scatter {
            title: "",
            x_title: "x",
            y_title: "y",
            spots: vec![spot(&a, &a), spot(&b, &b)],
            joined: true,
        };
        assert_eq!(scatter.html().into_text().matches("class=\"line").count(), 1);
    }
}
