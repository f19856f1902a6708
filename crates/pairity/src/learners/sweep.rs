//! One pass over all rows: which rows use which set of parameters, in parts that do not depend on the
//! number of threads.
//!
//! The rows are cut into parts of a size that follows from their number alone. Each part gives its own
//! gradient, and these are added in order: the same bits for one thread and for many. What happens to the
//! rows of a part is up to a [`Kernel`], which sees contiguous rows and one set of parameters. Where
//! groups have sets of their own, the rows of a group are first copied together, a tile at a time.

use rayon::prelude::*;

use super::text::Words;
use super::{Features, GroupUse};

/// The fewest rows of a part.
const PART: usize = 4096;

/// At most about so many parts, so that their gradients stay few.
const PARTS: usize = 64;

/// Rows copied together at a time.
const TILE: usize = 256;

/// Rows × parameters of a set from which threads are worth their cost.
const PARALLEL: usize = 200_000;

/// Contiguous rows as a kernel sees them.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    /// The features that are stored one by one.
    pub(super) values: &'a [f64],
    /// The words of all rows, and the first of these rows.
    words: Option<(&'a Words, usize)>,
}

impl<'a> Block<'a> {
    /// The words of the rows, if there are texts.
    pub(super) fn words(self) -> Option<impl Iterator<Item = &'a [u32]>> {
        self.words.map(|(words, first)| (first..words.rows()).map(|row| words.row(row)))
    }
}

/// What a scorer does with contiguous rows and one set of parameters.
pub(super) trait Kernel: Sync {
    /// Number of parameters in a set.
    fn len(&self) -> usize;

    /// The score of each row.
    fn score(&self, parameters: &[f64], rows: Block, scores: &mut [f64]);

    /// Adds to the gradient what the rows contribute.
    fn pull_back(&self, parameters: &[f64], rows: Block, score_gradient: &[f64], gradient: &mut [f64]);
}

/// The score of every row.
pub(super) fn score(
    kernel: &impl Kernel,
    groups: GroupUse,
    parameters: &[f64],
    features: &Features,
    scores: &mut [f64],
) {
    debug_assert_eq!(parameters.len(), groups.len(kernel.len()));
    debug_assert_eq!(scores.len(), features.rows());
    match listed(groups, features) {
        None => {
            score_all(kernel, shared(kernel, groups, parameters), features, scores);
            if let GroupUse::Offsets { .. } = groups {
                features.add_offsets(&parameters[kernel.len()..], scores);
            }
        }
        Some(parts) => {
            let found = in_order(&parts, parallel(kernel, features), |&(set, rows)| {
                let mut found = vec![0.0; rows.len()];
                let mut gathered = Gathered::new(features);
                for (rows, found) in rows.chunks(TILE).zip(found.chunks_mut(TILE)) {
                    let block = gathered.gather(features, rows);
                    kernel.score(&parameters[set * kernel.len()..][..kernel.len()], block, found);
                }
                found
            });
            for ((_, rows), found) in parts.iter().zip(found) {
                for (&row, score) in rows.iter().zip(found) {
                    scores[row as usize] = score;
                }
            }
        }
    }
}

/// The gradient by the parameters, from the gradient by the scores.
pub(super) fn pull_back(
    kernel: &impl Kernel,
    groups: GroupUse,
    parameters: &[f64],
    features: &Features,
    score_gradient: &[f64],
    gradient: &mut [f64],
) {
    debug_assert_eq!(parameters.len(), groups.len(kernel.len()));
    debug_assert_eq!(gradient.len(), parameters.len());
    debug_assert_eq!(score_gradient.len(), features.rows());
    gradient.fill(0.0);
    match listed(groups, features) {
        None => {
            let set = set_of_all(groups);
            let within = &mut gradient[set * kernel.len()..][..kernel.len()];
            pull_back_all(kernel, shared(kernel, groups, parameters), features, score_gradient, within);
            if let GroupUse::Offsets { .. } = groups {
                features.add_to_offsets(score_gradient, &mut gradient[kernel.len()..]);
            }
        }
        Some(parts) => {
            let found = in_order(&parts, parallel(kernel, features), |&(set, rows)| {
                let mut found = vec![0.0; kernel.len()];
                let (mut gathered, mut by_score) = (Gathered::new(features), Vec::new());
                for rows in rows.chunks(TILE) {
                    let block = gathered.gather(features, rows);
                    by_score.clear();
                    by_score.extend(rows.iter().map(|&row| score_gradient[row as usize]));
                    let parameters = &parameters[set * kernel.len()..][..kernel.len()];
                    kernel.pull_back(parameters, block, &by_score, &mut found);
                }
                found
            });
            for ((set, _), found) in parts.iter().zip(found) {
                add(&mut gradient[set * kernel.len()..][..kernel.len()], &found);
            }
        }
    }
}

/// The parts of the rows of each group, where groups have sets of their own.
fn listed(groups: GroupUse, features: &Features) -> Option<Vec<(usize, &[u32])>> {
    let GroupUse::Weights { groups } = groups else { return None };
    let size = part(features);
    let by_group = features.rows_by_group(groups)?.into_iter().enumerate();
    Some(by_group.flat_map(|(set, rows)| rows.chunks(size).map(move |rows| (set, rows))).collect())
}

/// The one set that all rows use, where groups have no sets of their own or the features no groups.
fn set_of_all(groups: GroupUse) -> usize {
    match groups {
        GroupUse::Weights { groups } => groups,
        GroupUse::Blind | GroupUse::Offsets { .. } => 0,
    }
}

fn shared<'a>(kernel: &impl Kernel, groups: GroupUse, parameters: &'a [f64]) -> &'a [f64] {
    &parameters[set_of_all(groups) * kernel.len()..][..kernel.len()]
}

fn score_all(kernel: &impl Kernel, parameters: &[f64], features: &Features, scores: &mut [f64]) {
    let size = part(features);
    if parallel(kernel, features) {
        let parts = scores.par_chunks_mut(size).enumerate();
        parts.for_each(|(part, scores)| kernel.score(parameters, block(features, part * size), scores));
    } else {
        kernel.score(parameters, block(features, 0), scores);
    }
}

fn pull_back_all(
    kernel: &impl Kernel,
    parameters: &[f64],
    features: &Features,
    score_gradient: &[f64],
    gradient: &mut [f64],
) {
    let size = part(features);
    let parts: Vec<(usize, &[f64])> = score_gradient.chunks(size).enumerate().collect();
    let found = in_order(&parts, parallel(kernel, features), |&(part, by_score)| {
        let mut found = vec![0.0; kernel.len()];
        kernel.pull_back(parameters, block(features, part * size), by_score, &mut found);
        found
    });
    for found in found {
        add(gradient, &found);
    }
}

/// Rows of a part: by the number of rows alone.
fn part(features: &Features) -> usize {
    features.rows().div_ceil(PARTS).max(PART)
}

fn parallel(kernel: &impl Kernel, features: &Features) -> bool {
    features.rows().saturating_mul(kernel.len()) > PARALLEL
}

fn in_order<T: Sync, R: Send>(items: &[T], parallel: bool, work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    match parallel {
        true => items.par_iter().map(work).collect(),
        false => items.iter().map(work).collect(),
    }
}

/// The rows from one on; kernels stop after as many as they have scores for.
fn block(features: &Features, first: usize) -> Block<'_> {
    let values = &features.values()[first * features.dense_width()..];
    Block { values, words: features.words().map(|words| (words, first)) }
}

/// Rows that were copied together.
struct Gathered {
    values: Vec<f64>,
    words: Option<Words>,
}

impl Gathered {
    fn new(features: &Features) -> Gathered {
        Gathered { values: Vec::new(), words: features.words().map(Words::emptied) }
    }

    fn gather(&mut self, features: &Features, rows: &[u32]) -> Block<'_> {
        self.values.clear();
        for &row in rows {
            self.values.extend_from_slice(features.row(row as usize));
        }
        if let (Some(gathered), Some(words)) = (&mut self.words, features.words()) {
            gathered.clear();
            rows.iter().for_each(|&row| gathered.push(words.row(row as usize)));
        }
        Block { values: &self.values, words: self.words.as_ref().map(|words| (words, 0)) }
    }
}

fn add(sums: &mut [f64], more: &[f64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}
