//! How many were inserted below any position, while more are inserted.
//!
//! A tree. Its lowest level has a bit for each position, and its upper levels have blocks of 16 entries: one
//! of the first upper level holds the count of the words before it in its block, one of the next level that of
//! the blocks before it, and so on. A count reads one entry a level, and an insertion adds to what follows in
//! one block a level: a few vector instructions and no branch.

use crate::threads;

/// Positions of a word of the lowest level.
const WORD: usize = u64::BITS as usize;

/// Entries of a block.
const WIDE: usize = 16;

/// What an insertion adds to the entries of a block: 16 of these from some index on.
const STEP: [i32; 2 * WIDE] = {
    let mut step = [0; 2 * WIDE];
    let mut i = WIDE;
    while i < step.len() {
        step[i] = 1;
        i += 1;
    }
    step
};

/// RankTree in `G` columns.
pub(super) struct RankTree<const G: usize> {
    words: Vec<[u64; G]>,
    /// As many of these levels as positions need; those above wait for more.
    upper: Vec<Vec<[[i32; WIDE]; G]>>,
    levels: usize,
    /// How many positions there are.
    pub positions: usize,
    /// How many were inserted.
    pub all: [i32; G],
}

impl<const G: usize> Default for RankTree<G> {
    fn default() -> RankTree<G> {
        RankTree { words: Vec::new(), upper: Vec::new(), levels: 0, positions: 0, all: [0; G] }
    }
}

impl<const G: usize> RankTree<G> {
    /// Nothing inserted, with positions below `n`, in the same memory.
    pub(super) fn reset(&mut self, n: usize) {
        (self.positions, self.all) = (n, [0; G]);
        self.words.clear();
        self.words.resize(n / WORD + 1, [0; G]);
        self.levels = 0;
        let mut below = self.words.len();
        while below > 1 {
            below = below.div_ceil(WIDE);
            if self.levels == self.upper.len() {
                self.upper.push(Vec::new());
            }
            let level = &mut self.upper[self.levels];
            level.clear();
            level.resize(below, [[0; WIDE]; G]);
            self.levels += 1;
        }
    }

    /// Inserts at a position where there is nothing yet.
    #[inline(always)]
    pub(super) fn insert(&mut self, position: usize, column: usize) {
        self.all[column] += 1;
        let mut at = position / WORD;
        self.words[at][column] |= 1 << (position % WORD);
        for level in &mut self.upper[..self.levels] {
            let step = &STEP[WIDE - 1 - at % WIDE..];
            at /= WIDE;
            level[at][column].iter_mut().zip(step).for_each(|(entry, step)| *entry += step);
        }
    }

    /// Inserts at many positions, each of a column, where there is nothing yet: where they are many, entries are counted
    /// anew after all of them.
    pub(super) fn extend(&mut self, inserted: impl Iterator<Item = (usize, usize)>) {
        if inserted.size_hint().1.is_some_and(|most| most < self.words.len()) {
            return inserted.for_each(|(position, column)| self.insert(position, column));
        }
        for (position, column) in inserted {
            self.all[column] += 1;
            self.words[position / WORD][column] |= 1 << (position % WORD);
        }
        let mut below: Vec<[i32; G]> =
            self.words.iter().map(|words| words.map(|word| word.count_ones() as i32)).collect();
        for level in &mut self.upper[..self.levels] {
            let count = |(block, entries): (&mut [[i32; WIDE]; G], &[[i32; G]])| {
                let mut before = [0; G];
                for (at, own) in entries.iter().chain(std::iter::repeat(&[0; G])).take(WIDE).enumerate() {
                    block.iter_mut().zip(&before).for_each(|(column, &before)| column[at] = before);
                    before.iter_mut().zip(own).for_each(|(before, own)| *before += own);
                }
                before
            };
            below = level.iter_mut().zip(below.chunks(WIDE)).map(count).collect();
        }
    }

    /// Brings what counts at these positions read into the cache, many at once: one by one they would wait for it.
    pub(super) fn touch(&self, positions: impl Iterator<Item = usize>) {
        let word = |position: usize| &self.words[position / WORD];
        std::hint::black_box(positions.map(word).fold(0, |all, word| all ^ word[0] ^ word[G - 1]));
    }

    /// How many there are before `position`, which may be `n`.
    #[inline(always)]
    pub(super) fn before(&self, position: usize) -> [i32; G] {
        let mut at = position / WORD;
        let below = (1 << (position % WORD)) - 1;
        let mut counts = self.words[at].map(|word| (word & below).count_ones() as i32);
        for level in &self.upper[..self.levels] {
            let entry = at % WIDE;
            at /= WIDE;
            counts.iter_mut().zip(&level[at]).for_each(|(count, entries)| *count += entries[entry]);
        }
        counts
    }

    /// How many there are before `first`, and how many from `end` on, which comes after it.
    #[inline(always)]
    pub(super) fn around(&self, first: usize, end: usize) -> [[i32; G]; 2] {
        let before = self.before(first);
        let through = match end == first + 1 {
            true => {
                let words = self.words[first / WORD];
                std::array::from_fn(|g| before[g] + (words[g] >> (first % WORD) & 1) as i32)
            }
            false => self.before(end),
        };
        [before, std::array::from_fn(|g| self.all[g] - through[g])]
    }
}

/// How many there are below any position, where nothing is inserted any more: what is there in a word beside what is
/// before it, so that a count reads one place.
pub(super) struct RankList<const G: usize> {
    words: Vec<([u64; G], [i32; G])>,
    /// How many there are.
    pub all: [i32; G],
}

impl<const G: usize> RankList<G> {
    /// Positions below `n`, each in a column, or in none if `column` tells a higher one.
    pub(super) fn new(n: usize, column: impl Fn(usize) -> usize + Sync) -> RankList<G> {
        let mut words: Vec<([u64; G], [i32; G])> = vec![([0; G], [0; G]); n / WORD + 1];
        threads::fill(&mut words, &|from, own| {
            for ((words, _), start) in own.iter_mut().zip((from * WORD..).step_by(WORD)) {
                for (position, bit) in (start..n).zip(0..WORD) {
                    let own = column(position);
                    words.iter_mut().enumerate().for_each(|(at, word)| *word |= u64::from(at == own) << bit);
                }
            }
        });
        let mut all = [0; G];
        for (word, before) in &mut words {
            *before = all;
            all.iter_mut().zip(word).for_each(|(all, word)| *all += word.count_ones() as i32);
        }
        RankList { words, all }
    }

    /// Brings what counts at these positions read into the cache, as [`RankTree::touch`] does.
    pub(super) fn touch(&self, positions: impl Iterator<Item = usize>) {
        let word = |position: usize| &self.words[position / WORD];
        std::hint::black_box(positions.map(word).fold(0, |all, word| all ^ word.0[0] ^ word.1[G - 1] as u64));
    }

    /// How many there are before `position`, which may be `n`.
    #[inline(always)]
    pub(super) fn before(&self, position: usize) -> [i32; G] {
        let (word, mut counts) = self.words[position / WORD];
        let below = (1 << (position % WORD)) - 1;
        counts.iter_mut().zip(word).for_each(|(count, word)| *count += (word & below).count_ones() as i32);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn counts_are_those_of_a_list(
            before in 1usize..3_000,
            n in prop_oneof![1usize..200, 1usize..40_000],
            steps in prop::collection::vec((0usize..40_000, 0usize..2), 1..200),
            many in 0usize..3,
        ) {
            // What was there before a reset leaves no trace.
            let mut counts = RankTree::<2>::default();
            counts.reset(before);
            (0..before).for_each(|position| counts.insert(position, position % 2));
            counts.reset(n);
            let mut inserted: Vec<(usize, usize)> = Vec::new();
            let count = |inserted: &[(usize, usize)], position: usize| {
                [0, 1].map(|column| inserted.iter().filter(|&&(at, of)| at < position && of == column).count() as i32)
            };
            for (at, column) in steps {
                let at = at % n;
                prop_assert_eq!(counts.before(at), count(&inserted, at));
                if inserted.iter().all(|&(other, _)| other != at) {
                    inserted.push((at, column));
                    counts.insert(at, column);
                }
                prop_assert_eq!(counts.before(at + 1), count(&inserted, at + 1));
            }
            prop_assert_eq!(counts.before(n), count(&inserted, n));
            prop_assert_eq!(counts.all, count(&inserted, n));
            // Many at once, and few, beside what is there.
            let rest = (0..n).filter(|at| inserted.iter().all(|(other, _)| other != at));
            let (some, others): (Vec<usize>, Vec<usize>) = rest.partition(|at| at % 3 == many);
            for positions in [some, others.into_iter().take(5).collect()] {
                let more: Vec<(usize, usize)> = positions.into_iter().map(|at| (at, at / 3 % 2)).collect();
                counts.extend(more.iter().copied());
                inserted.extend(more);
                for at in [0, 1, n / 3, n / 2, n - 1, n] {
                    prop_assert_eq!(counts.before(at), count(&inserted, at));
                }
            }
            prop_assert_eq!(counts.all, count(&inserted, n));
            let column = |at: usize| inserted.iter().find(|(other, _)| *other == at).map_or(7, |found| found.1);
            let columns: Vec<usize> = (0..n).map(column).collect();
            let list = RankList::<2>::new(n, |at| columns[at]);
            for at in [0, 1, n / 3, n / 2, n - 1, n] {
                prop_assert_eq!(list.before(at), count(&inserted, at));
            }
            prop_assert_eq!(list.all, counts.all);
        }
    }
}
