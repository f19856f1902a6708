//! Numbers of the normal distribution, two at a time (Box and Muller), always the same of a seed: exactly, or with few
//! digits.
//!
//! Both are made of the words of one generator, ChaCha with 8 rounds. For few digits the upper halves of words are enough,
//! with polynomials in place of logarithms, sines and cosines. In wide vectors the generator's blocks are made here, many
//! side by side, which takes a third of the time of a generator that gives one word after another.

use crate::threads;
use crate::wide;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Blocks that are made side by side.
const BLOCKS: usize = 16;

/// Words of a vector.
const LANES: usize = 8;

/// Words of a block, by which the generator counts.
const WORDS: usize = 16;

/// Pairs of a block: two numbers of 53 bits, in two words each.
const PAIRS: usize = WORDS / 4;

/// The words of blocks, by their place in a block.
type Words = [[u32; BLOCKS]; WORDS];

/// Pairs of uniform numbers of a seed, from one on.
fn uniform_pairs(seed: u64, from: usize) -> impl Iterator<Item = (f64, f64)> {
    let mut random = from_word(ChaCha8Rng::seed_from_u64(seed), from);
    std::iter::repeat_with(move || (random.random(), random.random()))
}

fn exact_pair((u, v): (f64, f64)) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - u).ln()).sqrt();
    let (sine, cosine) = (std::f64::consts::TAU * v).sin_cos();
    [radius * cosine, radius * sine]
}

/// So many pairs of normal numbers, from one on.
pub(super) fn exact_pairs(seed: u64, from: usize, count: usize) -> impl Iterator<Item = [f64; 2]> {
    uniform_pairs(seed, from).take(count).map(exact_pair)
}

/// The first pairs, with few digits.
pub(super) fn near_pairs(seed: u64, count: usize) -> Vec<[f32; 2]> {
    let mut all = vec![[0.0; 2]; count];
    let random = ChaCha8Rng::seed_from_u64(seed);
    let key = key(&random);
    // Parts start where a block does.
    threads::fill(&mut all, &|from, own| match wide::is_there() {
        true => wide::wide(
            #[inline(always)]
            || {
                let mut block = from / PAIRS;
                for to in own.chunks_mut(PAIRS * BLOCKS) {
                    put_near_pairs(&words_from(&key, block), to);
                    block += BLOCKS;
                }
            },
        ),
        false => put_pairs_of(from_word(random.clone(), from), own),
    });
    all
}

/// The generator, about to make the words of a pair.
fn from_word(mut random: ChaCha8Rng, pair: usize) -> ChaCha8Rng {
    random.set_word_pos((WORDS / PAIRS * pair) as u128);
    random
}

/// The next pairs of a generator, with few digits.
fn put_pairs_of(mut random: ChaCha8Rng, to: &mut [[f32; 2]]) {
    to.chunks_mut(PAIRS * BLOCKS).for_each(|to| put_near_pairs(&next_words(&mut random), to));
}

/// The pairs of words, as many as there is room for.
#[inline(always)]
fn put_near_pairs(words: &Words, to: &mut [[f32; 2]]) {
    let made = near_blocks(words);
    let (blocks, rest) = to.as_chunks_mut::<PAIRS>();
    let last = blocks.len();
    for (block, to) in blocks.iter_mut().enumerate() {
        for pair in 0..PAIRS {
            to[pair] = [made[pair][0][block], made[pair][1][block]];
        }
    }
    for (to, [first, second]) in rest.iter_mut().zip(&made) {
        *to = [first[last], second[last]];
    }
}

/// Each pair of blocks side by side.
#[inline(always)]
fn near_blocks(words: &Words) -> [[[f32; BLOCKS]; 2]; PAIRS] {
    let mut made = [[[0.0; BLOCKS]; 2]; PAIRS];
    for (pair, [first, second]) in made.iter_mut().enumerate() {
        let (upper, turns) = (&words[4 * pair + 1], &words[4 * pair + 3]);
        let mut least = [i32::MAX; BLOCKS];
        for block in 0..BLOCKS {
            // 31 bits of 1 − u and 32 of v − ½, as numbers with a sign.
            let rest = (!upper[block] >> 1) as i32;
            let turn = (turns[block] ^ 1 << 31) as i32;
            least[block] = rest;
            let (rest, turn) = ((rest as f32 + 0.5) / TWO_31, turn as f32 / (2.0 * TWO_31));
            [first[block], second[block]] = near_pair(rest, turn);
        }
        let mut has_few = false;
        for rest in least {
            has_few |= rest < FEW_BITS;
        }
        if has_few {
            mend(words, pair, [first, second]);
        }
    }
    made
}

const TWO_31: f32 = (1_u32 << 31) as f32;

/// A rest of less has too few bits to take its logarithm: one in half a million.
const FEW_BITS: i32 = 1 << 12;

/// Makes pairs from all their bits where a rest has few.
#[cold]
#[inline(never)]
fn mend(words: &Words, pair: usize, [first, second]: [&mut [f32; BLOCKS]; 2]) {
    for block in 0..BLOCKS {
        let word = |at: usize| words[4 * pair + at][block];
        if ((!word(1) >> 1) as i32) < FEW_BITS {
            let number = |low, high| {
                let bits = u64::from(high) << 32 | u64::from(low);
                (bits >> 11) as f64 / (1_u64 << 53) as f64
            };
            let made = exact_pair((number(word(0), word(1)), number(word(2), word(3))));
            (first[block], second[block]) = (made[0] as f32, made[1] as f32);
        }
    }
}

/// As one instruction, which the library's function is not.
#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// A polynomial of numbers that its coefficients are the reciprocals of.
#[inline(always)]
fn polynomial<const N: usize>(q: f32, reciprocals: [f32; N]) -> f32 {
    let mut sum = 0.0;
    for at in (0..N).rev() {
        sum = sum * q + 1.0 / reciprocals[at];
    }
    sum
}

/// The pair of a radius by its `rest` 1 − u, which is above 0, and of an angle by its `turn` from the opposite one, a half
/// at most.
#[inline(always)]
fn near_pair(rest: f32, turn: f32) -> [f32; 2] {
    // The rest is m 2^e with m between √½ and √2, and ln m = 2 artanh s.
    const ROOT: i32 = 0x3f35_04f3;
    let bits = rest.to_bits() as i32;
    let e = (bits - ROOT) >> 23;
    let m = f32::from_bits((bits - (e << 23)) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let ln_m = 2.0 * s * polynomial(q, [1.0, 3.0, 5.0, 7.0, 9.0]);
    let squared = -2.0 * (ln_m + e as f32 * std::f32::consts::LN_2);
    let radius = larger(squared, 0.0).sqrt();
    // Sine and cosine of half the angle, from which those of the whole follow.
    let y = std::f32::consts::PI * turn;
    let q = y * y;
    let sine = y * polynomial(q, [1.0, -6.0, 120.0, -5_040.0, 362_880.0, -39_916_800.0]);
    let cosine = polynomial(q, [1.0, -2.0, 24.0, -720.0, 40_320.0, -3_628_800.0, 479_001_600.0]);
    [radius * (2.0 * sine * sine - 1.0), radius * (-2.0 * sine * cosine)]
}

/// The next words of a generator.
fn next_words(random: &mut ChaCha8Rng) -> Words {
    let mut bytes = [0; 4 * WORDS * BLOCKS];
    random.fill_bytes(&mut bytes);
    let mut words = [[0; BLOCKS]; WORDS];
    for (at, &word) in bytes.as_chunks().0.iter().enumerate() {
        words[at % WORDS][at / WORDS] = u32::from_le_bytes(word);
    }
    words
}

/// The generator's key.
fn key(random: &ChaCha8Rng) -> [u32; 8] {
    let seed = random.get_seed();
    std::array::from_fn(|at| u32::from_le_bytes(seed.as_chunks().0[at]))
}

/// The words of the blocks from one on, as the generator makes them.
#[inline(always)]
fn words_from(key: &[u32; 8], from: usize) -> Words {
    /// `expand 32-byte k`.
    const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
    let mut start = [[0; BLOCKS]; WORDS];
    for (to, word) in start.iter_mut().zip(CONSTANTS.iter().chain(key)) {
        *to = [*word; BLOCKS];
    }
    let [.., low, high, _, _] = &mut start;
    for (block, (low, high)) in low.iter_mut().zip(high).enumerate() {
        let count = (from + block) as u64;
        (*low, *high) = (count as u32, (count >> 32) as u32);
    }
    let mut words = start;
    for _ in 0..4 {
        quarter(&mut words, 0, 4, 8, 12);
        quarter(&mut words, 1, 5, 9, 13);
        quarter(&mut words, 2, 6, 10, 14);
        quarter(&mut words, 3, 7, 11, 15);
        quarter(&mut words, 0, 5, 10, 15);
        quarter(&mut words, 1, 6, 11, 12);
        quarter(&mut words, 2, 7, 8, 13);
        quarter(&mut words, 3, 4, 9, 14);
    }
    for (words, start) in words.iter_mut().zip(&start) {
        for block in 0..BLOCKS {
            words[block] = words[block].wrapping_add(start[block]);
        }
    }
    words
}

/// A quarter of a round.
#[inline(always)]
fn quarter(words: &mut Words, a: usize, b: usize, c: usize, d: usize) {
    half_quarter(words, a, b, d, 16);
    half_quarter(words, c, d, b, 12);
    half_quarter(words, a, b, d, 8);
    half_quarter(words, c, d, b, 7);
}

#[inline(always)]
fn half_quarter(words: &mut Words, a: usize, b: usize, c: usize, turn: u32) {
    for at in 0..BLOCKS / LANES {
        let (to, with) = (lanes(&words[a], at), lanes(&words[b], at));
        let mut sum = [0; LANES];
        for lane in 0..LANES {
            sum[lane] = to[lane].wrapping_add(with[lane]);
        }
        let other = lanes(&words[c], at);
        let mut turned = [0; LANES];
        for lane in 0..LANES {
            turned[lane] = (other[lane] ^ sum[lane]).rotate_left(turn);
        }
        words[a].as_chunks_mut::<LANES>().0[at] = sum;
        words[c].as_chunks_mut::<LANES>().0[at] = turned;
    }
}

/// A vector of the words of blocks.
#[inline(always)]
fn lanes(words: &[u32; BLOCKS], at: usize) -> [u32; LANES] {
    words.as_chunks::<LANES>().0[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than a number may be off by: a twentieth of what deviations may.
    const OFF: f64 = 1e-4;

    #[test]
    fn few_digits_are_enough() {
        for seed in 0..4 {
            let near = near_pairs(seed, 50_001);
            for (near, exact) in near.iter().zip(exact_pairs(seed, 0, 50_001)) {
                for (near, exact) in near.iter().zip(exact) {
                    assert!((f64::from(*near) - exact).abs() < OFF, "{near} {exact}");
                }
            }
        }
        // The largest radius, the least ones, and all around.
        for rest in [1.0 / (1_u64 << 53) as f64, 1e-6, 0.5, 0.70, 0.71, 1.0 - 1e-7, 1.0] {
            for step in -50..=50 {
                let turn = f64::from(step) / 100.0;
                let radius = (-2.0 * rest.ln()).sqrt();
                let (sine, cosine) = (std::f64::consts::TAU * (turn + 0.5)).sin_cos();
                let near = near_pair(rest as f32, turn as f32).map(f64::from);
                let off = (near[0] - radius * cosine).abs().max((near[1] - radius * sine).abs());
                assert!(off < 4.0 * OFF, "{rest} {turn}: {off}");
            }
        }
    }

    /// Blocks are those of the generator, from any on, beyond 32 bits of their count too.
    #[test]
    fn wide_words_are_those_of_the_generator() {
        for (seed, from) in [(0, 0), (1, 16), (7, 5), (u64::MAX, (1 << 32) - 3), (3, (1 << 40) + 1)] {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let key = key(&random);
            random.set_word_pos((WORDS * from) as u128);
            let words = wide::wide(
                #[inline(always)]
                || words_from(&key, from),
            );
            assert_eq!(words, next_words(&mut random));
        }
    }

    #[test]
    fn wide_pairs_have_the_bits_of_plain_ones() {
        for (seed, count) in [(0, 0), (1, 1), (2, 63), (3, 64), (4, 70), (5, 50_000)] {
            let mut plain = vec![[0.0; 2]; count];
            put_pairs_of(ChaCha8Rng::seed_from_u64(seed), &mut plain);
            let bits =
                |pairs: &[[f32; 2]]| pairs.as_flattened().iter().map(|z| z.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&near_pairs(seed, count)), bits(&plain));
        }
    }

    /// Words with the most ones in front, which are the largest numbers, and with the least.
    #[test]
    fn the_largest_numbers_have_few_digits_too() {
        let ends =
            [u32::MAX, u32::MAX - 1, u32::MAX - 5_000, u32::MAX - 8_191, u32::MAX - 8_192, 1 << 31, 1, 0];
        for high in ends {
            for low in [0, 1 << 31, u32::MAX] {
                let mut words = [[0; BLOCKS]; WORDS];
                (0..BLOCKS).for_each(|block| {
                    let own = if block % 3 == 0 { high } else { 1 << 30 };
                    (words[4][block], words[5][block]) = (low, own);
                    words[7][block] = block as u32 * 0x0fff_ffff;
                });
                let made = near_blocks(&words);
                for block in 0..BLOCKS {
                    let number = |at: usize| {
                        let bits = u64::from(words[at + 1][block]) << 32 | u64::from(words[at][block]);
                        (bits >> 11) as f64 / (1_u64 << 53) as f64
                    };
                    let exact = exact_pair((number(4), number(6)));
                    for (near, exact) in made[1].iter().zip(exact) {
                        assert!((f64::from(near[block]) - exact).abs() < OFF, "{high} {low}: {exact}");
                    }
                }
            }
        }
    }
}
