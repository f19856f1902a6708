//! Weighted terms of texts against a plain evaluation of the formula, term by term and text by text.

use pairity::examples::{Column, Values};
use pairity::learners::Encoder;
use pairity::learners::text::{Ngrams, TextLayout, tokens};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The words of a text, or its n-grams of characters, listed one by one.
fn terms(text: &str, chars: bool) -> Vec<String> {
    if !chars {
        return tokens(text);
    }
    let mut found = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    let all: Vec<char> = format!(" {} ", words.join(" ")).chars().flat_map(char::to_lowercase).collect();
    for start in 0..all.len() {
        for length in (2..=5).filter(|length| !words.is_empty() && start + length <= all.len()) {
            found.push(all[start..start + length].iter().collect());
        }
    }
    found
}

/// The names and the features of the terms of one kind: of each text a row with a cell for every term.
fn weighted(training: &[&str], texts: &[&str], chars: bool, most: usize) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for text in training {
        let mut own = terms(text, chars);
        own.sort();
        own.dedup();
        own.into_iter().for_each(|term| *counts.entry(term).or_default() += 1);
    }
    let fewest = if counts.values().any(|count| *count > 1) { 2 } else { 1 };
    let mut kept: Vec<(String, usize)> = counts.into_iter().filter(|(_, count)| *count >= fewest).collect();
    // Sorted by their characters already.
    kept.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kept.truncate(most);
    let row = |text: &&str| {
        let own = terms(text, chars);
        let cell = |(term, count): &(String, usize)| {
            let times = own.iter().filter(|other| *other == term).count() as f64;
            let rarity = 1.0 + ((1.0 + training.len() as f64) / (1.0 + *count as f64)).ln();
            if times > 0.0 { (1.0 + times.ln()) * rarity } else { 0.0 }
        };
        let cells: Vec<f64> = kept.iter().map(cell).collect();
        let length = cells.iter().map(|x| x * x).sum::<f64>().sqrt();
        cells.iter().map(|x| if length > 0.0 { 10.0 * x / length } else { 0.0 }).collect()
    };
    let rows = texts.iter().map(row).collect();
    (kept.into_iter().map(|(term, _)| format!("t has {term:?}")).collect(), rows)
}

fn column(texts: &[Option<&str>]) -> Column {
    let mut levels: Vec<String> = Vec::new();
    let code = |text: &Option<&str>| {
        let Some(text) = text else { return u32::MAX };
        let at = levels.iter().position(|level| level == text).unwrap_or_else(|| {
            levels.push((*text).to_owned());
            levels.len() - 1
        });
        at as u32
    };
    let codes = texts.iter().map(code).collect();
    Column { name: "t".into(), values: Values::Categories { codes, levels } }
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a", "AB", "ab", "abab", "ÉÉ", "é", "don't", "x-y", "!", "\n", "ß", "日本",
    ]);
    prop::collection::vec(word, 0..7).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn features_are_those_of_the_formula(
        training in prop::collection::vec(text(), 1..7),
        new in prop::collection::vec(text(), 0..4),
        missing in 0..3_usize,
        most in 1..40_usize,
        kinds in 0..3_usize,
    ) {
        let ngrams = [Ngrams::Words, Ngrams::Chars, Ngrams::Both][kinds];
        // Texts that are learned from come last, and some cells are missing: those are texts without terms.
        let mut all: Vec<Option<&str>> = new.iter().map(|text| Some(text.as_str())).collect();
        all.extend(training.iter().map(|text| Some(text.as_str())));
        all.extend(vec![None; missing]);
        let learned: Vec<u32> = (new.len() as u32..all.len() as u32).collect();
        let plain: Vec<&str> = all.iter().map(|text| text.unwrap_or_default()).collect();
        let kinds = [false, true].into_iter().filter(|chars| match ngrams {
            Ngrams::Words => !chars,
            Ngrams::Chars => *chars,
            Ngrams::Both => true,
        });
        let (mut names, mut rows) = (Vec::new(), vec![Vec::new(); all.len()]);
        for chars in kinds {
            let (terms, found) = weighted(&plain[new.len()..], &plain, chars, most);
            names.extend(terms);
            rows.iter_mut().zip(found).for_each(|(row, more)| row.extend(more));
        }
        let column = column(&all);
        let encoder = Encoder::default().with_text(&column, Some(&learned), most, TextLayout::Terms(ngrams));
        let Ok(encoder) = encoder else {
            prop_assert!(names.is_empty());
            return Ok(());
        };
        prop_assert_eq!(encoder.names(), names);
        let features = encoder.encode(&[column]).unwrap().features;
        let sparse = features.sparse().unwrap();
        for (row, expected) in rows.iter().enumerate() {
            for (found, expected) in sparse.dense_row(row).iter().zip(expected) {
                prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
            }
            let stored = expected.iter().filter(|cell| **cell != 0.0).count();
            prop_assert_eq!(sparse.row(row).len(), stored, "only terms that a text has are stored");
        }
    }
}
