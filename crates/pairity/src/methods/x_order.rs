//! xOrder (Cui, Pan, Zhang and Wang 2021): the best merge of two groups' orders.
//!
//! The order inside each group stays. Among all merges of both orders, the one is wanted with the greatest
//!
//! ```text
//! AUC − λ |D|,    D = A[0 > 1] − A[1 > 0]
//! ```
//!
//! over pairs in the same query, pooled over queries. Without the absolute value dynamic programming over
//! blocks of scores finds it. D falls as λ grows, to below 0 at λ* at the latest; up to there the merge is the
//! best, as then D = |D|. From λ* on, the last merge before and the first one behind it bracket D = 0. The
//! group that gains stands higher in the second of these, so that below any cut through the order of the
//! first group the one may be followed, and the other above it. The best of these cuts is taken.
//!
//! The merge is kept as a curve of the second group's scores into the first group's, by where they were
//! merged; it applies to any row.

use super::blocks::{BLOCKS, Blocks, Merge};
use super::tuning::{Adjusted, Judge, Tuning};
use super::{Method, MethodError, Stage};
use crate::metrics::values_in_order;
use crate::model::Curve;
use crate::rates::{Average, Rate, Ties};

const METHOD: &str = "xOrder";

/// λ looked at first are multiples of λ*/32.
const STEPS: usize = 32;

/// How often the interval around λ* is halved.
const HALVINGS: usize = 40;

/// λ beyond λ*, where fairness alone counts.
const LARGE: f64 = 1e6;

/// The method.
pub static X_ORDER: Method = Method {
    ranks_only: Some(("x-order", "it cares for the order alone, and the goal compares scores with labels")),
    check: |tuning| start(tuning).map(drop),
    adjuster: Some(|tuning, _| adjust(tuning, None)),
    ..Method::new("x-order", Stage::Scores, "The best merge of two groups' orders (Cui et al. 2021)")
};

/// Tunes the merge; without a λ, the smallest that meets the constraints on the examples, or else the one
/// that misses them least.
///
/// # Errors
/// Examples without labels or with other than two groups, rates of the goal without pairs, scores that are
/// not finite, a λ below 0.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::goals::{Vocabulary, parse_constraint, parse_maximize};
/// use pairity::methods::{Tuning, x_order};
/// use pairity::goals::Problem;
///
/// let groups = Groups::from_names(&["a", "b", "a", "b"]);
/// let labels = [1.0, 1.0, 0.0, 0.0];
/// let examples =
///     Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })?;
/// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
/// let fair = parse_constraint("cross_group <= 0.01", &words)?;
/// let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
///
/// let scores = [1.0, 3.0, 0.0, 2.0];
/// let tuning = Tuning::new(&examples, &scores, &problem);
/// let adjusted = x_order::adjust(&tuning, None)?;
/// assert_eq!((adjusted.objective, adjusted.meets_goal), (1.0, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adjust(tuning: &Tuning, lambda: Option<f64>) -> Result<Adjusted, MethodError> {
    if let Some(found) = lambda
        && !(found >= 0.0 && found.is_finite())
    {
        return Err(MethodError::Setting { name: "λ", found, allowed: "a number of at least 0" });
    }
    let (judge, [first, second]) = start(tuning)?;
    let blocks = [first, second].map(|group| Blocks::new(&judge.own_scores(group), BLOCKS));
    let merge = Merge::new(judge.examples, &judge.scores, judge.codes, [first, second], &blocks);
    let orders = Orders::new(&merge);
    let adjustment = |lambda: f64| {
        let curve = curve(&blocks, &orders.at(lambda));
        judge.curves(|group| if group == second { curve.clone() } else { Curve::default() })
    };
    let steps = (0..=STEPS).map(|step| orders.critical * step as f64 / STEPS as f64);
    let beyond = [2.0, 10.0, LARGE].map(|times| times * orders.critical.max(1e-3));
    let lambdas: Vec<f64> = steps.chain(beyond).collect();
    Ok(judge.result(adjustment(lambda.unwrap_or_else(|| judge.smallest(&lambdas, adjustment)))))
}

/// The examples with their two groups.
fn start<'a>(tuning: &Tuning<'a>) -> Result<(Judge<'a>, [usize; 2]), MethodError> {
    let refuse = |reason: String| Err(MethodError::does_not_apply(METHOD, reason));
    let judge = Judge::new(METHOD, tuning)?;
    let [first, second] = judge.present[..] else {
        return refuse(format!("it merges two groups, and there are {}", judge.present.len()));
    };
    if judge.examples.side.is_some() {
        return refuse(
            "it compares all label-ordered pairs, and these are chosen by a side column".to_owned(),
        );
    }
    if judge.examples.labels.is_none() {
        return refuse("it compares label-ordered pairs, and there are no labels".to_owned());
    }
    let rates = [Rate::accuracy(first, second), Rate::accuracy(second, first)];
    let found = values_in_order(judge.examples, &judge.scores, &rates, Ties::Half, Average::Pairs);
    if found.iter().any(|rate| rate.is_nan()) {
        return refuse("one of the groups is never the better one of a pair of both".to_owned());
    }
    Ok((judge, [first, second]))
}

/// The best merges for all λ.
struct Orders<'a> {
    merge: &'a Merge,
    /// The sign of D at λ = 0.
    sign: f64,
    /// λ*.
    critical: f64,
    /// The last merge before λ*, and the first one behind.
    around: [Vec<usize>; 2],
}

impl<'a> Orders<'a> {
    fn new(merge: &'a Merge) -> Orders<'a> {
        let mut orders = Orders { merge, sign: 1.0, critical: 0.0, around: Default::default() };
        let start = orders.linear(0.0);
        let gap = orders.gap(&start);
        if gap == 0.0 {
            orders.around = [start.clone(), start];
            return orders;
        }
        orders.sign = gap.signum();
        // At λ = 1 no wins of the favored group count for anything: the other one stands above it.
        let (mut low, mut high) = (0.0, 1.0);
        orders.around = [start, orders.linear(1.0)];
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let heights = orders.linear(middle);
            match orders.sign * orders.gap(&heights) >= 0.0 {
                true => (low, orders.around[0]) = (middle, heights),
                false => (high, orders.around[1]) = (middle, heights),
            }
        }
        orders.critical = high;
        orders
    }

    /// The merge with the greatest AUC − λ · sign · D.
    fn linear(&self, lambda: f64) -> Vec<usize> {
        let Merge { first, second, all, .. } = self.merge;
        let by = self.sign * lambda;
        self.merge.best(1.0 / all - by / first, 1.0 / all + by / second)
    }

    /// D of a merge.
    fn gap(&self, heights: &[usize]) -> f64 {
        let (first, second) = self.merge.wins(heights);
        first / self.merge.first - second / self.merge.second
    }

    /// The merge of a λ.
    fn at(&self, lambda: f64) -> Vec<usize> {
        if lambda < self.critical {
            let heights = self.linear(lambda);
            if self.sign * self.gap(&heights) >= 0.0 {
                return heights;
            }
        }
        self.best_cut(lambda)
    }

    /// The best merge that is one of those around λ* below a cut, and the other above.
    fn best_cut(&self, lambda: f64) -> Vec<usize> {
        let merge = self.merge;
        // Where the second group stands higher, fewer of its blocks stand below those of the first.
        let [a, b] = &self.around;
        let pairs = || a.iter().zip(b);
        let fewer: Vec<usize> = pairs().map(|(a, b)| *a.min(b)).collect();
        let more: Vec<usize> = pairs().map(|(a, b)| *a.max(b)).collect();
        let value = |(first, second): (f64, f64)| {
            (first + second) / merge.all - lambda * (first / merge.first - second / merge.second).abs()
        };
        let mut wins = merge.wins(&more);
        let (mut best, mut cut) = (value(wins), 0);
        for i in 0..more.len() {
            let change = merge.change(i, more[i], fewer[i]);
            wins = (wins.0 + change.0, wins.1 + change.1);
            if value(wins) > best {
                (best, cut) = (value(wins), i + 1);
            }
        }
        fewer[..cut].iter().chain(&more[cut..]).copied().collect()
    }
}

/// The map of the second group's scores to where its blocks stand among those of the first.
fn curve(blocks: &[Blocks; 2], heights: &[usize]) -> Curve {
    let [first, second] = blocks;
    let n = second.len();
    let ends = |of: &Blocks| (*of.low.first().unwrap_or(&0.0), *of.high.last().unwrap_or(&0.0));
    let span = |(bottom, top): (f64, f64)| 0.5 * top - 0.5 * bottom;
    let room = span(ends(first)).max(span(ends(second)));
    let room = if room > 0.0 { room } else { 1.0 };
    let (bottom, top) = ends(first);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut from = 0;
    for gap in 0..=heights.len() {
        // Blocks of the second group below block `gap` of the first, and not below the one before.
        let to = heights.get(gap).map_or(n, |&height| height.clamp(from, n));
        let low = if gap == 0 { bottom - room } else { first.high[gap - 1] };
        let high = if gap == heights.len() { top + room } else { first.low[gap] };
        let (low, high) = (low.clamp(f64::MIN, f64::MAX), high.clamp(f64::MIN, f64::MAX));
        let at = |part: f64| low * (1.0 - part) + high * part;
        let count = (to - from) as f64;
        for (place, block) in (from..to).enumerate() {
            let place = place as f64;
            if second.low[block] == second.high[block] {
                x.push(second.low[block]);
                y.push(at((place + 0.5) / count));
            } else {
                x.extend([second.low[block], second.high[block]]);
                y.extend([at((place + 0.25) / count), at((place + 0.75) / count)]);
            }
        }
        from = to;
    }
    // Two scores that are next to each other leave no room between them but by rounding.
    Curve::rising(x, y)
}
