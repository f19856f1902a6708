//! From texts to words, from words to the vocabulary of the training texts, and from there to codes.

use std::collections::HashMap;

use super::Ngrams;

/// The words of a text, in order.
///
/// 1. A word is a longest run of letters and digits (Unicode's alphabetic and numeric characters) and
///    apostrophes; everything else separates words.
/// 2. Both `'` and `’` are apostrophes, written as `'`. Those at the ends of a word are removed.
/// 3. Letters become lowercase, each by itself.
///
/// Nothing is stemmed, corrected or left out, and combining characters are not composed. Scripts that are
/// written without spaces give long words.
///
/// ```
/// use pairity::learners::text::tokens;
/// assert_eq!(tokens("Don’t SHOUT, it's 'rude'!"), ["don't", "shout", "it's", "rude"]);
/// ```
pub fn tokens(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    for c in text.chars().chain([' ']) {
        match c {
            // One that starts a word is dropped here, one that ends it below.
            '\'' | '’' if word.is_empty() => {}
            '\'' | '’' => word.push('\''),
            c if c.is_alphanumeric() => word.extend(c.to_lowercase()),
            _ if word.is_empty() => {}
            _ => {
                word.truncate(word.trim_end_matches('\'').len());
                words.push(std::mem::take(&mut word));
            }
        }
    }
    words
}

/// What of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextLayout {
    /// Its terms, weighted by how much each tells.
    Terms(Ngrams),
    /// Its words in order: the first so many that are in the vocabulary.
    Sequence {
        /// How many.
        length: usize,
    },
}

impl TextLayout {
    /// The most words, and the most n-grams of characters, that are told apart unless another number is asked for.
    pub fn vocabulary(self) -> usize {
        match self {
            TextLayout::Terms(_) => 200_000,
            TextLayout::Sequence { .. } => 10_000,
        }
    }
}

/// The most frequent words of some texts, the most frequent first; words that are equally frequent in the
/// order of their characters.
pub(in crate::learners) fn learn<'a>(texts: impl Iterator<Item = &'a str>, size: usize) -> Vec<String> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for word in texts.flat_map(tokens) {
        *counts.entry(word).or_default() += 1;
    }
    let mut words: Vec<(String, u64)> = counts.into_iter().collect();
    words.sort_unstable_by(|(a, more), (b, less)| less.cmp(more).then_with(|| a.cmp(b)));
    words.truncate(size);
    words.into_iter().map(|(word, _)| word).collect()
}

/// The codes of the first so many words of a text, which are their places in the vocabulary. Other words are left out.
pub(in crate::learners) fn codes(text: &str, places: &HashMap<&str, u32>, length: usize) -> Vec<u32> {
    let words = tokens(text);
    words.iter().filter_map(|word| places.get(word.as_str()).copied()).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_digits_and_inner_apostrophes() {
        let cases: [(&str, &[&str]); 9] = [
            ("", &[]),
            (" \n\t.,;-_/", &[]),
            ("''' '", &[]),
            ("a", &["a"]),
            ("anti-gay_rights", &["anti", "gay", "rights"]),
            ("rock 'n' roll''", &["rock", "n", "roll"]),
            ("3.14 and x2", &["3", "14", "and", "x2"]),
            ("ÉCOLE Straße ΣΑΣ", &["école", "straße", "σασ"]),
            ("http://example.org/?q=1", &["http", "example", "org", "q", "1"]),
        ];
        for (text, words) in cases {
            assert_eq!(tokens(text), words, "{text:?}");
        }
    }

    #[test]
    fn the_most_frequent_words_come_first_and_ties_by_their_characters() {
        let texts = ["b a a", "c b A!", "d"];
        assert_eq!(learn(texts.into_iter(), 3), ["a", "b", "c"]);
        assert_eq!(learn(texts.into_iter(), 10), ["a", "b", "c", "d"]);
        assert!(learn([].into_iter(), 10).is_empty());
    }

    #[test]
    fn a_sequence_has_known_words_and_ends_at_its_length() {
        let places = HashMap::from([("a", 0), ("b", 1), ("c", 2)]);
        let text = "C x a c, B a";
        assert_eq!(codes(text, &places, 10), [2, 0, 2, 1, 0]);
        assert_eq!(codes(text, &places, 3), [2, 0, 2]);
    }
}
