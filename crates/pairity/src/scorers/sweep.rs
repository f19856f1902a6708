//! One pass over all rows: which rows use which set of parameters, in parts that do not depend on the
//! number of threads.
//!
//! The rows are cut into parts of a size that follows from their number alone. Each part gives its own
//! gradient, and these are added in order: the same bits for one thread and for many. What happens to the
//! rows of a part is up to a [`Kernel`], which sees contiguous rows and one set of parameters. Where
//! groups have sets of their own, the rows of a group are first copied together, a tile at a time.

use rayon::prelude::*;

use super::{Features, GroupUse};

/// The fewest rows of a part.
const PART: usize = 4096;

/// At most about so many parts, so that their gradients stay few.
const PARTS: usize = 64;

/// Rows copied together at a time.
const TILE: usize = 256;

/// Rows × parameters of a set from which threads are worth their cost.
const PARALLEL: usize = 200_000;

/// What a scorer does with contiguous rows and one set of parameters.
pub(super) trait Kernel: Sync {
    /// Number of parameters in a set.
    fn len(&self) -> usize;

    /// The score of each row.
    fn score(&self, parameters: &[f64], values: &[f64], scores: &mut [f64]);

    /// Adds to the gradient what the rows contribute.
    fn pull_back(&self, parameters: &[f64], values: &[f64], score_gradient: &[f64], gradient: &mut [f64]);
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
            if let (GroupUse::Offsets { .. }, Some(codes)) = (groups, features.codes()) {
                let offsets = &parameters[kernel.len()..];
                for (score, &code) in scores.iter_mut().zip(codes) {
                    *score += offsets.get(code as usize).unwrap_or(&0.0);
                }
            }
        }
        Some(parts) => {
            let found = in_order(&parts, parallel(kernel, features), |&(set, rows)| {
                let mut found = vec![0.0; rows.len()];
                let mut values = Vec::new();
                for (rows, found) in rows.chunks(TILE).zip(found.chunks_mut(TILE)) {
                    gather(features, rows, &mut values);
                    kernel.score(&parameters[set * kernel.len()..][..kernel.len()], &values, found);
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
            if let (GroupUse::Offsets { .. }, Some(codes)) = (groups, features.codes()) {
                let offsets = &mut gradient[kernel.len()..];
                for (g, &code) in score_gradient.iter().zip(codes) {
                    if let Some(offset) = offsets.get_mut(code as usize) {
                        *offset += g;
                    }
                }
            }
        }
        Some(parts) => {
            let found = in_order(&parts, parallel(kernel, features), |&(set, rows)| {
                let mut found = vec![0.0; kernel.len()];
                let (mut values, mut by_score) = (Vec::new(), Vec::new());
                for rows in rows.chunks(TILE) {
                    gather(features, rows, &mut values);
                    by_score.clear();
                    by_score.extend(rows.iter().map(|&row| score_gradient[row as usize]));
                    let parameters = &parameters[set * kernel.len()..][..kernel.len()];
                    kernel.pull_back(parameters, &values, &by_score, &mut found);
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
    let by_group = features.rows_by_group(groups)?;
    Some(
        by_group
            .into_iter()
            .enumerate()
            .flat_map(|(set, rows)| rows.chunks(size).map(move |r| (set, r)))
            .collect(),
    )
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
    let (values, width) = (features.values(), features.width());
    if parallel(kernel, features) {
        let parts = values.par_chunks(size * width).zip(scores.par_chunks_mut(size));
        parts.for_each(|(values, scores)| kernel.score(parameters, values, scores));
    } else {
        kernel.score(parameters, values, scores);
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
    let values = features.values().chunks(size * features.width());
    let parts: Vec<(&[f64], &[f64])> = values.zip(score_gradient.chunks(size)).collect();
    let found = in_order(&parts, parallel(kernel, features), |&(values, by_score)| {
        let mut found = vec![0.0; kernel.len()];
        kernel.pull_back(parameters, values, by_score, &mut found);
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

fn gather(features: &Features, rows: &[u32], values: &mut Vec<f64>) {
    values.clear();
    for &row in rows {
        values.extend_from_slice(features.row(row as usize));
    }
}

fn add(sums: &mut [f64], more: &[f64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}
