//! Scales: where a number stands between round numbers.

use crate::words::number;
use pairity::metrics::{Bins, Metric};

/// Numbers along an axis, with ticks at round ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    ticks: Vec<f64>,
}

impl Scale {
    /// A scale with at most six ticks that holds all numbers; those that are not finite are left out.
    pub(crate) fn over(numbers: impl IntoIterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers.into_iter().filter(|number| number.is_finite()) {
            low = low.min(number);
            high = high.max(number);
        }
        if low > high || (low == high && (0.0..=1.0).contains(&low)) {
            (low, high) = (0.0, 1.0);
        } else if low == high {
            // A single number stands in the middle.
            let room = low.abs() / 2.0;
            (low, high) = ((low - room).max(f64::MIN), (high + room).min(f64::MAX));
        }
        let ticks = Bins::round(low, high, 5).edges;
        Scale {
            low: ticks.first().copied().unwrap_or(low),
            high: ticks.last().copied().unwrap_or(high),
            ticks,
        }
    }

    /// A scale from one number to another, with the ticks that lie between.
    pub(crate) fn between(low: f64, high: f64) -> Scale {
        let scale = Scale::over([low, high]);
        if low >= high {
            return scale;
        }
        let ticks = scale.ticks.into_iter().filter(|tick| (low..=high).contains(tick)).collect();
        Scale { low, high, ticks }
    }

    /// The same ticks with room for numbers beyond them.
    pub(crate) fn with_room(self, numbers: &[f64]) -> Scale {
        let low = numbers.iter().copied().fold(self.low, f64::min);
        Scale { low, high: numbers.iter().copied().fold(self.high, f64::max), ..self }
    }

    /// Where a number stands, from 0 at the low end to 100 at the high one. Numbers beyond stand at the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        // Halves, as the difference of the largest numbers overflows.
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        let share = if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) };
        (share * 10_000.0).round() / 100.0
    }

    /// The same on an axis that goes up, where SVG counts from above.
    pub(crate) fn place_above(&self, value: f64) -> f64 {
        hundredths(100.0 - self.place(value))
    }

    /// The ticks with their labels.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let largest = self.ticks.iter().fold(0.0_f64, |most, tick| most.max(tick.abs()));
        let exact = |tick: f64, decimals: i32| {
            let scaled = tick * 10f64.powi(decimals);
            (scaled - scaled.round()).abs() <= 1e-6
        };
        let decimals = (0..=4).find(|&d| largest < 1e6 && self.ticks.iter().all(|&tick| exact(tick, d)));
        let write = |tick: f64| match decimals {
            Some(decimals) => format!("{:.*}", decimals as usize, tick + 0.0),
            None => number(tick, 4),
        };
        self.ticks.iter().map(|&tick| (tick, minus(&write(tick)))).collect()
    }

    /// The ticks with their places, as [`place`](Scale::place) or [`place_above`](Scale::place_above) has them, and
    /// labels.
    pub(crate) fn drawn(&self, place: fn(&Scale, f64) -> f64) -> Vec<(f64, String)> {
        self.ticks().into_iter().map(|(value, label)| (place(self, value), label)).collect()
    }
}

/// A number of percents with two decimals.
pub(crate) fn hundredths(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// The numbers of a metric that a scale has to hold: its value and the ends of its interval.
pub(crate) fn ends(metric: &Metric) -> impl Iterator<Item = f64> {
    [metric.value, metric.low, metric.high].into_iter().flatten()
}

/// A number with a real minus, as wide as a plus.
pub(crate) fn minus(number: &str) -> String {
    number.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_labels_as_short_as_they_can_be() {
        assert_eq!(labels(&Scale::over([0.02, 0.97])), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Scale::over([-40.0, 55.0])), ["−40", "−20", "0", "20", "40", "60"]);
        assert_eq!(labels(&Scale::over([0.5])), labels(&Scale::over([0.0, 1.0])));
        assert_eq!(labels(&Scale::over([-4.0])), ["−6", "−5", "−4", "−3", "−2"]);
    }

    #[test]
    fn every_number_has_a_place() {
        for ends in [[0.0, 0.0], [-f64::MAX, f64::MAX], [5e-324, 1e-323], [f64::NAN, 1.0], [3.0, 3.0]] {
            let scale = Scale::over(ends);
            for value in [ends[0], ends[1], 0.0, f64::NAN, f64::INFINITY] {
                assert!((0.0..=100.0).contains(&scale.place(value)), "{ends:?} {value}");
            }
        }
        assert_eq!(Scale::over([0.0, 1.0]).place(0.25), 25.0);
        let between = Scale::between(-0.3, 1.2);
        assert_eq!((between.place(-0.3), between.place(1.2)), (0.0, 100.0));
        assert_eq!(labels(&between), ["0.0", "0.5", "1.0"]);
        let wider = Scale::over([0.0, 1.0]).with_room(&[-0.5, 1.5]);
        assert_eq!((wider.place(0.0), wider.place(1.5), wider.ticks().len()), (25.0, 100.0, 6));
    }
}
