//! Slopes of few examples, pair by pair.

use super::kind::Slope;
use super::pairing::Pairing;
use super::table::Table;

/// Examples next to each other in label order.
pub(super) struct Block<'a, P> {
    pub scores: &'a [f64],
    pub masses: &'a [P],
}

/// Adds the slopes of all pairs of an example `i` with the first `partners(i)` ones, whose coefficients
/// stand at `class(i, j)` of the table. Returns the offset.
#[inline(always)]
pub(super) fn every_pair<S: Slope, P: Pairing>(
    block: Block<P>,
    partners: impl Fn(usize) -> usize,
    class: impl Fn(usize, usize) -> usize,
    table: &Table,
    margin: f64,
    gradient: &mut [f64],
) -> f64 {
    let n = block.scores.len();
    let (masses, gradient) = (&block.masses[..n], &mut gradient[..n]);
    let mut offset = 0.0;
    for (i, &score) in block.scores.iter().enumerate() {
        let partners = partners(i).min(n);
        let (mut falls, mut rises) = (0.0, 0.0);
        for j in 0..partners {
            let class = class(i, j);
            let mass = masses[i].pair(masses[j]);
            let d = score - block.scores[j];
            let fall = S::first(margin - d, table.first[class] * mass);
            let rise = S::second(margin + d, table.second[class] * mass);
            gradient[j] += S::added(fall, rise);
            falls += fall;
            rises += rise;
        }
        gradient[i] += S::added(rises, falls);
        offset += rises + falls;
    }
    margin * offset
}
