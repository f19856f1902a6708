//! Slopes of few examples, pair by pair.

use super::coefficients::CellCoefficients;
use super::shape::Slope;
use crate::pairs::mass::Mass;

/// Adds the slopes of all pairs of an example `i` with the first `partners(i)` ones, whose coefficients
/// stand at `class(i, j)`. Returns the offset.
#[inline(always)]
pub(in crate::pairs) fn every_pair<S: Slope, M: Mass>(
    scores: &[f64],
    masses: &[M],
    partners: impl Fn(usize) -> usize,
    class: impl Fn(usize, usize) -> usize,
    cells: &CellCoefficients,
    margin: f64,
    gradient: &mut [f64],
) -> f64 {
    let n = scores.len();
    let (masses, gradient) = (&masses[..n], &mut gradient[..n]);
    let mut offset = 0.0;
    for (i, &score) in scores.iter().enumerate() {
        let partners = partners(i).min(n);
        let (mut falls, mut rises) = (0.0, 0.0);
        for j in 0..partners {
            let class = class(i, j);
            let mass = masses[i].pair(masses[j]);
            let d = score - scores[j];
            let fall = S::first(margin - d, cells.first[class] * mass);
            let rise = S::second(margin + d, cells.second[class] * mass);
            gradient[j] += S::added(fall, rise);
            falls += fall;
            rises += rise;
        }
        gradient[i] += S::added(rises, falls);
        offset += rises + falls;
    }
    margin * offset
}
