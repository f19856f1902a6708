//! Counts of a small query where every pair counts one: label-ordered pairs and all pairs in one loop over pairs.
//!
//! What a pair adds to the cell of its groups depends on two comparisons with three outcomes each. So it is a word of
//! a table of nine, with the five numbers of a cell side by side in it.

use super::index::QueryPairs;

/// Bits of a number in a word: pairs of two examples of one group count twice.
const BITS: u32 = 12;

/// The most examples whose pairs the numbers can hold.
pub(super) const MOST: usize = 63;

/// Numbers of a word, from the lowest: label-ordered pairs, wins and ties of these; wins and ties whatever the labels.
const LABELED: u64 = 1;
const LABELED_WIN: u64 = 1 << BITS;
const LABELED_TIE: u64 = 1 << (2 * BITS);
const WIN: u64 = 1 << (3 * BITS);
const TIE: u64 = 1 << (4 * BITS);

/// By the comparison of labels, then by that of scores: less, equal, greater.
const ADDED: [u64; 9] =
    [0, TIE, WIN, 0, TIE, WIN, LABELED, LABELED + LABELED_TIE + TIE, LABELED + LABELED_WIN + WIN];

/// The pairs whose first example is of one group, and the second of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct SmallCell(u64);

impl SmallCell {
    fn number(self, at: u32) -> u64 {
        self.0 >> (at * BITS) & ((1 << BITS) - 1)
    }

    /// Pairs whose first example is better, wins and ties among them.
    pub(super) fn labeled(self) -> [u64; 3] {
        [0, 1, 2].map(|at| self.number(at))
    }

    /// Wins and ties whatever the labels.
    pub(super) fn all(self) -> [u64; 2] {
        [3, 4].map(|at| self.number(at))
    }
}

/// The cells of one query after another.
#[derive(Debug, Clone, Default)]
pub(super) struct SmallCells {
    /// By the group of the first example, then by that of the second.
    pub cells: Vec<SmallCell>,
    /// Examples of each group.
    pub sizes: Vec<u64>,
    rows: Vec<(f64, f64, usize)>,
}

impl SmallCells {
    /// Counts the pairs of a query of at most [`MOST`] examples, whose scores are in their order.
    #[inline(never)]
    pub(super) fn count(&mut self, query: &QueryPairs, scores: &[f64]) {
        let k = query.present.len();
        let labels = query.labels();
        let row = |(&example, &group): (&u32, &u16)| {
            let label = labels.get(example as usize).copied().unwrap_or(0.0);
            (label, scores[example as usize], usize::from(group))
        };
        self.rows.clear();
        self.rows.extend(query.example.iter().zip(query.group).map(row));
        self.cells.clear();
        self.cells.resize(k * k, SmallCell(0));
        self.sizes.clear();
        self.sizes.resize(k, 0);
        for (i, &(label, score, group)) in self.rows.iter().enumerate() {
            self.sizes[group] += 1;
            for &(other_label, other_score, other) in &self.rows[..i] {
                let by_label = usize::from(label >= other_label) + usize::from(label > other_label);
                let by_score = usize::from(score >= other_score) + usize::from(score > other_score);
                let at = 3 * by_label + by_score;
                self.cells[group * k + other].0 += ADDED[at];
                self.cells[other * k + group].0 += ADDED[8 - at];
            }
        }
    }
}
