//! Terms of texts, weighted by how much each tells (TF-IDF).
//!
//! Terms are words, or n-grams of 2 to 5 characters, spaces included: white space of any kind and length is one space.
//! Of a kind of terms, a text that has term t cₜ times has the feature
//!
//! ```text
//! xₜ = L uₜ / √(Σ uₛ²),      uₜ = (1 + ln cₜ) (1 + ln((1 + n) / (1 + dₜ)))
//! ```
//!
//! where dₜ of the n training texts have the term. Each text has the length L, whatever it is long: a text weighs as much
//! in weight decay as L² standardized numbers do.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::words::tokens;
use crate::names::names;
use crate::numbers;

/// The length of the features of a text, L.
const LENGTH: f64 = 10.0;

/// The characters of an n-gram.
const CHARACTERS: std::ops::RangeInclusive<usize> = 2..=5;

/// A term is one that several texts have, unless none is.
const FEWEST_TEXTS: u64 = 2;

/// Which terms of a text are features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ngrams {
    /// Words.
    Words,
    /// N-grams of characters.
    Chars,
    /// Words and n-grams of characters.
    #[default]
    Both,
}

names! { Ngrams:
    "words" => Words, "Words";
    "chars" => Chars, "N-grams of 2 to 5 characters";
    "both" => Both, "Words and n-grams of characters";
}

impl Ngrams {
    pub(in crate::learners) fn kinds(self) -> &'static [TermKind] {
        match self {
            Ngrams::Words => &[TermKind::Words],
            Ngrams::Chars => &[TermKind::Chars],
            Ngrams::Both => &[TermKind::Words, TermKind::Chars],
        }
    }
}

/// A kind of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TermKind {
    /// Words, as [`tokens`] finds them.
    Words,
    /// N-grams of characters, in lowercase.
    Chars,
}

impl TermKind {
    /// A text in which each term is a part as it stands.
    fn plain(self, text: &str) -> String {
        match self {
            TermKind::Words => tokens(text).join(" "),
            TermKind::Chars => {
                let mut plain = String::with_capacity(text.len());
                for word in text.split_whitespace() {
                    plain.extend((!plain.is_empty()).then_some(' '));
                    plain.extend(word.chars().flat_map(char::to_lowercase));
                }
                plain
            }
        }
    }

    /// Calls a function with each term of a plain text.
    fn each_term<'t>(self, plain: &'t str, mut each: impl FnMut(&'t str)) {
        match self {
            TermKind::Words => plain.split(' ').filter(|word| !word.is_empty()).for_each(each),
            TermKind::Chars => {
                let ends: Vec<usize> = plain.char_indices().map(|(at, _)| at).chain([plain.len()]).collect();
                for count in CHARACTERS {
                    ends.windows(count + 1).for_each(|ends| each(&plain[ends[0]..ends[count]]));
                }
            }
        }
    }
}

/// The terms of a kind, learned from texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Their kind.
    pub of: TermKind,
    /// The terms, those of the most texts first.
    pub terms: Vec<String>,
    /// How much each tells: 1 + ln((1 + n) / (1 + d)).
    #[serde(with = "numbers")]
    pub rarity: Vec<f64>,
}

impl Terms {
    /// The terms that most texts have, at most so many; those of as many texts in the order of their characters. Each
    /// text is given with how often it is there.
    pub(in crate::learners) fn learn(of: TermKind, texts: &[(&str, u64)], most: usize) -> Terms {
        let plain: Vec<String> = texts.iter().map(|(text, _)| of.plain(text)).collect();
        // In how many texts a term is, and the last of them.
        let mut found: HashMap<&str, (u64, usize)> = HashMap::new();
        for (at, (plain, (_, times))) in plain.iter().zip(texts).enumerate() {
            of.each_term(plain, |term| {
                let (count, last) = found.entry(term).or_insert((0, usize::MAX));
                if *last != at {
                    (*count, *last) = (*count + times, at);
                }
            });
        }
        let common = found.values().any(|(count, _)| *count >= FEWEST_TEXTS);
        let fewest = if common { FEWEST_TEXTS } else { 1 };
        let counts = found.into_iter().map(|(term, (count, _))| (term, count));
        let mut terms: Vec<(&str, u64)> = counts.filter(|(_, count)| *count >= fewest).collect();
        terms.sort_unstable_by(|(a, more), (b, less)| less.cmp(more).then_with(|| a.cmp(b)));
        terms.truncate(most);
        let all = texts.iter().map(|(_, times)| times).sum::<u64>() as f64;
        Terms {
            of,
            rarity: terms.iter().map(|(_, count)| 1.0 + ((1.0 + all) / (1.0 + *count as f64)).ln()).collect(),
            terms: terms.into_iter().map(|(term, _)| term.to_owned()).collect(),
        }
    }

    /// The place of each term.
    pub(in crate::learners) fn places(&self) -> HashMap<&str, u32> {
        self.terms.iter().map(String::as_str).zip(0..).collect()
    }

    /// Adds the features of a text, by the places of terms, counted from the first feature of this kind.
    pub(in crate::learners) fn add(
        &self,
        text: &str,
        places: &HashMap<&str, u32>,
        first: u32,
        features: &mut Vec<(u32, f64)>,
    ) {
        let plain = self.of.plain(text);
        let mut codes: Vec<u32> = Vec::new();
        self.of.each_term(&plain, |term| codes.extend(places.get(term)));
        codes.sort_unstable();
        let start = features.len();
        for same in codes.chunk_by(|a, b| a == b) {
            let value = (1.0 + (same.len() as f64).ln()) * self.rarity[same[0] as usize];
            features.push((first + same[0], value));
        }
        let own = &mut features[start..];
        let length = own.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        own.iter_mut().for_each(|(_, value)| *value *= LENGTH / length);
    }

    /// How many there are, in words.
    pub(in crate::learners) fn summary(&self) -> String {
        let kind = match self.of {
            TermKind::Words => "words",
            TermKind::Chars => "character n-grams",
        };
        format!("{} {kind}", self.terms.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms_of(of: TermKind, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        of.each_term(&of.plain(text), |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn n_grams_go_over_single_spaces() {
        let grams = |text| terms_of(TermKind::Chars, text);
        assert_eq!(grams("  aBc\n"), ["ab", "bc", "abc"]);
        assert_eq!(grams("a \t\n É!"), ["a ", " é", "é!", "a é", " é!", "a é!"]);
        assert_eq!(grams("wordy!").len(), 5 + 4 + 3 + 2);
        assert!(grams("").is_empty() && grams(" \t\n ").is_empty() && grams("A").is_empty());
    }

    #[test]
    fn words_are_those_of_the_other_text_scorer() {
        assert_eq!(terms_of(TermKind::Words, "Don’t  SHOUT, 'so'!"), ["don't", "shout", "so"]);
        assert!(terms_of(TermKind::Words, "...").is_empty());
    }

    /// Three texts, the second of them twice: n = 4. "good" is in 4 of them, "day" in 2, "a" in 3; "bad" in one alone.
    #[test]
    fn features_are_those_of_the_formula_by_hand() {
        let texts = [("good day a", 1), ("A good, good", 2), ("bad good day", 1)];
        let learned = Terms::learn(TermKind::Words, &texts, 10);
        assert_eq!(learned.terms, ["good", "a", "day"]);
        let rarity = [1.0, 1.0 + (5.0f64 / 4.0).ln(), 1.0 + (5.0f64 / 3.0).ln()];
        learned.rarity.iter().zip(rarity).for_each(|(a, b)| assert!((a - b).abs() < 1e-15, "{a} {b}"));
        let mut features = vec![(7, 1.0)];
        learned.add("Good good GOOD new day", &learned.places(), 100, &mut features);
        let (good, day) = (1.0 + 3.0f64.ln(), rarity[2]);
        let length = (good * good + day * day).sqrt();
        let expected = [(7, 1.0), (100, 10.0 * good / length), (102, 10.0 * day / length)];
        for ((at, value), (place, expected)) in features.iter().zip(expected) {
            assert!(*at == place && (value - expected).abs() < 1e-12, "{features:?}");
        }
        assert_eq!(features.len(), 3);
        learned.add("unknown", &learned.places(), 100, &mut features);
        assert_eq!(features.len(), 3, "no known term, no feature");
    }

    #[test]
    fn the_terms_of_most_texts_are_kept_and_those_of_one_text_only_if_there_are_no_others() {
        let texts = [("b a a", 1), ("c b a", 1), ("c d", 1)];
        let learn = |most| Terms::learn(TermKind::Words, &texts, most).terms;
        assert_eq!(learn(10), ["a", "b", "c"]);
        assert_eq!(learn(2), ["a", "b"]);
        assert_eq!(Terms::learn(TermKind::Words, &[("x y", 1)], 10).terms, ["x", "y"]);
        assert_eq!(Terms::learn(TermKind::Words, &[("x y", 2), ("z", 1)], 10).terms, ["x", "y"]);
        assert!(Terms::learn(TermKind::Chars, &[("", 1)], 10).terms.is_empty());
    }
}
