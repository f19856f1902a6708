//! Sums without rounding, so that parts can be added in any order and give the same bits.
//!
//! A finite f64 is a whole number of 53 bits times a power of two. A sum is kept as digits of 32 bits in words of 64,
//! from the lowest power that was met to the highest: a number adds to three of them, and carries wait until a word might
//! overflow.

use crate::wide::wide;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::borrow::Cow;

const BITS: i32 = 32;

/// Additions after which carries are passed on: words of 2³² each stay far below 2⁶³.
const PATIENCE: u32 = 1 << 30;

/// A sum of numbers, exactly.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExactSum {
    /// The first word counts 2^(32 · base).
    base: i32,
    words: Vec<i64>,
    waiting: u32,
    /// Infinities, which have no digits.
    beyond: f64,
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &ExactSum) -> bool {
        self.digits() == other.digits() && self.beyond.to_bits() == other.beyond.to_bits()
    }
}

impl ExactSum {
    pub(crate) fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.beyond += number;
            return;
        }
        if number == 0.0 {
            return;
        }
        let bits = number.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let power = exponent.max(1) - 1075;
        let (word, shift) = (power.div_euclid(BITS), power.rem_euclid(BITS));
        let wide = u128::from(mantissa) << shift;
        self.cover(word, word + 3);
        let from = (word - self.base) as usize;
        for (at, to) in self.words[from..from + 3].iter_mut().enumerate() {
            let digit = (wide >> (BITS as usize * at)) as u32;
            *to += if number < 0.0 { -i64::from(digit) } else { i64::from(digit) };
        }
        self.wait(1);
    }

    /// Adds a whole number times 2^(32 · base).
    fn add_whole(&mut self, number: i128, base: i32) {
        if number == 0 {
            return;
        }
        self.cover(base, base + 4);
        let from = (base - self.base) as usize;
        let size = number.unsigned_abs();
        for (at, to) in self.words[from..from + 4].iter_mut().enumerate() {
            let digit = i64::from((size >> (BITS as usize * at)) as u32);
            *to += if number < 0 { -digit } else { digit };
        }
        self.wait(1);
    }

    pub(crate) fn merge(&mut self, other: &ExactSum) {
        self.beyond += other.beyond;
        if other.words.is_empty() {
            return;
        }
        self.cover(other.base, other.base + other.words.len() as i32);
        let from = (other.base - self.base) as usize;
        self.words[from..].iter_mut().zip(&other.words).for_each(|(to, word)| *to += word);
        self.wait(other.waiting + 1);
    }

    /// The sum of several.
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a ExactSum>) -> ExactSum {
        let mut all = ExactSum::default();
        parts.into_iter().for_each(|part| all.merge(part));
        all
    }

    /// Room for the words from one power on and up to another.
    fn cover(&mut self, low: i32, high: i32) {
        if self.words.is_empty() {
            self.base = low;
        }
        if low < self.base {
            let more = (self.base - low) as usize;
            self.words.splice(0..0, std::iter::repeat_n(0, more));
            self.base = low;
        }
        let length = (high - self.base) as usize;
        if length > self.words.len() {
            self.words.resize(length, 0);
        }
    }

    fn wait(&mut self, additions: u32) {
        self.waiting += additions;
        if self.waiting >= PATIENCE {
            let (negative, base, digits) = self.digits();
            let sign = if negative { -1 } else { 1 };
            self.words = digits.into_iter().map(|digit| sign * i64::from(digit)).collect();
            (self.base, self.waiting) = (base, 1);
        }
    }

    /// Sign, power of the first digit and digits, of which neither the first nor the last is 0.
    fn digits(&self) -> (bool, i32, Vec<u32>) {
        let carried = |sign: i64| {
            let mut carry = 0;
            let mut digits = Vec::with_capacity(self.words.len() + 1);
            for word in &self.words {
                let sum = sign * word + carry;
                digits.push(sum as u32);
                carry = sum >> BITS;
            }
            (digits, carry)
        };
        let (mut digits, mut carry) = carried(1);
        let negative = carry < 0;
        if negative {
            (digits, carry) = carried(-1);
        }
        while carry != 0 {
            digits.push(carry as u32);
            carry >>= BITS;
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        (negative, if digits.is_empty() { 0 } else { self.base + zeros as i32 }, digits)
    }

    /// The nearest number.
    pub(crate) fn value(&self) -> f64 {
        if self.beyond != 0.0 {
            return self.beyond;
        }
        let (negative, base, number) = self.few_words().unwrap_or_else(|| {
            let (negative, base, digits) = self.digits();
            let top = digits.len().saturating_sub(4);
            let mut number =
                digits[top..].iter().rev().fold(0, |all: u128, digit| all << BITS | u128::from(*digit));
            // What is below decides where the rest is halfway between two numbers: 97 bits or more are far beyond 53.
            number |= u128::from(digits[..top].iter().any(|digit| *digit != 0));
            (negative, base + top as i32, number)
        });
        let power = base * BITS;
        // In two steps, as the power alone may be out of range.
        let value = number as f64 * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
        if negative { -value } else { value }
    }

    /// Sign, power and size of a sum that fits into 128 bits, as most do, for which no digits are listed.
    fn few_words(&self) -> Option<(bool, i32, u128)> {
        let mut all = 0_i128;
        for word in self.words.iter().rev() {
            if all.unsigned_abs() >= 1 << 90 {
                return None;
            }
            all = (all << BITS) + i128::from(*word);
        }
        Some((all < 0, self.base, all.unsigned_abs()))
    }
}

/// Additions that wait in a whole number of 128 bits, to which numbers of 53 bits were shifted by less than 64.
const NEAR_PATIENCE: u32 = 1 << 9;

/// Numbers of about one size that wait to be added to a sum: most are added to a whole number and to nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NearNumbers {
    number: i128,
    /// It counts 2^(32 · base).
    base: i32,
    waiting: u32,
}

impl NearNumbers {
    /// Adds a number, to the sum if it has another size.
    #[inline]
    pub(super) fn add(&mut self, number: f64, to: &mut ExactSum) {
        let bits = number.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        if exponent == 0 || exponent == 0x7ff {
            return to.add(number);
        }
        let power = exponent - 1075;
        let mut shift = power - BITS * self.base;
        if self.waiting == 0 || self.waiting >= NEAR_PATIENCE || !(0..64).contains(&shift) {
            self.finish(to);
            self.base = power.div_euclid(BITS) - 1;
            shift = power - BITS * self.base;
        }
        let mantissa = (bits & ((1 << 52) - 1) | 1 << 52) as i64;
        let signed = if number < 0.0 { -mantissa } else { mantissa };
        self.number += i128::from(signed) << shift;
        self.waiting += 1;
    }

    /// Adds what waits to the sum.
    pub(super) fn finish(&mut self, to: &mut ExactSum) {
        to.add_whole(self.number, self.base);
        *self = NearNumbers::default();
    }
}

impl ExactSum {
    /// Adds many numbers.
    pub(super) fn extend(&mut self, mut numbers: impl Iterator<Item = f64>) {
        loop {
            let mut block = [0.0; BLOCK];
            let filled = block.iter_mut().zip(numbers.by_ref()).map(|(to, number)| *to = number).count();
            if filled == 0 {
                return;
            }
            self.add_block(&block, SplitNumbers::new(&block, 1.0).as_ref());
        }
    }

    /// Adds numbers, all at once where they can be split.
    pub(super) fn add_block(&mut self, numbers: &[f64; BLOCK], split: Option<&SplitNumbers>) {
        match split {
            Some(split) => {
                let [a, b, c] = &split.lanes(numbers);
                [a, b, c].into_iter().for_each(|lanes| self.add(lanes.iter().sum()));
            }
            None => {
                let mut near = NearNumbers::default();
                numbers.iter().for_each(|&number| near.add(number, self));
                near.finish(self);
            }
        }
    }

    /// Adds a whole number.
    pub(super) fn add_integer(&mut self, number: u64) {
        self.add_whole(number.into(), 0);
    }
}

/// Numbers that are added at once.
pub(super) const BLOCK: usize = 128;

/// Numbers that a loop works on at once.
const LANES: usize = 4;

/// Bits of each of the first two parts of a number: the sum of a block of such parts has 53 bits at most.
const PART: i32 = 26;

/// How numbers of a block are parted: x = a + b + c, where a is a multiple of 2^(t − 26), b one of 2^(t − 52), and c less
/// than that; all numbers are below 2^t. To round to a multiple of u, 3 · 2⁵¹ u is added and taken away again.
pub(super) struct SplitNumbers {
    rounding: [f64; 2],
}

impl SplitNumbers {
    /// For numbers or their products with whole numbers up to a largest one. None if numbers are of such different sizes that
    /// the last parts might not be summed exactly, or next to the ends of all numbers: of 128 last parts below 2^(t − 53)
    /// the sum is below 2^(t − 46), and it is a multiple of the last bit of the least number.
    pub(super) fn new(numbers: &[f64; BLOCK], most: f64) -> Option<SplitNumbers> {
        let (mut least, mut largest) = ([f64::INFINITY; LANES], [0.0; LANES]);
        for numbers in numbers.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                let size = numbers[lane].abs();
                let or_more = if size > 0.0 { size } else { f64::INFINITY };
                least[lane] = if or_more < least[lane] { or_more } else { least[lane] };
                largest[lane] = if size > largest[lane] { size } else { largest[lane] };
            }
        }
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        let largest = largest.into_iter().fold(0.0, f64::max);
        let top = 2f64.powi(((largest * most).to_bits() >> 52 & 0x7ff) as i32 - 1022);
        let is_inside = largest < 1e200 && least > 1e-200 && least >= top * 2f64.powi(-46);
        let rounding = [1, 2].map(|part| 1.5 * 2f64.powi(52 - PART * part) * top);
        (largest == 0.0 || is_inside).then_some(SplitNumbers { rounding })
    }

    /// The sums of parts, by lane, which are added up elsewhere: in sight of the loop the compiler would shuffle all lanes.
    fn lanes(&self, numbers: &[f64; BLOCK]) -> [[f64; LANES]; 3] {
        wide(
            #[inline(always)]
            || self.lanes_of(numbers),
        )
    }

    #[inline(always)]
    fn lanes_of(&self, numbers: &[f64; BLOCK]) -> [[f64; LANES]; 3] {
        let mut sums = [[0.0; LANES]; 3];
        let [first, second] = self.rounding;
        for numbers in numbers.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                let a = (numbers[lane] + first) - first;
                let rest = numbers[lane] - a;
                let b = (rest + second) - second;
                sums[0][lane] += a;
                sums[1][lane] += b;
                sums[2][lane] += rest - b;
            }
        }
        sums
    }
}

/// The digits of texts, of six bits each.
const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";

/// What each byte is as a digit; 64 if it is none.
const VALUES: [u8; 256] = {
    let (mut values, mut at) = ([64; 256], 0);
    while at < 64 {
        values[DIGITS[at] as usize] = at as u8;
        at += 1;
    }
    values
};

/// Bits of a digit.
const DIGIT: i32 = 6;

/// Digits of six bits, the highest first, and the power of 64 that they count: `-1k4:-2`.
impl std::fmt::Display for ExactSum {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        if self.beyond != 0.0 {
            // Else it would have the letters of digits.
            return write!(f, "!{}", self.beyond);
        }
        let (negative, base, words) = self.digits();
        if words.is_empty() {
            return write!(f, "0");
        }
        let word = |at: i32| usize::try_from(at).ok().and_then(|at| words.get(at)).copied().unwrap_or(0);
        let (first, end) = (BITS * base, BITS * (base + words.len() as i32));
        // The six bits from a power of 64 on, which may be of two words, or in part below the first.
        let digit = |power: i32| {
            let (at, shift) = ((DIGIT * power).div_euclid(BITS) - base, (DIGIT * power).rem_euclid(BITS));
            let both = u64::from(word(at)) | u64::from(word(at + 1)) << BITS;
            (both >> shift) as usize & 63
        };
        let (mut low, mut high) = (first.div_euclid(DIGIT), end.div_euclid(DIGIT));
        while digit(low) == 0 {
            low += 1;
        }
        while digit(high) == 0 {
            high -= 1;
        }
        let text: String = (low..=high).rev().map(|power| char::from(DIGITS[digit(power)])).collect();
        write!(f, "{}{text}", if negative { "-" } else { "" })?;
        if low == 0 { Ok(()) } else { write!(f, ":{low}") }
    }
}

impl std::str::FromStr for ExactSum {
    type Err = String;

    fn from_str(text: &str) -> Result<ExactSum, String> {
        // Many in a partial audit, which need no room.
        if text == "0" {
            return Ok(ExactSum::default());
        }
        let wrong = || format!("{text:?} is no exact sum");
        if let Some(beyond) = text.strip_prefix('!') {
            let beyond = beyond.parse().ok().filter(|beyond: &f64| !beyond.is_finite());
            return Ok(ExactSum { beyond: beyond.ok_or_else(wrong)?, ..ExactSum::default() });
        }
        let (number, power) = text.split_once(':').unwrap_or((text, "0"));
        let (negative, digits) = number.strip_prefix('-').map_or((false, number), |digits| (true, digits));
        let power: i32 = power.parse().map_err(|_| wrong())?;
        // The powers that numbers have, and their sums.
        if digits.is_empty() || digits.len() > 600 || power.abs() > 600 {
            return Err(wrong());
        }
        let base = (DIGIT * power).div_euclid(BITS);
        let last = DIGIT * (power + digits.len() as i32) - BITS * base;
        let mut words = vec![0; (last / BITS) as usize + 1];
        let mut place = DIGIT * power - BITS * base;
        for byte in digits.bytes().rev() {
            let digit = u64::from(VALUES[usize::from(byte)]);
            if digit > 63 {
                return Err(wrong());
            }
            let (at, wide) = ((place / BITS) as usize, digit << (place % BITS));
            words[at] += i64::from(wide as u32);
            if wide >> BITS > 0 {
                words[at + 1] += (wide >> BITS) as i64;
            }
            place += DIGIT;
        }
        if negative {
            words.iter_mut().for_each(|word| *word = -*word);
        }
        Ok(ExactSum { base, words, waiting: 1, beyond: 0.0 })
    }
}

/// The most sums of one text.
const MOST: usize = 1 << 20;

/// Lists of sums as one text, in which zeros in a row are a star and their number.
pub(super) mod as_text {
    use super::*;

    pub(in crate::metrics) fn serialize<S: Serializer>(sums: &[ExactSum], to: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = sums.iter().map(ExactSum::to_string).collect();
        let runs = texts.chunk_by(|one, next| one == "0" && next == "0");
        let run = |run: &[String]| if run.len() > 1 { format!("*{}", run.len()) } else { run.concat() };
        runs.map(run).collect::<Vec<_>>().join(" ").serialize(to)
    }

    pub(in crate::metrics) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Vec<ExactSum>, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let mut sums: Vec<ExactSum> = Vec::new();
        for word in text.split_ascii_whitespace() {
            match word.strip_prefix('*') {
                None => sums.push(word.parse().map_err(D::Error::custom)?),
                Some(zeros) => {
                    let zeros: usize = zeros.parse().map_err(D::Error::custom)?;
                    sums.resize(sums.len().saturating_add(zeros.min(MOST)), ExactSum::default());
                }
            }
            if sums.len() > MOST {
                return Err(D::Error::custom("there are too many sums"));
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(numbers: &[f64]) -> ExactSum {
        let mut all = ExactSum::default();
        numbers.iter().for_each(|&number| all.add(number));
        all
    }

    #[test]
    fn nothing_is_lost_between_the_largest_and_the_smallest_number() {
        assert_eq!(sum(&[1e300, 1.0, 5e-324, -1e300, -1.0]).value(), 5e-324);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]).value(), f64::MAX);
        assert_eq!(sum(&[0.1; 10]).value(), 1.0); // Added one by one they are .9999999999999999.
        assert_eq!(sum(&[1.0, f64::INFINITY]).value(), f64::INFINITY);
        assert_eq!(sum(&[-3.0, 3.0]).to_string(), "0");
        let beyond = sum(&[f64::NEG_INFINITY]);
        assert_eq!((beyond.to_string().as_str(), beyond.to_string().parse()), ("!-inf", Ok(beyond)));
        assert_eq!("inf".parse::<ExactSum>().map(|sum| sum.value()), Ok(183_401.0));
        assert_eq!((sum(&[255.0]).to_string(), sum(&[-0.5]).to_string()), ("3/".into(), "-W:-1".into()));
        for text in ["", ":1", "-", "1:1000", "x.z", "1 2", "--1", "é", "1:", "*3", "!1", "!"] {
            assert!(text.parse::<ExactSum>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_order_and_any_parts_give_the_same_digits(
            numbers in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 0..40),
            cut in 0..40_usize,
        ) {
            let all = sum(&numbers);
            let mut turned = numbers.clone();
            turned.reverse();
            let (first, second) = turned.split_at(cut.min(numbers.len()));
            let (first, second) = (sum(first), sum(second));
            prop_assert_eq!(ExactSum::of([&first, &second]).to_string(), all.to_string());
            let mut extended = ExactSum::default();
            extended.extend(turned.iter().copied());
            prop_assert_eq!(extended.to_string(), all.to_string());
            let read: ExactSum = all.to_string().parse().unwrap();
            prop_assert_eq!(read.to_string(), all.to_string());
            prop_assert_eq!(read.value().to_bits(), all.value().to_bits());
        }

        /// Whole numbers below 2⁹⁰, beside 128 bits.
        #[test]
        fn whole_numbers_are_summed_as_whole_numbers(
            numbers in prop::collection::vec((-(1_i64 << 52)..1 << 52, 0..37_u32), 1..40)
        ) {
            let exact: i128 = numbers.iter().map(|&(number, shift)| i128::from(number) << shift).sum();
            let found = sum(&numbers.iter().map(|&(n, shift)| n as f64 * 2f64.powi(shift as i32)).collect::<Vec<_>>());
            prop_assert_eq!(found.value(), exact as f64);
            // Numbers of about one size, more of them than may wait.
            let near = || (0..30).flat_map(|times| numbers.iter().map(move |(n, _)| *n as f64 / f64::from(1 + times)));
            let mut extended = ExactSum::default();
            extended.extend(near());
            extended.add_integer(numbers[0].0.unsigned_abs() << 11);
            let mut slow = sum(&near().collect::<Vec<_>>());
            slow.add((numbers[0].0.unsigned_abs() << 11) as f64);
            prop_assert_eq!(extended.to_string(), slow.to_string());
        }

        /// Blocks with ±0, huge and tiny numbers.
        #[test]
        fn wide_vectors_change_no_bit(
            numbers in prop::collection::vec(
                prop_oneof![4 => -9.0..9.0, 1 => Just(0.0), 1 => Just(-0.0), 1 => -1e190..1e190, 1 => -1e-190..1e-190],
                BLOCK,
            ),
            power in -50..50,
        ) {
            let numbers: [f64; BLOCK] = numbers.try_into().unwrap();
            let top = 2f64.powi(power);
            let split = SplitNumbers { rounding: [top, top * 2f64.powi(-PART)] };
            prop_assert_eq!(split.lanes(&numbers).map(|sums| sums.map(f64::to_bits)), split.lanes_of(&numbers).map(|sums| sums.map(f64::to_bits)));
        }
    }
}
