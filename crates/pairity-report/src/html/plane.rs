//! Two features as a plane: rows by group and label, and the line of each linear scorer.
//!
//! A scorer w·x + c gives the same score all along a line at right angles to w; moving the line along w
//! raises the score. What ranks has no threshold, so that each line is drawn through one place: the mean of
//! the rows that are shown.

use super::chart::{Chart, Swatch};
use super::markup::Html;
use crate::scale::{Scale, minus};
use crate::words::{number, plain, shorten};
use pairity::run::{Plane, PlanePoint};

/// More lines than this are not told apart.
const MAX_LINES: usize = 6;

/// The picture of a plane.
pub(crate) fn html(plane: &Plane) -> Html {
    let finite: Vec<&PlanePoint> =
        plane.points.iter().filter(|point| point.x.iter().all(|x| x.is_finite())).collect();
    let [x, y] = [0, 1].map(|axis| Scale::over(finite.iter().map(|point| point.x[axis])));
    let center =
        [0, 1].map(|axis| finite.iter().map(|point| point.x[axis] / finite.len() as f64).sum::<f64>());
    let lines = || plane.lines.iter().take(MAX_LINES).map(|line| (shorten(&line.name, 40), line.weights));
    let weighs = lines().map(|(name, weights)| {
        let [a, b] = weights.map(|w| minus(&number(w, 3)));
        format!("{name} weighs them {a} and {b}")
    });
    let [first, second] = [0, 1].map(|axis| plain(&plane.features[axis]));
    let label = format!(
        "Rows by their features {first} and {second}, with a line for each scorer: {}",
        weighs.collect::<Vec<_>>().join("; ")
    );
    let mut chart = Chart::new("Rows and scorers", (&first, x), (&second, y), label);
    chart.tall = true;
    for group in (0..plane.groups.len()).map(Some).chain([None]) {
        let series = group.unwrap_or(plane.groups.len());
        for high in [false, true] {
            let own = finite.iter().filter(|point| point.group == group && point.high == high);
            let points: Vec<(f64, f64)> = own.map(|point| (point.x[0], point.x[1])).collect();
            if points.is_empty() {
                continue;
            }
            let name = match group.and_then(|group| plane.groups.get(group)) {
                Some(name) => shorten(name, 30),
                None if plane.groups.is_empty() => String::new(),
                None => "no group".to_owned(),
            };
            let comma = if name.is_empty() { "" } else { ", " };
            let (swatch, label) = if high { (Swatch::Spots, "higher") } else { (Swatch::Rings, "lower") };
            chart.explain(swatch, series, format!("{name}{comma}{label} label"));
            chart.cloud(series, !high, &points);
        }
    }
    for (place, (name, weights)) in lines().enumerate() {
        if let Some((from, to)) = crossing(weights, center, &chart.x, &chart.y) {
            chart.line(place, &[from, to]);
            chart.explain(Swatch::Line, place, format!("{name}: scores grow {}", toward(weights)));
        }
    }
    chart.html()
}

/// Where the line at right angles to the weights through a place leaves the picture.
fn crossing(weights: [f64; 2], through: [f64; 2], x: &Scale, y: &Scale) -> Option<((f64, f64), (f64, f64))> {
    let length = weights[0].hypot(weights[1]);
    let along = [-weights[1] / length, weights[0] / length];
    if !along.iter().chain(&through).all(|number| number.is_finite()) {
        return None;
    }
    // The line is through + t·along, inside for the t that both axes allow.
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for (axis, scale) in [x, y].into_iter().enumerate() {
        if along[axis] != 0.0 {
            let ends = [scale.low, scale.high].map(|end| (end - through[axis]) / along[axis]);
            from = from.max(ends[0].min(ends[1]));
            to = to.min(ends[0].max(ends[1]));
        } else if !(scale.low..=scale.high).contains(&through[axis]) {
            return None;
        }
    }
    let at = |t: f64| (through[0] + t * along[0], through[1] + t * along[1]);
    (from < to && from.is_finite() && to.is_finite()).then(|| (at(from), at(to)))
}

/// Where scores grow, in words.
fn toward(weights: [f64; 2]) -> String {
    let size = weights[0].abs().max(weights[1].abs());
    // A direction that counts less than a tenth of the other is not worth a word.
    let word = |weight: f64, less: &'static str, more: &'static str| match weight {
        w if w.abs() < 0.1 * size => None,
        w if w < 0.0 => Some(less),
        _ => Some(more),
    };
    let words: Vec<&str> =
        [word(weights[1], "down", "up"), word(weights[0], "left", "right")].into_iter().flatten().collect();
    words.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairity::run::PlaneLine;

    fn scale() -> Scale {
        Scale::over([-1.0, 1.0])
    }

    #[test]
    fn lines_are_at_right_angles_to_weights_and_end_at_the_edges() {
        // Weights along x: an upright line.
        let (from, to) = crossing([2.0, 0.0], [0.5, 0.0], &scale(), &scale()).unwrap();
        assert_eq!((from, to), ((0.5, -1.0), (0.5, 1.0)));
        // Weights along the diagonal: the other diagonal.
        let (from, to) = crossing([1.0, 1.0], [0.0, 0.0], &scale(), &scale()).unwrap();
        for (a, b) in [(from.0, 1.0), (from.1, -1.0), (to.0, -1.0), (to.1, 1.0)] {
            assert!((a - b).abs() < 1e-12, "{from:?} {to:?}");
        }
        assert_eq!(crossing([0.0, 0.0], [0.0, 0.0], &scale(), &scale()), None);
        assert_eq!(crossing([f64::NAN, 1.0], [0.0, 0.0], &scale(), &scale()), None);
        // Through a place outside, a line may never come in.
        assert_eq!(crossing([0.0, 1.0], [0.0, 5.0], &scale(), &scale()), None);
    }

    #[test]
    fn directions_have_words() {
        assert_eq!(toward([1.0, 0.0]), "right");
        assert_eq!(toward([-1.0, 2.0]), "up and left");
        assert_eq!(toward([0.01, -2.0]), "down");
    }

    #[test]
    fn groups_and_labels_can_be_told_apart_and_names_are_escaped() {
        let point = |x: f64, group, high| PlanePoint { x: [x, -x], group, high };
        let plane = Plane {
            features: ["<x>".into(), "y".into()],
            groups: vec!["<script>".into(), "b".into()],
            points: vec![
                point(0.0, Some(0), true),
                point(1.0, Some(0), false),
                point(2.0, Some(1), true),
                point(3.0, None, false),
                point(f64::NAN, Some(1), false),
            ],
            lines: vec![PlaneLine { name: "fair".into(), weights: [1.0, 1.0] }],
        };
        let html = html(&plane).into_text();
        assert!(!html.contains("<script") && !html.contains("<x>") && !html.contains("NaN"), "{html}");
        for words in [
            "&lt;script&gt;, higher label",
            "&lt;script&gt;, lower label",
            "b, higher label",
            "no group, lower label",
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
        assert!(html.contains("fair: scores grow up and right"), "{html}");
        assert_eq!(html.matches("class=\"spot").count(), 4 + 4, "four rows, and their legend: {html}");
    }

    #[test]
    fn no_rows_make_no_numbers_that_are_none() {
        let plane = Plane {
            features: ["x".into(), "y".into()],
            groups: vec![],
            points: vec![],
            lines: vec![PlaneLine { name: "a".into(), weights: [1.0, 0.0] }],
        };
        assert!(!html(&plane).into_text().contains("NaN"));
    }
}
