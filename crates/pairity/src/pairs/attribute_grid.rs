//! Pairs by the order of a continuous attribute, for one query of at most some thousand examples that is evaluated again
//! and again: how many of the examples held have a lower label and a lower attribute than another one.
//!
//! A *corner* is a place in the order of labels and one in the order of the attribute. What is held below both is
//! counted by blocks of 64 places of either order:
//!
//! ```text
//! blocks below in both orders: a table of bytes      the block of the corner in one of them: two words of bits
//! ```
//!
//! Bytes of the table count what is in a block of labels and below a block of the attribute: a row has all blocks of
//! labels, and sums up the rows before it among eight, beside the eights before. An insertion takes the same steps
//! wherever it is, and a count reads two rows. With L held below in label, K in the attribute and G in both, of n,
//!
//! ```text
//! worse partners:   G of them have a lower attribute           L − G a higher one
//! better partners:  K − G of them have a lower attribute       n − L − K + G, less the example, a higher one
//! ```
//!
//! Where labels or attributes are tied or missing, each term has a corner of its own.

use super::index::{NO_RANK, QueryPairs};
use super::order::{position, runs};
use crate::examples::TIED;
use crate::wide;

const WORD: usize = u64::BITS as usize;

/// Rows of a group, and bytes of a word.
const EIGHT: usize = 8;

/// The most words of a row.
const WIDEST: usize = 4;

/// The most examples that can be held: there is room behind the last place.
pub(super) const MOST: usize = places(WIDEST) - 1;

/// Columns of counts: pairs of the greater attribute, of the lesser one, and all pairs of unequal labels.
pub(super) const COLUMNS: usize = 3;

/// The places that rows of so many words have room for.
const fn places(words: usize) -> usize {
    words * EIGHT * WORD
}

/// All bits of the bytes before an index: as many as a row has, from the middle less the index on.
const BEFORE: [u8; 2 * EIGHT * WIDEST] = {
    let mut before = [0; 2 * EIGHT * WIDEST];
    let mut i = 0;
    while i < EIGHT * WIDEST {
        before[i] = u8::MAX;
        i += 1;
    }
    before
};

/// What an insertion adds to eight rows of `W` words, byte by byte.
struct RowSteps<const W: usize>;

impl<const W: usize> RowSteps<W> {
    /// From some byte on, as many of these as eight rows have.
    const STEPS: [u8; 2 * EIGHT * EIGHT * WIDEST] = {
        let mut steps = [0; 2 * EIGHT * EIGHT * WIDEST];
        let mut at = Self::FIRST;
        while at < steps.len() {
            steps[at] = 1;
            at += EIGHT * W;
        }
        steps
    };

    /// The first 1, which may be wanted anywhere in the row behind the last one.
    const FIRST: usize = (EIGHT + 1) * EIGHT * W;

    /// Adds one to the bytes of a column in the rows behind one.
    #[inline(always)]
    fn add_after(rows: &mut [[[u8; EIGHT]; W]], row: usize, column: usize) {
        let steps = &Self::STEPS[Self::FIRST - (row + 1) * EIGHT * W - column..];
        let bytes = rows.as_flattened_mut().as_flattened_mut();
        bytes.iter_mut().zip(steps).for_each(|(byte, step)| *byte += step);
    }
}

/// What an insertion adds to the counts before each word, from the last index less that of its word on.
const STEP: [u16; 2 * EIGHT * WIDEST] = {
    let mut step = [0; 2 * EIGHT * WIDEST];
    let mut i = EIGHT * WIDEST;
    while i < step.len() {
        step[i] = 1;
        i += 1;
    }
    step
};

/// A place in both orders.
#[derive(Debug, Clone, Copy)]
struct Corner {
    label: u32,
    attribute: u32,
    /// In the block of labels, those below in both orders.
    by_label: u64,
    /// In the block of the attribute, those below in it whose block of labels is lower.
    by_attribute: u64,
}

/// The examples of a query in both orders.
pub(super) struct AttributeGrid {
    /// Those of each position: one, or four where anything is tied or missing, at the first label and attribute of equal ones,
    /// at the first label and behind the last attribute, and the same behind the last label.
    corners: Vec<Corner>,
    /// By position, that in the order of the attribute; `NO_RANK` for one that has none.
    place: Vec<u32>,
    is_distinct: bool,
    /// How many pairs there are, by column.
    totals: [u64; COLUMNS],
}

/// Runs an expression with what is held of a grid, nothing yet, in the fewest words; in wide vectors if the processor has them.
macro_rules! with_held {
    ($grid:expr, $held:ident => $run:expr) => {
        match $crate::pairs::attribute_grid::AttributeGrid::words($grid) {
            1 => with_held!($grid, 1, $held => $run),
            2 => with_held!($grid, 2, $held => $run),
            _ => with_held!($grid, 4, $held => $run),
        }
    };
    ($grid:expr, $words:literal, $held:ident => $run:expr) => {
        match $crate::pairs::attribute_grid::AttributeGrid::is_fast($grid) {
            true => $crate::wide::wide(
                #[inline(always)]
                || {
                    let mut $held = $crate::pairs::attribute_grid::HeldGrid::<$words, true>::new($grid);
                    $run
                },
            ),
            false => {
                let mut $held = $crate::pairs::attribute_grid::HeldGrid::<$words, false>::new($grid);
                $run
            }
        }
    };
}
pub(super) use with_held;

impl AttributeGrid {
    /// Of at most [`MOST`] examples in label order.
    pub(super) fn new(query: &QueryPairs) -> AttributeGrid {
        let (n, rank) = (query.first.len(), query.attribute);
        let mut by_attribute: Vec<u32> = (0..n as u32).filter(|&at| rank[at as usize] != NO_RANK).collect();
        by_attribute.sort_by_key(|&at| rank[at as usize]);
        let (mut place, known) = (vec![NO_RANK; n], by_attribute.len() as u32);
        (0..).zip(&by_attribute).for_each(|(to, &at)| place[at as usize] = to);
        // The places of equal attributes; one that has none has all others neither below nor above it.
        let mut ends = vec![[0, known]; n];
        let mut start = 0;
        for equal in by_attribute.chunk_by(|&a, &b| rank[a as usize] == rank[b as usize]) {
            let own = [start, start + equal.len() as u32];
            equal.iter().for_each(|&at| ends[at as usize] = own);
            start = own[1];
        }
        let is_distinct = known as usize == n
            && ends.iter().all(|[start, end]| start + 1 == *end)
            && (0..).zip(query.first).all(|(at, &first)| at == first);
        let corner = |label: u32, attribute: u32| {
            let block = |place: u32| place / WORD as u32 * WORD as u32;
            let is_below = |at: u32| place[at as usize] < attribute;
            let bits = |from: u32, to: u32, has: &dyn Fn(u32) -> bool| {
                (from..to).map(|at| u64::from(has(at)) << (at - from)).sum::<u64>()
            };
            let by_label = bits(block(label), label, &is_below);
            let is_left = |at: u32| by_attribute[at as usize] < block(label);
            Corner { label, attribute, by_label, by_attribute: bits(block(attribute), attribute, &is_left) }
        };
        let mut corners = Vec::with_capacity(if is_distinct { n } else { 4 * n });
        for (at, &[start, end]) in ends.iter().enumerate() {
            let labels = [query.first[at], query.end[at]];
            match is_distinct {
                true => corners.push(corner(labels[0], start)),
                false => corners.extend(
                    labels
                        .into_iter()
                        .flat_map(|label| [(label, start), (label, end)])
                        .map(|(l, a)| corner(l, a)),
                ),
            }
        }
        let mut grid = AttributeGrid { corners, place, is_distinct, totals: [0; COLUMNS] };
        grid.totals = with_held!(&grid, held => {
            (0..n).for_each(|at| held.insert(at));
            held.sum(0..n)
        });
        grid
    }

    /// Words of a row: as many as its places need.
    pub(super) fn words(&self) -> usize {
        [1, 2].into_iter().find(|&words| self.place.len() < places(words)).unwrap_or(WIDEST)
    }

    /// Whether nothing is tied or missing, and the processor has wide vectors and counts bits.
    pub(super) fn is_fast(&self) -> bool {
        self.is_distinct && wide::is_there()
    }

    /// The pairs that are won, those that are tied and all, by column, from the positions in score order.
    pub(super) fn count(&self, entries: &[u32]) -> [[u64; 3]; COLUMNS] {
        let (wins, ties) = match self.is_distinct && entries.iter().all(|entry| entry & TIED == 0) {
            true => (self.count_distinct(entries), [0; COLUMNS]),
            false => self.count_tied(entries),
        };
        std::array::from_fn(|column| [wins[column], ties[column], self.totals[column]])
    }

    /// Wins where nothing is tied, by the counts of pairs that are alike in two orders: `attribute_counts` says why.
    fn count_distinct(&self, entries: &[u32]) -> [u64; COLUMNS] {
        with_held!(self, held => {
            let (mut by_label, mut by_attribute) = (0, 0);
            for at in entries.iter().map(|&entry| position(entry)) {
                let Corner { label, attribute, .. } = self.corners[at];
                by_label += u64::from(held.labels.below(label));
                by_attribute += u64::from(held.attribute.below(attribute));
                held.labels.insert(label as usize);
                held.attribute.insert(attribute as usize);
            }
            let [greater, _, all] = self.totals;
            let wins = (by_label + by_attribute + greater - all) / 2;
            [wins, by_label - wins, by_label]
        })
    }

    /// Wins and ties.
    fn count_tied(&self, entries: &[u32]) -> ([u64; COLUMNS], [u64; COLUMNS]) {
        let (mut wins, mut ties) = ([0; COLUMNS], [0; COLUMNS]);
        let add = |to: &mut [u64; COLUMNS], counts: [u64; COLUMNS]| {
            to.iter_mut().zip(counts).for_each(|(to, count)| *to = to.wrapping_add(count));
        };
        with_held!(self, held => for equal in runs(entries) {
            let positions = || equal.iter().map(|&entry| position(entry));
            let won = held.sum(positions());
            add(&mut wins, won);
            positions().for_each(|at| held.insert(at));
            if equal.len() > 1 {
                // What is worse and held now but was not before has the same score.
                let with_ties = held.sum(positions());
                add(&mut ties, std::array::from_fn(|column| with_ties[column] - won[column]));
            }
        });
        (wins, ties)
    }
}

/// Which places are taken, in one order. Neither this nor a row is parted by lines of the cache.
#[repr(align(64))]
struct Taken<const W: usize> {
    words: [[u64; EIGHT]; W],
    /// How many there are before each word.
    before: [[u16; EIGHT]; W],
}

impl<const W: usize> Taken<W> {
    const NONE: Taken<W> = Taken { words: [[0; EIGHT]; W], before: [[0; EIGHT]; W] };

    #[inline(always)]
    fn insert(&mut self, place: usize) {
        self.words.as_flattened_mut()[place / WORD] |= 1 << (place % WORD);
        let step = &STEP[EIGHT * WIDEST - 1 - place / WORD..];
        self.before.as_flattened_mut().iter_mut().zip(step).for_each(|(before, step)| *before += step);
    }

    /// How many there are before the word of a place, and the word.
    #[inline(always)]
    fn word(&self, place: u32) -> (u32, u64) {
        let at = place as usize / WORD;
        (self.before.as_flattened()[at].into(), self.words.as_flattened()[at])
    }

    #[inline(always)]
    fn below(&self, place: u32) -> u32 {
        let (before, word) = self.word(place);
        before + (word & low_bits(place)).count_ones()
    }
}

/// The bits before that of a place in its word.
#[inline(always)]
fn low_bits(place: u32) -> u64 {
    (1 << (place % u64::BITS)) - 1
}

/// The examples held so far, in rows of `W` words. `FAST`: where nothing is tied or missing, in code that is compiled for a
/// processor which counts bits.
pub(super) struct HeldGrid<'a, const W: usize, const FAST: bool> {
    grid: &'a AttributeGrid,
    labels: Taken<W>,
    attribute: Taken<W>,
    /// The labels of those that have an attribute, where not all do or anything is tied.
    known: Taken<W>,
    /// How many there are, and how many of them have an attribute.
    all: u32,
    all_known: u32,
    /// In each eight of rows, what is in the rows before each, by block of labels.
    rows: [[[[u8; EIGHT]; W]; EIGHT]; W],
    /// The same of the eights before each.
    eights: [[[u8; EIGHT]; W]; W],
}

impl<'a, const W: usize, const FAST: bool> HeldGrid<'a, W, FAST> {
    /// Nothing held.
    #[inline(always)]
    pub(super) fn new(grid: &'a AttributeGrid) -> HeldGrid<'a, W, FAST> {
        HeldGrid {
            grid,
            labels: Taken::NONE,
            attribute: Taken::NONE,
            known: Taken::NONE,
            all: 0,
            all_known: 0,
            rows: [[[[0; EIGHT]; W]; EIGHT]; W],
            eights: [[[0; EIGHT]; W]; W],
        }
    }

    /// Whether nothing is tied or missing.
    #[inline(always)]
    fn is_distinct(&self) -> bool {
        FAST || self.grid.is_distinct
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, at: usize) {
        self.labels.insert(at);
        self.all += 1;
        let place = self.grid.place[at] as usize;
        if !FAST && place == NO_RANK as usize {
            return;
        }
        if !self.is_distinct() {
            self.known.insert(at);
            self.all_known += 1;
        }
        self.attribute.insert(place);
        let (column, row) = (at / WORD, place / WORD);
        RowSteps::add_after(&mut self.rows[row / EIGHT], row % EIGHT, column);
        RowSteps::add_after(&mut self.eights, row / EIGHT, column);
    }

    /// The partners of lower labels, by column.
    #[inline(always)]
    pub(super) fn below(&self, at: usize) -> [u32; COLUMNS] {
        if self.is_distinct() {
            let [_, lower, _, both] = self.around_corner(&self.grid.corners[at]);
            return [both, lower - both, lower];
        }
        let [start, end, ..] = self.corners(at);
        let known = self.known.below(start.label);
        [self.below_corner(start), known - self.below_corner(end), self.labels.below(start.label)]
    }

    /// The partners of higher labels, by column.
    #[inline(always)]
    pub(super) fn above(&self, at: usize) -> [u32; COLUMNS] {
        if self.is_distinct() {
            return self.around(at)[1];
        }
        let [_, _, start, end] = self.corners(at);
        let known = self.all_known - self.known.below(end.label);
        let through = self.attribute.below(end.attribute) - self.below_corner(end);
        let less = self.attribute.below(start.attribute) - self.below_corner(start);
        [known - through, less, self.all - self.labels.below(end.label)]
    }

    /// Both.
    #[inline(always)]
    pub(super) fn around(&self, at: usize) -> [[u32; COLUMNS]; 2] {
        if !self.is_distinct() {
            return [self.below(at), self.above(at)];
        }
        let [own, lower, attribute, both] = self.around_corner(&self.grid.corners[at]);
        let (higher, less) = (self.all - lower - own, attribute - both);
        [[both, lower - both, lower], [higher - less, less, higher]]
    }

    /// The four corners of a position.
    #[inline(always)]
    fn corners(&self, at: usize) -> &[Corner; 4] {
        &self.grid.corners.as_chunks().0[at]
    }

    /// Whether the example at a corner is held itself, and how many are below it in label, in the attribute and in both.
    #[inline(always)]
    fn around_corner(&self, corner: &Corner) -> [u32; 4] {
        let (labels, own) = self.labels.word(corner.label);
        let (attributes, others) = self.attribute.word(corner.attribute);
        let words = [
            own & low_bits(corner.label),
            others & low_bits(corner.attribute),
            own & corner.by_label,
            others & corner.by_attribute,
        ];
        let is_held = (own >> (corner.label % u64::BITS)) as u32 & 1;
        if FAST {
            let [left, lower, by_label, by_attribute] = words.map(u64::count_ones);
            let both = self.in_blocks(corner, 0) + by_label + by_attribute;
            return [is_held, labels + left, attributes + lower, both];
        }
        let bytes = byte_counts(words);
        let sum = |bytes: u64| (bytes.wrapping_mul(u64::MAX / 255) >> 56) as u32;
        let both = self.in_blocks(corner, bytes[2] + bytes[3]);
        [is_held, labels + sum(bytes[0]), attributes + sum(bytes[1]), both]
    }

    /// How many are below a corner in both orders.
    #[inline(always)]
    fn below_corner(&self, corner: &Corner) -> u32 {
        let words = [
            self.labels.word(corner.label).1 & corner.by_label,
            self.attribute.word(corner.attribute).1 & corner.by_attribute,
        ];
        let [by_label, by_attribute] = byte_counts(words);
        self.in_blocks(corner, by_label + by_attribute)
    }

    /// How many are in blocks below a corner in both orders, and in the bytes of a word.
    #[inline(always)]
    fn in_blocks(&self, corner: &Corner, bytes: u64) -> u32 {
        let (column, row) = (corner.label as usize / WORD, corner.attribute as usize / WORD);
        let (rows, eights) = (&self.rows[row / EIGHT][row % EIGHT], &self.eights[row / EIGHT]);
        let (before, _) = BEFORE[EIGHT * WIDEST - column..].as_chunks::<EIGHT>();
        let pairs = |bytes: u64| (bytes & 0x00ff_00ff_00ff_00ff) + (bytes >> 8 & 0x00ff_00ff_00ff_00ff);
        let mut sum = pairs(bytes);
        for ((row, eight), before) in rows.iter().zip(eights).zip(before) {
            let [row, eight, before] = [row, eight, before].map(|bytes| u64::from_le_bytes(*bytes));
            sum += pairs((row + eight) & before);
        }
        (sum.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
    }

    /// The partners of lower labels of some positions, by column.
    #[inline(always)]
    fn sum(&self, positions: impl Iterator<Item = usize>) -> [u64; COLUMNS] {
        let mut sums = [0; COLUMNS];
        for at in positions {
            sums.iter_mut().zip(self.below(at)).for_each(|(sum, count)| *sum += u64::from(count));
        }
        sums
    }
}

/// How many bits each byte of some words has.
#[inline(always)]
fn byte_counts<const N: usize>(words: [u64; N]) -> [u64; N] {
    const TWOS: u64 = u64::MAX / 3;
    const FOURS: u64 = u64::MAX / 5;
    const BYTES: u64 = u64::MAX / 17;
    words.map(|word| {
        let twos = word - (word >> 1 & TWOS);
        let fours = (twos & FOURS) + (twos >> 2 & FOURS);
        (fours + (fours >> 4)) & BYTES
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, Examples};
    use crate::pairs::index::{PairIndex, Sizes};
    use crate::rates::{Average, Rate};
    use proptest::prelude::*;
    use std::borrow::Cow;

    /// Values with ties, or without.
    fn values(n: usize, of: &[u16], levels: Option<u16>) -> Vec<f64> {
        let level = |i: usize| of[i % of.len()].wrapping_add((i / of.len() * 7_919) as u16);
        match levels {
            Some(levels) => (0..n).map(|i| f64::from(level(i) % levels)).collect(),
            None => (0..n).map(|i| f64::from(level(i)) + i as f64 / n as f64).collect(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

        /// Ties in any of the three orders, missing attributes, and rows of one, two and four words.
        #[test]
        fn counts_are_those_of_all_pairs(
            n in prop_oneof![3 => 1usize..7, 8 => 1usize..200, 2 => 500usize..530, 1 => 1_000usize..1_100],
            numbers in prop::collection::vec(any::<u16>(), 1..300),
            levels in prop::array::uniform3(prop::option::of(1u16..30)),
            missing in prop_oneof![Just(0), 2usize..9],
            held in prop::collection::vec(any::<bool>(), 1..50),
        ) {
            let [label, score] = [0, 1].map(|at| values(n, &numbers[at % numbers.len()..], levels[at]));
            let mut protected = values(n, &numbers[2 % numbers.len()..], levels[2]);
            let has_none = |row: usize| missing > 0 && row.is_multiple_of(missing);
            protected.iter_mut().enumerate().filter(|(row, _)| has_none(*row)).for_each(|(_, z)| *z = f64::NAN);
            let columns = Columns { labels: Some(&label), protected: Some(&protected), ..Columns::default() };
            let examples = Examples::new(columns).unwrap();
            let sizes = Sizes { small: 0, ..Sizes::default() };
            let rates = [Rate::AUC, Rate::Greater, Rate::Less];
            let index = PairIndex::build(Cow::Borrowed(&examples), &rates, sizes, Some(Average::Pairs));
            let (query, order) = (index.query(0), index.order(&score));
            let grid = query.grid.unwrap();
            // By row; neither is true of an attribute that is missing.
            let row = |at: usize| query.example[at] as usize;
            let columns = |better: usize, worse: usize| {
                let [better, worse] = [better, worse].map(|row| protected[row]);
                [better > worse, better < worse, true]
            };
            let mut slow = [[0; 3]; COLUMNS];
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| label[i] > label[j]) {
                for (sums, has) in slow.iter_mut().zip(columns(i, j)) {
                    sums[0] += u64::from(has && score[i] > score[j]);
                    sums[1] += u64::from(has && score[i] == score[j]);
                    sums[2] += u64::from(has);
                }
            }
            prop_assert_eq!(grid.count(order.entries(&query)), slow);
            let is_held = |at: usize| held[at % held.len()];
            let around = |at: usize| {
                let mut slow = [[0; COLUMNS]; 2];
                for (own, other) in (0..n).filter(|&other| is_held(other)).map(|other| (row(at), row(other))) {
                    let below = columns(own, other).map(|has| u32::from(has && label[other] < label[own]));
                    let above = columns(other, own).map(|has| u32::from(has && label[other] > label[own]));
                    for column in 0..COLUMNS {
                        slow[0][column] += below[column];
                        slow[1][column] += above[column];
                    }
                }
                slow
            };
            let slow: Vec<_> = (0..n).step_by(1 + n / 40).map(|at| (at, around(at))).collect();
            let held: Vec<usize> = (0..n).filter(|&at| is_held(at)).collect();
            match grid.words() {
                1 => check::<1>(grid, &held, &slow)?,
                2 => check::<2>(grid, &held, &slow)?,
                _ => {}
            }
            check::<4>(grid, &held, &slow)?;
        }
    }

    /// Positions with what is held around each.
    type Around = [(usize, [[u32; COLUMNS]; 2])];

    fn check<const W: usize>(
        grid: &AttributeGrid,
        held: &[usize],
        slow: &Around,
    ) -> Result<(), TestCaseError> {
        let mut all = HeldGrid::<W, false>::new(grid);
        held.iter().for_each(|&at| all.insert(at));
        for &(at, slow) in slow {
            prop_assert_eq!(all.around(at), slow);
            prop_assert_eq!([all.below(at), all.above(at)], slow);
        }
        if grid.is_distinct {
            let mut all = HeldGrid::<W, true>::new(grid);
            held.iter().for_each(|&at| all.insert(at));
            for &(at, slow) in slow {
                prop_assert_eq!(all.around(at), slow);
                prop_assert_eq!([all.below(at), all.above(at)], slow);
            }
        }
        Ok(())
    }
}
