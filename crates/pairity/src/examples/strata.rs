//! Splits whose parts hold the same kinds of units, in proportion, and rare kinds in every part if that is
//! possible.
//!
//! The kind of a row is its group and the class of its label. A query holds a cell (g, h) if a row of group g has
//! a higher label than one of group h in it, so that it has pairs for the rates of g and h; its kind is the rarest
//! cell that it holds. Continuous labels and attributes count by their quantile.
//!
//! Kinds are divided from the rarest to the most frequent. With n units of a kind, and r_p of r units left to be
//! put into part p, the part gets ⌊n r_p / r⌋ of them. The few that remain go by lot, with odds of the fractions;
//! where there is a unit for every part, first to parts that would have none though half a unit or more is theirs.
//! So each part gets ⌊n r_p / r⌋ or ⌈n r_p / r⌉ of every kind, and exactly as many units as it is to have.

use super::parts::shuffled;
use super::{Attribute, Examples, sort_by_value};
use rand::{Rng, RngExt};
use std::collections::BTreeMap;

/// Labels of at most so many values are classes; others count by their quantile.
const CLASSES: usize = 10;

/// Quantiles that continuous labels and attributes are told apart by.
const QUANTILES: usize = 4;

/// A kind of units: the group and the class of the label of a row, or a cell that a query holds.
type Kind = (u16, u16);

impl Examples {
    /// Units for each part at random, of which each is to have so many.
    pub(super) fn divide(&self, sizes: &[usize], random: &mut impl Rng) -> Vec<Vec<u32>> {
        let order = shuffled(self.units(), random);
        let mut members: BTreeMap<Option<Kind>, Vec<u32>> = BTreeMap::new();
        let kinds = self.kinds();
        order.into_iter().for_each(|unit| members.entry(kinds[unit as usize]).or_default().push(unit));
        let mut members: Vec<Vec<u32>> = members.into_values().collect();
        members.sort_by_key(Vec::len);
        let mut left = sizes.to_vec();
        let mut parts = vec![Vec::new(); sizes.len()];
        for units in members {
            let mut units = units.into_iter();
            for (part, count) in apportion(units.len(), &left, random).into_iter().enumerate() {
                parts[part].extend(units.by_ref().take(count));
                left[part] -= count;
            }
        }
        parts
    }

    /// The kind of each unit; none for a query without pairs.
    fn kinds(&self) -> Vec<Option<Kind>> {
        let codes = match &self.attribute {
            Attribute::None => vec![0; self.len()],
            Attribute::Groups { codes, .. } => codes.clone(),
            Attribute::Continuous(values) => quantiles(values),
        };
        if !self.has_queries {
            let classes = self.labels.as_deref().map_or_else(|| vec![0; self.len()], classes);
            return codes.into_iter().zip(classes).map(Some).collect();
        }
        let mut frequencies: BTreeMap<Kind, usize> = BTreeMap::new();
        for query in 0..self.queries() {
            self.each_cell(query, &codes, |cell| *frequencies.entry(cell).or_default() += 1);
        }
        let rarest = |query: usize| {
            let mut rarest = None;
            self.each_cell(query, &codes, |cell| {
                let found = Some((frequencies[&cell], cell));
                rarest = if rarest.is_none() { found } else { rarest.min(found) };
            });
            rarest.map(|(_, cell)| cell)
        };
        (0..self.queries()).map(rarest).collect()
    }

    /// The cells that a query holds; without labels those of two rows.
    fn each_cell(&self, query: usize, codes: &[u16], mut act: impl FnMut(Kind)) {
        // Of each group, its rows, its lowest label and its highest.
        let mut groups: BTreeMap<u16, (usize, f64, f64)> = BTreeMap::new();
        for example in self.query(query) {
            let label = self.labels.as_ref().map_or(0.0, |labels| labels[example]);
            let (rows, low, high) =
                groups.entry(codes[example]).or_insert((0, f64::INFINITY, f64::NEG_INFINITY));
            (*rows, *low, *high) = (*rows + 1, low.min(label), high.max(label));
        }
        for (&g, &(rows, _, high)) in &groups {
            for (&h, &(_, low, _)) in &groups {
                let held = if self.labels.is_some() { high > low } else { g != h || rows > 1 };
                if held {
                    act((g, h));
                }
            }
        }
    }
}

/// How many of `count` units each part gets, which has so many left to get: see the top of this file.
fn apportion(count: usize, left: &[usize], random: &mut impl Rng) -> Vec<usize> {
    // As integers, so that nothing is lost: the fractions have this denominator.
    let total = left.iter().sum::<usize>().max(1) as u64;
    let owed: Vec<u64> = left.iter().map(|&left| count as u64 * left as u64).collect();
    let mut counts: Vec<usize> = owed.iter().map(|owed| (owed / total) as usize).collect();
    let rest = count - counts.iter().sum::<usize>();
    if rest > 0 {
        let enough = count >= left.iter().filter(|&&left| left > 0).count();
        let mut chances: Vec<(f64, usize)> = Vec::new();
        for (part, owed) in owed.iter().enumerate() {
            let fraction = (owed % total) as f64 / total as f64;
            let first = enough && counts[part] == 0 && fraction >= 0.5;
            // The largest of u^(1/f) is drawn with odds f; a fraction of 0 comes last.
            let lot = random.random::<f64>().powf(1.0 / fraction);
            chances.push((lot + f64::from(u8::from(first)), part));
        }
        chances.sort_by(|a, b| b.0.total_cmp(&a.0));
        chances[..rest].iter().for_each(|&(_, part)| counts[part] += 1);
    }
    counts
}

/// The class of each label: its rank if there are few values, otherwise its quantile.
fn classes(labels: &[f64]) -> Vec<u16> {
    let mut values: Vec<f64> = Vec::new();
    for &label in labels {
        let at = values.partition_point(|&value| value < label);
        if values.get(at).is_none_or(|&value| value != label) {
            values.insert(at, label);
        }
        if values.len() > CLASSES {
            return quantiles(labels);
        }
    }
    labels.iter().map(|&label| values.partition_point(|&value| value < label) as u16).collect()
}

/// The quantile of each number, the same for equal ones; NaN has one of its own.
fn quantiles(values: &[f64]) -> Vec<u16> {
    let mut codes = vec![0; values.len()];
    let mut before = 0;
    for equal in sort_by_value(values).chunk_by(|a, b| a.0 == b.0) {
        // Where the middle of equal numbers stands.
        let quantile = (2 * before + equal.len()) * QUANTILES / (2 * values.len());
        for &(_, at) in equal {
            let at = at as usize;
            codes[at] = if values[at].is_nan() { QUANTILES as u16 } else { quantile as u16 };
        }
        before += equal.len();
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::super::{Columns, Groups};
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const SHARES: [f64; 3] = [0.5, 0.25, 0.25];

    /// How many units of each kind the parts of a split have.
    fn counts(examples: &Examples, seed: u64) -> BTreeMap<Option<Kind>, Vec<usize>> {
        let kinds = examples.kinds();
        let n = examples.units();
        let sizes = [n - n / 4 - n / 4, n / 4, n / 4];
        let parts = examples.divide(&sizes, &mut ChaCha8Rng::seed_from_u64(seed));
        assert!(parts.iter().map(Vec::len).eq(sizes));
        let mut units: Vec<u32> = parts.concat();
        units.sort_unstable();
        assert!(units.into_iter().eq(0..n as u32));
        let mut counts = BTreeMap::new();
        for (part, units) in parts.iter().enumerate() {
            for &unit in units {
                counts.entry(kinds[unit as usize]).or_insert_with(|| vec![0; 3])[part] += 1;
            }
        }
        counts
    }

    /// The cells of a query, pair by pair.
    fn cells(labels: &[f64], groups: &[&str], query: &[usize]) -> Vec<(String, String)> {
        let mut cells = Vec::new();
        for &i in query {
            for &j in query.iter().filter(|&&j| labels[i] > labels[j]) {
                cells.push((groups[i].to_owned(), groups[j].to_owned()));
            }
        }
        cells.sort();
        cells.dedup();
        cells
    }

    proptest! {
        #[test]
        fn parts_have_the_units_they_are_to_have_and_nearly_the_share_of_every_kind(
            rows in prop::collection::vec((0..3_u32, 0..3_usize, 0..9_u32), 12..90),
            with_queries: bool, seed: u64,
        ) {
            let labels: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
            let groups = Groups::from_names(&rows.iter().map(|r| ["", "a", "b"][r.1]).collect::<Vec<_>>());
            let queries: Vec<u32> = rows.iter().map(|r| r.2).collect();
            let examples = Examples::new(Columns {
                labels: Some(&labels),
                groups: Some(&groups),
                queries: with_queries.then_some(&queries),
                ..Columns::default()
            }).unwrap();
            prop_assume!(examples.units() >= 8);
            let kinds = counts(&examples, seed);
            // What is left shifts a little with each kind, as its counts are rounded.
            let slack = kinds.len() as f64;
            for (kind, parts) in kinds {
                let n: usize = parts.iter().sum();
                for (count, share) in parts.iter().zip(SHARES) {
                    prop_assert!((*count as f64 - share * n as f64).abs() < slack + 1.0, "{kind:?}: {parts:?}");
                }
            }
        }

        #[test]
        fn the_kind_of_a_query_is_the_rarest_cell_that_has_pairs_in_it(
            rows in prop::collection::vec((0..3_u32, 0..3_usize, 0..6_u32), 1..60),
        ) {
            let labels: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
            let names: Vec<&str> = rows.iter().map(|r| ["a", "b", "c"][r.1]).collect();
            let groups = Groups::from_names(&names);
            let queries: Vec<u32> = rows.iter().map(|r| r.2).collect();
            let examples = Examples::new(Columns {
                labels: Some(&labels), groups: Some(&groups), queries: Some(&queries), ..Columns::default()
            }).unwrap();
            let held: Vec<Vec<(String, String)>> = (0..6)
                .map(|query| (0..rows.len()).filter(|&i| queries[i] == query).collect::<Vec<_>>())
                .filter(|query| !query.is_empty())
                .map(|query| cells(&labels, &names, &query))
                .collect();
            let frequency = |cell: &(String, String)| held.iter().filter(|cells| cells.contains(cell)).count();
            let expected: Vec<_> = held
                .iter()
                .map(|cells| cells.iter().min_by_key(|cell| (frequency(cell), (*cell).clone())).cloned())
                .collect();
            let name = |code: u16| examples.groups()[usize::from(code)].clone();
            let named = |kind: Option<Kind>| kind.map(|(g, h)| (name(g), name(h)));
            let found: Vec<_> = examples.kinds().into_iter().map(named).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn quantiles_follow_the_order_and_equal_numbers_share_one(
            values in prop::collection::vec(prop_oneof![(-9..9_i32).prop_map(f64::from), Just(f64::NAN)], 1..60),
        ) {
            let codes = quantiles(&values);
            for (i, a) in values.iter().enumerate() {
                prop_assert_eq!(codes[i] == QUANTILES as u16, a.is_nan());
                for (j, b) in values.iter().enumerate().filter(|(_, b)| *b >= a) {
                    prop_assert!(codes[j] >= codes[i] && (a != b || codes[j] == codes[i]));
                }
            }
        }
    }

    #[test]
    fn three_units_of_a_kind_are_one_for_each_part() {
        let labels: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i < 3))).collect();
        let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() }).unwrap();
        for seed in 0..50 {
            assert_eq!(counts(&examples, seed)[&Some((0, 1))], [1, 1, 1]);
        }
    }

    /// 10,000 draws of one of three parts: the deviation of a share is at most .005.
    #[test]
    fn a_unit_of_its_own_kind_is_drawn_by_the_shares() {
        let random = &mut ChaCha8Rng::seed_from_u64(0);
        let mut sums = [0.0; 3];
        for _ in 0..10_000 {
            let counts = apportion(1, &[20, 10, 10], random);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count as f64 / 10_000.0);
        }
        assert!(sums.iter().zip(SHARES).all(|(sum, share)| (sum - share).abs() < 0.02), "{sums:?}");
    }

    #[test]
    fn few_labels_are_classes_and_many_count_by_their_quantile() {
        assert_eq!(classes(&[5.0, 1.0, 3.0, 1.0]), [2, 0, 1, 0]);
        let many: Vec<f64> = (0..16).map(f64::from).collect();
        assert_eq!(classes(&many), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    }
}
