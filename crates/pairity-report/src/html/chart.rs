//! Charts: histograms, lines, points with intervals, bands. A chart is an SVG whose places are percent
//! of its size, so that it fits any page with letters of one size, and needs no script.

use super::markup::{Html, render};
use crate::scale::{Scale, hundredths};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

/// Series that differ in shape; after these come the same with hollow shapes.
pub(crate) const SERIES: usize = 10;

/// The colors that series take in turn.
const COLORS: usize = 6;

/// The outlines of dots, about the origin.
const SHAPES: [&str; SERIES] = [
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "M-4-4h8v8h-8z",
    "M0-5.5l5.5 9.5h-11z",
    "M0-6l5 6-5 6-5-6z",
    "M0 5.5l5.5-9.5h-11z",
    "M-4.5-1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z",
    "M-5.5 0l9.5-5.5v11z",
    "M0-6.5l1.8 4.3h4.5l-3.5 2.9 1.3 4.6-4.1-2.7-4.1 2.7 1.3-4.6-3.5-2.9h4.5z",
    "M0-5.5l5.2 3.8-2 6.2h-6.4l-2-6.2z",
    "M5.5 0l-9.5-5.5v11z",
];

/// A dot, with an interval in either direction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChartPoint {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) x_interval: Option<(f64, f64)>,
    pub(crate) y_interval: Option<(f64, f64)>,
    /// Shown on hovering.
    pub(crate) about: String,
}

impl ChartPoint {
    /// A dot without intervals.
    pub(crate) fn at(x: f64, y: f64, about: String) -> ChartPoint {
        ChartPoint { x, y, x_interval: None, y_interval: None, about }
    }
}

/// What a line of the legend shows beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Swatch {
    Bars,
    Outline,
    Line,
    /// A line with points on it.
    Path,
    Points,
    /// Points in gray.
    Faded,
    /// Small dots.
    Spots,
    /// Small dots that are not filled.
    Rings,
    Band,
    Rule,
}

/// Axes, and what was drawn between them.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// What is seen, in words, for those who can't see it.
    label: String,
    /// Above the chart; may be empty.
    title: String,
    x_title: String,
    y_title: String,
    /// Whether it has more room for its height.
    pub(crate) tall: bool,
    shapes: Shapes,
    legend: Vec<LegendEntry>,
    #[serde(skip)]
    pub(crate) x: Scale,
    #[serde(skip)]
    pub(crate) y: Scale,
}

/// A line of the legend.
#[derive(Debug, Serialize)]
struct LegendEntry {
    swatch: Swatch,
    class: String,
    shape: &'static str,
    words: String,
}

/// Everything that is drawn.
#[derive(Debug, Default, Serialize)]
struct Shapes {
    rects: Vec<DrawnShape>,
    lines: Vec<DrawnShape>,
    dots: Vec<DrawnShape>,
    spots: Vec<DrawnShape>,
}

/// Something drawn, in percent; y counts from above.
#[derive(Debug, Serialize)]
struct DrawnShape {
    class: String,
    /// The ends of a line; start and width of a rectangle; the place of a dot, twice.
    x: (f64, f64),
    /// The same upward.
    y: (f64, f64),
    /// Shown on hovering.
    about: String,
    /// The outline of a dot.
    path: &'static str,
}

impl Chart {
    /// Axes with their titles and scales; `label` says what is seen.
    pub(crate) fn new(title: &str, x: (&str, Scale), y: (&str, Scale), label: String) -> Chart {
        Chart {
            label,
            title: title.to_owned(),
            x_title: x.0.to_owned(),
            y_title: y.0.to_owned(),
            tall: false,
            shapes: Shapes::default(),
            legend: Vec::new(),
            x: x.1,
            y: y.1,
        }
    }

    /// A line of the legend.
    pub(crate) fn explain(&mut self, swatch: Swatch, series: usize, words: impl Into<String>) {
        let class = class("", series).trim_start().to_owned();
        self.legend.push(LegendEntry { swatch, class, shape: SHAPES[series % SERIES], words: words.into() });
    }

    pub(crate) fn html(&self) -> Html {
        let (x, y) = (Serde(self.x.drawn(Scale::place)), Serde(self.y.drawn(Scale::place_above)));
        render("chart.html", context! { x, y, ..Serde(self) })
    }

    /// Filled bars of a histogram, `edges` being one more than `values`.
    pub(crate) fn bars(&mut self, series: usize, edges: &[f64], values: &[f64], about: &[String]) {
        for (i, (ends, &value)) in edges.windows(2).zip(values).enumerate() {
            if value != 0.0 {
                let about = about.get(i).map_or("", String::as_str);
                self.rect("bar", series, (ends[0], ends[1]), (0.0, value), about);
            }
        }
    }

    /// The outline of a histogram.
    pub(crate) fn outline(&mut self, series: usize, edges: &[f64], values: &[f64], about: &[String]) {
        let mut before = 0.0;
        for (i, (ends, &value)) in edges.windows(2).zip(values).enumerate() {
            self.segment("outline", series, [(ends[0], before), (ends[0], value)], "");
            if value != 0.0 {
                let about = about.get(i).map_or("", String::as_str);
                self.segment("outline", series, [(ends[0], value), (ends[1], value)], about);
            }
            before = value;
        }
        if let Some(&end) = edges.last() {
            self.segment("outline", series, [(end, before), (end, 0.0)], "");
        }
    }

    /// A line through points.
    pub(crate) fn line(&mut self, series: usize, points: &[(f64, f64)]) {
        points.windows(2).for_each(|ends| self.segment("line", series, [ends[0], ends[1]], ""));
    }

    /// A dot, in gray if it is faded.
    pub(crate) fn dot(&mut self, series: usize, faded: bool, point: &ChartPoint) {
        let &ChartPoint { x, y, x_interval, y_interval, ref about } = point;
        let (whisker, dot) = if faded { ("faded whisker", "dot faded") } else { ("whisker", "dot") };
        if let Some((low, high)) = x_interval {
            self.segment(whisker, series, [(low, y), (high, y)], about);
        }
        if let Some((low, high)) = y_interval {
            self.segment(whisker, series, [(x, low), (x, high)], about);
        }
        let dot = self.spot(dot, series, (x, y), about);
        self.shapes.dots.push(DrawnShape { path: SHAPES[series % SERIES], ..dot });
    }

    /// Many small dots, filled or not.
    pub(crate) fn cloud(&mut self, series: usize, hollow: bool, points: &[(f64, f64)]) {
        let kind = if hollow { "spot ring" } else { "spot" };
        let spots: Vec<DrawnShape> = points.iter().map(|&point| self.spot(kind, series, point, "")).collect();
        self.shapes.spots.extend(spots);
    }

    /// A shaded rectangle.
    pub(crate) fn band(&mut self, series: usize, x: (f64, f64), y: (f64, f64), about: &str) {
        self.rect("band", series, x, y, about);
    }

    /// A dashed line up at one x.
    pub(crate) fn up(&mut self, x: f64, about: &str) {
        self.segment("rule", 0, [(x, self.y.low), (x, self.y.high)], about);
    }

    /// A dashed line across at one y.
    pub(crate) fn across(&mut self, y: f64, about: &str) {
        self.segment("rule", 0, [(self.x.low, y), (self.x.high, y)], about);
    }

    fn spot(&self, kind: &str, series: usize, (x, y): (f64, f64), about: &str) -> DrawnShape {
        let (x, y) = (self.x.place(x), self.y.place_above(y));
        DrawnShape { class: class(kind, series), x: (x, x), y: (y, y), about: about.to_owned(), path: "" }
    }

    fn rect(&mut self, kind: &str, series: usize, x: (f64, f64), y: (f64, f64), about: &str) {
        let (left, right) = (self.x.place(x.0), self.x.place(x.1));
        let (from, to) = (self.y.place_above(y.0), self.y.place_above(y.1));
        let (x, y) = ((left, hundredths(right - left)), (from.min(to), hundredths((from - to).abs())));
        let (class, about) = (class(kind, series), about.to_owned());
        self.shapes.rects.push(DrawnShape { class, x, y, about, path: "" });
    }

    /// A line, unless it is a point.
    fn segment(&mut self, kind: &str, series: usize, [from, to]: [(f64, f64); 2], about: &str) {
        let x = (self.x.place(from.0), self.x.place(to.0));
        let y = (self.y.place_above(from.1), self.y.place_above(to.1));
        if x.0 != x.1 || y.0 != y.1 {
            let (class, about) = (class(kind, series), about.to_owned());
            self.shapes.lines.push(DrawnShape { class, x, y, about, path: "" });
        }
    }
}

fn class(kind: &str, series: usize) -> String {
    let hollow = if (series / SERIES).is_multiple_of(2) { "" } else { " hollow" };
    format!("{kind} s{}{hollow}", series % SERIES % COLORS)
}

/// Charts side by side that share their scales.
pub(crate) fn multiples(charts: &[Chart]) -> Html {
    render("multiples.html", context! { charts => charts.iter().map(Chart::html).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(draw: impl FnOnce(&mut Chart)) -> Chart {
        let (x, y) = (("<x>", Scale::over([0.0, 10.0])), ("", Scale::over([0.0, 1.0])));
        let mut chart = Chart::new("", x, y, "a & b".to_owned());
        chart.explain(Swatch::Bars, 0, "<b>");
        draw(&mut chart);
        chart
    }

    fn shapes(draw: impl FnOnce(&mut Chart)) -> Shapes {
        chart(draw).shapes
    }

    #[test]
    fn bars_stand_on_the_axis_at_their_places() {
        let shapes = shapes(|chart| chart.bars(11, &[0.0, 5.0, 10.0], &[0.25, 0.0], &["one".to_owned()]));
        let [bar] = shapes.rects.as_slice() else { panic!("{shapes:?}") };
        assert_eq!((bar.x, bar.y), ((0.0, 50.0), (75.0, 25.0)));
        assert_eq!((bar.class.as_str(), bar.about.as_str()), ("bar s1 hollow", "one"));
    }

    #[test]
    fn no_two_of_twenty_series_look_alike() {
        let point = ChartPoint::at(1.0, 1.0, String::new());
        let looks = (0..2 * SERIES).map(|series| {
            let shapes = shapes(|chart| chart.dot(series, false, &point));
            (shapes.dots[0].path, shapes.dots[0].class.clone())
        });
        assert_eq!(looks.collect::<std::collections::HashSet<_>>().len(), 20);
    }

    #[test]
    fn an_outline_goes_up_along_and_down() {
        let shapes = shapes(|chart| chart.outline(0, &[0.0, 5.0, 10.0], &[1.0, 0.0], &[]));
        let ends: Vec<_> = shapes.lines.iter().map(|line| (line.x, line.y)).collect();
        let expected = [((0.0, 0.0), (100.0, 0.0)), ((0.0, 50.0), (0.0, 0.0)), ((50.0, 50.0), (0.0, 100.0))];
        assert_eq!(ends, expected);
    }

    #[test]
    fn points_have_intervals_and_the_second_ten_series_are_hollow() {
        let point = ChartPoint {
            x: 5.0,
            y: 0.5,
            x_interval: Some((4.0, 6.0)),
            y_interval: Some((0.25, 0.75)),
            about: String::new(),
        };
        let points = shapes(|chart| chart.dot(11, false, &point));
        let ends: Vec<_> = points.lines.iter().map(|line| (line.x, line.y)).collect();
        assert_eq!(ends, [((40.0, 60.0), (50.0, 50.0)), ((50.0, 50.0), (75.0, 25.0))]);
        assert_eq!((points.dots[0].x.0, points.dots[0].y.0, points.dots[0].path), (50.0, 50.0, SHAPES[1]));
        assert_eq!(points.dots[0].class, "dot s1 hollow");
        let faded = shapes(|chart| chart.dot(1, true, &point));
        assert_eq!(faded.dots[0].class, "dot faded s1");
        assert_eq!(faded.lines[0].class, "faded whisker s1");
        let cloud = shapes(|chart| chart.cloud(2, true, &[(10.0, 1.0)]));
        assert_eq!((cloud.spots[0].x.0, cloud.spots[0].y.0), (100.0, 0.0));
        assert_eq!(cloud.spots[0].class, "spot ring s2");
    }

    #[test]
    fn all_marks_can_be_drawn_and_words_are_escaped() {
        let html = chart(|chart| {
            chart.band(0, (0.0, 5.0), (0.0, 1.0), "<i>");
            chart.line(1, &[(0.0, 0.0), (5.0, 1.0)]);
            chart.up(5.0, "<i>");
            chart.across(0.5, "<i>");
        })
        .html()
        .into_text();
        assert!(html.contains("aria-label=\"a &amp; b\""), "{html}");
        assert_eq!(html.matches("&lt;i&gt;").count(), 3, "{html}");
        assert!(!html.contains("<b>") && !html.contains("<x>") && !html.contains("<i>"), "{html}");
    }
}
