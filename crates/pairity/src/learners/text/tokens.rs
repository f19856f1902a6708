//! The tokenizer: from a text to its words.

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
}
