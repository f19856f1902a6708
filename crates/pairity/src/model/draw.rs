//! Which member of a mixture scores which rows: one draw for each query, the same at every call and on
//! every machine.
//!
//! The draw is a hash, not a stream of random numbers, so that it depends on nothing but the seed and the
//! query's own text: neither on the order of the rows nor on which other queries are there.

/// A number in [0, 1) from a seed and a text.
///
/// FNV-1a with 64 bits over the seed (eight bytes, the lowest first) and the text (UTF-8), then the
/// finalizer of splitmix64, then the upper 53 bits divided by 2⁵³. These steps will not change, since
/// scores of saved models depend on them.
///
/// ```
/// use pairity::model::uniform;
/// assert_eq!(uniform(7, "query 1"), uniform(7, "query 1"));
/// assert_ne!(uniform(7, "query 1"), uniform(8, "query 1"));
/// ```
pub fn uniform(seed: u64, text: &str) -> f64 {
    (hash(seed, text) >> 11) as f64 / (1_u64 << 53) as f64
}

fn hash(seed: u64, text: &str) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(text.bytes());
    let fnv = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The member that a number in [0, 1) falls to: the first whose cumulative probability exceeds it.
pub(super) fn member(probabilities: impl Iterator<Item = f64>, uniform: f64) -> usize {
    let (mut cumulative, mut last) = (0.0, 0);
    for (member, probability) in probabilities.enumerate() {
        cumulative += probability;
        if uniform < cumulative {
            return member;
        }
        // The sum may end just below 1; what is left goes to the last that has any probability.
        if probability > 0.0 {
            last = member;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_without_probability_is_never_drawn() {
        let member = |uniform| member([0.0, 0.25, 0.75, 0.0].into_iter(), uniform);
        assert_eq!([0.0, 0.2499, 0.25, 0.9999].map(member), [1, 1, 2, 2]);
        assert_eq!(super::member([0.3, 0.6999999, 0.0].into_iter(), 0.99999999), 1);
    }
}
