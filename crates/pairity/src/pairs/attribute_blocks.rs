//! Net losses by the order of a continuous attribute, of one query of some thousand examples that is evaluated again and
//! again.
//!
//! Labels and attributes are parted into some *blocks* of about as many examples each, equal ones into the same. Where two
//! examples are of different blocks in both orders, their blocks tell the class of the pair. Such pairs are summed: examples
//! are held in the order of scores, in a table of sums over all lower blocks,
//!
//! ```text
//! T[a][b] = (number, Σ s) of those held whose label is in a block below a, and whose attribute is in one below b
//! ```
//!
//! of which the held ones of each class follow by additions. Where a pair of a better i and a worse j weighs
//! Σ_p k_p (p − d)₊² / 2 with d = s_i − s_j, thresholds p = margin, 0, −margin, and Σ_p k_p = 0, slopes are
//!
//! ```text
//! ∂/∂s_j = Σ_p k_p E(s_j + p)                      over better i held        E(θ) = Σ (θ − s)₊ = θ · number − Σ s
//! ∂/∂s_i = −Σ_p k_p p − Σ_p k_p E(s_i − p)         over worse j, those held
//! ```
//!
//! as (p − d)₊ = (p − d) + (d − p)₊. Pairs of one block, in either order, are compared one by one, two at a time.

use super::index::{NO_RANK, QueryPairs};
use super::order::position;

/// The most blocks of an order.
pub(super) const MOST: usize = 24;

/// Pairs for each example that are compared one by one, at most: where labels or attributes have few values, blocks are long.
const COMPARED: usize = 200;

/// Partners that are compared at once.
const LANES: usize = 2;

/// Number and sum of scores.
type Held = [f64; 2];

/// Sums over lower blocks, from none of either order to all.
type Table = [[Held; MOST + 1]; MOST + 1];

/// What a class of pairs weighs: by the round hinge, and by the smooth step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ClassWeights {
    pub hinge: f64,
    pub step: f64,
}

/// The examples of a query in blocks of both orders.
pub(super) struct AttributeBlocks {
    /// At each position, the blocks of label and attribute.
    blocks: Vec<[u8; 2]>,
    /// How many there are of either.
    count: [usize; 2],
    /// At each position, the partners of lower blocks of labels, those of a lower and those of a higher block of attributes.
    worse: Vec<[f64; 2]>,
    /// Whether any attributes are equal.
    has_ties: bool,
    /// Positions by block of labels, and by block of attributes.
    lists: [BlockList; 2],
}

/// Examples block by block, those of each block in label order.
struct BlockList {
    position: Vec<u32>,
    /// The rank of the attribute of each.
    rank: Vec<f64>,
    /// The worse examples of its block that each is compared with: from one place to another.
    partners: Vec<[u32; 2]>,
}

/// Room that evaluations use again.
#[derive(Default)]
pub(super) struct BlockRoom {
    sorted: Vec<SortedExample>,
    scores: Vec<f64>,
    slopes: Vec<f64>,
    table: Option<Box<Table>>,
}

/// An example on its way into the table.
#[derive(Clone, Copy)]
struct SortedExample {
    score: f64,
    position: u32,
    blocks: [u8; 2],
}

/// The value of the pairs that were compared one by one, and margin times the derivative by it of the others.
pub(super) struct BlockValue {
    pub compared: f64,
    pub offset: f64,
}

/// Where blocks end, of examples whose values begin at these places: as many as there may be, and no value in two.
fn ends(first: &[u32], most: usize) -> Vec<usize> {
    let size = first.len().div_ceil(most).max(1);
    let mut ends = Vec::new();
    let mut end = 0;
    while end < first.len() {
        let last = first[first.len().min(end + size) - 1];
        end = first.partition_point(|&own| own <= last);
        ends.push(end);
    }
    ends
}

impl AttributeBlocks {
    /// In at most so many blocks of either order; none if an attribute is missing, or if too many pairs are of one block.
    pub(super) fn new(query: &QueryPairs, most: usize) -> Option<AttributeBlocks> {
        let (n, rank) = (query.len(), query.attribute);
        let most = most.min(MOST);
        if most < 2 || rank.contains(&NO_RANK) {
            return None;
        }
        let mut by_attribute: Vec<u32> = (0..n as u32).collect();
        by_attribute.sort_by_key(|&at| rank[at as usize]);
        let mut first = Vec::with_capacity(n);
        for equal in by_attribute.chunk_by(|&a, &b| rank[a as usize] == rank[b as usize]) {
            first.resize(first.len() + equal.len(), first.len() as u32);
        }
        let ends = [ends(query.first, most), ends(&first, most)];
        let mut blocks = vec![[0; 2]; n];
        let mut by_label: Vec<u32> = (0..n as u32).collect();
        for (which, order) in [&by_label, &by_attribute].into_iter().enumerate() {
            let mut start = 0;
            for (block, &end) in (0..).zip(&ends[which]) {
                order[start..end].iter().for_each(|&at| blocks[at as usize][which] = block);
                start = end;
            }
        }
        let labels = BlockList::new(&mut by_label, &ends[0], rank, |at, start| {
            [start, query.first[at as usize] as usize]
        });
        let attributes = BlockList::new(&mut by_attribute, &ends[1], rank, |_, start| [start, start]);
        let mut all = AttributeBlocks {
            count: [ends[0].len(), ends[1].len()],
            worse: vec![[0.0; 2]; n],
            has_ties: (0..).zip(&first).any(|(place, &first)| place != first),
            blocks,
            lists: [labels, attributes],
        };
        all.find_partners();
        let compared: u64 =
            all.lists.iter().flat_map(|list| &list.partners).map(|[from, to]| u64::from(to - from)).sum();
        (compared <= (COMPARED * n) as u64).then_some(all)
    }

    /// Counts the partners in lower blocks, and finds those of the same block of attributes.
    fn find_partners(&mut self) {
        let mut below = [[0.0; MOST + 1]; MOST + 1];
        for &[a, b] in &self.blocks {
            for row in &mut below[usize::from(a) + 1..] {
                row[usize::from(b) + 1..].iter_mut().for_each(|count| *count += 1.0);
            }
        }
        for (worse, &[a, b]) in self.worse.iter_mut().zip(&self.blocks) {
            let row = &below[usize::from(a)];
            *worse = [row[usize::from(b)], row[MOST] - row[usize::from(b) + 1]];
        }
        let BlockList { position, partners, .. } = &mut self.lists[1];
        let label = |place: usize| self.blocks[position[place] as usize][0];
        for (place, [start, end]) in partners.iter_mut().enumerate() {
            let lower = (*start as usize..place).take_while(|&other| label(other) < label(place)).count();
            *end = *start + lower as u32;
        }
    }

    /// Adds the slopes of all label-ordered pairs by position: to `slopes` those that are summed, to `direct` those of pairs
    /// that are compared. `classes` are the weights of pairs of equal attributes, of a greater one and of a lesser one.
    pub(super) fn add(
        &self,
        entries: &[u32],
        scores: &[f64],
        classes: &[ClassWeights; 3],
        margin: f64,
        [slopes, direct]: [&mut [f64]; 2],
        room: &mut BlockRoom,
    ) -> BlockValue {
        let offset = self.sum(entries, scores, classes, margin, slopes, room);
        let has_hinges = classes.iter().any(|class| class.hinge != 0.0);
        let by = margin.recip();
        let mut compared = 0.0;
        for list in &self.lists {
            room.scores.clear();
            room.scores.extend(list.position.iter().map(|&at| scores[at as usize] * by));
            room.slopes.clear();
            room.slopes.resize(list.position.len(), 0.0);
            let compare = match (has_hinges, self.has_ties) {
                (true, true) => BlockList::compare::<true, true>,
                (true, false) => BlockList::compare::<true, false>,
                (false, true) => BlockList::compare::<false, true>,
                (false, false) => BlockList::compare::<false, false>,
            };
            compared += compare(list, &room.scores, classes, &mut room.slopes);
            list.position.iter().zip(&room.slopes).for_each(|(&at, slope)| direct[at as usize] += slope * by);
        }
        BlockValue { compared, offset }
    }

    /// The pairs whose blocks differ in both orders; returns their offset.
    fn sum(
        &self,
        entries: &[u32],
        scores: &[f64],
        [_, greater, less]: &[ClassWeights; 3],
        margin: f64,
        slopes: &mut [f64],
        room: &mut BlockRoom,
    ) -> f64 {
        let BlockRoom { sorted, table, .. } = room;
        sorted.clear();
        sorted.extend(entries.iter().map(|&entry| {
            let at = position(entry);
            SortedExample { score: scores[at], position: at as u32, blocks: self.blocks[at] }
        }));
        let table = &mut **table.get_or_insert_with(|| Box::new([[[0.0; 2]; MOST + 1]; MOST + 1]));
        table.as_flattened_mut().fill([0.0; 2]);
        // Σ_p k_p p is that of the hinge alone.
        let fall = [greater, less].map(|class| class.hinge / margin);
        for (slope, worse) in slopes.iter_mut().zip(&self.worse) {
            *slope -= fall[0] * worse[0] + fall[1] * worse[1];
        }
        let square = (margin * margin).recip();
        let [near, middle, far] = [[0.5, 1.0], [0.0, -2.0], [-0.5, 1.0]].map(|[hinge, step]| {
            [greater, less].map(|class| square * (hinge * class.hinge + step * class.step))
        });
        // Thresholds, with the weights of better partners and of worse ones there.
        let readers = [
            Reader { shift: -margin, better: far, worse: near },
            Reader { shift: 0.0, better: middle, worse: middle },
            Reader { shift: margin, better: near, worse: far },
        ];
        let mut next = [0; 3];
        let mut offset = 0.0;
        for at in 0..=sorted.len() {
            let limit = sorted.get(at).map_or(f64::INFINITY, |own| own.score);
            for (reader, next) in readers.iter().zip(&mut next) {
                if reader.is_idle() {
                    continue;
                }
                while let Some(own) = sorted.get(*next).filter(|own| own.score + reader.shift <= limit) {
                    let [better, worse] = self.read(table, own, reader);
                    slopes[own.position as usize] += better - worse;
                    offset += reader.shift * better;
                    *next += 1;
                }
            }
            if let Some(own) = sorted.get(at) {
                self.hold(table, own);
            }
        }
        offset
    }

    #[inline(always)]
    fn hold(&self, table: &mut Table, own: &SortedExample) {
        let [a, b] = own.blocks.map(usize::from);
        let [labels, attributes] = self.count;
        for row in &mut table[a + 1..=labels] {
            for [number, sum] in &mut row[b + 1..=attributes] {
                *number += 1.0;
                *sum += own.score;
            }
        }
    }

    /// What the better partners and the worse ones that are held come to.
    #[inline(always)]
    fn read(&self, table: &Table, own: &SortedExample, reader: &Reader) -> [f64; 2] {
        let [a, b] = own.blocks.map(usize::from);
        let [labels, attributes] = self.count;
        let (own_row, next, all) = (&table[a], &table[a + 1], &table[labels]);
        let theta = own.score + reader.shift;
        let earned = |held: [f64; 2]| theta * held[0] - held[1];
        let of = |[greater, less]: [f64; 2], higher: [f64; 2], lower: [f64; 2]| -> Held {
            [greater * higher[0] + less * lower[0], greater * higher[1] + less * lower[1]]
        };
        let minus = |x: Held, y: Held| [x[0] - y[0], x[1] - y[1]];
        // A better partner of a higher attribute makes a pair of the greater one, and so does a worse one of a lower attribute.
        let lower = minus(all[b], next[b]);
        let higher = minus(minus(all[attributes], next[attributes]), minus(all[b + 1], next[b + 1]));
        let better = earned(of(reader.better, higher, lower));
        let worse = earned(of(reader.worse, own_row[b], minus(own_row[attributes], own_row[b + 1])));
        [better, worse]
    }
}

/// A threshold at which held examples are read, and what pairs of a greater and a lesser attribute weigh there.
struct Reader {
    shift: f64,
    better: [f64; 2],
    worse: [f64; 2],
}

impl Reader {
    fn is_idle(&self) -> bool {
        self.better == [0.0; 2] && self.worse == [0.0; 2]
    }
}

impl BlockList {
    /// Sorts the examples of each block by position; `from` tells of a position and the place where its block starts.
    fn new(
        order: &mut [u32],
        ends: &[usize],
        rank: &[u32],
        from: impl Fn(u32, usize) -> [usize; 2],
    ) -> BlockList {
        let mut partners = Vec::with_capacity(order.len());
        let mut start = 0;
        for &end in ends {
            order[start..end].sort_unstable();
            partners.extend(order[start..end].iter().map(|&at| from(at, start).map(|place| place as u32)));
            start = end;
        }
        let rank = order.iter().map(|&at| f64::from(rank[at as usize])).collect();
        BlockList { position: order.to_vec(), rank, partners }
    }

    /// Compares each example with its partners, by scores as shares of the margin; returns the value.
    fn compare<const HINGES: bool, const TIED: bool>(
        &self,
        scores: &[f64],
        classes: &[ClassWeights; 3],
        slopes: &mut [f64],
    ) -> f64 {
        let mut value = 0.0;
        for (place, &[from, to]) in self.partners.iter().enumerate() {
            let range = from as usize..to as usize;
            let own = ComparedExample { score: scores[place], rank: self.rank[place], classes };
            let (scores, ranks) = (&scores[range.clone()], &self.rank[range.clone()]);
            let [values, falls] = own.with::<HINGES, TIED>(scores, ranks, &mut slopes[range]);
            value += values.iter().sum::<f64>();
            slopes[place] -= falls.iter().sum::<f64>();
        }
        value
    }
}

/// A better example that is compared with worse ones.
struct ComparedExample<'a> {
    score: f64,
    rank: f64,
    classes: &'a [ClassWeights; 3],
}

impl ComparedExample<'_> {
    /// The values and the slopes of pairs with some worse examples, to whose slopes they are added.
    #[inline(always)]
    fn with<const HINGES: bool, const TIED: bool>(
        &self,
        scores: &[f64],
        ranks: &[f64],
        slopes: &mut [f64],
    ) -> [[f64; LANES]; 2] {
        let (scores, last_scores) = scores.as_chunks::<LANES>();
        let (ranks, last_ranks) = ranks.as_chunks::<LANES>();
        let (slopes, last_slopes) = slopes.as_chunks_mut::<LANES>();
        let mut sums = [[0.0; LANES]; 2];
        for ((scores, ranks), slopes) in scores.iter().zip(ranks).zip(slopes) {
            for lane in 0..LANES {
                let [value, fall] = self.pair::<HINGES, TIED>(scores[lane], ranks[lane]);
                sums[0][lane] += value;
                sums[1][lane] += fall;
                slopes[lane] += fall;
            }
        }
        for ((&score, &rank), slope) in last_scores.iter().zip(last_ranks).zip(last_slopes) {
            let [value, fall] = self.pair::<HINGES, TIED>(score, rank);
            sums[0][0] += value;
            sums[1][0] += fall;
            *slope += fall;
        }
        sums
    }

    /// With u = −t: the step is (1 + u + u (1 − |u|)) / 2 and falls by 1 − |u|, and the hinge is h max(h, u) and falls by
    /// h = (1 + u) / 2, where u is cut to [−1, 1] but in the hinge's second factor.
    #[inline(always)]
    fn pair<const HINGES: bool, const TIED: bool>(&self, score: f64, rank: f64) -> [f64; 2] {
        let [equal, greater, less] = self.classes;
        let (is_greater, is_equal) = (mask(rank < self.rank), mask(rank == self.rank));
        let of = |of_equal, of_greater, of_less| {
            let unlike = choose(is_greater, of_greater, of_less);
            if TIED { choose(is_equal, of_equal, unlike) } else { unlike }
        };
        let u = score - self.score;
        let cut = u.clamp(-1.0, 1.0);
        let (fall, step) = (1.0 - cut.abs(), of(equal.step, greater.step, less.step));
        let (mut value, mut falls) = (step * (0.5 + 0.5 * (cut + cut * fall)), step * fall);
        if HINGES {
            let (hinge, half) = (of(equal.hinge, greater.hinge, less.hinge), 0.5 + 0.5 * cut);
            value += hinge * (half * if u > half { u } else { half });
            falls += hinge * half;
        }
        [value, falls]
    }
}

/// All bits, or none: a branch would be mispredicted, and keep lanes apart.
#[inline(always)]
fn mask(condition: bool) -> u64 {
    u64::from(condition).wrapping_neg()
}

#[inline(always)]
fn choose(mask: u64, one: f64, other: f64) -> f64 {
    f64::from_bits(one.to_bits() & mask | other.to_bits() & !mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, Examples};
    use crate::pairs::index::{PairIndex, Sizes};
    use crate::rates::{Average, Rate};
    use proptest::prelude::*;
    use std::borrow::Cow;

    /// Values with ties, or without; some that are equal are −0 and 0.
    fn values(n: usize, of: &[u16], levels: Option<u16>) -> Vec<f64> {
        let level = |i: usize| of[i % of.len()].wrapping_add((i / of.len() * 7_919) as u16);
        match levels {
            Some(levels) => (0..n)
                .map(|i| f64::from(level(i) % levels) * if i.is_multiple_of(2) { -1.0 } else { 1.0 })
                .collect(),
            None => (0..n).map(|i| f64::from(level(i)) + i as f64 / n as f64).collect(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

        /// Values and slopes against sums over all pairs, with any number of blocks.
        #[test]
        fn values_and_slopes_are_those_of_all_pairs(
            n in prop_oneof![3 => 1usize..7, 8 => 1usize..150, 1 => 300usize..400],
            numbers in prop::collection::vec(any::<u16>(), 1..300),
            levels in prop::array::uniform3(prop::option::of(1u16..30)),
            most in prop_oneof![2usize..6, Just(MOST)],
            weights in prop::array::uniform3((-2.0..2.0_f64, any::<bool>())),
            margin in prop_oneof![Just(0.5), 0.05..3.0_f64, Just(1e5)],
        ) {
            let [label, protected, score] =
                [0, 1, 2].map(|at| values(n, &numbers[at % numbers.len()..], levels[at]));
            let score: Vec<f64> = score.iter().map(|score| score / if levels[2].is_some() { 9.0 } else { 2e4 }).collect();
            let columns = Columns { labels: Some(&label), protected: Some(&protected), ..Columns::default() };
            let examples = Examples::new(columns).unwrap();
            let sizes = Sizes { small: 0, net_blocks: most, ..Sizes::default() };
            let rates = [Rate::AUC, Rate::Greater, Rate::Less];
            let index = PairIndex::build(Cow::Borrowed(&examples), &rates, sizes, Some(Average::Pairs));
            let (query, order) = (index.query(0), index.order(&score));
            let Some(blocks) = query.blocks else { return Ok(()) };
            let classes = weights.map(|(weight, is_step)| match is_step || weight < 0.0 {
                true => ClassWeights { hinge: 0.0, step: weight },
                false => ClassWeights { hinge: weight, step: 0.0 },
            });
            let row = |at: usize| query.example[at] as usize;
            let scores: Vec<f64> = (0..n).map(|at| score[row(at)]).collect();
            let (mut summed, mut direct) = (vec![0.0; n], vec![0.0; n]);
            let room = &mut BlockRoom::default();
            let mut found = BlockValue { compared: 0.0, offset: 0.0 };
            // The second time in room that was used.
            for _ in 0..2 {
                summed.fill(0.0);
                direct.fill(0.0);
                let slopes = [&mut summed[..], &mut direct[..]];
                found = blocks.add(order.entries(&query), &scores, &classes, margin, slopes, room);
            }
            let moment: f64 = summed.iter().zip(&scores).map(|(slope, score)| slope * score).sum();
            let value = found.compared + (found.offset + moment) / 2.0;

            let (mut slow, mut slopes) = (0.0, vec![0.0; n]);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let ([i_row, j_row], t) = ([row(i), row(j)], (scores[i] - scores[j]) / margin);
                if label[i_row] <= label[j_row] {
                    continue;
                }
                let class = match protected[i_row].total_cmp(&protected[j_row]) {
                    _ if protected[i_row] == protected[j_row] => classes[0],
                    std::cmp::Ordering::Greater => classes[1],
                    _ => classes[2],
                };
                let square = |x: f64| x.max(0.0).powi(2);
                let (a, b, c) = (square(1.0 - t), square(-t), square(-1.0 - t));
                slow += class.hinge * (a - c) / 4.0 + class.step * (a - 2.0 * b + c) / 2.0;
                let (a, b, c) = ((1.0 - t).max(0.0), (-t).max(0.0), (-1.0 - t).max(0.0));
                let fall = (class.hinge * (a - c) / 2.0 + class.step * (a - 2.0 * b + c)) / margin;
                slopes[i] -= fall;
                slopes[j] += fall;
            }
            let near = |x: f64, y: f64, size: f64| (x - y).abs() <= 1e-9 * (size + y.abs());
            prop_assert!(near(value, slow, (n * n) as f64), "{value} {slow}");
            for at in 0..n {
                let own = summed[at] + direct[at];
                prop_assert!(near(own, slopes[at], n as f64 / margin), "{at}: {own} {}", slopes[at]);
            }
        }
    }

    #[test]
    fn no_block_has_a_part_of_equal_values_and_there_are_no_more_than_allowed() {
        assert_eq!(ends(&[0, 1, 2, 3, 4, 5], 3), [2, 4, 6]);
        assert_eq!(ends(&[0, 1, 1, 1, 4, 5], 3), [4, 6]);
        assert_eq!(ends(&[0, 0, 0, 0], 3), [4]);
        assert!(ends(&[], 3).is_empty());
    }
}
