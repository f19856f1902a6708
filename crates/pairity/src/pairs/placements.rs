//! The placements of each example in the pairs of a table without queries.
//!
//! Where examples are the independent units, the variance of a rate comes from what the pairs of each
//! example earn (its placements, in DeLong's words). Where every pair counts one they are read off trees
//! (`counted_placements`). The recursion for weights is that of the count between groups, but it adds sums to examples
//! instead of cells; placements only feed variances, so they are kept in f32.

use super::continuous::{OrderSums, continuous_placements};
use super::counted_placements::{CountedPlacements, Walk};
use super::groups::in_score_order;
use super::index::{MassColumn, PairIndex, QueryPairs, partition, with_masses};
use super::label_walk::level_end;
use super::mass::Mass;
use super::order::{DrawnOrder, ScoreOrder, position, runs};
use super::side::{PairKind, SidePlacements, attribute_placements};
use super::tally::{CellLayout, Placement};
use crate::rates::Ties;
use crate::threads::{self, both};
use crate::wide::wide;
use std::ops::Range;

/// Squared errors that are looked up at once.
const ERRORS: usize = 256;

/// The most tasks: each has sums of its own, which may be large.
const TASKS: usize = 16;

/// Columns that are few.
const FEW_COLUMNS: usize = 128;

/// How many rows of a group are placed at once, and how far their columns are apart. Few columns that are a power of two
/// apart would compete for the same lines of a cache; where columns are many, there are many groups too.
pub(crate) fn rows_and_stride(columns: usize) -> (usize, usize) {
    if columns > FEW_COLUMNS { (8, 8) } else { (64, 72) }
}

/// What the pairs of some examples of one group earn and could earn: of none, of as many as are placed at once, or of the
/// last ones.
pub(crate) struct PlacedRows<'a> {
    pub group: u16,
    pub examples: &'a [u32],
    /// Cell and side of each column.
    pub columns: &'a [(u32, u8)],
    /// Column by column.
    pub credits: &'a [f64],
    pub totals: &'a [f64],
}

impl PlacedRows<'_> {
    /// Calls `visit` with one example after another and its placements.
    pub(crate) fn each(&self, mut visit: impl FnMut(usize, &[Placement])) {
        let mut found = Vec::new();
        let (_, stride) = rows_and_stride(self.columns.len());
        for (row, &example) in self.examples.iter().enumerate() {
            let placement = |(&(cell, side), at): (&(u32, u8), usize)| Placement {
                cell,
                side,
                credit: self.credits[at],
                total: self.totals[at],
            };
            found.clear();
            found.extend(self.columns.iter().zip((row..).step_by(stride)).map(placement));
            visit(example as usize, &found);
        }
    }
}

/// Calls `visit` with examples and their placements; they come in chunks that depend on the data alone, each with a
/// state from `start`. Returns the states in order, after `finish`. Examples of one group and block have placements in
/// the same cells, in the same order; those without pairs are there, with a total of 0. Groups are told, with no
/// examples, in the order in which a block has them.
pub(crate) fn visit_placements<R: Send, S: Send>(
    index: &PairIndex,
    members: &[DrawnOrder],
    ties: Ties,
    steps: (impl Fn() -> R + Sync, impl Fn(&mut R, &PlacedRows) + Sync, impl Fn(R) -> S + Sync),
) -> Vec<S> {
    with_masses!(&index.label_ordered, labeled => match index.unordered() {
        MassColumn::Weight(plain) => run(index, (labeled, plain), members, ties, steps),
        MassColumn::Equal(plain) => run(index, (labeled, plain), members, ties, steps),
        // Label gaps weigh pairs of unequal labels alone.
        MassColumn::Gap(_) => Vec::new(),
    })
}

/// `M` is the mass of label-ordered pairs, `P` that of pairs without labels.
fn run<M: Mass, P: Mass, R: Send, S: Send>(
    index: &PairIndex,
    (labeled_masses, plain_masses): (&[M], &[P]),
    members: &[DrawnOrder],
    ties: Ties,
    (start, visit, finish): (
        impl Fn() -> R + Sync,
        impl Fn(&mut R, &PlacedRows) + Sync,
        impl Fn(R) -> S + Sync,
    ),
) -> Vec<S> {
    // A task visits a multiple of a chunk, which is part of the result's definition, as it orders the sums.
    let chunk = index.sizes.placement_chunk.max(1);
    let step = chunk * index.examples().len().div_ceil(chunk * TASKS);
    // Short blocks share a state; longer ones have states of their own.
    let states_of = |tasks: &&[Range<usize>]| {
        let (mut short, mut states) = (start(), Vec::new());
        for block in tasks.iter().cloned().flatten() {
            let query = index.query(block);
            let (labeled, plain) = (&labeled_masses[query.range.clone()], &plain_masses[query.range.clone()]);
            let Some(block) = BlockPlacements::new(index, &query, (labeled, plain), members, ties) else {
                continue;
            };
            if query.len() <= step {
                let mut walk = block.walk(0..query.len());
                block.visit(0..query.len(), &mut walk, &mut |rows| visit(&mut short, rows));
                continue;
            }
            // Steps that follow each other share a walk, which has all examples below to start with.
            let froms: Vec<usize> = (0..query.len()).step_by(step).collect();
            let pieces = if threads::count() > 1 { 2 * threads::count() } else { 1 };
            let runs: Vec<&[usize]> = froms.chunks(froms.len().div_ceil(pieces)).collect();
            let end_of = |from: usize| (from + step).min(query.len());
            let found = threads::map(&runs, &|froms| {
                let mut walk = block.walk(froms[0]..end_of(froms[froms.len() - 1]));
                let finished = froms.iter().map(|&from| {
                    let mut state = start();
                    block.visit(from..end_of(from), &mut walk, &mut |rows| visit(&mut state, rows));
                    finish(state)
                });
                finished.collect::<Vec<S>>()
            });
            states.extend(found.into_iter().flatten());
        }
        states.push(finish(short));
        states
    };
    let tasks: Vec<_> = index.tasks.chunks(index.tasks.len().div_ceil(TASKS).max(1)).collect();
    threads::map(&tasks, &states_of).into_iter().flatten().collect()
}

/// The placements of the examples of one block, as expected of a mixture.
struct BlockPlacements<'a, M: Mass, P: Mass> {
    index: &'a PairIndex<'a>,
    query: &'a QueryPairs<'a>,
    members: &'a [DrawnOrder<'a>],
    /// Where every pair counts one, in place of the next two.
    counted: Option<CountedPlacements<'a>>,
    labeled: Option<LabeledPlacements<'a, M>>,
    parity: Option<ParityPlacements<'a, P>>,
    /// By the order of a continuous attribute: of label-ordered pairs and of all.
    orders: [Option<(Vec<OrderSums>, Vec<OrderSums>)>; 2],
    /// Of label-ordered pairs and of all, where they are chosen by a side column.
    chosen: Vec<SidePlacements<'a>>,
}

impl<'a, M: Mass, P: Mass> BlockPlacements<'a, M, P> {
    /// None of no members.
    fn new(
        index: &'a PairIndex,
        query: &'a QueryPairs,
        (labeled_masses, plain_masses): (&'a [M], &'a [P]),
        members: &'a [DrawnOrder],
        ties: Ties,
    ) -> Option<Self> {
        let (first, others) = members.split_first()?;
        let layout = &index.layout;
        let chosen = query.side_values.is_some();
        let is_counted = M::EQUAL && P::EQUAL && layout.labels && !chosen;
        let swept = !is_counted && !chosen;
        let placements = |order: &ScoreOrder| BlockPlacements {
            index,
            query,
            members,
            counted: None,
            labeled: (swept && layout.labels)
                .then(|| LabeledPlacements::new(query, order, labeled_masses, ties)),
            parity: (swept && layout.groups > 0)
                .then(|| ParityPlacements::new(query, order, plain_masses, ties)),
            orders: [
                (layout.labels && layout.continuous)
                    .then(|| continuous_placements(query, order, labeled_masses, ties.credit() as f32)),
                index.kinds.continuous_parity.then(|| attribute_placements(query, order, plain_masses, ties)),
            ],
            chosen: [(PairKind::LabelOrdered, layout.labels), (PairKind::All, layout.groups > 0)]
                .into_iter()
                .filter(|(_, has_pairs)| chosen && *has_pairs)
                .map(|(kind, _)| match kind {
                    PairKind::LabelOrdered => SidePlacements::new(query, order, labeled_masses, kind, ties),
                    PairKind::All => SidePlacements::new(query, order, plain_masses, kind, ties),
                })
                .collect(),
        };
        let mut all = placements(&first.order);
        all.counted = is_counted.then(|| CountedPlacements::new(query, members, layout, ties));
        // What members earn is mixed; what they could earn is the same for all.
        for (place, member) in others.iter().enumerate() {
            let factors = [if place == 0 { first.chance() as f32 } else { 1.0 }, member.chance() as f32];
            let other = placements(&member.order);
            if let (Some(all), Some(own)) = (&mut all.labeled, &other.labeled) {
                mix(&mut all.credits, &own.credits, factors);
            }
            if let (Some(all), Some(own)) = (&mut all.parity, &other.parity) {
                all.mix(own, factors);
            }
            for (all, own) in all.orders.iter_mut().flatten().zip(other.orders.iter().flatten()) {
                mix(all.0.as_flattened_mut(), own.0.as_flattened(), factors);
            }
            for (all, own) in all.chosen.iter_mut().zip(&other.chosen) {
                mix(&mut all.credits, &own.credits, factors);
            }
        }
        Some(all)
    }

    /// A walk through some positions, where every pair counts one.
    fn walk(&self, positions: Range<usize>) -> Option<Walk> {
        self.counted.as_ref().map(|counted| counted.walk(positions))
    }

    /// Calls `visit` with the examples at some positions, the next ones of a walk, those of each group in order.
    fn visit(&self, positions: Range<usize>, walk: &mut Option<Walk>, visit: &mut dyn FnMut(&PlacedRows)) {
        wide(
            #[inline(always)]
            || self.visit_in(positions, walk, visit),
        );
    }

    #[inline(always)]
    fn visit_in(&self, positions: Range<usize>, walk: &mut Option<Walk>, visit: &mut dyn FnMut(&PlacedRows)) {
        let layout = &self.index.layout;
        let order_cells =
            [[layout.greater(), layout.less()], [layout.parity_greater(), layout.parity_less()]];
        let mut gathered: Vec<Option<GatheredRows>> = self.query.present.iter().map(|_| None).collect();
        let mut found = Vec::new();
        let mut window = Window::<M>::default();
        let mut walk = self.counted.as_ref().zip(walk.as_mut());
        let is_alone = self.counted.is_some() && self.orders.iter().all(Option::is_none);
        let mut errors = Vec::new();
        for at in positions.clone() {
            // Errors are looked up in the order of the examples, many at once, so that their ways don't add up.
            if (at - positions.start).is_multiple_of(ERRORS) {
                self.squared_errors(at..positions.end.min(at + ERRORS), &mut errors);
            }
            let error = errors.get((at - positions.start) % ERRORS).copied();
            let example = (self.query.range.start + self.query.example[at] as usize) as u32;
            let rows = &mut gathered[usize::from(self.query.group[at])];
            if let (Some((counted, walk)), Some(rows), true) = (&mut walk, &mut *rows, is_alone) {
                let columns = rows.columns_at_next();
                counted.set(columns, walk, at);
                // The last column, behind those of pairs.
                rows.end_row(example, error, visit);
                continue;
            }
            found.clear();
            if let Some((counted, walk)) = &mut walk {
                counted.add_to(&mut found, walk, at, layout);
            }
            if let Some(labeled) = &self.labeled {
                if at >= window.end {
                    window = labeled.window(window, at);
                }
                labeled.add_to(&mut found, &window, at, layout);
            }
            self.chosen.iter().for_each(|chosen| chosen.add_to(&mut found, at, layout));
            found.extend(error.map(|credit| self.squared_error(at, credit)));
            for (order, cells) in self.orders.iter().zip(order_cells) {
                let Some((credits, totals)) = order else { continue };
                for (i, (&credit, &total)) in credits[at].iter().zip(&totals[at]).enumerate() {
                    let (cell, side) = (cells[i % 2] as u32, (i / 2) as u8);
                    found.push(Placement { cell, side, credit: credit.into(), total: total.into() });
                }
            }
            if let Some(parity) = &self.parity {
                parity.add_to(&mut found, at, layout);
            }
            let rows = rows.get_or_insert_with(|| {
                let rows = GatheredRows::new(self.query.present[usize::from(self.query.group[at])], &found);
                rows.show(visit);
                rows
            });
            let (credits, totals, stride) = rows.columns_at_next();
            for (placement, at) in found.iter().zip((0..).step_by(stride)) {
                (credits[at], totals[at]) = (placement.credit, placement.total);
            }
            rows.end_row(example, None, visit);
        }
        gathered.iter().flatten().filter(|rows| !rows.examples.is_empty()).for_each(|rows| rows.show(visit));
    }
}

/// Rows of one group, until they are as many as are placed at once.
struct GatheredRows {
    group: u16,
    examples: Vec<u32>,
    columns: Vec<(u32, u8)>,
    credits: Vec<f64>,
    totals: Vec<f64>,
    rows: usize,
    stride: usize,
}

impl GatheredRows {
    /// No rows, which will have these cells; all totals are those of the first one until others are set.
    fn new(group: u16, first: &[Placement]) -> GatheredRows {
        let (rows, stride) = rows_and_stride(first.len());
        GatheredRows {
            group,
            examples: Vec::with_capacity(rows),
            columns: first.iter().map(|placement| (placement.cell, placement.side)).collect(),
            credits: vec![0.0; first.len() * stride],
            totals: first.iter().flat_map(|placement| std::iter::repeat_n(placement.total, stride)).collect(),
            rows,
            stride,
        }
    }

    /// Credits and totals from the first column of the next row on, and how far columns are apart.
    #[inline(always)]
    fn columns_at_next(&mut self) -> (&mut [f64], &mut [f64], usize) {
        let row = self.examples.len();
        // Rows of a group that is compared with nothing have no columns.
        let (credits, totals) = (self.credits.get_mut(row..), self.totals.get_mut(row..));
        (credits.unwrap_or_default(), totals.unwrap_or_default(), self.stride)
    }

    /// Ends a row, whose last column has what is earned by its error, if it is told.
    #[inline(always)]
    fn end_row(&mut self, example: u32, error: Option<f64>, visit: &mut dyn FnMut(&PlacedRows)) {
        if let Some(error) = error {
            let at = self.credits.len() - self.stride + self.examples.len();
            self.credits[at] = error;
        }
        self.examples.push(example);
        if self.examples.len() == self.rows {
            self.show(visit);
            self.examples.clear();
        }
    }

    fn show(&self, visit: &mut dyn FnMut(&PlacedRows)) {
        let GatheredRows { group, examples, columns, credits, totals, .. } = self;
        visit(&PlacedRows { group: *group, examples, columns, credits, totals });
    }
}

impl<M: Mass, P: Mass> BlockPlacements<'_, M, P> {
    /// The squared errors at some positions, where there are labels.
    fn squared_errors(&self, positions: Range<usize>, errors: &mut Vec<f64>) {
        errors.clear();
        let (examples, range) = (self.index.examples(), self.query.range.clone());
        let Some(labels) = &examples.labels else { return };
        let (labels, own) = (&labels[range.clone()], &self.query.example[positions]);
        errors.resize(own.len(), 0.0);
        for member in self.members {
            let (chance, scores) = (member.chance(), &member.order.scores[range.clone()]);
            for (error, &example) in errors.iter_mut().zip(own) {
                let difference = scores[example as usize] - labels[example as usize];
                *error += chance * (difference * difference);
            }
        }
        if let Some(weights) = &examples.weights {
            let weights = &weights[range];
            errors.iter_mut().zip(own).for_each(|(error, &example)| *error *= weights[example as usize]);
        }
    }

    /// The placement of the example at a position in the cell of squared errors.
    fn squared_error(&self, at: usize, credit: f64) -> Placement {
        let example = self.query.range.start + self.query.example[at] as usize;
        let total = self.index.examples().weight(example);
        Placement { cell: self.index.layout.mse() as u32, side: 0, credit, total }
    }
}

/// all ← all · factor + own · factor.
fn mix(all: &mut [f32], own: &[f32], factors: [f32; 2]) {
    all.iter_mut().zip(own).for_each(|(all, own)| *all = *all * factors[0] + own * factors[1]);
}

/// Placements in label-ordered pairs, by position.
struct LabeledPlacements<'a, M: Mass> {
    query: &'a QueryPairs<'a>,
    masses: &'a [M],
    /// For each position the credit as the better example by group of the worse, then the credit as the
    /// worse example by group of the better.
    credits: Vec<f32>,
    /// Sums by group before every so many positions, and over all.
    before: Vec<Vec<M::Sum>>,
}

/// Sums by group below and up to the run of equal labels that a walk stands in; empty before it starts.
#[derive(Default)]
struct Window<M: Mass> {
    below: Vec<M::Sum>,
    through: Vec<M::Sum>,
    end: usize,
}

impl<'a, M: Mass> LabeledPlacements<'a, M> {
    fn new(query: &'a QueryPairs, order: &ScoreOrder, masses: &'a [M], ties: Ties) -> Self {
        let (k, n, entries) = (query.present.len(), query.len(), order.entries(query));
        let element = |&entry: &u32| {
            let at = position(entry);
            u64::from(query.rank[at]) << 32 | at as u64
        };
        let mut elements: Vec<u64> = entries.iter().map(element).collect();
        let mut credits = vec![0.0; 2 * k * n];
        let mut labeled = LabeledPlacements { query, masses, credits: Vec::new(), before: Vec::new() };
        if ties == Ties::Half {
            for run in runs(entries).filter(|run| run.len() > 1) {
                let ascending: Vec<usize> = run.iter().rev().map(|&entry| position(entry)).collect();
                labeled.add_ties(&ascending, &mut credits);
            }
        }
        let bits = query.label_bits();
        if bits > 0 {
            labeled.split(&mut elements, &mut vec![0; n], bits - 1, &mut credits, 0);
        }
        labeled.credits = credits;
        let mut sums = vec![M::Sum::default(); k];
        for at in 0..n {
            if at.is_multiple_of(labeled.chunk()) {
                labeled.before.push(sums.clone());
            }
            sums[query.group[at] as usize] += masses[at].alone();
        }
        labeled.before.push(sums);
        labeled
    }

    fn group(&self, at: usize) -> usize {
        self.query.group[at] as usize
    }

    fn chunk(&self) -> usize {
        self.query.sizes.placement_chunk.max(1)
    }

    /// Half credit inside a run of equal scores, given in ascending order of label.
    fn add_ties(&self, positions: &[usize], credits: &mut [f32]) {
        let (k, rank) = (self.query.present.len(), self.query.rank);
        for better in [true, false] {
            let mut behind = vec![M::Sum::default(); k];
            let mut ascending = positions.chunk_by(|&a, &b| rank[a] == rank[b]);
            while let Some(level) = if better { ascending.next() } else { ascending.next_back() } {
                for &at in level {
                    let from = 2 * k * at + if better { 0 } else { k };
                    for (credit, &sum) in credits[from..from + k].iter_mut().zip(&behind) {
                        let mass = self.masses[at];
                        let worth = if better { mass.above(sum) } else { mass.below(sum) };
                        *credit += 0.5 * M::number(worth) as f32;
                    }
                }
                for &at in level {
                    behind[self.group(at)] += self.masses[at].alone();
                }
            }
        }
    }

    /// Adds the credit of pairs that differ in `bit` of the label rank or in a lower one; the elements
    /// stand in score order and fill the positions from `base` on.
    fn split(&self, elements: &mut [u64], scratch: &mut [u64], bit: u32, credits: &mut [f32], base: usize) {
        let (n, k) = (elements.len(), self.query.present.len());
        if n <= self.query.sizes.count_leaf {
            return self.leaf(elements, credits, base);
        }
        let mut passed = vec![M::Sum::default(); k];
        for &element in elements.iter().rev() {
            let at = element as u32 as usize;
            let mass = self.masses[at];
            if element >> (bit + 32) & 1 == 1 {
                passed[self.group(at)] += mass.alone();
            } else {
                let own = &mut credits[2 * k * (at - base) + k..][..k];
                for (own, &passed) in own.iter_mut().zip(&passed) {
                    *own += M::number(mass.below(passed)) as f32;
                }
            }
        }
        passed.fill(M::Sum::default());
        let zeros = partition(elements, scratch, |element| {
            let (at, one) = (element as u32 as usize, element >> (bit + 32) & 1 == 1);
            let mass = self.masses[at];
            if one {
                let own = &mut credits[2 * k * (at - base)..][..k];
                for (own, &passed) in own.iter_mut().zip(&passed) {
                    *own += M::number(mass.above(passed)) as f32;
                }
            } else {
                passed[self.group(at)] += mass.alone();
            }
            !one
        });
        if bit == 0 {
            return;
        }
        let (left, right) = elements.split_at_mut(zeros);
        let (below, above) = scratch[..n].split_at_mut(zeros);
        let (lower, upper) = credits.split_at_mut(2 * k * zeros);
        both(
            n > self.query.sizes.count_fork,
            || self.split(left, below, bit - 1, lower, base),
            || self.split(right, above, bit - 1, upper, base + zeros),
        );
    }

    fn leaf(&self, elements: &[u64], credits: &mut [f32], base: usize) {
        let k = self.query.present.len();
        for (i, &higher) in elements.iter().enumerate().skip(1) {
            for &lower in &elements[..i] {
                if lower >> 32 < higher >> 32 {
                    let (better, worse) = (higher as u32 as usize, lower as u32 as usize);
                    let worth = M::number(self.masses[better].above(self.masses[worse].alone())) as f32;
                    credits[2 * k * (better - base) + self.group(worse)] += worth;
                    credits[2 * k * (worse - base) + k + self.group(better)] += worth;
                }
            }
        }
    }

    /// Sums by group over the positions before `at`.
    fn sums_before(&self, at: usize) -> Vec<M::Sum> {
        let mut sums = self.before[at / self.chunk()].clone();
        self.add_masses(&mut sums, at / self.chunk() * self.chunk()..at);
        sums
    }

    /// The window of the run of equal labels that `at` stands in; `last` is that of the run before.
    fn window(&self, last: Window<M>, at: usize) -> Window<M> {
        let rank = self.query.rank;
        let end = level_end(rank, at);
        let below = match last.through.is_empty() {
            true => self.sums_before(rank[..at].partition_point(|&r| r < rank[at])),
            false => last.through,
        };
        if last.end == 0 || end - at > self.chunk() {
            return Window { below, through: self.sums_before(end), end };
        }
        let mut through = below.clone();
        self.add_masses(&mut through, at..end);
        Window { below, through, end }
    }

    fn add_masses(&self, sums: &mut [M::Sum], positions: Range<usize>) {
        positions.for_each(|at| sums[self.group(at)] += self.masses[at].alone());
    }

    /// The placements of the example at a position.
    fn add_to(&self, to: &mut Vec<Placement>, window: &Window<M>, at: usize, layout: &CellLayout) {
        let (present, group, mass) = (self.query.present, self.group(at), self.masses[at]);
        let (k, own) = (present.len(), present[group] as usize);
        let all = &self.before[self.before.len() - 1];
        let credits = &self.credits[2 * k * at..][..2 * k];
        // Differences of sums of weights are rounded.
        let mut add = |cell: usize, side: u8, credit: f32, total: f64| {
            let (credit, total) = if total > 0.0 { (f64::from(credit), total) } else { (0.0, 0.0) };
            to.push(Placement { cell: cell as u32, side, credit, total });
        };
        for (other, &code) in present.iter().enumerate() {
            let better = M::number(mass.above(window.below[other]));
            add(layout.accuracy(own, code as usize), 0, credits[other], better);
            let worse = M::number(mass.below(all[other])) - M::number(mass.below(window.through[other]));
            add(layout.accuracy(code as usize, own), 1, credits[k + other], worse);
        }
    }
}

/// Each example's placements in the pairs without regard to labels, by position.
struct ParityPlacements<'a, M: Mass> {
    query: &'a QueryPairs<'a>,
    masses: &'a [M],
    /// Credit as the first of a pair, by group of the second.
    credits: Vec<f32>,
    /// Worth of equal scores, by group, where they earn neither side anything; empty otherwise.
    unearned: Vec<f32>,
    sums: Vec<M::Sum>,
}

impl<'a, M: Mass> ParityPlacements<'a, M> {
    fn new(query: &'a QueryPairs, order: &ScoreOrder, masses: &'a [M], ties: Ties) -> Self {
        let k = query.present.len();
        let entries = in_score_order::<M>(query, order);
        let tied = runs(&entries).any(|run| run.len() > 1);
        let mut credits = vec![0.0; k * query.len()];
        let mut unearned = vec![0.0; if ties == Ties::Strict && tied { k * query.len() } else { 0 }];
        let mut sums = vec![M::Sum::default(); k];
        let mut level = vec![M::Sum::default(); k];
        for run in runs(&entries) {
            let alone = run.len() == 1;
            for at in run.iter().map(|&entry| position(entry)) {
                level[query.group[at] as usize] += masses[at].alone();
            }
            for at in run.iter().map(|&entry| position(entry)) {
                let (mass, from) = (masses[at], k * at);
                for group in 0..k {
                    let won = M::number(mass.above(sums[group]));
                    let equal = if alone { 0.0 } else { M::number(mass.above(level[group])) };
                    credits[from + group] = (won + ties.credit() * equal) as f32;
                    if let Some(unearned) = unearned.get_mut(from + group) {
                        *unearned = equal as f32;
                    }
                }
            }
            for (sum, level) in sums.iter_mut().zip(&mut level) {
                *sum += std::mem::take(level);
            }
        }
        ParityPlacements { query, masses, credits, unearned, sums }
    }

    /// Mixes in what another member of a mixture earns.
    fn mix(&mut self, other: &ParityPlacements<M>, factors: [f32; 2]) {
        mix(&mut self.credits, &other.credits, factors);
        // A member without equal scores has no list.
        let longer = self.unearned.len().max(other.unearned.len());
        self.unearned.resize(longer, 0.0);
        self.unearned.iter_mut().for_each(|own| *own *= factors[0]);
        self.unearned.iter_mut().zip(&other.unearned).for_each(|(own, other)| *own += other * factors[1]);
    }

    /// The placements of the example at a position.
    fn add_to(&self, to: &mut Vec<Placement>, at: usize, layout: &CellLayout) {
        let (present, own) = (self.query.present, self.query.present[self.query.group[at] as usize] as usize);
        if own >= layout.groups {
            return;
        }
        for (other, &code) in present.iter().enumerate() {
            let (code, from) = (code as usize, present.len() * at + other);
            if own != code && code < layout.groups {
                let total = M::number(self.masses[at].above(self.sums[other]));
                let first = f64::from(self.credits[from]);
                let unearned = self.unearned.get(from).copied().unwrap_or(0.0);
                let second = (total - first - f64::from(unearned)).max(0.0);
                let cells = [(layout.parity(own, code), first), (layout.parity(code, own), second)];
                for ((cell, credit), side) in cells.into_iter().zip(0..) {
                    to.push(Placement { cell: cell as u32, side, credit, total });
                }
            }
        }
    }
}
