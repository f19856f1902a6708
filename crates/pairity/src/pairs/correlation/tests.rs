//! The penalty against a sum over all pairs, finite differences and other numbers of threads.

use super::{Correlation, Membership};
use crate::examples::{Columns, Examples, Groups};
use crate::pairs::SurrogateError;
use crate::pairs::oracle::{OracleRows, tables};
use proptest::prelude::*;

/// Weight, rows and g of every pair of one relation.
type Pairs = Vec<(f64, [usize; 2], f64)>;

/// The pairs of each relation, by looking at every pair of rows.
fn list(rows: &OracleRows, membership: Membership) -> Vec<Pairs> {
    let n = rows.scores.len();
    let Some(labels) = &rows.labels else { return Vec::new() };
    let weight = |row: usize| rows.weights.as_ref().map_or(1.0, |w| w[row]);
    let factor = |row: usize| weight(row) * rows.factors.as_ref().map_or(1.0, |f| f[row]);
    let all = |g: &dyn Fn(usize, usize) -> f64| -> Pairs {
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let pairs = pairs.filter(|&(i, j)| rows.compares(i, j) && labels[i] > labels[j]);
        let pairs = pairs.map(|(i, j)| {
            let gap = if rows.label_gap { labels[i] - labels[j] } else { 1.0 };
            (factor(i) * factor(j) * gap, [i, j], g(i, j))
        });
        pairs.filter(|&(mass, _, g)| mass > 0.0 && g != 0.0).collect()
    };
    match (&rows.groups, &rows.protected) {
        (Some(names), _) => {
            let groups = Groups::from_names(names);
            let k = groups.names().len();
            let of_two = |a: usize, b: usize| {
                all(&|i, j| match (groups.code(i), groups.code(j)) {
                    (Some(x), Some(y)) if [x, y].iter().all(|code| [a, b].contains(code)) => {
                        let counts = x != y || membership == Membership::Better;
                        if !counts { 0.0 } else { if x == a { 1.0 } else { -1.0 } }
                    }
                    _ => 0.0,
                })
            };
            (0..k).flat_map(|b| (0..b).map(move |a| (a, b))).map(|(a, b)| of_two(a, b)).collect()
        }
        (_, Some(z)) => vec![all(&|i, j| match z[i].partial_cmp(&z[j]) {
            Some(order) => f64::from(order as i8),
            None => 0.0,
        })],
        _ => Vec::new(),
    }
}

/// |corr| of a relation with its gradient, and Var[d] / E[d²], by definition; none if it is not defined.
fn slow(pairs: &Pairs, scores: &[f64]) -> Option<(f64, Vec<f64>, f64)> {
    let total: f64 = pairs.iter().map(|pair| pair.0).sum();
    let mean = |f: &dyn Fn(f64, f64) -> f64| {
        pairs.iter().map(|&(m, [i, j], g)| m * f(scores[i] - scores[j], g)).sum::<f64>() / total
    };
    let (d, g) = (mean(&|d, _| d), mean(&|_, g| g));
    let (vd, vg) = (mean(&|x, _| (x - d).powi(2)), mean(&|_, x| (x - g).powi(2)));
    let cov = mean(&|x, y| (x - d) * (y - g));
    if !(total > 0.0 && vg > 1e-9 && vd > 0.0) {
        return None;
    }
    let corr = cov / (vd * vg).sqrt();
    let mut gradient = vec![0.0; scores.len()];
    for &(m, [i, j], own) in pairs {
        let residual = scores[i] - scores[j] - d;
        let slope = m / total * ((own - g) / (vd * vg).sqrt() - corr / vd * residual);
        let slope = if corr == 0.0 { 0.0 } else { slope * corr.signum() };
        gradient[i] += slope;
        gradient[j] -= slope;
    }
    Some((corr.abs(), gradient, vd / mean(&|d, _| d * d)))
}

fn compare(rows: &OracleRows, membership: Membership) -> Result<(), TestCaseError> {
    let rows = &OracleRows { side: None, ..rows.clone() };
    let Some(examples) = rows.examples() else { return Ok(()) };
    let relations = list(rows, membership);
    let scale = rows.scores.iter().fold(0.0, |scale: f64, score| scale.max(score.abs()));
    let scores: Vec<f64> = rows.scores.iter().map(|score| score / scale.max(1e-300)).collect();
    let defined = |pairs: &Pairs| {
        let total: f64 = pairs.iter().map(|pair| pair.0).sum();
        total > 0.0 && (pairs.iter().map(|pair| pair.0 * pair.2).sum::<f64>() / total).abs() < 1.0 - 1e-9
    };
    let penalty = match Correlation::new(&examples, membership) {
        Ok(penalty) => penalty,
        Err(SurrogateError::NoCorrelation { .. }) => {
            prop_assert!(!relations.iter().any(defined));
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    prop_assert!(relations.iter().any(defined));
    let (value, gradient) = penalty.at_rows(&scores).unwrap();
    let (mut sum, mut slopes, mut least) = (0.0, vec![0.0; scores.len()], 1.0f64);
    let mut kink = false;
    for (corr, slope, share) in relations.iter().filter_map(|pairs| slow(pairs, &scores)) {
        sum += corr;
        slopes.iter_mut().zip(&slope).for_each(|(sum, slope)| *sum += slope);
        least = least.min(share);
        kink |= corr < 1e-9;
    }
    // Where residuals hardly vary, both are made of rounding.
    if least < 1e-6 {
        prop_assert!(value.is_finite() && gradient.iter().all(|slope| slope.is_finite()));
        return Ok(());
    }
    prop_assert!((value - sum).abs() < 1e-8, "{value} {sum}");
    let largest = slopes.iter().fold(1.0, |largest: f64, slope| largest.max(slope.abs()));
    for (fast, slow) in gradient.iter().zip(&slopes) {
        prop_assert!(kink || (fast - slow).abs() < 1e-7 * largest, "{gradient:?} {slopes:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_penalty_and_its_gradient_are_those_of_all_pairs(rows in tables(), better in any::<bool>()) {
        compare(&rows, if better { Membership::Better } else { Membership::Cross })?;
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences(rows in tables(), at in any::<prop::sample::Index>()) {
        let Some(examples) = rows.examples() else { return Ok(()) };
        let Ok(penalty) = Correlation::new(&examples, Membership::Cross) else { return Ok(()) };
        // Scores of order 1 without ties, so that residuals vary.
        let scores: Vec<f64> = (0..rows.scores.len()).map(|i| (i as f64 * 0.618).fract()).collect();
        let row = at.index(scores.len());
        let step = 1e-5;
        let shifted = |by: f64| {
            let mut scores = scores.clone();
            scores[row] += by;
            penalty.at_rows(&scores).unwrap().0
        };
        let (value, gradient) = penalty.at_rows(&scores).unwrap();
        let slope = (shifted(step) - shifted(-step)) / (2.0 * step);
        let curved = (shifted(step) + shifted(-step) - 2.0 * value).abs() / step;
        // A correlation of 0 is a kink, and two pairs always correlate fully, in jumps.
        prop_assume!(curved < 1e-3);
        prop_assert!((slope - gradient[row]).abs() < 1e-3, "{slope} {}", gradient[row]);
    }
}

fn example() -> (Groups, [f64; 4]) {
    (Groups::from_names(&["a", "b", "a", "b"]), [1.0, 1.0, 0.0, 0.0])
}

#[test]
fn a_correlation_by_hand() {
    // Cross pairs: a over b with d = 3 and b over a with d = 1, in two queries d = 1 and d = 3.
    let groups = Groups::from_names(&["a", "b", "b", "a", "a", "b", "b", "a"]);
    let labels = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    let queries = [0, 0, 1, 1, 2, 2, 3, 3];
    let examples = Examples::new(Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    })
    .unwrap();
    let penalty = Correlation::new(&examples, Membership::Cross).unwrap();
    // d = 3, 1, 2, 2 and g = 1, −1, 1, −1: cov = 1/2, Var[d] = 1/2, Var[g] = 1.
    let (value, _) = penalty.at_rows(&[3.0, 0.0, 7.0, 6.0, 2.0, 0.0, -1.0, -3.0]).unwrap();
    assert!((value - 0.5f64.sqrt()).abs() < 1e-12, "{value}");
}

#[test]
fn pairs_inside_a_group_count_by_their_better_example_if_asked_for() {
    let (groups, labels) = example();
    let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    let examples = Examples::new(columns).unwrap();
    // Better a: d = 1 and 3; better b: d = 5 and 7. Cross pairs alone are two points, on a line.
    let scores = [4.0, 8.0, 3.0, 1.0];
    let cross = Correlation::new(&examples, Membership::Cross).unwrap();
    assert!((cross.at_rows(&scores).unwrap().0 - 1.0).abs() < 1e-12);
    // cov = 2, Var[d] = 5, Var[g] = 1.
    let better = Correlation::new(&examples, Membership::Better).unwrap();
    assert!((better.at_rows(&scores).unwrap().0 - 2.0 / 5.0f64.sqrt()).abs() < 1e-12);
}

#[test]
fn residuals_that_do_not_vary_have_no_penalty() {
    let (groups, labels) = example();
    let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    let examples = Examples::new(columns).unwrap();
    for membership in [Membership::Cross, Membership::Better] {
        let penalty = Correlation::new(&examples, membership).unwrap();
        for scores in
            [[0.7; 4], [0.3, 0.3, 0.1, 0.1], [1e308, 1e308, -1e308, -1e308], [5e-324, 0.0, -0.0, 0.0]]
        {
            assert_eq!(penalty.at_rows(&scores).unwrap(), (0.0, vec![0.0; 4]), "{scores:?}");
        }
    }
}

#[test]
fn what_has_no_penalty_is_refused_with_a_reason() {
    let (groups, labels) = example();
    let reason = |columns: Columns| {
        let examples = Examples::new(columns).unwrap();
        Correlation::new(&examples, Membership::Cross)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let columns = Columns { groups: Some(&groups), ..Columns::default() };
    assert!(reason(columns).ends_with("there are no labels"));
    assert!(reason(Columns { labels: Some(&labels), ..Columns::default() }).ends_with("there is none"));
    let queries = [0, 0, 0, 1];
    let columns = Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    };
    assert!(reason(columns).contains("now the one group and now the other"));
}

#[test]
fn threads_do_not_change_a_bit() {
    let n = 40_000usize;
    let value = |i: usize, by: f64| (i as f64 * by).fract();
    let labels: Vec<f64> = (0..n).map(|i| (5.0 * value(i, 0.618)).floor()).collect();
    let names: Vec<&str> = (0..n).map(|i| ["a", "b", "c"][i * i % 3]).collect();
    let queries: Vec<u32> = (0..n).map(|i| (i / 1_000) as u32).collect();
    let scores: Vec<f64> = (0..n).map(|i| value(i, 0.414)).collect();
    let groups = Groups::from_names(&names);
    let columns = Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    };
    let examples = Examples::new(columns).unwrap();
    let penalty = Correlation::new(&examples, Membership::Cross).unwrap();
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let one = pool(1).install(|| penalty.at_rows(&scores).unwrap());
    assert_eq!(one, pool(3).install(|| penalty.at_rows(&scores).unwrap()));
}
