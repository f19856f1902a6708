//! Normal random numbers, by Box and Muller.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Two independent standard normal numbers.
pub(crate) fn pair(random: &mut ChaCha8Rng) -> [f64; 2] {
    let (u, v): (f64, f64) = (random.random(), random.random());
    let radius = (-2.0 * (1.0 - u).ln()).sqrt();
    let angle = std::f64::consts::TAU * v;
    [radius * angle.cos(), radius * angle.sin()]
}
