//! One pass over all rows: which rows use which set of parameters, in parts that do not depend on the
//! number of threads.
//!
//! The rows are cut into parts of a size that follows from their number alone. Each part gives its own
//! gradient, and these are added in order: the same bits for one thread and for many. What happens to the
//! rows of a part is up to a [`Kernel`], which sees contiguous rows and one set of parameters. Where
//! groups have sets of their own, the rows of a group are first copied together, a tile at a time.

use crate::threads;
use rayon::prelude::*;
use std::cell::Cell;

use super::{Features, GroupUse, Scorer, Sparse};

/// The fewest rows of a part.
const PART: usize = 4096;

/// At most about so many parts, so that their gradients stay few.
const PARTS: usize = 64;

/// Rows copied together at a time.
const TILE: usize = 256;

/// Rows × parameters of a set from which threads are worth their cost.
const PARALLEL: usize = 200_000;

/// At most so many numbers are kept for the way back.
const KEPT: usize = 1 << 21;

/// Contiguous rows as a kernel sees them.
#[derive(Clone, Copy)]
pub(super) struct FeatureBlock<'a> {
    /// The features that are stored one by one.
    pub(super) values: &'a [f64],
    /// How many of them a row has.
    pub(super) dense: usize,
    /// The sparse features of all rows, and the first of these rows.
    pub(super) sparse: Option<(&'a Sparse, usize)>,
    /// What a way forward has kept of these rows; nothing if it kept none.
    pub(super) units: &'a [f64],
}

impl<'a> FeatureBlock<'a> {
    /// The rows from one on, of which these are the values; kernels stop after as many as they have scores for.
    fn new(features: &'a Features, first: usize, values: &'a [f64]) -> FeatureBlock<'a> {
        let sparse = features.sparse().map(|sparse| (sparse, first));
        FeatureBlock { values, dense: features.dense_width(), sparse, units: &[] }
    }
}

/// What a scorer does with contiguous rows and one set of parameters.
pub(super) trait Kernel: Scorer {
    /// Numbers of a row that a way forward keeps for the way back.
    fn kept(&self) -> usize {
        0
    }

    /// The score of each row, and what is kept of them, unless there is no room for it.
    fn score_rows(&self, set: &[f64], rows: FeatureBlock, scores: &mut [f64], units: &mut [f64]);

    /// Adds to the gradient what the rows contribute.
    fn pull_back_rows(&self, set: &[f64], rows: FeatureBlock, slopes: &[f64], gradient: &mut [f64]);
}

/// The score of every row.
pub(super) fn score(kernel: &impl Kernel, parameters: &[f64], features: &Features, scores: &mut [f64]) {
    debug_assert_eq!((parameters.len(), features.width()), (kernel.len(), kernel.width()));
    debug_assert_eq!(scores.len(), features.rows());
    let sweep = Sweep::new(kernel, features);
    let set = |set: usize| &parameters[set * sweep.set_len..][..sweep.set_len];
    if let Some(parts) = sweep.by_group {
        let found = in_order(&parts, sweep.parallel, &|&(own, rows)| {
            let mut found = vec![0.0; rows.len()];
            for (rows, found) in rows.chunks(TILE).zip(found.chunks_mut(TILE)) {
                let some = features.pick(rows);
                kernel.score_rows(set(own), FeatureBlock::new(&some, 0, &some.values()), found, &mut []);
            }
            found
        });
        for ((_, rows), found) in parts.iter().zip(found) {
            rows.iter().zip(found).for_each(|(&row, score)| scores[row as usize] = score);
        }
        return;
    }
    let rows_from = |first: usize, scores: &mut [f64]| {
        in_room(|room| {
            // Numbers of single precision become features a few rows at a time.
            let tile = if features.number_size() < size_of::<f64>() { 4 * TILE } else { scores.len().max(1) };
            for (at, scores) in scores.chunks_mut(tile).enumerate() {
                let first = first + at * tile;
                let values = features.values_in(first..first + scores.len(), room);
                let rows = FeatureBlock::new(features, first, values);
                kernel.score_rows(set(sweep.shared), rows, scores, &mut []);
            }
        });
    };
    match sweep.parallel {
        true => {
            let parts = scores.par_chunks_mut(sweep.part).enumerate();
            parts.for_each(|(part, scores)| rows_from(part * sweep.part, scores));
        }
        false => rows_from(0, scores),
    }
    if let GroupUse::Offsets { .. } = kernel.groups() {
        features.add_offsets(&parameters[sweep.set_len..], scores);
    }
}

/// The same, and what is kept of the rows for the way back, part by part; nothing if that were too much, or where groups
/// have sets of their own.
pub(super) fn trace(
    kernel: &impl Kernel,
    parameters: &[f64],
    features: &Features,
    scores: &mut [f64],
) -> Vec<f64> {
    let sweep = Sweep::new(kernel, features);
    let kept = kernel.kept();
    if kept == 0 || sweep.by_group.is_some() || features.rows().saturating_mul(kept) > KEPT {
        score(kernel, parameters, features, scores);
        return Vec::new();
    }
    let set = &parameters[sweep.shared * sweep.set_len..][..sweep.set_len];
    let mut units = vec![0.0; features.rows() * kept];
    let of_part = |part: usize, scores: &mut [f64], units: &mut [f64]| {
        let first = part * sweep.part;
        in_room(|room| {
            let values = features.values_in(first..first + scores.len(), room);
            kernel.score_rows(set, FeatureBlock::new(features, first, values), scores, units);
        });
    };
    match sweep.parallel {
        true => {
            let parts = scores.par_chunks_mut(sweep.part).zip(units.par_chunks_mut(sweep.part * kept));
            parts.enumerate().for_each(|(part, (scores, units))| of_part(part, scores, units));
        }
        false => {
            let parts = scores.chunks_mut(sweep.part).zip(units.chunks_mut(sweep.part * kept));
            parts.enumerate().for_each(|(part, (scores, units))| of_part(part, scores, units));
        }
    }
    if let GroupUse::Offsets { .. } = kernel.groups() {
        features.add_offsets(&parameters[sweep.set_len..], scores);
    }
    units
}

/// The gradient by the parameters, from the gradient by the scores and what a way forward kept, in place of other numbers.
pub(super) fn put_back(
    kernel: &impl Kernel,
    parameters: &[f64],
    features: &Features,
    units: &[f64],
    slopes: &[f64],
    gradient: &mut Vec<f64>,
) {
    debug_assert_eq!((parameters.len(), features.width()), (kernel.len(), kernel.width()));
    debug_assert_eq!(slopes.len(), features.rows());
    let sweep = Sweep::new(kernel, features);
    let places = |set: usize| set * sweep.set_len..(set + 1) * sweep.set_len;
    gradient.clear();
    gradient.resize(parameters.len(), 0.0);
    let add = |gradient: &mut [f64], set, found: &[f64]| {
        gradient[places(set)].iter_mut().zip(found).for_each(|(sum, more)| *sum += more);
    };
    if let Some(parts) = &sweep.by_group {
        let found = in_order(parts, sweep.parallel, &|&(set, rows)| {
            let mut found = vec![0.0; sweep.set_len];
            for rows in rows.chunks(TILE) {
                let by_score: Vec<f64> = rows.iter().map(|&row| slopes[row as usize]).collect();
                let (set, some) = (&parameters[places(set)], features.pick(rows));
                kernel.pull_back_rows(
                    set,
                    FeatureBlock::new(&some, 0, &some.values()),
                    &by_score,
                    &mut found,
                );
            }
            found
        });
        parts.iter().zip(found).for_each(|(&(set, _), found)| add(gradient, set, &found));
        return;
    }
    let of_part = |part: usize, by_score: &[f64], found: &mut [f64]| {
        let (set, first) = (&parameters[places(sweep.shared)], part * sweep.part);
        in_room(|room| {
            let values = features.values_in(first..first + by_score.len(), room);
            let mut rows = FeatureBlock::new(features, first, values);
            if !units.is_empty() {
                rows.units = &units[first * kernel.kept()..][..by_score.len() * kernel.kept()];
            }
            kernel.pull_back_rows(set, rows, by_score, found);
        });
    };
    // Each part has its own sums, behind the gradient.
    let parts = slopes.len().div_ceil(sweep.part);
    let apart = if sweep.parallel { parts } else { parts.min(1) };
    gradient.resize(parameters.len() + apart * sweep.set_len, 0.0);
    let (all, found) = gradient.split_at_mut(parameters.len());
    let by_score = |part: usize| &slopes[part * sweep.part..slopes.len().min((part + 1) * sweep.part)];
    if sweep.parallel {
        let work = |part: usize, found: &mut [f64]| of_part(part, by_score(part), found);
        threads::each_chunk(found, sweep.set_len, &work);
        found.chunks(sweep.set_len).for_each(|found| add(all, sweep.shared, found));
    } else {
        for part in 0..parts {
            found.fill(0.0);
            of_part(part, by_score(part), found);
            add(all, sweep.shared, found);
        }
    }
    gradient.truncate(parameters.len());
    if let GroupUse::Offsets { .. } = kernel.groups() {
        features.add_to_offsets(slopes, &mut gradient[sweep.set_len..]);
    }
}

/// How rows are cut into parts.
struct Sweep<'a> {
    /// Parameters in a set.
    set_len: usize,
    /// Rows of a part: by the number of rows alone.
    part: usize,
    /// Whether threads are worth their cost.
    parallel: bool,
    /// The set and the rows of each part, where groups have sets of their own.
    by_group: Option<Vec<(usize, &'a [u32])>>,
    /// The one set that all rows use, where groups have no sets of their own or the features no groups.
    shared: usize,
}

impl<'a> Sweep<'a> {
    fn new(kernel: &impl Kernel, features: &'a Features) -> Sweep<'a> {
        let set_len = kernel.set_len();
        let part = features.rows().div_ceil(PARTS).max(PART);
        let parallel = features.rows().saturating_mul(set_len) > PARALLEL;
        let GroupUse::Weights { groups: shared } = kernel.groups() else {
            return Sweep { set_len, part, parallel, by_group: None, shared: 0 };
        };
        let parts = |(set, rows): (usize, &'a [u32])| rows.chunks(part).map(move |rows| (set, rows));
        let by_group = features.rows_by_group(shared);
        let by_group = by_group.map(|rows| rows.into_iter().enumerate().flat_map(parts).collect());
        Sweep { set_len, part, parallel, by_group, shared }
    }
}

/// Works in room that a thread keeps, as new room would have to be asked of the system each time.
fn in_room(work: impl FnOnce(&mut Vec<f64>)) {
    thread_local!(static ROOM: Cell<Vec<f64>> = const { Cell::new(Vec::new()) });
    let mut room = ROOM.take();
    work(&mut room);
    ROOM.set(room);
}

fn in_order<T: Sync, R: Send>(items: &[T], parallel: bool, work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    match parallel {
        true => threads::map(items, work),
        false => items.iter().map(work).collect(),
    }
}
