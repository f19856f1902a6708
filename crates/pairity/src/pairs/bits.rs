//! Pairs by the order of a continuous attribute as bits, for one query of at most some thousand examples that is
//! evaluated again and again: what an example's pairs come to is a few words for each of them, 64 partners at a time.

use super::attribute_counts::AttributeCounts;
use super::index::{NO_RANK, QueryPairs};
use super::order::{position, runs};

const WORD: usize = u64::BITS as usize;

/// The most words of a row.
const WORDS: usize = 32;

/// The most examples whose pairs can be kept.
pub(super) const MOST: usize = WORD * WORDS - 1;

/// 32 of these from some index on are what an insertion adds to the counts before each word.
const STEP: [u16; 2 * WORDS] = {
    let mut step = [0; 2 * WORDS];
    let mut i = WORDS;
    while i < step.len() {
        step[i] = 1;
        i += 1;
    }
    step
};

/// The pairs of unequal labels in which both examples have an attribute.
pub(super) struct PairBits {
    /// Words of a row; there is room behind the last position.
    words: usize,
    /// A row for each position, with the partners in pairs whose better example has the greater attribute.
    greater: Vec<u64>,
    /// The same for pairs whose better example has the lesser one; empty if these are all other pairs of unequal labels.
    less: Vec<u64>,
    /// How many pairs there are of both kinds.
    totals: [u64; 2],
}

/// Columns of counts: pairs of the greater attribute, of the lesser one, and all pairs of unequal labels.
pub(super) const COLUMNS: usize = 3;

impl PairBits {
    pub(super) fn new(query: &QueryPairs) -> PairBits {
        let (n, words) = (query.len(), query.len() / WORD + 1);
        let (mut greater, mut less) = (vec![0u64; n * words], vec![0u64; n * words]);
        for better in 0..n {
            for worse in 0..query.first[better] as usize {
                let ranks = [query.attribute[better], query.attribute[worse]];
                if ranks[0] == ranks[1] || ranks.contains(&NO_RANK) {
                    continue;
                }
                let rows = if ranks[0] > ranks[1] { &mut greater } else { &mut less };
                rows[better * words + worse / WORD] |= 1 << (worse % WORD);
                rows[worse * words + better / WORD] |= 1 << (better % WORD);
            }
        }
        // Each pair stands in two rows.
        let totals = [&greater, &less]
            .map(|rows| rows.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() / 2);
        if totals[0] + totals[1] == query.first.iter().map(|&worse| u64::from(worse)).sum::<u64>() {
            less = Vec::new();
        }
        PairBits { words, greater, less, totals }
    }

    /// The pairs that are won, from the positions in score order.
    pub(super) fn count(&self, query: &QueryPairs, entries: &[u32]) -> AttributeCounts {
        let (mut held, mut wins) = (HeldBits::new(self, query), [0; 2]);
        for equal in runs(entries) {
            for &entry in equal {
                let [greater, less, _] = held.below(position(entry));
                wins = [wins[0] + u64::from(greater), wins[1] + u64::from(less)];
            }
            equal.iter().for_each(|&entry| held.insert(position(entry)));
        }
        AttributeCounts { wins, totals: Some(self.totals) }
    }
}

/// The examples inserted so far, by position.
pub(super) struct HeldBits<'a> {
    bits: &'a PairBits,
    query: &'a QueryPairs<'a>,
    held: Vec<u64>,
    /// How many there are before each word.
    before: [u16; WORDS],
    all: u32,
}

impl<'a> HeldBits<'a> {
    /// Nothing inserted.
    pub(super) fn new(bits: &'a PairBits, query: &'a QueryPairs<'a>) -> HeldBits<'a> {
        HeldBits { bits, query, held: vec![0; bits.words], before: [0; WORDS], all: 0 }
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, at: usize) {
        self.held[at / WORD] |= 1 << (at % WORD);
        let step = &STEP[WORDS - 1 - at / WORD..];
        self.before.iter_mut().zip(step).for_each(|(before, step)| *before += step);
        self.all += 1;
    }

    /// The partners of lower labels, by column.
    #[inline(always)]
    pub(super) fn below(&self, at: usize) -> [u32; COLUMNS] {
        let (word, mask) = split_at(self.query.first[at]);
        let all = u32::from(self.before[word]) + (self.held[word] & mask).count_ones();
        self.columns(at, all, |row, held| {
            common(&row[..word], &held[..word]) + (row[word] & held[word] & mask).count_ones()
        })
    }

    /// The partners of higher labels, by column.
    #[inline(always)]
    pub(super) fn above(&self, at: usize) -> [u32; COLUMNS] {
        let (word, mask) = split_at(self.query.end[at]);
        let through = u32::from(self.before[word]) + (self.held[word] & mask).count_ones();
        let all = self.all - through;
        self.columns(at, all, |row, held| {
            common(&row[word + 1..], &held[word + 1..]) + (row[word] & held[word] & !mask).count_ones()
        })
    }

    #[inline(always)]
    fn columns(&self, at: usize, all: u32, count: impl Fn(&[u64], &[u64]) -> u32) -> [u32; COLUMNS] {
        let row = at * self.bits.words..(at + 1) * self.bits.words;
        let greater = count(&self.bits.greater[row.clone()], &self.held);
        let less =
            if self.bits.less.is_empty() { all - greater } else { count(&self.bits.less[row], &self.held) };
        [greater, less, all]
    }
}

/// The word of a position, and the bits in it that come before.
#[inline(always)]
fn split_at(at: u32) -> (usize, u64) {
    (at as usize / WORD, (1 << (at as usize % WORD)) - 1)
}

/// How many bits two lists have in common: counted by byte, two words at a time, and added up every 31 times, as a byte of a
/// sum has room for 31 counts up to 8.
#[inline(always)]
fn common(a: &[u64], b: &[u64]) -> u32 {
    const TWOS: u64 = u64::MAX / 3;
    const FOURS: u64 = u64::MAX / 5;
    const BYTES: u64 = u64::MAX / 17;
    let mut sum = 0;
    for (a, b) in a.chunks(62).zip(b.chunks(62)) {
        let ((a, rest), (b, other_rest)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
        let mut lanes = [0; 2];
        for (a, b) in a.iter().zip(b) {
            for lane in 0..2 {
                let word = a[lane] & b[lane];
                let twos = word - (word >> 1 & TWOS);
                let fours = (twos & FOURS) + (twos >> 2 & FOURS);
                lanes[lane] += (fours + (fours >> 4)) & BYTES;
            }
        }
        let pairs = |bytes: u64| (bytes & 0x00ff_00ff_00ff_00ff) + (bytes >> 8 & 0x00ff_00ff_00ff_00ff);
        let counts = pairs(lanes[0]) + pairs(lanes[1]);
        sum += (counts.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32;
        sum += rest.iter().zip(other_rest).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn common_bits_are_counted_one_by_one(
            lists in prop::collection::vec((any::<u64>(), prop_oneof![any::<u64>(), Just(u64::MAX)]), 0..200),
            full: bool,
        ) {
            let a: Vec<u64> = lists.iter().map(|&(a, _)| if full { u64::MAX } else { a }).collect();
            let b: Vec<u64> = lists.iter().map(|&(_, b)| if full { u64::MAX } else { b }).collect();
            let slow: u32 = a.iter().zip(&b).map(|(a, b)| (a & b).count_ones()).sum();
            prop_assert_eq!(common(&a, &b), slow);
        }
    }
}
