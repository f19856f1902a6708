//! Charts: histograms, lines, points with intervals, bands. A chart is an SVG whose places are percent
//! of its size, so that it fits any page with letters of one size, and needs no script.

use super::markup::{Html, render};
use crate::scale::{Scale, Tick};
use minijinja::value::Serde;
use minijinja::{Value, context};
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

/// What is drawn, of which series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// Filled bars of a histogram, `edges` being one more than `values`.
    Bars { series: usize, edges: Vec<f64>, values: Vec<f64>, about: Vec<String> },
    /// The outline of a histogram.
    Outline { series: usize, edges: Vec<f64>, values: Vec<f64>, about: Vec<String> },
    /// A line through points.
    Line { series: usize, points: Vec<(f64, f64)> },
    /// Dots, in gray where they are faded.
    Points { series: usize, faded: bool, points: Vec<ChartPoint> },
    /// Many small dots, filled or not.
    Cloud { series: usize, hollow: bool, points: Vec<(f64, f64)> },
    /// A shaded rectangle.
    Band { series: usize, x: (f64, f64), y: (f64, f64), about: String },
    /// A dashed line up at one x.
    Up { x: f64, about: String },
    /// A dashed line across at one y.
    Across { y: f64, about: String },
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

/// Axes with marks.
pub(crate) struct Chart {
    /// What is seen, in words, for those who can't see it.
    pub(crate) label: String,
    /// Above the chart; may be empty.
    pub(crate) title: String,
    pub(crate) x_title: String,
    pub(crate) y_title: String,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) marks: Vec<Mark>,
    pub(crate) legend: Vec<(Swatch, usize, String)>,
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
    pub(crate) fn html(&self) -> Html {
        self.drawn(false)
    }

    /// The same with more room for its height.
    pub(crate) fn tall(&self) -> Html {
        self.drawn(true)
    }

    fn drawn(&self, tall: bool) -> Html {
        let mut shapes = Shapes::default();
        self.marks.iter().for_each(|mark| self.draw(mark, &mut shapes));
        let legend = self.legend.iter().map(|(swatch, at, words)| {
            context! {
                swatch => Serde(swatch),
                class => class("", *at).trim_start(),
                shape => SHAPES[at % SERIES],
                words,
            }
        });
        let data = context! {
            label => &self.label,
            title => &self.title,
            x_title => &self.x_title,
            y_title => &self.y_title,
            x => Serde(self.x.drawn()),
            y => Serde(self.y.drawn().into_iter().map(Tick::upward).collect::<Vec<_>>()),
            shapes => Serde(shapes),
            legend => legend.collect::<Vec<Value>>(),
            tall,
        };
        render("chart.html", data)
    }

    fn draw(&self, mark: &Mark, shapes: &mut Shapes) {
        match mark {
            Mark::Bars { series, edges, values, about } => {
                for (i, (ends, &value)) in edges.windows(2).zip(values).enumerate() {
                    if value != 0.0 {
                        let about = about.get(i).map_or("", String::as_str);
                        shapes.rects.push(self.rect("bar", *series, (ends[0], ends[1]), (0.0, value), about));
                    }
                }
            }
            Mark::Outline { series, edges, values, about } => {
                let mut before = 0.0;
                let mut line =
                    |from, to, about| shapes.lines.extend(self.line("outline", *series, from, to, about));
                for (i, (ends, &value)) in edges.windows(2).zip(values).enumerate() {
                    line((ends[0], before), (ends[0], value), "");
                    if value != 0.0 {
                        line((ends[0], value), (ends[1], value), about.get(i).map_or("", String::as_str));
                    }
                    before = value;
                }
                if let Some(&end) = edges.last() {
                    line((end, before), (end, 0.0), "");
                }
            }
            Mark::Line { series, points } => {
                let ends = points.windows(2);
                shapes.lines.extend(ends.filter_map(|ends| self.line("line", *series, ends[0], ends[1], "")));
            }
            Mark::Points { series, faded, points } => {
                let manner = if *faded { "faded " } else { "" };
                points.iter().for_each(|point| self.dot(manner, *series, point, shapes));
            }
            Mark::Cloud { series, hollow, points } => {
                let kind = if *hollow { "spot ring" } else { "spot" };
                shapes
                    .spots
                    .extend(points.iter().map(|&point| self.place(class(kind, *series), "", point, "")));
            }
            Mark::Band { series, x, y, about } => {
                shapes.rects.push(self.rect("band", *series, *x, *y, about))
            }
            Mark::Up { x, about } => {
                shapes.lines.extend(self.line("rule", 0, (*x, self.y.low()), (*x, self.y.high()), about));
            }
            Mark::Across { y, about } => {
                shapes.lines.extend(self.line("rule", 0, (self.x.low(), *y), (self.x.high(), *y), about));
            }
        }
    }

    fn dot(&self, manner: &str, series: usize, point: &ChartPoint, shapes: &mut Shapes) {
        let (about, kind) = (&point.about, format!("{manner}whisker"));
        if let Some((low, high)) = point.x_interval {
            shapes.lines.extend(self.line(&kind, series, (low, point.y), (high, point.y), about));
        }
        if let Some((low, high)) = point.y_interval {
            shapes.lines.extend(self.line(&kind, series, (point.x, low), (point.x, high), about));
        }
        let class = class(format!("dot {manner}").trim_end(), series);
        shapes.dots.push(self.place(class, SHAPES[series % SERIES], (point.x, point.y), about));
    }

    /// From above, as SVG counts.
    fn place_y(&self, y: f64) -> f64 {
        round(100.0 - self.y.place(y))
    }

    fn place(&self, class: String, path: &'static str, (x, y): (f64, f64), about: &str) -> DrawnShape {
        let (x, y) = (self.x.place(x), self.place_y(y));
        DrawnShape { class, x: (x, x), y: (y, y), about: about.to_owned(), path }
    }

    fn rect(&self, kind: &str, series: usize, x: (f64, f64), y: (f64, f64), about: &str) -> DrawnShape {
        let (left, right) = (self.x.place(x.0), self.x.place(x.1));
        let (from, to) = (self.place_y(y.0), self.place_y(y.1));
        let (x, y) = ((left, round(right - left)), (from.min(to), round((from - to).abs())));
        DrawnShape { class: class(kind, series), x, y, about: about.to_owned(), path: "" }
    }

    /// A line, unless it is a point.
    fn line(
        &self,
        kind: &str,
        series: usize,
        from: (f64, f64),
        to: (f64, f64),
        about: &str,
    ) -> Option<DrawnShape> {
        let x = (self.x.place(from.0), self.x.place(to.0));
        let y = (self.place_y(from.1), self.place_y(to.1));
        let shape = || DrawnShape { class: class(kind, series), x, y, about: about.to_owned(), path: "" };
        (x.0 != x.1 || y.0 != y.1).then(shape)
    }
}

fn class(kind: &str, series: usize) -> String {
    let hollow = if (series / SERIES).is_multiple_of(2) { "" } else { " hollow" };
    format!("{kind} s{}{hollow}", series % SERIES % COLORS)
}

fn round(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// Charts side by side that share their scales.
pub(crate) fn multiples(charts: &[Chart]) -> Html {
    render("multiples.html", context! { charts => charts.iter().map(Chart::html).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(marks: Vec<Mark>) -> Chart {
        Chart {
            label: "a & b".to_owned(),
            title: String::new(),
            x_title: "<x>".to_owned(),
            y_title: String::new(),
            x: Scale::over([0.0, 10.0]),
            y: Scale::over([0.0, 1.0]),
            marks,
            legend: vec![(Swatch::Bars, 0, "<b>".to_owned())],
        }
    }

    fn shapes(mark: Mark) -> Shapes {
        let mut shapes = Shapes::default();
        chart(Vec::new()).draw(&mark, &mut shapes);
        shapes
    }

    #[test]
    fn bars_stand_on_the_axis_at_their_places() {
        let mark = Mark::Bars {
            series: 11,
            edges: vec![0.0, 5.0, 10.0],
            values: vec![0.25, 0.0],
            about: vec!["one".to_owned()],
        };
        let shapes = shapes(mark);
        let [bar] = shapes.rects.as_slice() else { panic!("{shapes:?}") };
        assert_eq!((bar.x, bar.y), ((0.0, 50.0), (75.0, 25.0)));
        assert_eq!((bar.class.as_str(), bar.about.as_str()), ("bar s1 hollow", "one"));
    }

    #[test]
    fn no_two_of_twenty_series_look_alike() {
        let points =
            vec![ChartPoint { x: 1.0, y: 1.0, x_interval: None, y_interval: None, about: String::new() }];
        let looks = (0..2 * SERIES).map(|series| {
            let shapes = shapes(Mark::Points { series, faded: false, points: points.clone() });
            (shapes.dots[0].path, shapes.dots[0].class.clone())
        });
        assert_eq!(looks.collect::<std::collections::HashSet<_>>().len(), 20);
    }

    #[test]
    fn an_outline_goes_up_along_and_down() {
        let mark =
            Mark::Outline { series: 0, edges: vec![0.0, 5.0, 10.0], values: vec![1.0, 0.0], about: vec![] };
        let ends: Vec<_> = shapes(mark).lines.iter().map(|line| (line.x, line.y)).collect();
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
        let points = shapes(Mark::Points { series: 11, faded: false, points: vec![point.clone()] });
        let ends: Vec<_> = points.lines.iter().map(|line| (line.x, line.y)).collect();
        assert_eq!(ends, [((40.0, 60.0), (50.0, 50.0)), ((50.0, 50.0), (75.0, 25.0))]);
        assert_eq!((points.dots[0].x.0, points.dots[0].y.0, points.dots[0].path), (50.0, 50.0, SHAPES[1]));
        assert_eq!(points.dots[0].class, "dot s1 hollow");
        let faded = shapes(Mark::Points { series: 1, faded: true, points: vec![point] });
        assert_eq!(faded.dots[0].class, "dot faded s1");
        assert_eq!(faded.lines[0].class, "faded whisker s1");
        let cloud = shapes(Mark::Cloud { series: 2, hollow: true, points: vec![(10.0, 1.0)] });
        assert_eq!((cloud.spots[0].x.0, cloud.spots[0].y.0), (100.0, 0.0));
        assert_eq!(cloud.spots[0].class, "spot ring s2");
    }

    #[test]
    fn all_marks_can_be_drawn_and_words_are_escaped() {
        let about = || "<i>".to_owned();
        let html = chart(vec![
            Mark::Band { series: 0, x: (0.0, 5.0), y: (0.0, 1.0), about: about() },
            Mark::Line { series: 1, points: vec![(0.0, 0.0), (5.0, 1.0)] },
            Mark::Up { x: 5.0, about: about() },
            Mark::Across { y: 0.5, about: about() },
        ])
        .html()
        .into_text();
        assert!(html.contains("aria-label=\"a &amp; b\""), "{html}");
        assert_eq!(html.matches("&lt;i&gt;").count(), 3, "{html}");
        assert!(!html.contains("<b>") && !html.contains("<x>") && !html.contains("<i>"), "{html}");
    }
}
