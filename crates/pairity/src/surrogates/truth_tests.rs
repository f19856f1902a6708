//! The fast count of a training loop against the count of an audit.

use super::{Kind, Surrogate};
use crate::metrics::values_in_order;
use crate::pairs::oracle::tables;
use crate::rates::{Average, Rate, Ties};
use proptest::prelude::*;

proptest! {
    #[test]
    fn true_rates_are_those_of_an_audit(rows in tables(), by_query: bool, small: bool) {
        let mut rows = rows;
        if small {
            // Every query small, so that the prepared columns are enough.
            rows.queries = Some((0..rows.scores.len() as u32).map(|i| i / 12).collect());
        }
        let Some(examples) = rows.examples() else { return Ok(()) };
        let average = if by_query { Average::Queries } else { Average::Pairs };
        let k = examples.groups().len();
        let mut rates = vec![Rate::AUC];
        rates.extend((0..k).flat_map(|a| [Rate::row(a), Rate::column(a), Rate::accuracy(a, 0)]));
        let scores = examples.arrange(&rows.scores).unwrap();
        let surrogate = Surrogate::new(&examples, &rates, average, Kind::Hinge, 1.0).unwrap();
        let fast = surrogate.true_rates(&scores);
        let slow = values_in_order(&examples, &scores, &rates, Ties::Half, average);
        for (fast, slow) in fast.iter().zip(&slow) {
            prop_assert!(fast.is_nan() && slow.is_nan() || (fast - slow).abs() < 1e-12, "{fast} {slow}");
        }
    }
}
