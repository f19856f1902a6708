//! Rates of pairs across queries, where queries are alike.
//!
//! Where rows of one cell (a label and a group) have the same distribution in every query, a pair of rows from two
//! queries is won as often as a pair from one, and there are many times more of them: rates over all of them are the
//! rates inside queries, with less noise. A small group shows most: of 375 queries whose better row is of a group that
//! is a tenth of all rows, 375 pairs inside the group are left, and 1.4 million across queries.
//!
//! Whether queries are alike is tested, feature by feature: with e the deviation of a feature from the mean of its cell,
//! in standard deviations of the cell,
//!
//! ```text
//! z = Σ_q [(Σ_{i ∈ q} e_i)² − Σ_{i ∈ q} e_i²] / √(2 Σ_q n_q (n_q − 1))
//! ```
//!
//! is about normal if rows of a query are no more alike, and no less, than rows of different queries; so it is of the
//! squares of e, and of the share of each group given the label: where queries hold one group more than others do, other groups
//! meet in pairs across queries, and `auc` is a mean over groups. A correlation ρ inside queries moves a rate by about ρ / 10, and z finds any ρ that would move it by
//! more than a small part of its noise.

use crate::examples::Examples;
use crate::learners::Architecture;
use crate::rates::Rate;
use crate::solvers::loss::Sample;
use crate::solvers::solver::{SolverTask, Training};
use crate::solvers::train::Select;

/// Labels: of more, other labels would meet in pairs across queries than inside them.
const LABELS: usize = 2;

/// Features of so many at most are tested one by one.
const FEATURES: usize = 64;

/// What z may be in either direction.
const ALIKE: f64 = 3.0;

/// The cell of each example; none where rows have more to tell pairs by than a label and a group.
fn cells(examples: &Examples) -> Option<Vec<usize>> {
    let plain = examples.has_queries() && examples.is_plain() && !examples.is_continuous();
    let labels = examples.labels.as_deref().filter(|_| plain)?;
    let mut values: Vec<f64> = Vec::new();
    let mut label = |value: f64| {
        let at = values.iter().position(|&own| own == value);
        at.or_else(|| {
            values.push(value);
            (values.len() <= LABELS).then(|| values.len() - 1)
        })
    };
    let groups = examples.coded_groups().ok().map(|(_, codes)| codes);
    let cell = |(i, &value): (usize, &f64)| {
        let group = groups.map_or(0, |codes| usize::from(codes[i]));
        label(value).map(|label| group * LABELS + label)
    };
    labels.iter().enumerate().map(cell).collect()
}

/// Whether rows of one query are no more alike in a feature, and no less, than rows of different queries.
fn is_alike(examples: &Examples, cells: &[usize], values: &[f64]) -> bool {
    let cell_count = cells.iter().max().map_or(0, |last| last + 1);
    let standardized = |values: &[f64]| {
        let mut sums = vec![[0.0; 3]; cell_count];
        for (&cell, value) in cells.iter().zip(values) {
            let [n, sum, square] = &mut sums[cell];
            (*n, *sum, *square) = (*n + 1.0, *sum + value, *square + value * value);
        }
        let own = |(&cell, value): (&usize, &f64)| {
            let [n, sum, square] = sums[cell];
            let (mean, variance) = (sum / n, square / n - (sum / n).powi(2));
            // Less is rounding.
            let varies = variance > 1e-9 * (square / n);
            if varies { (value - mean) / variance.sqrt() } else { 0.0 }
        };
        cells.iter().zip(values).map(own).collect::<Vec<f64>>()
    };
    let z = |deviations: &[f64]| {
        let (mut together, mut pairs) = (0.0, 0.0);
        for query in 0..examples.queries() {
            let own = &deviations[examples.query(query)];
            let (sum, square): (f64, f64) =
                own.iter().fold((0.0, 0.0), |(sum, square), e| (sum + e, square + e * e));
            let n = own.iter().filter(|e| **e != 0.0).count() as f64;
            together += sum * sum - square;
            pairs += n * (n - 1.0).max(0.0);
        }
        if pairs > 0.0 { together / (2.0 * pairs).sqrt() } else { 0.0 }
    };
    let deviations = standardized(values);
    let squares: Vec<f64> = deviations.iter().map(|e| e * e).collect();
    [deviations, standardized(&squares)].iter().all(|own| z(own).abs() <= ALIKE)
}

/// Whether queries hold groups as any rows do, given the label.
fn groups_are_alike(examples: &Examples, cells: &[usize]) -> bool {
    let labels: Vec<usize> = cells.iter().map(|cell| cell % LABELS).collect();
    examples.attribute_numbers().iter().all(|group| is_alike(examples, &labels, group))
}

/// All rows as if they were of one query, where answers are to hold on new rows and queries are alike.
pub(super) fn sample_across_queries(task: &SolverTask) -> Option<Sample<'static>> {
    let Training { architecture, problem, settings, .. } = task.training;
    let wanted = settings.select == Select::CrossFit && !problem.constraints.is_empty();
    let wanted = wanted && problem.rates.iter().all(|rate| matches!(rate, Rate::Accuracy { .. }));
    let linear = matches!(architecture, Architecture::Linear(_));
    let (examples, len) = (task.sample.examples(), architecture.len());
    let feature = |at: usize| {
        let mut scores = vec![0.0; examples.len()];
        let only: Vec<f64> = (0..len).map(|own| f64::from(u8::from(own == at))).collect();
        architecture.score(&only, &task.sample.features, &mut scores);
        scores
    };
    let alike = || {
        let cells = cells(examples)?;
        let groups = groups_are_alike(examples, &cells);
        Some(groups && (0..len).all(|at| is_alike(examples, &cells, &feature(at))))
    };
    let applies = wanted && linear && len <= FEATURES && alike()?;
    if applies { Sample::owning(&task.training, examples.across_queries()).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, Groups, PairWeight};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const QUERIES: usize = 400;
    const ROWS: usize = 8;

    /// A value around 0 with a deviation of about 1.
    fn noise(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random_range(-0.5..0.5)).sum()
    }

    /// Rows whose feature depends on label and group, and on the query as far as that is asked for: on its level, or on
    /// how far its rows are apart.
    fn drawn(level: f64, width: f64, seed: u64) -> (Examples, Vec<f64>) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut labels, mut groups, mut queries, mut values) = (vec![], vec![], vec![], vec![]);
        for query in 0..QUERIES {
            let (at, size) = (level * noise(&mut random), (width * noise(&mut random)).exp());
            for row in 0..ROWS {
                let (label, group) = (f64::from(u8::from(row == 0)), random.random_range(0..2_u32));
                values.push(2.0 * label - 3.0 * f64::from(group) + at + size * noise(&mut random));
                labels.push(label);
                groups.push(group);
                queries.push(query as u32);
            }
        }
        let groups = Groups::in_order(vec!["a".into(), "b".into()], groups);
        let (labels, queries) = (Some(&labels[..]), Some(&queries[..]));
        let columns = Columns { labels, groups: Some(&groups), queries, ..Columns::default() };
        (Examples::new(columns).unwrap(), values)
    }

    fn found(level: f64, width: f64, seed: u64) -> bool {
        let (examples, values) = drawn(level, width, seed);
        is_alike(&examples, &cells(&examples).unwrap(), &values)
    }

    /// Two numbers are tested at three standard deviations: fewer than one in a hundred is beyond by chance.
    #[test]
    fn queries_that_are_drawn_alike_are_told_from_those_with_a_level_or_a_width_of_their_own() {
        let alike = (0..40).filter(|&seed| found(0.0, 0.0, seed)).count();
        assert!(alike >= 38, "{alike} of 40");
        // Correlations of .06 and more inside queries.
        assert!((0..10).all(|seed| !found(0.25, 0.0, seed)));
        assert!((0..10).all(|seed| !found(0.0, 0.4, seed)));
    }

    /// Standardized inside queries, rows of one query are less alike than rows of two.
    #[test]
    fn values_that_are_centered_inside_queries_are_not_alike() {
        let (examples, mut values) = drawn(0.0, 0.0, 1);
        for query in values.chunks_mut(ROWS) {
            let mean = query.iter().sum::<f64>() / ROWS as f64;
            query.iter_mut().for_each(|value| *value -= mean);
        }
        assert!(!is_alike(&examples, &cells(&examples).unwrap(), &values));
    }

    #[test]
    fn queries_of_one_group_each_are_not_alike() {
        let (labels, groups): (Vec<f64>, Vec<&str>) = (0..QUERIES * ROWS)
            .map(|row| {
                (f64::from(u8::from(row % ROWS == 0)), if (row / ROWS).is_multiple_of(2) { "a" } else { "b" })
            })
            .unzip();
        let queries: Vec<u32> = (0..labels.len()).map(|row| (row / ROWS) as u32).collect();
        let groups = Groups::from_names(&groups);
        let columns = Columns {
            labels: Some(&labels),
            groups: Some(&groups),
            queries: Some(&queries),
            ..Columns::default()
        };
        let examples = Examples::new(columns).unwrap();
        assert!(!groups_are_alike(&examples, &cells(&examples).unwrap()));
        let (mixed, _) = drawn(0.0, 0.0, 1);
        assert!(groups_are_alike(&mixed, &cells(&mixed).unwrap()));
        let attribute: Vec<f64> = queries.iter().map(|&query| f64::from(query)).collect();
        let columns = Columns { groups: None, protected: Some(&attribute), ..columns };
        assert!(cells(&Examples::new(columns).unwrap()).is_none());
    }

    #[test]
    fn a_feature_without_a_deviation_is_alike() {
        let (examples, values) = drawn(0.0, 0.0, 1);
        assert!(is_alike(&examples, &cells(&examples).unwrap(), &vec![0.1; values.len()]));
    }

    #[test]
    fn rows_without_queries_with_weights_or_with_many_labels_have_no_cells() {
        let (labels, queries) = ([1.0, 0.0, 1.0, 0.0], [0, 0, 1, 1]);
        let weights = [1.0, 2.0, 1.0, 1.0];
        let plain = Columns { labels: Some(&labels), queries: Some(&queries), ..Columns::default() };
        let many: Vec<f64> = (0..20).map(f64::from).collect();
        let some = |columns: Columns| cells(&Examples::new(columns).unwrap()).is_some();
        assert!(some(plain));
        assert!(!some(Columns { queries: None, ..plain }));
        assert!(!some(Columns {
            labels: None,
            groups: Some(&Groups::from_names(&["a", "b", "a", "b"])),
            ..plain
        }));
        assert!(!some(Columns { weights: Some(&weights), ..plain }));
        assert!(!some(Columns { pair_weight: PairWeight::LabelGap, ..plain }));
        assert!(!some(Columns { within: Some(&queries), ..plain }));
        let twenty = vec![0; 20];
        assert!(!some(Columns { labels: Some(&many), queries: Some(&twenty), ..Columns::default() }));
    }
}
