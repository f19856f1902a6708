//! Surrogates against a sum over all pairs, finite differences and other numbers of threads.

use super::index::Sizes;
use super::oracle::{self, OracleRows, RowPair, all_rates, sizes, tables};
use super::{CellLayout, RateIndex, Surrogate, SurrogateKind, SurrogateValue, Tally, Wanted, Weights};
use crate::examples::Examples;
use crate::rates::{Average, Rate, Ties};
use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The bound of the indicator t > 0, and its slope.
fn bound(kind: SurrogateKind, t: f64) -> (f64, f64) {
    let u = 1.0 + t;
    let inside = if u > 0.0 { 1.0 } else { 0.0 };
    match kind {
        SurrogateKind::Hinge => (u.max(0.0), inside),
        SurrogateKind::SquaredHinge => (u.max(0.0).powi(2), 2.0 * u.max(0.0)),
        SurrogateKind::Ramp => ((u / 2.0).clamp(0.0, 1.0), if t > -1.0 && t < 1.0 { 0.5 } else { 0.0 }),
    }
}

/// What is asked of a surrogate.
#[derive(Debug, Clone)]
struct Question {
    sizes: Sizes,
    kind: SurrogateKind,
    average: Average,
    margin: f64,
    up: Vec<f64>,
    down: Vec<f64>,
    mse: f64,
}

/// The answer, with the surrogates of each rate, and gradient and curvature by row.
#[derive(Debug)]
struct SlowAnswer {
    total: f64,
    curvature: Vec<f64>,
    each: Vec<Option<(f64, f64)>>,
    gradient: Vec<f64>,
}

fn slow(rows: &OracleRows, examples: &Examples, rates: &[Rate], question: &Question) -> SlowAnswer {
    let layout = CellLayout::of(examples);
    let pairs = oracle::pairs(rows);
    let by_query = question.average == Average::Queries && rows.queries.is_some();
    let mut answer = SlowAnswer {
        total: 0.0,
        curvature: vec![0.0; rows.scores.len()],
        each: vec![None; rates.len()],
        gradient: vec![0.0; rows.scores.len()],
    };
    for (r, &rate) in rates.iter().enumerate() {
        let cells = layout.cells(rate);
        let own: Vec<&RowPair> = pairs.iter().filter(|pair| cells.contains(&pair.cell)).collect();
        let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
        for pair in &own {
            *totals.entry(if by_query { pair.query } else { 0 }).or_default() += pair.worth;
        }
        totals.retain(|_, total| *total > 0.0);
        let mut sums = (0.0, 0.0);
        for pair in own.iter().filter(|pair| pair.worth > 0.0) {
            let total = totals[&if by_query { pair.query } else { 0 }];
            let part = pair.worth / total / totals.len() as f64;
            let [i, j] = pair.rows;
            let t = (rows.scores[i] - rows.scores[j]) / question.margin;
            let (error, falls) = bound(question.kind, -t);
            let (win, rises) = bound(question.kind, t);
            sums.0 += part * error;
            sums.1 += part * win;
            let slope = part * (question.down[r] * rises - question.up[r] * falls) / question.margin;
            answer.gradient[i] += slope;
            answer.gradient[j] -= slope;
            let active = |weight: f64, t: f64| if 1.0 + t > 0.0 { weight } else { 0.0 };
            let unit = if question.kind == SurrogateKind::SquaredHinge { 2.0 } else { 1.0 };
            let bend = unit * part * (active(question.up[r], -t) + active(question.down[r], t));
            answer.curvature[i] += bend / question.margin.powi(2);
            answer.curvature[j] += bend / question.margin.powi(2);
        }
        if !totals.is_empty() {
            answer.each[r] = Some(sums);
            answer.total += question.up[r] * sums.0 + question.down[r] * sums.1;
        }
    }
    if let Some(labels) = &rows.labels {
        let weight = |row: usize| rows.weights.as_ref().map_or(1.0, |w| w[row]);
        let query = |row: usize| rows.queries.as_ref().filter(|_| by_query).map_or(0, |q| q[row]);
        let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
        for row in (0..labels.len()).filter(|&row| weight(row) > 0.0) {
            *totals.entry(query(row)).or_default() += weight(row);
        }
        for row in (0..labels.len()).filter(|&row| weight(row) > 0.0) {
            let part = question.mse * weight(row) / totals[&query(row)] / totals.len() as f64;
            let error = rows.scores[row] - labels[row];
            answer.total += part * error * error;
            answer.gradient[row] += 2.0 * part * error;
            answer.curvature[row] += 2.0 * part;
        }
    }
    answer
}

impl Question {
    fn surrogate(&self) -> Surrogate {
        Surrogate::new(self.kind, self.margin).unwrap()
    }

    fn weights(&self) -> Weights<'_> {
        Weights { hold_up: &self.up, hold_down: &self.down, mse: self.mse }
    }

    fn index<'a>(&self, examples: &'a Examples, rates: &[Rate]) -> RateIndex<'a> {
        RateIndex::sized(Cow::Borrowed(examples), rates, self.average, self.sizes)
    }
}

fn ask(index: &RateIndex, scores: &[f64], question: &Question) -> (SurrogateValue, Vec<f64>) {
    // Whatever stands in the gradient is overwritten.
    let mut gradient = vec![f64::NAN; scores.len()];
    let order = index.order(scores);
    let value = question.surrogate().evaluate(
        index,
        &order,
        (question.weights(), Wanted::Value),
        &mut gradient,
        None,
    );
    (value, gradient)
}

/// The surrogates of each rate: of its error and of itself; none for a rate without pairs.
fn each(index: &RateIndex, scores: &[f64], question: &Question) -> Vec<Option<(f64, f64)>> {
    let none = vec![0.0; index.rates().len()];
    let alone = |rate: usize, up: bool| {
        let mut only = none.clone();
        only[rate] = 1.0;
        let (up, down) = if up { (only, none.clone()) } else { (none.clone(), only) };
        ask(index, scores, &Question { up, down, mse: 0.0, ..question.clone() }).0.total
    };
    (0..none.len())
        .map(|rate| index.has_pairs(rate).then(|| (alone(rate, true), alone(rate, false))))
        .collect()
}

fn check(rows: &OracleRows, question: &Question) -> Result<(), TestCaseError> {
    check_rates(rows, question, |_| true)
}

/// The same for some of the rates.
fn check_rates(
    rows: &OracleRows,
    question: &Question,
    some: impl Fn(&Rate) -> bool,
) -> Result<(), TestCaseError> {
    let Some(examples) = rows.ordered_above(question.sizes.small) else { return Ok(()) };
    let mut rates = all_rates(&examples);
    rates.retain(some);
    let cut = |weights: &[f64]| weights.iter().cycle().copied().take(rates.len()).collect::<Vec<_>>();
    let question = Question { up: cut(&question.up), down: cut(&question.down), ..question.clone() };
    let expected = slow(rows, &examples, &rates, &question);
    let scores = examples.arrange(&rows.scores).unwrap();
    let index = question.index(&examples, &rates);
    let (value, gradient) = ask(&index, &scores, &question);
    let close = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-9 * (1.0 + scale);
    prop_assert!(close(value.total, expected.total, expected.total), "{value:?} {}", expected.total);
    let steepest = expected.gradient.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
    for (slope, &row) in gradient.iter().zip(&examples.row) {
        let expected = expected.gradient[row as usize];
        prop_assert!(close(*slope, expected, steepest), "row {row}: {slope} {expected}");
    }
    let mut curvature = vec![f64::NAN; scores.len()];
    let order = index.order(&scores);
    question.surrogate().curvature(&index, &order, question.weights(), &mut curvature);
    let sharpest = expected.curvature.iter().copied().fold(0.0, f64::max);
    for (bend, &row) in curvature.iter().zip(&examples.row) {
        let expected = expected.curvature[row as usize];
        prop_assert!(close(*bend, expected, sharpest), "row {row}: curvature {bend} {expected}");
    }
    for (rate, (found, expected)) in each(&index, &scores, &question).iter().zip(&expected.each).enumerate() {
        prop_assert_eq!(found.is_some(), expected.is_some(), "{:?}", rates[rate]);
        if let (Some(found), Some(expected)) = (found, expected) {
            prop_assert!(close(found.0, expected.0, expected.0), "{found:?} {expected:?}");
            prop_assert!(close(found.1, expected.1, expected.1), "{found:?} {expected:?}");
        }
    }
    Ok(())
}

fn questions() -> impl Strategy<Value = Question> {
    let weights = || {
        prop_oneof![
            prop::collection::vec(prop::sample::select(vec![0.0, 0.0, 0.3, 1.0, 2.5]), 1..40),
            Just(vec![0.0]),
        ]
    };
    (
        prop::sample::select(vec![SurrogateKind::Hinge, SurrogateKind::SquaredHinge, SurrogateKind::Ramp]),
        any::<bool>(),
        prop::sample::select(vec![1.0, 0.3, 2.0]),
        weights(),
        weights(),
        prop::sample::select(vec![0.0, 0.7]),
        sizes(),
    )
        .prop_map(|(kind, queries, margin, up, down, mse, sizes)| {
            let average = if queries { Average::Queries } else { Average::Pairs };
            Question { sizes, kind, average, margin, up, down, mse }
        })
}

/// Tables with scores of the size of a margin.
fn moderate() -> impl Strategy<Value = OracleRows> {
    tables().prop_flat_map(|rows| {
        let n = rows.scores.len();
        let scores = prop_oneof![
            prop::collection::vec((-3i32..3).prop_map(f64::from), n),
            prop::collection::vec(prop::sample::select(vec![0.0, -0.0, 0.5, -1.0, 1.0]), n),
            prop::collection::vec(-2.0..2.0f64, n),
            prop::collection::vec(-100.0..100.0f64, n),
            Just(vec![1.0; n]),
        ];
        scores.prop_map(move |scores| OracleRows { scores, ..rows.clone() })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn values_and_gradients_equal_the_sum_over_all_pairs(rows in moderate(), question in questions()) {
        check(&rows, &question)?;
    }

    #[test]
    fn tiny_queries_have_the_slopes_and_rates_of_all_pairs(
        rows in moderate(), question in questions(), length in 1u32..40, strict: bool, error: bool, sorted: bool
    ) {
        let n = rows.scores.len() as u32;
        // No weights, no choice of pairs: what is laid out as one batch, if there are not too many groups.
        let mut rows = OracleRows { weights: None, factors: None, side: None, protected: None, label_gap: false, ..rows };
        rows.queries = Some((0..n).map(|row| row / length).collect());
        if let (true, Some(labels)) = (sorted, &mut rows.labels) {
            labels.chunks_mut(length as usize).for_each(|labels| labels.sort_by(f64::total_cmp));
        }
        let sizes = Sizes { small: 48, ..question.sizes };
        let question = Question { sizes, average: Average::Pairs, ..question };
        let simple = |rate: &Rate| matches!(rate, Rate::Accuracy { .. }) || (error && *rate == Rate::Mse);
        check_rates(&rows, &question, simple)?;

        let Some(examples) = rows.ordered_above(question.sizes.small) else { return Ok(()) };
        let mut rates = all_rates(&examples);
        rates.retain(simple);
        let ties = if strict { Ties::Strict } else { Ties::Half };
        let index = question.index(&examples, &rates).with_ties(ties);
        prop_assert_eq!(index.flat.is_some(), rows.labels.is_some() && examples.groups().len() < 6);
        let scores = examples.arrange(&rows.scores).unwrap();
        let order = index.order(&scores);
        let up = vec![1.0; rates.len()];
        let weights = Weights { hold_up: &up, hold_down: &up, mse: question.mse };
        // Room and rates of another evaluation leave no trace.
        let (mut found, mut slopes) = (vec![7.0], vec![f64::NAN; scores.len()]);
        for scores in [vec![1.0; scores.len()], scores.clone()] {
            let order = index.order(&scores);
            question.surrogate().evaluate(&index, &order, (weights, Wanted::Value), &mut slopes, Some(&mut found));
        }
        // Where the value is not asked for, slopes and rates have the same bits.
        let (mut rated, mut sloped) = (vec![7.0], vec![f64::NAN; scores.len()]);
        question.surrogate().evaluate(&index, &order, (weights, Wanted::Slopes), &mut sloped, Some(&mut rated));
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!([bits(&sloped), bits(&rated)], [bits(&slopes), bits(&found)]);
        let slow = Tally::count(&index.pairs, &order, ties).values(&index.pairs, Average::Pairs);
        let alone = index.true_rates(&order);
        for (rate, &slow) in slow.iter().enumerate() {
            let same = |fast: f64| fast.is_nan() && slow.is_nan() || (fast - slow).abs() < 1e-12 * (1.0 + slow.abs());
            prop_assert!(same(found[rate]) && same(alone[rate]), "{} {} {slow}", found[rate], alone[rate]);
        }
    }

    #[test]
    fn gradients_are_limits_of_differences(rows in moderate(), question in questions(), seed: u64) {
        let mut random = random(seed);
        let scores: Vec<f64> = rows.scores.iter().map(|_| 4.0 * random()).collect();
        let Some(examples) = rows.ordered_above(question.sizes.small) else { return Ok(()) };
        let rates = all_rates(&examples);
        let weights: Vec<f64> = rates.iter().map(|_| (random() * 3.0).floor()).collect();
        let question = Question { up: weights.iter().map(|w| 2.0 - w).collect(), down: weights, ..question };
        let index = question.index(&examples, &rates);
        let scores = examples.arrange(&scores).unwrap();
        let (_, gradient) = ask(&index, &scores, &question);
        let direction: Vec<f64> = scores.iter().map(|_| random() - 0.5).collect();
        let step = 1e-6;
        let near_kink = scores.iter().any(|a| {
            scores.iter().any(|b| ((a - b).abs() - question.margin).abs() < 2.0 * step)
        });
        prop_assume!(!near_kink);
        let at = |by: f64| {
            let moved: Vec<f64> = scores.iter().zip(&direction).map(|(s, d)| s + by * d).collect();
            ask(&index, &moved, &question).0.total
        };
        let difference = (at(step) - at(-step)) / (2.0 * step);
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let scale = 1.0 + at(0.0).abs();
        prop_assert!((difference - slope).abs() < 1e-7 * scale, "{difference} {slope}");
    }
}

fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    }
}

/// A table without queries: groups, or a continuous attribute if there are none.
fn one_query(n: usize, groups: usize, label_gap: bool) -> OracleRows {
    let mut random = random(1);
    let mut column = |digits: f64| (0..n).map(|_| (random() * digits).round() / digits).collect::<Vec<_>>();
    OracleRows {
        scores: column(1e4).iter().map(|s| 5.0 * s).collect(),
        labels: Some(column(300.0)),
        groups: (groups > 0)
            .then(|| column(1e6).iter().map(|g| format!("g{}", (g * groups as f64) as usize)).collect()),
        protected: (groups == 0).then(|| column(1e2)),
        weights: Some(column(10.0)),
        label_gap,
        ..OracleRows::default()
    }
}

fn everything(kind: SurrogateKind) -> Question {
    let up = vec![1.0, 0.5, 0.0, 2.0, 0.25];
    let down = vec![0.5, 0.0, 1.5];
    Question { sizes: Sizes::default(), kind, average: Average::Pairs, margin: 1.0, up, down, mse: 0.1 }
}

#[test]
fn deep_splits_and_many_groups_equal_the_sum_over_all_pairs() {
    for kind in [SurrogateKind::Hinge, SurrogateKind::SquaredHinge, SurrogateKind::Ramp] {
        for (groups, label_gap) in [(0, false), (0, true), (3, true), (11, false)] {
            let rows = one_query(600, groups, label_gap);
            check(&rows, &everything(kind)).unwrap();
            check(&OracleRows { weights: None, ..rows }, &everything(kind)).unwrap();
        }
    }
}

#[test]
fn pairs_of_weight_one_have_the_slopes_of_weighted_ones() {
    for (groups, labels) in [(0, 300.0), (1, 300.0), (2, 100.0), (4, 300.0), (11, 80.0)] {
        let rows = one_query(30_000, groups, false);
        let labels = rows.labels.as_ref().map(|all| all.iter().map(|y| (y * labels).round()).collect());
        let rows = OracleRows { labels, ..rows };
        for kind in [SurrogateKind::Hinge, SurrogateKind::Ramp] {
            let run = |weights| {
                let rows = OracleRows { weights, ..rows.clone() };
                let examples = rows.examples().unwrap();
                let rates = all_rates(&examples);
                // No two scores differ by this margin, so that no rounding decides about a pair.
                let scores = examples.arrange(&rows.scores).unwrap();
                let cut = |weights: &[f64]| weights.iter().cycle().copied().take(rates.len()).collect();
                let all = Question { margin: 1.00025, ..everything(kind) };
                let index = all.index(&examples, &rates);
                ask(&index, &scores, &Question { up: cut(&all.up), down: cut(&all.down), ..all })
            };
            let (counted, summed) = (run(None), run(Some(vec![3.0; 30_000])));
            assert!((counted.0.total - summed.0.total).abs() < 1e-9 * summed.0.total);
            let steepest = summed.1.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
            for (counted, summed) in counted.1.iter().zip(&summed.1) {
                assert!((counted - summed).abs() < 1e-9 * steepest, "{counted} {summed}");
            }
        }
    }
}

#[test]
fn gradients_have_the_same_bits_for_any_number_of_threads() {
    let cases = [(4, SurrogateKind::Hinge), (4, SurrogateKind::SquaredHinge), (0, SurrogateKind::Ramp)];
    for ((groups, kind), weighted) in cases.into_iter().flat_map(|case| [(case, true), (case, false)]) {
        let rows = one_query(150_000, groups, false);
        let rows = OracleRows { weights: rows.weights.filter(|_| weighted), ..rows };
        let examples = rows.examples().unwrap();
        let scores = examples.arrange(&rows.scores).unwrap();
        let rates = all_rates(&examples);
        let question =
            Question { up: vec![1.0; rates.len()], down: vec![0.5; rates.len()], ..everything(kind) };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let index = question.index(&examples, &rates);
                ask(&index, &scores, &question)
            })
        };
        let (one, three) = (run(1), run(3));
        assert!(one == three);
        // A pair pushes its two ends alike, so that nothing but squared errors moves the sum.
        let weights = examples.weights.clone().unwrap_or(vec![1.0; scores.len()]);
        let labels = examples.labels.as_ref().unwrap();
        let errors: f64 = (0..scores.len()).map(|i| weights[i] * (scores[i] - labels[i])).sum();
        let expected = 2.0 * question.mse * errors / weights.iter().sum::<f64>();
        let sum: f64 = one.1.iter().sum();
        assert!((sum - expected).abs() < 1e-9 * expected, "{sum} {expected}");
    }
}

#[test]
fn many_tiny_queries_have_the_same_bits_for_any_number_of_threads() {
    let rows = one_query(30_000, 3, false);
    let queries = Some((0..30_000).map(|row| row / 7).collect());
    let rows = OracleRows { weights: None, queries, ..rows };
    let examples = rows.examples().unwrap();
    let scores = examples.arrange(&rows.scores).unwrap();
    let rates = [Rate::AUC, Rate::accuracy(0, 1), Rate::accuracy(1, 0)];
    let question =
        Question { up: vec![1.0; 3], down: vec![0.5; 3], ..everything(SurrogateKind::SquaredHinge) };
    let index = question.index(&examples, &rates);
    assert!(index.flat.is_some());
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (ask(&index, &scores, &question), index.true_rates(&index.order(&scores))))
    };
    assert!(run(1) == run(3));
}

#[test]
fn one_misordered_pair_costs_its_hinge() {
    let rows = OracleRows { scores: vec![0.0, 0.5], labels: Some(vec![1.0, 0.0]), ..OracleRows::default() };
    let examples = rows.examples().unwrap();
    let scores = examples.arrange(&rows.scores).unwrap();
    let value = |kind, up, down| {
        let index = RateIndex::new(&examples, &[Rate::AUC], Average::Pairs);
        let question = Question { up: vec![up], down: vec![down], mse: 0.0, ..everything(kind) };
        let (value, gradient) = ask(&index, &scores, &question);
        (value.total, [gradient[0], gradient[1]])
    };
    assert_eq!(value(SurrogateKind::Hinge, 1.0, 0.0), (1.5, [-1.0, 1.0]));
    assert_eq!(value(SurrogateKind::Hinge, 0.0, 1.0), (0.5, [1.0, -1.0]));
    assert_eq!(value(SurrogateKind::SquaredHinge, 1.0, 0.0), (2.25, [-3.0, 3.0]));
    assert_eq!(value(SurrogateKind::Ramp, 1.0, 0.0), (0.75, [-0.5, 0.5]));
    assert_eq!(value(SurrogateKind::Ramp, 0.0, 1.0), (0.25, [0.5, -0.5]));
}
