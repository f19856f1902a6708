//! Scores that can't be trained anew: add a constant to the scores of each group.

use pairity::goals::Goal;
use pairity::methods::{GROUP_OFFSET, MethodOptions};
use pairity::{AdjustRequest, Settings, adjust};
use pairity_examples::Outcome;
use pairity_examples::scores;
use pairity_experiments::simulated::SimulatedTask;

fn main() -> Outcome {
    let rows = SimulatedTask::two_groups().draw(4000, 0).dataset("simulated");
    let scores = scores(&rows, |[x, y]| x + y);
    let outcome = adjust(&AdjustRequest {
        examples: &rows.examples()?,
        scores: &scores,
        groups: rows.groups.as_ref(),
        method: &GROUP_OFFSET,
        goal: &Goal::new(Some("auc".to_owned()), None, vec!["cross_group <= 0.01".to_owned()]),
        folds: &[],
        options: MethodOptions::default(),
        tune: 0.5,
        measure: Settings::default(),
    })?;
    println!("goal met: {}, {:?}", outcome.adjusted.meets_goal, outcome.adjusted.adjustment);
    for part in outcome.parts.iter().filter(|part| part.name == "test") {
        for (when, values) in [("before", &part.before), ("after", &part.after)] {
            let (auc, gap) = (&values.objective, &values.checks[0].metric);
            let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
            println!("{when:7} auc {:.4}   gap {:.4}", number(auc.value), number(gap.value));
        }
    }
    Ok(())
}
