//! Slopes of label-ordered pairs by sweeps through the scores.
//!
//! With "far below" for a score that is lower by the margin or more, a pair is active in the first part of a surrogate
//! unless its worse example is far below the better one, and in the second part unless it is the other way round. So
//! an example x finds its partners in two sets, whatever its part in a pair:
//!
//! ```text
//! those not far below x:             as the better one in the first part, as the worse one in the second
//! those that x is not far below:     as the better one in the second part, as the worse one in the first
//! ```
//!
//! The first set grows while x goes down in score, the second while it goes up. What was inserted is held by label, so
//! that one look finds what has lower labels, the worse partners, and what has higher ones. A bounded surrogate counts
//! the pairs that are idle in the second part: two more sets, which grow the other way.
//!
//! Slopes that are squared sum m (s_y − θ), θ being the score of x less or plus the margin: a second sum m s_y is held.

use super::ScoredPairs;
use super::shape::Slope;
use crate::pairs::index::QueryPairs;
use crate::pairs::mass::Mass;
use crate::rooms::Lent;
use crate::threads::{self, WORTH};

/// An example on its way through the sweeps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Swept<M> {
    pub score: f64,
    pub mass: M,
    pub position: u32,
    pub group: u16,
    /// Whether other positions have the same label.
    pub tied: bool,
}

/// What was inserted so far, by label and by column, `P` sums each.
pub(super) trait Held<const G: usize, const P: usize> {
    /// Inserts an example with what it brings.
    fn insert<M>(&mut self, example: &Swept<M>, column: usize, brought: [f64; P]);
    /// The sums over lower labels.
    fn below<M>(&self, example: &Swept<M>) -> [[f64; P]; G];
    /// The sums over higher labels.
    fn above<M>(&self, example: &Swept<M>) -> [[f64; P]; G];
    /// Both.
    #[inline(always)]
    fn around<M>(&self, example: &Swept<M>) -> [[[f64; P]; G]; 2] {
        [self.below(example), self.above(example)]
    }
}

/// One sweep: the partners of all examples that are in one set.
#[derive(Default)]
pub(super) struct Sweep<const G: usize> {
    /// Whether the set grows while scores go down.
    down: bool,
    /// Whether it is of partners that are far away, or of the others.
    far: bool,
    margin: f64,
    /// The first group of partners.
    group: usize,
    /// The coefficients with worse partners of each column, for each group of the better example; none if all are 0.
    worse: Vec<[f64; G]>,
    /// The same with better partners.
    better: Vec<[f64; G]>,
    /// Whether what is found pulls scores up or down.
    sign: f64,
}

/// The sweeps of an evaluation, in room that the next one uses again.
#[derive(Default)]
pub(super) struct Sweeps<const G: usize> {
    room: Vec<Sweep<G>>,
    used: usize,
}

impl<const G: usize> Sweeps<G> {
    /// All sweeps of a surrogate between the groups of a query, with coefficients `[better * k + worse]`.
    pub(super) fn all<S: Slope>(query: &QueryPairs, cells: &[[f64; 2]], margin: f64) -> Lent<Sweeps<G>> {
        let mut sweeps = Sweeps::none(query);
        let (k, none) = (query.present.len(), [0.0; 2]);
        for group in (0..k).step_by(G) {
            sweeps.add::<S>(
                k,
                group,
                margin,
                &|own, column, is_better| match (group + column < k, is_better) {
                    (false, _) => none,
                    (true, true) => cells[own * k + group + column],
                    (true, false) => cells[(group + column) * k + own],
                },
            );
        }
        sweeps
    }

    pub(super) fn none(query: &QueryPairs) -> Lent<Sweeps<G>> {
        let mut sweeps = query.rooms.lend::<Sweeps<G>>();
        sweeps.used = 0;
        sweeps
    }

    pub(super) fn list(&self) -> &[Sweep<G>] {
        &self.room[..self.used]
    }

    /// Adds the sweeps with partners in the columns from `group` on. A coefficient is that of an example's group with a
    /// column, whose partners are worse if the example is the better one.
    pub(super) fn add<S: Slope>(
        &mut self,
        k: usize,
        group: usize,
        margin: f64,
        cell: &dyn Fn(usize, usize, bool) -> [f64; 2],
    ) {
        // Whether the set grows downward, whether it is of those far away, and the part in which the example is the
        // better one of its pairs, and in which it is the worse one.
        let sets: &[(bool, bool, Option<usize>, Option<usize>)] = match S::BOUNDED {
            false => &[(true, false, Some(0), Some(1)), (false, false, Some(1), Some(0))],
            true => &[
                (true, false, Some(0), None),
                (false, false, None, Some(0)),
                (true, true, Some(1), None),
                (false, true, None, Some(1)),
            ],
        };
        let put_rows = |rows: &mut Vec<[f64; G]>, part: Option<usize>, is_better: bool| {
            rows.clear();
            let Some(part) = part else { return };
            let row = |own| std::array::from_fn(|column| cell(own, column, is_better)[part]);
            rows.extend((0..k).map(row));
            if rows.as_flattened().iter().all(|&c| c == 0.0) {
                rows.clear();
            }
        };
        for &(down, far, as_better, as_worse) in sets {
            if self.used == self.room.len() {
                self.room.push(Sweep::default());
            }
            let Sweep { worse, better, .. } = &mut self.room[self.used];
            put_rows(worse, as_better, true);
            put_rows(better, as_worse, false);
            if worse.is_empty() && better.is_empty() {
                continue;
            }
            let sign = if S::UNSIGNED || down == far { 1.0 } else { -1.0 };
            let (worse, better) = (std::mem::take(worse), std::mem::take(better));
            self.room[self.used] = Sweep { down, far, margin, group, worse, better, sign };
            self.used += 1;
        }
    }
}

impl<const G: usize> Sweep<G> {
    /// Adds the slopes of examples in score order, and returns the sum over better ones. Nothing is held at the start.
    #[inline(always)]
    pub(super) fn run<M: Mass, H: Held<G, P>, const P: usize>(
        &self,
        examples: &[Swept<M>],
        held: &mut H,
        slopes: &mut [f64],
    ) -> f64 {
        self.run_in((self.down, self.far), examples, held, slopes)
    }

    /// The same, compiled for either way of the sweeps that are not of partners far away.
    #[inline(always)]
    pub(super) fn run_either_way<M: Mass, H: Held<G, P>, const P: usize>(
        &self,
        examples: &[Swept<M>],
        held: &mut H,
        slopes: &mut [f64],
    ) -> f64 {
        match (self.down, self.far) {
            (true, false) => self.run_in((true, false), examples, held, slopes),
            (false, false) => self.run_in((false, false), examples, held, slopes),
            far => self.run_in(far, examples, held, slopes),
        }
    }

    #[inline(always)]
    fn run_in<M: Mass, H: Held<G, P>, const P: usize>(
        &self,
        (down, far): (bool, bool),
        examples: &[Swept<M>],
        held: &mut H,
        slopes: &mut [f64],
    ) -> f64 {
        let n = examples.len();
        let (margin, first, sign) = (self.margin, self.group, self.sign);
        let (worse, better) = (&self.worse[..], &self.better[..]);
        // Whether a score belongs to the partners of another one.
        let includes = |other: f64, score: f64| {
            // The same comparison with the roles exchanged, so that both ends of a pair agree about it.
            let (low, high) = if down == far { (score, other) } else { (other, score) };
            (low <= high - margin) == far
        };
        let at = |i: usize| if down { n - 1 - i } else { i };
        let (mut next, mut total) = (0, 0.0);
        for i in 0..n {
            let example = &examples[at(i)];
            while next < n && includes(examples[at(next)].score, example.score) {
                let partner = &examples[at(next)];
                let column = usize::from(partner.group).wrapping_sub(first);
                if column < G {
                    held.insert(partner, column, brought(partner));
                }
                next += 1;
            }
            let group = usize::from(example.group);
            let met = |rows: &[[f64; G]], sums| self.met(example, weighted(&rows[group], sums));
            let (as_better, as_worse) = match (worse, better) {
                ([], []) => (0.0, 0.0),
                (worse, []) => (met(worse, held.below(example)), 0.0),
                ([], better) => (0.0, met(better, held.above(example))),
                (worse, better) => {
                    let [below, above] = held.around(example);
                    (met(worse, below), met(better, above))
                }
            };
            slopes[at(i)] += sign * (as_better + M::MIRROR * as_worse);
            total += as_better;
        }
        total
    }

    /// What an example's pairs with a sum of partners come to.
    #[inline(always)]
    fn met<M: Mass, const P: usize>(&self, example: &Swept<M>, sum: [f64; P]) -> f64 {
        let parts = M::PARTS;
        if P == parts {
            return example.mass.meet_parts(&sum);
        }
        let threshold = if self.down { example.score - self.margin } else { example.score + self.margin };
        let mut slack = [0.0; P];
        for part in 0..parts {
            let above = sum[parts + part] - threshold * sum[part];
            slack[part] = if self.down { above } else { -above };
        }
        example.mass.meet_parts(&slack)
    }
}

/// What some sweeps found: the sum over better examples, and the slopes in score order.
#[derive(Default)]
pub(super) struct SweptSlopes {
    total: f64,
    pub slopes: Vec<f64>,
}

/// Runs all sweeps of `n` examples, on several threads if the work is worth it; returns the sum over better ones and the
/// slopes, in the first of a list.
pub(super) fn run_all<const G: usize>(
    sweeps: &[Sweep<G>],
    n: usize,
    query: &QueryPairs,
    run: &(dyn Fn(&Sweep<G>, &mut [f64]) -> f64 + Sync),
) -> (f64, Lent<Vec<SweptSlopes>>) {
    let is_forked = n > query.sizes.slope_fork && threads::count() > 1;
    let each = if is_forked { 1 } else { sweeps.len().max(1) };
    let mut found = query.rooms.lend::<Vec<SweptSlopes>>();
    found.resize_with(sweeps.len().div_ceil(each).max(1), SweptSlopes::default);
    threads::each_chunk(&mut found, 1, &|at, found| {
        for SweptSlopes { total, slopes } in found {
            slopes.clear();
            slopes.resize(n, 0.0);
            *total = sweeps.iter().skip(at * each).take(each).map(|sweep| run(sweep, slopes)).sum();
        }
    });
    let total = found.iter().map(|found| found.total).sum();
    if let [first, others @ ..] = &mut found[..] {
        for other in others {
            threads::fill(&mut first.slopes, &|from, part| {
                part.iter_mut().zip(&other.slopes[from..]).for_each(|(to, own)| *to += own);
            });
        }
    }
    (total, found)
}

/// Adds the slopes of examples to a gradient that starts at position `base`.
pub(super) fn settle<M>(examples: &[Swept<M>], slopes: &[f64], base: usize, gradient: &mut [f64]) {
    for (example, slope) in examples.iter().zip(slopes) {
        gradient[example.position as usize - base] += slope;
    }
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// Adds the slopes of all examples of the query. Several threads look up the slope of each position, where it is known
    /// in which place this stands: none has to go through all slopes for those that are its own.
    pub(super) fn settle_all(&self, examples: &[Swept<M>], slopes: &[f64], gradient: &mut [f64]) {
        let is_worth = gradient.len() > 2 * WORTH && threads::count() > 1;
        let places = if is_worth { self.order.places_of_all(self.query) } else { None };
        match places.filter(|places| places.are_distinct()) {
            Some(places) => threads::fill(gradient, &|from, own| {
                for (to, at) in own.iter_mut().zip(from..) {
                    *to += slopes[places.of(at)];
                }
            }),
            None => settle(examples, slopes, 0, gradient),
        }
    }
}

/// What an example brings to sums: its mass, and the same times its score if there is room for it.
#[inline(always)]
fn brought<M: Mass, const P: usize>(example: &Swept<M>) -> [f64; P] {
    let parts = example.mass.parts();
    std::array::from_fn(|at| match at.checked_sub(M::PARTS) {
        None => parts[at],
        Some(at) => parts[at] * example.score,
    })
}

/// The sum of all columns, each times its coefficient.
#[inline(always)]
fn weighted<const G: usize, const P: usize>(coefficients: &[f64; G], columns: [[f64; P]; G]) -> [f64; P] {
    let mut sum = [0.0; P];
    for (c, column) in coefficients.iter().zip(columns) {
        sum.iter_mut().zip(column).for_each(|(sum, number)| *sum += c * number);
    }
    sum
}
