//! Train a ranker that is equally accurate for both groups, and see what it costs.

use pairity::goals::Goal;
use pairity::methods::{CONSTRAINED, Method, UNCONSTRAINED};
use pairity::run::GroupAware;
use pairity::{FitRequest, ScoreRequest, TrainRequest, Watch, score, train};
use pairity_examples::{Outcome, halves, show};

fn main() -> Outcome {
    let (rows, test) = halves(2000);
    let way = |method: &'static Method, subject_to: &[&str], group_aware: Option<GroupAware>| {
        let subject_to = subject_to.iter().map(|text| (*text).to_owned()).collect();
        let fit = FitRequest {
            goal: Goal::new(None, None, subject_to),
            group_aware,
            iterations: 1000,
            step_sizes: vec![0.1],
            split: Some([1.0, 0.0, 0.0]),
            ..FitRequest::default()
        };
        TrainRequest { fit, method, ..TrainRequest::default() }
    };
    let fair = &["cross_group <= 0.01"];
    let ways = [
        ("unconstrained", way(&UNCONSTRAINED, &[], None)),
        ("constrained", way(&CONSTRAINED, fair, None)),
        ("constrained, group-aware", way(&CONSTRAINED, fair, Some(GroupAware::Offsets))),
    ];
    let queries = test.queries.clone().unwrap_or_default();
    let last = queries.iter().max().map_or(0, |&query| query + 1);
    let names: Vec<String> = (0..last).map(|query| query.to_string()).collect();
    for (name, request) in ways {
        let outcome = train(rows.training_rows()?, &request, Watch::default())?;
        let scored = score(&ScoreRequest {
            model: &outcome.model,
            columns: &test.columns,
            groups: test.groups.as_ref(),
            queries: Some((&queries, &names)),
            seed: None,
            expected: false,
        })?;
        show(name, &test, &scored.scores)?;
        println!("{:26} {}", "", outcome.trained.status.name());
    }
    Ok(())
}
