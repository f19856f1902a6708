//! The order of given scores: the one sort of an evaluation, which counts, placements and slopes all walk through.
//!
//! A query that is not small has its positions by ascending score, equal scores by descending label: then a better
//! example that comes after a worse one has won, whatever ties there are.

use super::index::{PairIndex, QueryPairs};
use crate::examples::{TIED, sort_values};
use crate::rooms::{Lent, Rooms};
use crate::threads::{self, WORTH};
use rayon::prelude::*;
use std::ops::{Deref, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Scores in the order of the examples, and the positions of all queries that are not small in the order of scores.
pub(crate) struct ScoreOrder<'s> {
    pub(crate) scores: &'s [f64],
    /// Empty if all queries are small.
    sorted: Lent<Vec<u32>>,
    /// Of the one query that has all examples. Work that asks for it is never done while another thread waits for it.
    places: OnceLock<Lent<Places>>,
    /// Whether counts keep what they find of each example, for placements.
    keeps: bool,
    kept: OnceLock<KeptCounts>,
}

/// How many examples of each group have a lower label and a lower score, by position: where labels are distinct, scores
/// are so too, and groups are few.
pub(super) struct KeptCounts {
    /// Numbers of a position, as many as groups or more.
    pub width: usize,
    pub lower: Vec<i32>,
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

impl KeptCounts {
    /// Those of a position; 0 where there is no group.
    #[inline(always)]
    pub(super) fn at<const G: usize>(&self, at: usize) -> [i32; G] {
        let own = &self.lower[at * self.width..][..self.width];
        match own.try_into() {
            Ok(all) => all,
            Err(_) => std::array::from_fn(|column| own.get(column).copied().unwrap_or(0)),
        }
    }
}

/// Entries of a query, where they stand or in another order.
pub(super) enum Entries<'o> {
    Sorted(&'o [u32]),
    Other(Lent<Vec<u32>>),
}

impl Deref for Entries<'_> {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Entries::Sorted(entries) => entries,
            Entries::Other(entries) => entries,
        }
    }
}

/// The places of a query: those that are kept of the one that has all examples, or others.
pub(super) enum QueryPlaces<'o> {
    OfAll(&'o Places),
    Own(Lent<Places>),
}

impl Deref for QueryPlaces<'_> {
    type Target = Places;

    fn deref(&self) -> &Places {
        match self {
            QueryPlaces::OfAll(places) => places,
            QueryPlaces::Own(places) => places,
        }
    }
}

/// Where each position of a query stands in score order.
#[derive(Default)]
pub(super) struct Places {
    /// By position, marked where others have the same score. Several threads set them, each those of some places.
    place: Vec<AtomicU32>,
    /// The places of equal scores, in order.
    tied: Vec<Range<u32>>,
}

impl Places {
    pub(super) fn new(entries: &[u32], rooms: &Rooms) -> Lent<Places> {
        let mut places = rooms.lend::<Places>();
        let (n, Places { place, tied }) = (entries.len(), &mut *places);
        match place.capacity() < n {
            true => *place = (0..n).into_par_iter().with_min_len(WORTH).map(|_| AtomicU32::new(0)).collect(),
            false => place.resize_with(n, AtomicU32::default),
        }
        let has_ties = AtomicBool::new(false);
        threads::each(n.div_ceil(WORTH), &|part| {
            let start = part * WORTH;
            let own = &entries[start..n.min(start + WORTH)];
            let next = own.iter().skip(1).chain(entries.get(start + own.len())).chain([&0]);
            let mut marks = 0;
            for ((entry, next), at) in own.iter().zip(next).zip(start as u32..) {
                let mark = (entry | next) & TIED;
                marks |= mark;
                place[position(*entry)].store(at | mark, Ordering::Relaxed);
            }
            if marks != 0 {
                has_ties.store(true, Ordering::Relaxed);
            }
        });
        tied.clear();
        if has_ties.into_inner() {
            for at in (0..).zip(entries).filter(|(_, entry)| *entry & TIED != 0).map(|(at, _)| at) {
                match tied.last_mut() {
                    Some(run) if run.end == at => run.end = at + 1,
                    _ => tied.push(at - 1..at + 1),
                }
            }
        }
        places
    }

    /// The place of a position alone.
    #[inline(always)]
    pub(super) fn of(&self, at: usize) -> usize {
        position(self.place[at].load(Ordering::Relaxed))
    }

    /// Whether no two scores are equal.
    pub(super) fn are_distinct(&self) -> bool {
        self.tied.is_empty()
    }

    /// The first place of its score, and the one behind the last.
    #[inline(always)]
    pub(super) fn run(&self, at: usize) -> Range<usize> {
        let marked = self.place[at].load(Ordering::Relaxed);
        let place = position(marked);
        if marked & TIED == 0 {
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
        if !self.any_sorted {
            return ScoreOrder::unsorted(scores);
        }
        let mut sorted = self.rooms.list(scores.len());
        self.each_task(&mut sorted, &mut vec![(); self.tasks.len()], &|task, own| {
            let start = examples.block(task.start).start;
            for block in task.filter(is_sorted) {
                let query = self.query(block);
                sort(&query, scores, &mut own[query.range.start - start..query.range.end - start]);
            }
        });
        ScoreOrder { sorted, ..ScoreOrder::unsorted(scores) }
    }
}

/// Sorts the positions of one query.
fn sort(query: &QueryPairs, scores: &[f64], sorted: &mut [u32]) {
    let scores = &scores[query.range.clone()];
    sort_values(sorted, query.rooms, |position| scores[query.example[position] as usize]);
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
        ScoreOrder {
            scores,
            sorted: Lent::default(),
            places: OnceLock::new(),
            keeps: false,
            kept: OnceLock::new(),
        }
    }

    /// Whether counts are to keep what they find of each example.
    pub(crate) fn keeping(self, keeps: bool) -> ScoreOrder<'s> {
        ScoreOrder { keeps, ..self }
    }

    pub(super) fn keeps(&self) -> bool {
        self.keeps
    }

    pub(super) fn keep(&self, counts: KeptCounts) {
        self.kept.get_or_init(|| counts);
    }

    pub(super) fn kept(&self) -> Option<&KeptCounts> {
        self.kept.get()
    }

    /// Where the positions of a query stand.
    pub(super) fn places(&self, query: &QueryPairs) -> QueryPlaces<'_> {
        match self.places_of_all(query) {
            Some(places) => QueryPlaces::OfAll(places),
            None => QueryPlaces::Own(Places::new(self.entries(query), query.rooms)),
        }
    }

    /// The same where the query has all examples; none elsewhere.
    pub(super) fn places_of_all(&self, query: &QueryPairs) -> Option<&Places> {
        let is_all = query.len() == self.scores.len();
        is_all.then(|| &**self.places.get_or_init(|| Places::new(self.entries(query), query.rooms)))
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
    pub(super) fn entries_by<K: Ord>(&self, query: &QueryPairs, key: impl Fn(u32) -> K) -> Entries<'_> {
        let entries = self.entries(query);
        if entries.iter().all(|entry| entry & TIED == 0) {
            return Entries::Sorted(entries);
        }
        let mut other = query.rooms.list(entries.len());
        other.copy_from_slice(entries);
        sort_ties(&mut other, key);
        Entries::Other(other)
    }

    /// The entries that slopes walk through: none of a small query, which is not put in score order, and otherwise with
    /// equal scores by position.
    pub(super) fn entries_of_slopes(&self, query: &QueryPairs) -> Entries<'_> {
        if query.is_small() { Entries::Sorted(&[]) } else { self.entries_by(query, |at| at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of equal scores inside of the parts that threads set, over their ends, and none.
    #[test]
    fn places_are_those_of_a_list() {
        for (n, run) in [(3, 1), (WORTH + 3, 1), (3 * WORTH, 3), (2 * WORTH + 1, 2 * WORTH), (100, 100)] {
            let positions = (0..n).map(|at| (at * 7_919 % n) as u32);
            let mark = |at: usize| if at.is_multiple_of(run) { 0 } else { TIED };
            let entries: Vec<u32> = positions.enumerate().map(|(at, position)| position | mark(at)).collect();
            let places = Places::new(&entries, &Rooms::default());
            assert_eq!(places.are_distinct(), run == 1);
            for (at, &entry) in entries.iter().enumerate() {
                assert_eq!(places.of(position(entry)), at);
                let first = at / run * run;
                assert_eq!(places.run(position(entry)), first..n.min(first + run));
            }
        }
    }
}
