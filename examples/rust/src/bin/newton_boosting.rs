//! Boosted stumps with a pairwise goal, by Newton's steps: what the XGBoost bridge does in Python.

use pairity_examples::boosting::boost;
use pairity_examples::{Outcome, halves, scores, show};

fn main() -> Outcome {
    let (train, test) = halves(2000);
    for (name, subject_to) in [("auc alone", None), ("cross_group <= 0.01", Some("cross_group <= 0.01"))] {
        // A row counts as much as the loss bends there.
        let boosted = boost(&train, subject_to, 100, &|slope, curvature| (slope, curvature))?;
        show(name, &test, &scores(&test, |x| boosted.last(x)))?;
        println!("{:26} mixture of {} boosters meets the goal: {}", "", boosted.members(), boosted.met);
    }
    Ok(())
}
