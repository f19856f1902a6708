//! The pairs of given examples: all that does not depend on scores, found once.
//!
//! A pair is two examples of one block: one query, or those rows of it that agree on
//! what pairs are formed within; all that is said of queries below is said of blocks. In every query that is not small the examples stand in label order, and a
//! *position* is a place in that order, so that the examples that are worse than one at position p are those at
//! the positions 0 to `first[p]`. Every column below is by position.

use super::attribute_blocks::{self, AttributeBlocks};
use super::attribute_grid::{self, AttributeGrid};
use super::mass::{EqualMass, GapMass, Mass, WeightMass};
use super::tally::{CellLayout, RateKinds};
use crate::examples::{Attribute, Examples, SMALL, TIED, sort_values, tasks};
use crate::rates::{Average, Rate};
use crate::rooms::{Lent, Rooms};
use crate::threads::{self, both};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// The rank of an example without continuous attribute.
pub(super) const NO_RANK: u32 = u32::MAX;

/// Sizes at which one algorithm takes over from another. Sums are added up along the trees that these sizes make,
/// so they are a part of the result's definition, whatever the number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Queries of at most this many examples compare every pair.
    pub small: usize,
    /// Nodes of a count up to this size compare every pair.
    pub count_leaf: usize,
    /// The same for nodes that are split by a continuous attribute.
    pub attribute_leaf: usize,
    /// Nodes of a count above this size hand their halves to two threads.
    pub count_fork: usize,
    /// Whether pairs of two labels that count one each are counted by one sweep.
    pub sweeps_two_labels: bool,
    /// Placements are visited so many examples at a time, or a multiple of it.
    pub placement_chunk: usize,
    /// Nodes of slopes up to this size compare every pair.
    pub slope_leaf: usize,
    /// Labels of a node of slopes are parted into at most this many bands.
    pub slope_bands: usize,
    /// Two lists of a node of slopes that have at most this many pairs compare every one.
    pub slope_pairs: usize,
    /// Nodes of slopes above this size hand their halves to two threads.
    pub slope_fork: usize,
    /// Slopes of queries of fewer examples than this are found by splits, others by a rank tree where they can be.
    pub tree_examples: usize,
    /// The same for queries of at most this many labels.
    pub tree_labels: usize,
    /// Pairs by the order of a continuous attribute are counted by a grid if all examples are one query of at most this size.
    pub grid_examples: usize,
    /// Rows that are worth a task of sums over queries: sums are many, and each is made and merged without rounding.
    pub sum_rows: usize,
    /// Net losses of queries of at most this many examples look at every pair.
    pub net_pairs: usize,
    /// Net losses by a continuous attribute have at most so many blocks of either order.
    pub net_blocks: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            small: SMALL,
            count_leaf: 12,
            attribute_leaf: 16,
            count_fork: 1 << 16,
            sweeps_two_labels: true,
            placement_chunk: 1 << 14,
            slope_leaf: 32,
            slope_bands: 256,
            slope_pairs: 400,
            slope_fork: 1 << 14,
            tree_examples: 400,
            tree_labels: 64,
            grid_examples: attribute_grid::MOST,
            sum_rows: 25_000,
            net_pairs: 200,
            net_blocks: attribute_blocks::MOST,
        }
    }
}

/// Moves the elements that fulfill `first` before the others, keeping their order; returns their number.
#[inline(always)]
pub(super) fn partition<T: Copy>(list: &mut [T], room: &mut [T], mut first: impl FnMut(T) -> bool) -> usize {
    let room = &mut room[..list.len()];
    let (mut firsts, mut others) = (0, 0);
    // Both targets are written and only one index moves: a branch here would be mispredicted half of
    // the time.
    for i in 0..list.len() {
        let element = list[i];
        let is_first = first(element);
        list[firsts] = element;
        room[others] = element;
        firsts += usize::from(is_first);
        others += usize::from(!is_first);
    }
    list[firsts..].copy_from_slice(&room[..others]);
    firsts
}

/// The first `n` places of a room that grows.
pub(super) fn grown<T: Clone + Default>(room: &mut Vec<T>, n: usize) -> &mut [T] {
    if room.len() < n {
        room.resize(n, T::default());
    }
    &mut room[..n]
}

/// Adds numbers to others, one by one.
pub(super) fn add<W: Copy + std::ops::AddAssign>(to: &mut [W], from: &[W]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to += from);
}

/// What each example brings to its pairs.
pub(super) enum MassColumn {
    Equal(Vec<EqualMass>),
    Weight(Vec<WeightMass>),
    Gap(Vec<GapMass>),
}

/// Runs an expression with the slice of a column's masses, of whatever type they are.
macro_rules! with_masses {
    ($column:expr, $masses:ident => $run:expr) => {
        match $column {
            $crate::pairs::index::MassColumn::Equal($masses) => $run,
            $crate::pairs::index::MassColumn::Weight($masses) => $run,
            $crate::pairs::index::MassColumn::Gap($masses) => $run,
        }
    };
}
pub(super) use with_masses;

/// The pairs of examples, for some rates.
pub(crate) struct PairIndex<'a> {
    pub(super) examples: Cow<'a, Examples>,
    pub(super) rates: Vec<Rate>,
    pub(super) kinds: RateKinds,
    pub(crate) layout: CellLayout,
    pub(crate) sizes: Sizes,
    /// Consecutive blocks that are one task.
    pub(super) tasks: Vec<Range<usize>>,
    /// Whether any query is put in score order.
    pub(super) any_sorted: bool,
    /// The examples of the queries that the table has in no label order: put in that order for slopes, otherwise
    /// 0, 1, 2, … up to the length of the longest.
    example: Vec<u32>,
    /// The position of each example; empty without slopes or where no query is put in score order.
    position: Vec<u32>,
    /// At each position, the first one of an equal label in the query, and the one behind the last; empty without slopes.
    first: Vec<u32>,
    end: Vec<u32>,
    /// The number of each example's group among those present in its query.
    group: Vec<u16>,
    /// The rank of the continuous attribute in the query; empty if no rate asks for it.
    attribute: Vec<u32>,
    /// Both orders, where all examples are one query of a moderate size.
    grid: Option<AttributeGrid>,
    blocks: Option<AttributeBlocks>,
    /// The rank of the side column in the query; empty if pairs are not chosen by one.
    side: Vec<u32>,
    /// The groups in each query, and where each query's list starts, and the end.
    present: Vec<u16>,
    present_starts: Vec<u32>,
    /// All groups, whether a query has them or not.
    pub(super) codes: Vec<u16>,
    /// For slopes all queries are in label order. Where pairs count alike, the number of a group in a small query is
    /// its code: coefficients, which are the same in all queries, need then no selection for it.
    slopes: Option<Average>,
    /// Kept where evaluations follow each other, as those of slopes do.
    pub(super) rooms: Rooms,
    /// In pairs of unequal labels.
    pub(super) label_ordered: MassColumn,
    /// In pairs whatever their labels; none if it is the same.
    unordered: Option<MassColumn>,
}

/// The pairs of one query, or of one block of it.
pub(super) struct QueryPairs<'a> {
    pub examples: &'a Examples,
    pub range: Range<usize>,
    /// At each position, the example, counted from the query's first.
    pub example: &'a [u32],
    /// Of each example, the position; empty without slopes or where all queries are small.
    pub position: &'a [u32],
    /// At each position, the label's dense rank; empty for a small query.
    pub rank: &'a [u32],
    /// At each position, the first one of an equal label, and the one behind the last; empty without slopes.
    pub first: &'a [u32],
    pub end: &'a [u32],
    pub group: &'a [u16],
    /// At each position, the rank of the continuous attribute; empty if no rate asks for it.
    pub attribute: &'a [u32],
    /// Its order beside that of labels, if it is kept.
    pub grid: Option<&'a AttributeGrid>,
    /// Blocks of both, for net losses.
    pub blocks: Option<&'a AttributeBlocks>,
    /// At each position, the rank of the side column; empty if pairs are not chosen by one.
    pub side: &'a [u32],
    /// The values of the side column in the order of the examples, if pairs are chosen by one.
    pub side_values: Option<&'a [f64]>,
    /// The groups: indexes into the names, or their number for "no group".
    pub present: &'a [u16],
    pub sizes: &'a Sizes,
    pub rooms: &'a Rooms,
}

impl<'a> QueryPairs<'a> {
    /// The same examples, whose pairs are chosen by the continuous attribute: the first one has the greater.
    pub(super) fn by_attribute(&self) -> QueryPairs<'a> {
        let side_values = match &self.examples.attribute {
            Attribute::Continuous(values) => Some(&values[self.range.clone()]),
            _ => None,
        };
        QueryPairs { side: self.attribute, side_values, range: self.range.clone(), ..*self }
    }

    pub(super) fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether net losses look at every pair.
    pub(super) fn is_compared_directly(&self) -> bool {
        self.len() <= self.sizes.net_pairs && self.side.is_empty()
    }

    /// Whether pairs are compared one by one.
    pub(super) fn is_small(&self) -> bool {
        self.len() <= self.sizes.small
    }

    /// The labels in the order of the examples; none without labels.
    pub(super) fn labels(&self) -> &[f64] {
        self.examples.labels.as_ref().map_or(&[][..], |labels| &labels[self.range.clone()])
    }

    /// The position of each example: small queries are compared in the order of the examples.
    pub(super) fn positions(&self) -> Lent<Vec<usize>> {
        let mut positions = self.rooms.list(self.len());
        self.example.iter().enumerate().for_each(|(position, &e)| positions[e as usize] = position);
        positions
    }

    /// Puts numbers, which are by position, to their examples.
    pub(super) fn put_by_example(&self, numbers: &[f64], to: &mut [f64]) {
        if self.position.is_empty() {
            return self.example.iter().zip(numbers).for_each(|(&e, &number)| to[e as usize] = number);
        }
        threads::fill(to, &|from, own| {
            own.iter_mut().zip(&self.position[from..]).for_each(|(to, &at)| *to = numbers[at as usize]);
        });
    }

    /// The class of a pair of positions by the order of their continuous attributes.
    pub(super) fn order_class(&self, first: usize, second: usize) -> usize {
        super::slopes::order(self.attribute[first], self.attribute[second])
    }

    /// The number of bits of the highest label rank.
    pub(super) fn label_bits(&self) -> u32 {
        u32::BITS - self.rank.last().map_or(0, |highest| highest.leading_zeros())
    }
}

impl<'a> PairIndex<'a> {
    /// Prepares counts of these rates.
    pub(crate) fn new(examples: &'a Examples, rates: &[Rate]) -> PairIndex<'a> {
        PairIndex::build(Cow::Borrowed(examples), rates, Sizes::default(), None)
    }

    /// The same with given sizes.
    #[cfg(test)]
    pub(crate) fn sized(examples: &'a Examples, rates: &[Rate], sizes: Sizes) -> PairIndex<'a> {
        PairIndex::build(Cow::Borrowed(examples), rates, sizes, None)
    }

    /// The same with given sizes, and perhaps for slopes of rates that are averaged in some way.
    pub(super) fn build(
        examples: Cow<'a, Examples>,
        rates: &[Rate],
        sizes: Sizes,
        slopes: Option<Average>,
    ) -> PairIndex<'a> {
        let layout = CellLayout::of(&examples);
        let mut index = PairIndex {
            rates: rates.to_vec(),
            kinds: RateKinds::of(rates, &layout),
            layout,
            sizes,
            tasks: tasks((0..examples.blocks()).map(|block| examples.block(block).len())),
            any_sorted: false,
            example: Vec::new(),
            position: Vec::new(),
            first: Vec::new(),
            end: Vec::new(),
            group: Vec::new(),
            attribute: Vec::new(),
            grid: None,
            blocks: None,
            side: Vec::new(),
            present: Vec::new(),
            present_starts: Vec::new(),
            codes: vec![0],
            slopes,
            rooms: if slopes.is_some() { Rooms::kept() } else { Rooms::default() },
            label_ordered: MassColumn::Equal(Vec::new()),
            unordered: None,
            examples,
        };
        let any_sorted = index.ranges().any(|range| index.is_sorted(&range));
        index.any_sorted = any_sorted;
        index.add_label_order();
        index.add_groups();
        let is_ordered = index.kinds.continuous || index.kinds.continuous_parity;
        if let (Attribute::Continuous(values), true) = (&index.examples.attribute, is_ordered) {
            index.attribute = index.ranks(values);
        }
        let (is_one, n) = (index.examples.blocks() == 1, index.examples.len());
        let is_moderate = n > sizes.small && n <= sizes.grid_examples.min(attribute_grid::MOST);
        if is_one && is_moderate && index.kinds.continuous && !index.first.is_empty() {
            index.grid = Some(AttributeGrid::new(&index.query(0)));
        }
        if let Some(values) = &index.examples.side {
            index.side = index.ranks(values);
        }
        index.label_ordered = index.masses(index.examples.label_gap);
        if index.grid.is_some() && index.side.is_empty() && index.counts_pairs() {
            index.blocks = AttributeBlocks::new(&index.query(0), sizes.net_blocks);
        }
        index.unordered = index.examples.label_gap.then(|| index.masses(false));
        index
    }

    /// The examples.
    pub(crate) fn examples(&self) -> &Examples {
        &self.examples
    }

    /// The rates that are asked for.
    pub(crate) fn rates(&self) -> &[Rate] {
        &self.rates
    }

    /// Whether all queries count alike.
    pub(crate) fn is_by_query(&self, average: Average) -> bool {
        average == Average::Queries && self.examples.has_queries()
    }

    /// Whether every label-ordered pair counts one.
    pub(super) fn counts_pairs(&self) -> bool {
        matches!(self.label_ordered, MassColumn::Equal(_))
    }

    /// What examples bring to pairs whatever their labels.
    pub(super) fn unordered(&self) -> &MassColumn {
        self.unordered.as_ref().unwrap_or(&self.label_ordered)
    }

    /// The pairs of one block.
    pub(super) fn query(&self, block: usize) -> QueryPairs<'_> {
        let range = self.examples.block(block);
        let own = self.present_starts[block] as usize..self.present_starts[block + 1] as usize;
        let present = if self.has_codes(&range) { &self.codes[..] } else { &self.present[own] };
        let ordered = self.examples.label_order.covers(&range);
        QueryPairs {
            examples: &self.examples,
            example: self.examples_at(&range),
            position: if self.position.is_empty() { &[] } else { &self.position[range.clone()] },
            rank: if ordered { &self.examples.label_order.rank[range.clone()] } else { &[] },
            first: if self.first.is_empty() { &[] } else { &self.first[range.clone()] },
            end: if self.end.is_empty() { &[] } else { &self.end[range.clone()] },
            group: &self.group[range.clone()],
            attribute: if self.attribute.is_empty() { &[] } else { &self.attribute[range.clone()] },
            grid: self.grid.as_ref(),
            blocks: self.blocks.as_ref(),
            side: if self.side.is_empty() { &[] } else { &self.side[range.clone()] },
            side_values: self.examples.side.as_ref().map(|side| &side[range.clone()]),
            present,
            sizes: &self.sizes,
            rooms: &self.rooms,
            range,
        }
    }

    /// Whether the number of a group in a query is its code.
    fn has_codes(&self, range: &Range<usize>) -> bool {
        self.slopes == Some(Average::Pairs) && range.len() <= self.sizes.small
    }

    /// Whether the examples of a query are put in score order: unless it is small, and always without queries, where
    /// each example has placements.
    pub(super) fn is_sorted(&self, range: &Range<usize>) -> bool {
        range.len() > self.sizes.small || !self.examples.has_queries()
    }

    /// The example at each position of a query.
    fn examples_at(&self, range: &Range<usize>) -> &[u32] {
        let ordered = self.slopes.is_some() && self.examples.has_labels();
        match (self.examples.label_order.covers(range), ordered) {
            (true, _) => &self.examples.label_order.example[range.clone()],
            (false, true) => &self.example[range.clone()],
            (false, false) => &self.example[..range.len()],
        }
    }

    /// Works on all tasks, each with its part of a column, and puts what they find to their places in a list.
    pub(super) fn each_task<T: Send, R: Send>(
        &self,
        column: &mut [T],
        found: &mut [R],
        work: &(dyn Fn(Range<usize>, &mut [T]) -> R + Sync),
    ) {
        self.halve(&self.tasks, column, found, work);
    }

    fn halve<T: Send, R: Send>(
        &self,
        tasks: &[Range<usize>],
        column: &mut [T],
        found: &mut [R],
        work: &(dyn Fn(Range<usize>, &mut [T]) -> R + Sync),
    ) {
        if let ([task], [found]) = (tasks, &mut *found) {
            *found = work(task.clone(), column);
        }
        if tasks.len() < 2 {
            return;
        }
        let (tasks, others) = tasks.split_at(tasks.len() / 2);
        let rows = self.examples.block(others[0].start).start - self.examples.block(tasks[0].start).start;
        let (own, theirs) = column.split_at_mut(rows);
        let (found, found_there) = found.split_at_mut(tasks.len());
        both(true, || self.halve(tasks, own, found, work), || self.halve(others, theirs, found_there, work));
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.examples.blocks()).map(|block| self.examples.block(block))
    }

    fn add_label_order(&mut self) {
        let others = self.ranges().filter(|range| !self.examples.label_order.covers(range));
        let longest = others.map(|range| range.len()).max().unwrap_or(0);
        let (Some(labels), Some(_)) = (&self.examples.labels, self.slopes) else {
            self.example = (0..longest as u32).collect();
            return;
        };
        let mut example = vec![0; if longest > 0 { labels.len() } else { 0 }];
        for range in self.ranges().filter(|range| !self.examples.label_order.covers(range)) {
            let (own, labels) = (&mut example[range.clone()], &labels[range]);
            own.iter_mut().zip(0..).for_each(|(own, i)| *own = i);
            // Labels are finite, and −0 equals 0.
            own.sort_by(|&a, &b| (labels[a as usize] + 0.0).total_cmp(&(labels[b as usize] + 0.0)));
        }
        self.example = example;
        let mut first = vec![0; labels.len()];
        for range in self.ranges() {
            let (own, example) = (&mut first[range.clone()], self.examples_at(&range));
            let label = |position: usize| labels[range.start + example[position] as usize];
            for position in 1..range.len() {
                let equal = label(position) == label(position - 1);
                own[position] = if equal { own[position - 1] } else { position as u32 };
            }
        }
        let mut end = Vec::with_capacity(labels.len());
        for range in self.ranges() {
            let start = range.start;
            for equal in first[range].chunk_by(|a, b| a == b) {
                let behind = end.len() + equal.len();
                end.resize(behind, (behind - start) as u32);
            }
        }
        (self.first, self.end) = (first, end);
        if !self.any_sorted {
            return;
        }
        let mut position = vec![0; labels.len()];
        for range in self.ranges() {
            let own = &mut position[range.clone()];
            (0..).zip(self.examples_at(&range)).for_each(|(at, &e)| own[e as usize] = at);
        }
        self.position = position;
    }

    fn add_groups(&mut self) {
        let mut group = vec![0; self.examples.len()];
        let Attribute::Groups { names, codes } = &self.examples.attribute else {
            self.present = vec![0; self.examples.blocks()];
            self.present_starts = (0..=self.examples.blocks() as u32).collect();
            self.group = group;
            return;
        };
        // The query that a code was last seen in, and its number there.
        let mut last = vec![(u32::MAX, 0); names.len() + 1];
        let (mut present, mut starts) = (Vec::new(), vec![0]);
        for (query, range) in (0..).zip(self.ranges()) {
            let (from, codes, has_codes) = (present.len(), &codes[range.clone()], self.has_codes(&range));
            for &code in codes {
                if last[usize::from(code)].0 != query {
                    last[usize::from(code)].0 = query;
                    present.push(code);
                }
            }
            present[from..].sort_unstable();
            for (&code, i) in present[from..].iter().zip(0..) {
                last[usize::from(code)].1 = if has_codes { code } else { i };
            }
            starts.push(present.len() as u32);
            let number = |&e: &u32| last[usize::from(codes[e as usize])].1;
            let own = group[range.clone()].par_iter_mut().zip(self.examples_at(&range));
            own.with_min_len(1 << 14).for_each(|(group, e)| *group = number(e));
        }
        self.codes = (0..=names.len() as u16).collect();
        (self.group, self.present, self.present_starts) = (group, present, starts);
    }

    /// The dense rank of values in their query, by position; none of NaN.
    fn ranks(&self, values: &[f64]) -> Vec<u32> {
        let mut ranks = vec![NO_RANK; values.len()];
        for range in self.ranges().filter(|range| self.slopes.is_some() || self.is_sorted(range)) {
            let (values, example) = (&values[range.clone()], self.examples_at(&range));
            let value = |position: usize| values[example[position] as usize];
            let mut sorted = vec![0; values.len()];
            sort_values(&mut sorted, &self.rooms, value);
            let (own, has_nan) = (&mut ranks[range.clone()], values.iter().any(|value| value.is_nan()));
            let mut next = 0;
            for entry in sorted {
                let position = (entry & !TIED) as usize;
                if !has_nan || !value(position).is_nan() {
                    next += u32::from(entry & TIED == 0);
                    own[position] = next - 1;
                }
            }
        }
        ranks
    }

    fn masses(&self, label_gap: bool) -> MassColumn {
        match (label_gap, self.examples.factors.is_some()) {
            (true, _) => MassColumn::Gap(self.masses_of()),
            (false, true) => MassColumn::Weight(self.masses_of()),
            (false, false) => MassColumn::Equal(vec![EqualMass; self.examples.len()]),
        }
    }

    /// Labels count from the first one of the query, so that a common offset costs no precision where differences
    /// of labels are summed.
    fn masses_of<M: Mass>(&self) -> Vec<M> {
        let mut masses = Vec::with_capacity(self.examples.len());
        for range in self.ranges() {
            let label = |i: usize| self.examples.labels.as_ref().map_or(0.0, |labels| labels[i]);
            let origin = label(range.start);
            masses.extend(self.examples_at(&range).iter().map(|&e| {
                let i = range.start + e as usize;
                M::new(self.examples.factor(i), label(i) - origin)
            }));
        }
        masses
    }
}
