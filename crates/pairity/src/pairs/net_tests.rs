//! Net losses and lists of weighted pairs against sums over all pairs.

use super::net::{NetLoss, NetShape};
use super::oracle::{self, OracleRows, all_rates, sizes, tables};
use super::{CellLayout, RateIndex, Weights};
use crate::rates::{Average, Rate};
use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The net weight of every pair of rows: of label-ordered pairs, and of others.
type NetPairs = [BTreeMap<(usize, usize), f64>; 2];

fn net_pairs(rows: &OracleRows, index: &RateIndex, average: Average, weights: Weights) -> NetPairs {
    let layout = CellLayout::of(index.examples());
    let pairs = oracle::pairs(rows);
    let by_query = average == Average::Queries && rows.queries.is_some();
    let mut net = NetPairs::default();
    for (r, &rate) in index.rates().iter().enumerate().filter(|(_, rate)| **rate != Rate::Mse) {
        let cells = layout.cells(rate);
        let own: Vec<_> = pairs.iter().filter(|pair| cells.contains(&pair.cell)).collect();
        let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
        own.iter()
            .for_each(|pair| *totals.entry(if by_query { pair.query } else { 0 }).or_default() += pair.worth);
        totals.retain(|_, total| *total > 0.0);
        let weight = weights.hold_up[r] - weights.hold_down[r];
        let ordered = matches!(rate, Rate::Accuracy { .. } | Rate::Greater | Rate::Less);
        for pair in own {
            let Some(total) = totals.get(&if by_query { pair.query } else { 0 }) else { continue };
            let share = pair.worth / total / if by_query { totals.len() as f64 } else { 1.0 };
            let [i, j] = pair.rows;
            // P[z < z'] counts the pairs of P[z > z'] from their other ends.
            *net[usize::from(!ordered)].entry((i, j)).or_default() += weight * share;
        }
    }
    // Of parity, one order of a pair is the other one turned around.
    let parity = std::mem::take(&mut net[1]);
    for (&(i, j), &weight) in &parity {
        let turned = i > j && rows.side.is_none();
        let (key, weight) = if turned { ((j, i), -weight) } else { ((i, j), weight) };
        *net[1].entry(key).or_default() += weight;
    }
    net
}

fn shapes(t: f64) -> [f64; 2] {
    let square = |x: f64| x.max(0.0).powi(2);
    let (a, b, c) = (square(1.0 - t), square(-t), square(-1.0 - t));
    [(a - c) / 4.0, (a - 2.0 * b + c) / 2.0]
}

fn question() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, bool, f64, bool)> {
    let weights = || prop::collection::vec(prop_oneof![Just(0.0), 0.0..2.0_f64], 100);
    (weights(), weights(), any::<bool>(), 0.2..3.0_f64, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn weighted_pairs_and_their_losses_are_those_of_a_list_of_all_pairs(
        rows in tables(), sizes in sizes(), (up, down, by_query, margin, bounded) in question(),
    ) {
        // Parity of a continuous attribute is told by P[z > z'] alone, of whose pairs a turned one is no other.
        prop_assume!(rows.scores.iter().all(|score| score.abs() < 1e6));
        let Some(examples) = rows.ordered_above(sizes.small) else { return Ok(()) };
        let rates = all_rates(&examples);
        let average = if by_query { Average::Queries } else { Average::Pairs };
        let index = RateIndex::sized(Cow::Borrowed(&examples), &rates, average, sizes);
        let weights = Weights { hold_up: &up[..rates.len()], hold_down: &down[..rates.len()], mse: 0.0 };
        let expected = net_pairs(&rows, &index, average, weights);
        let row = |example: usize| examples.example_rows()[example] as usize;

        // The list: what every pair earns adds up to the same for any scores.
        let scores = examples.arrange(&rows.scores).unwrap();
        let step = |d: f64| f64::from(u8::from(d > 0.0)) + f64::from(u8::from(d == 0.0)) / 2.0;
        let (mut found, mut count) = (0.0, 0);
        index.each_pair(weights, |i, j, weight| {
            found += weight * step(scores[i] - scores[j]);
            count += 1;
            assert!(row(i) != row(j));
        });
        let turned_credit: f64 = (0..rates.len()).filter(|&r| index.has_pairs(r)).map(|r| {
            let value = index.true_rates(&index.order(&scores))[r];
            if rates[r] == Rate::Mse { 0.0 } else { (up[r] - down[r]) * value }
        }).sum();
        let constant = parity_constant(&index, &rates, &up, &down, rows.side.is_some());
        prop_assert!((found - (turned_credit + constant)).abs() < 1e-9, "{found} {turned_credit} {constant}");
        prop_assert!(count as u64 <= 3 * index.pair_limit());

        // The loss.
        let shape = if bounded { NetShape::Bounded } else { NetShape::Convex };
        let loss = NetLoss { shape, margin };
        let value = |scores: &[f64]| {
            let mut gradient = vec![0.0; scores.len()];
            (loss.evaluate(&index, scores, weights, &mut gradient), gradient)
        };
        let (found, gradient) = value(&scores);
        let continuous = examples.is_continuous();
        let mut slow = 0.0;
        for (kind, pairs) in expected.iter().enumerate() {
            for (&(i, j), &weight) in pairs {
                // A mirrored pair is taken in the order that it should have.
                let flip = kind == 1 && weight < 0.0 && rows.side.is_none() && !continuous;
                let flip = flip || (kind == 1 && continuous && !higher(&rows, i, j));
                let (i, j, weight) = if flip { (j, i, -weight) } else { (i, j, weight) };
                let [convex, step] = shapes((rows.scores[i] - rows.scores[j]) / margin);
                slow += if weight > 0.0 && !bounded { weight * convex } else { weight * step };
            }
        }
        prop_assert!((found - slow).abs() < 1e-7 * (1.0 + slow.abs()), "{found} {slow}");
        for at in 0..scores.len().min(4) {
            let moved = |by: f64| { let mut all = scores.clone(); all[at] += by; value(&all).0 };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            prop_assert!((slope - gradient[at]).abs() < 1e-3 * (1.0 + slope.abs()), "{slope} {}", gradient[at]);
        }
    }
}

fn higher(rows: &OracleRows, i: usize, j: usize) -> bool {
    rows.protected.as_ref().is_some_and(|z| z[i] > z[j])
}

/// What weights of parity come to beside the pairs that stand for them: a mirrored pair counts for both of its orders.
fn parity_constant(index: &RateIndex, rates: &[Rate], up: &[f64], down: &[f64], chosen: bool) -> f64 {
    let of = |(r, rate): (usize, &Rate)| match rate {
        Rate::Parity { .. } if !chosen && index.has_pairs(r) => down[r],
        Rate::ParityLess if index.has_pairs(r) => down[r] - up[r],
        _ => 0.0,
    };
    rates.iter().enumerate().map(of).sum()
}
