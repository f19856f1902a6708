//! What a guarantee promises, held against the whole population of the simulated task.

use pairity_experiments::guarantees::tally;

#[test]
fn models_that_are_guaranteed_keep_their_bound_over_the_population() {
    let many = tally(2000, 12, 0.1).unwrap();
    assert!(many.given >= 8 && many.broken == 0 && many.withheld == 0, "{many:?}");
    // With so few queries no limit is below the bound.
    let few = tally(100, 4, 0.05).unwrap();
    assert_eq!((few.given, few.withheld), (0, 0), "{few:?}");
}
