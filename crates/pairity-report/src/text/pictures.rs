//! Pictures made of letters, for terminals: whiskers, and blocks as high as a share.

use crate::scale::Scale;
use pairity::metrics::Metric;

/// Columns of a whisker.
pub(super) const WHISKER: usize = 25;

/// From none to all.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A value and its interval on a scale: `├──●──┤`.
pub(super) fn whisker(metric: &Metric, scale: &Scale) -> String {
    let mut line = [' '; WHISKER];
    let place = |value: f64| (scale.place(value) / 100.0 * (WHISKER - 1) as f64).round() as usize;
    if let (Some(low), Some(high)) = (metric.low, metric.high) {
        let (low, high) = (place(low), place(high));
        line[low..=high].fill('─');
        (line[low], line[high]) = ('├', '┤');
    }
    if let Some(value) = metric.value {
        line[place(value)] = '●';
    }
    line.iter().collect()
}

/// The ends of a scale above its whiskers.
pub(super) fn axis(scale: &Scale) -> String {
    let labels = scale.ticks();
    let end = |tick: Option<&(f64, String)>| tick.map_or(String::new(), |(_, label)| label.clone());
    let (first, last) = (end(labels.first()), end(labels.last()));
    let space = WHISKER.saturating_sub(first.chars().count() + last.chars().count());
    format!("{first}{}{last}", " ".repeat(space))
}

/// A block as high as a share, from 0 to 1.
pub(super) fn block(share: f64) -> char {
    BLOCKS[((share * BLOCKS.len() as f64) as usize).min(BLOCKS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(value: f64, low: f64, high: f64) -> Metric {
        Metric { value: Some(value), low: Some(low), high: Some(high), ..Metric::default() }
    }

    #[test]
    fn whiskers_stand_where_their_numbers_are() {
        let scale = Scale::over([0.0, 1.0]);
        assert_eq!(whisker(&metric(0.5, 0.25, 0.75), &scale), "      ├─────●─────┤      ");
        assert_eq!(whisker(&metric(0.0, 0.0, 1.0), &scale), "●───────────────────────┤");
        let alone = Metric { value: Some(1.0), ..Metric::default() };
        assert_eq!(whisker(&alone, &scale), "                        ●");
        assert_eq!(axis(&scale), "0.0                   1.0");
    }

    #[test]
    fn blocks_are_as_high_as_shares() {
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(block), ['▁', '▅', '█', '█']);
    }
}
