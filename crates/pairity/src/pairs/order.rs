//! The order of given scores: the one sort of an evaluation, which counts, placements and slopes all walk through.
//!
//! A query that is not small has its positions by ascending score, equal scores by descending label: then a better
//! example that comes after a worse one has won, whatever ties there are.

use super::index::{PairIndex, QueryPairs};
use crate::examples::{TIED, sort_values};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Scores in the order of the examples, and the positions of all queries that are not small in the order of scores.
pub(crate) struct ScoreOrder<'s> {
    pub(crate) scores: &'s [f64],
    /// Empty if all queries are small.
    sorted: Vec<u32>,
}

/// The scores of one member in their order, and the chance that it is drawn.
pub(crate) struct DrawnOrder<'s> {
    pub order: ScoreOrder<'s>,
    /// By query; one where there are no queries.
    pub chances: &'s [f64],
}

impl DrawnOrder<'_> {
    /// The chance where all rows are one query.
    pub(super) fn chance(&self) -> f64 {
        self.chances.first().copied().unwrap_or(0.0)
    }
}

/// The position of an entry.
#[inline(always)]
pub(super) fn position(entry: u32) -> usize {
    (entry & !TIED) as usize
}

/// The runs of equal scores.
pub(super) fn runs(entries: &[u32]) -> impl Iterator<Item = &[u32]> {
    entries.chunk_by(|_, next| next & TIED != 0)
}

/// Where each position of a query stands in score order.
pub(super) struct Places {
    /// By position, marked where others have the same score.
    place: Vec<u32>,
    /// The places of equal scores, in order.
    tied: Vec<Range<u32>>,
}

impl Places {
    pub(super) fn new(entries: &[u32]) -> Places {
        let mut place = vec![0; entries.len()];
        let mut tied: Vec<Range<u32>> = Vec::new();
        for (at, &entry) in (0..).zip(entries) {
            let mut own = at;
            if entry & TIED != 0 {
                match tied.last_mut() {
                    Some(run) if run.end == at => run.end = at + 1,
                    _ => {
                        tied.push(at - 1..at + 1);
                        place[position(entries[at as usize - 1])] |= TIED;
                    }
                }
                own |= TIED;
            }
            place[position(entry)] = own;
        }
        Places { place, tied }
    }

    /// The place of a position alone.
    #[inline(always)]
    pub(super) fn of(&self, at: usize) -> usize {
        position(self.place[at])
    }

    /// The first place of its score, and the one behind the last.
    #[inline(always)]
    pub(super) fn run(&self, at: usize) -> Range<usize> {
        let place = self.of(at);
        if self.place[at] & TIED == 0 {
            return place..place + 1;
        }
        let run = self.tied.partition_point(|run| run.end as usize <= place);
        self.tied[run].start as usize..self.tied[run].end as usize
    }
}

impl PairIndex<'_> {
    /// Sorts scores, which are in the order of the examples.
    pub(crate) fn order<'s>(&self, scores: &'s [f64]) -> ScoreOrder<'s> {
        let examples = self.examples();
        let is_sorted = |block: &usize| self.is_sorted(&examples.block(*block));
        if !(0..examples.blocks()).any(|block| is_sorted(&block)) {
            return ScoreOrder::unsorted(scores);
        }
        let mut sorted = vec![0; scores.len()];
        self.by_task(&mut sorted).into_par_iter().for_each(|(task, own)| {
            let start = examples.block(task.start).start;
            for block in task.filter(is_sorted) {
                let query = self.query(block);
                sort(&query, scores, &mut own[query.range.start - start..query.range.end - start]);
            }
        });
        ScoreOrder { scores, sorted }
    }
}

/// Sorts the positions of one query.
fn sort(query: &QueryPairs, scores: &[f64], sorted: &mut [u32]) {
    let scores = &scores[query.range.clone()];
    sort_values(sorted, |position| scores[query.example[position] as usize]);
    // Equal scores are by position, which is ascending order of label.
    if !query.rank.is_empty() {
        sort_ties(sorted, |position| (u32::MAX - query.rank[position as usize], position));
    }
}

/// Puts equal scores in the order of `key` of their positions.
fn sort_ties<K: Ord>(entries: &mut [u32], key: impl Fn(u32) -> K) {
    for run in entries.chunk_by_mut(|_, next| next & TIED != 0).filter(|run| run.len() > 1) {
        run.iter_mut().for_each(|entry| *entry &= !TIED);
        run.sort_unstable_by_key(|&position| key(position));
        run.iter_mut().skip(1).for_each(|entry| *entry |= TIED);
    }
}

impl<'s> ScoreOrder<'s> {
    /// Scores whose order is not asked for, as totals do not depend on it.
    pub(super) fn unsorted(scores: &'s [f64]) -> ScoreOrder<'s> {
        ScoreOrder { scores, sorted: Vec::new() }
    }

    /// The scores of a query's examples.
    pub(super) fn scores(&self, query: &QueryPairs) -> &[f64] {
        &self.scores[query.range.clone()]
    }

    /// The entries of a query that is not small; none of scores that were not sorted.
    pub(super) fn entries(&self, query: &QueryPairs) -> &[u32] {
        if self.sorted.is_empty() { &[] } else { &self.sorted[query.range.clone()] }
    }

    /// The same with equal scores in the order of `key` of their positions, by which sums are defined.
    pub(super) fn entries_by<K: Ord>(&self, query: &QueryPairs, key: impl Fn(u32) -> K) -> Cow<'_, [u32]> {
        let mut entries = Cow::Borrowed(self.entries(query));
        if entries.iter().any(|entry| entry & TIED != 0) {
            sort_ties(entries.to_mut(), key);
        }
        entries
    }
}
