//! What is expected of a mixture, against its members and against leaving out one unit after another.

use super::influence::{Influence, values_in_order};
use super::measurement::arrange;
use super::{Chance, Measurement, Member, Settings};
use crate::examples::Examples;
use crate::pairs::oracle::{OracleRows, tables};
use crate::rates::{Average, Rate, Ties};
use proptest::prelude::*;

fn rates(examples: &Examples) -> Vec<Rate> {
    let mut rates = Vec::new();
    if examples.has_labels() {
        rates.extend([Rate::AUC, Rate::Mse]);
        if examples.is_continuous() {
            rates.extend([Rate::Greater, Rate::Less]);
        }
    }
    if examples.is_continuous() {
        rates.extend([Rate::ParityGreater, Rate::ParityLess]);
    }
    let k = examples.groups().len();
    for (a, b) in (0..k).flat_map(|a| (0..k).map(move |b| (a, b))) {
        if examples.has_labels() {
            rates.push(Rate::accuracy(a, b));
        }
        if a != b {
            rates.push(Rate::Parity { first: a, second: b });
        }
    }
    rates
}

/// Another scorer's scores, with other ties.
fn others(scores: &[f64], step: usize) -> Vec<f64> {
    (0..scores.len()).map(|i| scores[(i * step + 1) % scores.len()]).collect()
}

fn expected(
    examples: &Examples,
    members: &[Member],
    rates: &[Rate],
    ties: Ties,
    average: Average,
) -> Vec<f64> {
    let members = arrange(examples, members).unwrap();
    let settings = Settings { ties, average, ..Settings::default() };
    Influence::measure(examples, &members, rates, &settings).values
}

fn check(rows: &OracleRows, ties: Ties, average: Average) -> Result<(), TestCaseError> {
    let Some(examples) = rows.examples() else { return Ok(()) };
    let rates = rates(&examples);
    let (second, third) = (others(&rows.scores, 3), others(&rows.scores, 7));
    let member = |chance, scores| Member { chance: Chance::Same(chance), scores };
    let members = [member(0.5, &rows.scores[..]), member(0.3, &second), member(0.2, &third)];
    let found = expected(&examples, &members, &rates, ties, average);
    for (r, &found) in found.iter().enumerate() {
        let own = |m: &Member| {
            let scores = examples.arrange(m.scores).unwrap();
            values_in_order(&examples, &scores, &rates, ties, average)[r]
        };
        let sum = 0.5 * own(&members[0]) + 0.3 * own(&members[1]) + 0.2 * own(&members[2]);
        let same = if sum.is_finite() {
            (found - sum).abs() <= 1e-9 * sum.abs().max(1.0)
        } else {
            !found.is_finite()
        };
        prop_assert!(same, "{:?} {found} {sum}", rates[r]);
    }
    // The jackknife by its definition; the variance of queries has tests of its own.
    if examples.has_queries() {
        return Ok(());
    }
    let settings = Settings { ties, average, ..Settings::default() };
    let arranged = arrange(&examples, &members).unwrap();
    let measured = Influence::measure(&examples, &arranged, &rates, &settings);
    let mut variances = vec![0.0; rates.len()];
    for unit in 0..examples.units() as u32 {
        let rest: Vec<u32> = (0..examples.units() as u32).filter(|&other| other != unit).collect();
        let Ok(rest) = examples.part(&rest) else { continue };
        let values = expected(&rest, &members, &rates, ties, average);
        for (r, variance) in variances.iter_mut().enumerate() {
            *variance += (values[r] - found[r]).powi(2);
        }
    }
    for (r, &wanted) in variances.iter().enumerate().filter(|(_, v)| v.is_finite()) {
        let got = measured.variances[r];
        // Shares of examples are kept in f32.
        prop_assert!((got - wanted).abs() <= 1e-4 * wanted.max(1e-3), "{:?} {got} {wanted}", rates[r]);
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_mixture_is_worth_what_its_members_are_on_average(rows in tables(), strict: bool, by_query: bool) {
        let ties = if strict { Ties::Strict } else { Ties::Half };
        let average = if by_query { Average::Queries } else { Average::Pairs };
        check(&rows, ties, average)?;
    }

    #[test]
    fn queries_may_have_chances_of_their_own(rows in tables()) {
        let Some(examples) = rows.examples() else { return Ok(()) };
        let Some(queries) = &rows.queries else { return Ok(()) };
        let second = others(&rows.scores, 3);
        // Queries of even number see the first scorer, the others the second.
        let even: Vec<f64> = queries.iter().map(|q| f64::from(u8::from(q % 2 == 0))).collect();
        let odd: Vec<f64> = even.iter().map(|p| 1.0 - p).collect();
        let joined: Vec<f64> =
            even.iter().enumerate().map(|(i, &p)| if p > 0.0 { rows.scores[i] } else { second[i] }).collect();
        let settings = Settings::default();
        let members = [
            Member { chance: Chance::ByRow(&even), scores: &rows.scores },
            Member { chance: Chance::ByRow(&odd), scores: &second },
        ];
        let mixed = Measurement::of_mixture(&examples, &members, &settings).unwrap();
        let drawn = Measurement::new(&examples, &joined, &settings).unwrap();
        for rate in rates(&examples) {
            prop_assert_eq!(mixed.rate(rate), drawn.rate(rate));
        }
    }
}

#[test]
fn chances_have_to_add_up() {
    let examples = crate::examples::Columns { labels: Some(&[0.0, 1.0]), ..Default::default() };
    let examples = Examples::new(examples).unwrap();
    let member = |chance| Member { chance: Chance::Same(chance), scores: &[0.0, 1.0] };
    for members in [vec![member(0.5)], vec![member(1.5), member(-0.5)], vec![member(f64::NAN)], vec![]] {
        let error = Measurement::of_mixture(&examples, &members, &Settings::default()).err();
        assert!(error.is_some_and(|error| error.to_string().contains("add up to 1")), "{members:?}");
    }
}
