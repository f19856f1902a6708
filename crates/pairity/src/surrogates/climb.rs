//! Slopes of the label-ordered pairs of one large query where all of them are 0 or the same number but for the
//! coefficients of cells, so that counts are enough: O(K n log n) whatever the number of labels.
//!
//! A pair is idle in the first part of a surrogate if its worse example lies far below the better one, and in
//! the second part if it is the other way round, where
//!
//! ```text
//! y lies far below x:  s_y ≤ s_x − margin
//! ```
//!
//! In score order, the examples far below x are the first `low` ones, and those that x is not far below are the
//! first `high` ones. With the examples of lower labels counted by position, each one finds its pairs as the
//! better example in two counts, and is then inserted itself, going up in label:
//!
//! ```text
//! first part:  Σ_b c[a][b] · (all − before `low`)[b]           second part:  Σ_b c[a][b] · (before `high`)[b]
//! ```
//!
//! Going down in label it finds its pairs as the worse one, those of the first part before `high` and those of
//! the second from `low` on.

use super::columns::Query;
use super::counts::Counts;
use super::kind::Slope;
use super::table::Table;
use crate::examples::{score_of_key, sort_by_value};
use rayon::join;
use std::ops::Range;

/// Queries of fewer examples or labels are split faster than climbed. Tests climb them all, so that small tables
/// with every oddity come this way too.
const LEAST: usize = if cfg!(test) { 1 } else { 400 };
const LEAST_LABELS: usize = if cfg!(test) { 0 } else { 64 };

/// Queries above this size go up and down on two threads.
const FORK: usize = 1 << 14;

/// Groups that are counted at once; more take several rounds.
const WIDEST: usize = 8;

/// Whether [`climb`] is the way to take if pairs weigh one.
pub(super) fn is_worth<S: Slope>(query: &Query) -> bool {
    let n = query.run.len();
    let mut starts = std::iter::successors(Some(0), |&start| next_run(query.run, start));
    !S::SQUARED && n >= LEAST && starts.nth(LEAST_LABELS).is_some()
}

/// Where the next label starts.
fn next_run(run: &[u32], start: usize) -> Option<usize> {
    let same = run[start..].iter().take_while(|&&of| of as usize == start).count();
    (start + same < run.len()).then_some(start + same)
}

/// Where an example stands in score order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spot {
    pub rank: u32,
    /// The examples far below it are the first ones, so many.
    pub low: u32,
    /// It is not far below the first ones, so many.
    pub high: u32,
}

/// Finds the spots of sorted examples among others, and puts them to their places less `base`.
pub(super) fn find_spots(
    sorted: &[(u64, u32)],
    others: &[(u64, u32)],
    margin: f64,
    base: usize,
    spots: &mut [Spot],
) {
    let score = |rank: usize| score_of_key(others[rank].0);
    let (mut low, mut high) = (0, 0);
    for (rank, &(key, place)) in sorted.iter().enumerate() {
        let own = score_of_key(key);
        while low < others.len() && score(low) <= own - margin {
            low += 1;
        }
        // The same comparison with the roles exchanged, so that both ends of a pair agree about it.
        while high < others.len() && score(high) - margin < own {
            high += 1;
        }
        spots[place as usize - base] = Spot { rank: rank as u32, low: low as u32, high: high as u32 };
    }
}

/// Adds the slopes of all label-ordered pairs, each of weight one, with scores and gradient in label order;
/// returns the offset.
pub(super) fn climb<S: Slope>(
    query: &Query,
    scores: &[f64],
    table: &Table,
    margin: f64,
    gradient: &mut [f64],
) -> f64 {
    let mut spots = vec![Spot::default(); scores.len()];
    let sorted = sort_by_value(scores);
    find_spots(&sorted, &sorted, margin, 0, &mut spots);
    drop(sorted);
    let climb = Climb { run: query.run, lane: query.lane, k: query.present.len(), spots: &spots, table };
    let mut falling = vec![0.0; if scores.len() > FORK { scores.len() } else { 0 }];
    let total = if falling.is_empty() {
        climb.go::<S>(false, gradient);
        climb.go::<S>(true, gradient)
    } else {
        let (total, _) = join(|| climb.go::<S>(true, gradient), || climb.go::<S>(false, &mut falling));
        gradient.iter_mut().zip(&falling).for_each(|(slope, falling)| *slope += falling);
        total
    };
    margin * total
}

struct Climb<'a> {
    run: &'a [u32],
    lane: &'a [u16],
    k: usize,
    spots: &'a [Spot],
    table: &'a Table,
}

/// What counts at one of an example's two positions.
struct Reading<const G: usize> {
    /// The coefficients of the groups counted, for each group that reads.
    rows: Vec<[f64; G]>,
    /// Whether what is before the position counts, or what comes from there on.
    before: bool,
}

impl<const G: usize> Reading<G> {
    #[inline(always)]
    fn of(&self, counts: &Counts<G>, position: u32, reader: usize) -> f64 {
        let mut found = counts.before(position as usize);
        if !self.before {
            found.iter_mut().zip(&counts.all).for_each(|(found, all)| *found = all - *found);
        }
        self.rows[reader].iter().zip(found).map(|(c, found)| c * f64::from(found)).sum()
    }
}

impl Climb<'_> {
    /// Adds the slopes of all examples: as the better ones of their pairs if going up, or as the worse ones.
    /// Returns the sum of what was read.
    fn go<S: Slope>(&self, up: bool, gradient: &mut [f64]) -> f64 {
        match self.k {
            1 => self.rounds::<S, 1>(up, gradient),
            2 => self.rounds::<S, 2>(up, gradient),
            3 | 4 => self.rounds::<S, 4>(up, gradient),
            _ => self.rounds::<S, WIDEST>(up, gradient),
        }
    }

    fn rounds<S: Slope, const G: usize>(&self, up: bool, gradient: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for first in (0..self.k).step_by(G) {
            let (low, high) = if up {
                (&self.table.first, &self.table.second)
            } else {
                (&self.table.second, &self.table.first)
            };
            // The second part of a bounded surrogate counts the pairs that are idle in that of others.
            let low = self.reading::<G>(low, first, up, S::BOUNDED && !up);
            let high = self.reading::<G>(high, first, up, !(S::BOUNDED && up));
            if low.is_some() || high.is_some() {
                total += self.round::<S, G>(first, [low, high], up, gradient);
            }
        }
        total
    }

    /// How the groups from `first` on are read; `None` if no pair with them has a coefficient.
    fn reading<const G: usize>(
        &self,
        cells: &[f64],
        first: usize,
        up: bool,
        before: bool,
    ) -> Option<Reading<G>> {
        let cell = |reader: usize, other: usize| match (other < self.k, up) {
            (false, _) => 0.0,
            (true, true) => cells[reader * self.k + other],
            (true, false) => cells[other * self.k + reader],
        };
        let row = |reader| std::array::from_fn(|lane| cell(reader, first + lane));
        let rows: Vec<[f64; G]> = (0..self.k).map(row).collect();
        rows.iter().flatten().any(|&c| c != 0.0).then_some(Reading { rows, before })
    }

    /// The pairs with examples of `G` groups from `first` on.
    fn round<S: Slope, const G: usize>(
        &self,
        first: usize,
        [low, high]: [Option<Reading<G>>; 2],
        up: bool,
        gradient: &mut [f64],
    ) -> f64 {
        let mut counts = Counts::<G>::new(self.spots.len());
        let mut total = 0.0;
        // Examples of equal label make no pairs: all of them read before any is inserted.
        let mut visit = |places: Range<usize>| {
            for place in places.clone() {
                let (spot, reader) = (self.spots[place], usize::from(self.lane[place]));
                let low = low.as_ref().map_or(0.0, |low| low.of(&counts, spot.low, reader));
                let high = high.as_ref().map_or(0.0, |high| high.of(&counts, spot.high, reader));
                gradient[place] += S::added(high, low);
                total += high + low;
            }
            for place in places {
                let lane = usize::from(self.lane[place]).wrapping_sub(first);
                if lane < G {
                    counts.insert(self.spots[place].rank as usize, lane);
                }
            }
        };
        if up {
            let mut start = Some(0);
            while let Some(from) = start {
                start = next_run(self.run, from);
                visit(from..start.unwrap_or(self.run.len()));
            }
        } else {
            let mut end = self.run.len();
            while end > 0 {
                let start = self.run[end - 1] as usize;
                visit(start..end);
                end = start;
            }
        }
        total
    }
}
