//! Boosted stumps with a pairwise goal, along the gradient: what the LightGBM bridge does in Python.

use pairity_examples::boosting::boost;
use pairity_examples::{Outcome, halves, scores, show};

fn main() -> Outcome {
    let (train, test) = halves(2000);
    for (name, subject_to) in [("auc alone", None), ("cross_group <= 0.01", Some("cross_group <= 0.01"))] {
        // Every row counts the same in a leaf: its step is the mean of the slopes.
        let boosted = boost(&train, subject_to, 100, &|slope, _| (slope, 1.0))?;
        show(name, &test, &scores(&test, |x| boosted.last(x)))?;
        println!("{:26} mixture of {} boosters meets the goal: {}", "", boosted.members(), boosted.met);
    }
    Ok(())
}
