use super::{comparison_html, frontier_html};
use pairity::examples::{Columns, Examples, Groups};
use pairity::goals::{Goal, Objective, Problem, ViolationKind, parse_constraint, parse_maximize};
use pairity::metrics::{Chance, Member, Settings};
use pairity::run::{
    CompareOutcome, ComparisonSetup, FrontierCurve, FrontierOutcome, FrontierPoint, MethodOutcome,
    MethodResult,
};
use pairity::solvers::{Status, evaluate_members};

const NASTY: &str = "<script>x()</script>";

/// How scores that favor group b by so much do.
fn outcome(favor: f64, bound: f64) -> MethodOutcome {
    let rows: u32 = 200;
    let labels: Vec<f64> = (0..rows).map(|i| f64::from(i % 2)).collect();
    let names: Vec<&str> = (0..rows).map(|i| [NASTY, "b"][(i / 2 % 2) as usize]).collect();
    let groups = Groups::from_names(&names);
    let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    let examples = Examples::new(columns).unwrap();
    let words = examples.vocabulary();
    let constraint = parse_constraint(&format!("cross_group <= {bound}"), &words).unwrap();
    let problem = Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[constraint]).unwrap();
    let scores: Vec<f64> = (0..rows)
        .map(|i| f64::from(i * 7919 % 997) / 997.0 + 0.4 * f64::from(i % 2) + favor * f64::from(i / 2 % 2))
        .collect();
    let member = Member { chance: Chance::Same(1.0), scores: &scores };
    let test = evaluate_members(&problem, &examples, &[member], &Settings::default()).unwrap();
    MethodOutcome {
        status: Status::Feasible,
        seconds: 1.5,
        components: 1,
        sees_group: favor > 0.0,
        test,
        dominated: false,
    }
}

fn setup(name: &str) -> ComparisonSetup {
    let goal =
        Goal { objective: Objective::Maximize("auc".into()), subject_to: vec!["cross_group <= 0.1".into()] };
    ComparisonSetup {
        goal,
        violation: ViolationKind::Gap,
        part: "test",
        rows: 200,
        scorer: "linear",
        seed: 0,
        confidence: 0.95,
        tables: vec![name.into()],
        notes: vec![name.into()],
    }
}

fn result(method: &str, favor: f64, bound: f64) -> MethodResult {
    MethodResult { method: method.to_owned(), outcome: Ok(outcome(favor, bound)) }
}

#[test]
fn a_comparison_shows_every_method_and_why_some_do_not_apply() {
    let report = CompareOutcome::new(
        setup(NASTY),
        vec![
            result("fair", 0.0, 0.1),
            result(NASTY, 0.5, 0.1),
            MethodResult { method: "none".into(), outcome: Err(format!("because {NASTY}")) },
        ],
    );
    let page = comparison_html(&report, Some(&format!("pairity {NASTY}")));
    // Our own script, and no other.
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.matches("&lt;script&gt;").count() > 8);
    assert!(page.contains("because &lt;script&gt;") && page.contains("id=\"refused\""));
    assert_eq!(page.matches("class=\"choice\"").count(), 2);
    assert_eq!(page.matches("<table class=\"heat").count(), 2);
    assert_eq!(page.matches("class=\"dot faded").count(), 2, "a point and its line of the legend");
    for outcome in report.results.iter().filter_map(|result| result.outcome.as_ref().ok()) {
        let number = |x: Option<f64>| crate::words::number(x.unwrap(), 4);
        for metric in [&outcome.test.objective, outcome.test.violation.as_ref().unwrap()] {
            let words = format!(
                "{} <small>{} to {}</small>",
                number(metric.value),
                number(metric.low),
                number(metric.high)
            );
            assert!(page.contains(&words), "{words}");
        }
    }
    assert!(!page.contains("NaN") && page.len() < 500_000);
}

#[test]
fn nothing_that_applies_still_makes_a_page() {
    let report = CompareOutcome::new(
        setup("people.csv"),
        vec![MethodResult { method: "m".into(), outcome: Err("no".into()) }],
    );
    assert!(comparison_html(&report, None).contains("No method applies"));
    assert!(frontier_html(&frontier(vec![]), None).contains("No method gave a model"));
}

fn frontier(curves: Vec<FrontierCurve>) -> FrontierOutcome {
    FrontierOutcome { setup: setup("people.csv"), curves }
}

#[test]
fn a_frontier_shows_the_best_model_that_keeps_each_bound() {
    let point = |method: &str, favor: f64, bound: Option<f64>| {
        let number = bound.unwrap_or(0.9);
        FrontierPoint::new(number, bound.is_some(), result(method, favor, number))
    };
    let curves = vec![
        FrontierCurve { method: "plain".into(), points: vec![point("plain", 0.5, None)] },
        FrontierCurve {
            method: "follows".into(),
            points: vec![
                point("follows", 0.3, Some(0.9)),
                point("follows", 0.0, Some(0.2)),
                point("follows", 0.01, Some(0.0)),
            ],
        },
        FrontierCurve {
            method: "refused".into(),
            points: vec![FrontierPoint::new(
                0.9,
                true,
                MethodResult { method: "refused".into(), outcome: Err("no groups".into()) },
            )],
        },
    ];
    let report = frontier(curves);
    let page = frontier_html(&report, None);
    assert_eq!(page.matches("class=\"choice\"").count(), 3);
    assert!(page.contains("data-name=\"0.9000\"") && page.contains("data-name=\"0.0000\""));
    assert!(page.contains("no groups") && page.contains("class=\"line s1\""));
    // At the loosest bound the best objective counts, whoever has it; at 0, which none keeps, the least violation.
    let values = |curve: usize, at: usize| {
        let outcome = report.curves[curve].points[at].result.outcome.as_ref().unwrap();
        (outcome.test.objective.value.unwrap(), outcome.test.violation.as_ref().unwrap().value.unwrap())
    };
    assert!(values(1, 1).0 > values(1, 0).0.max(values(0, 0).0) && values(1, 1).1 < 0.2);
    let shown: Vec<&str> = page.split("class=\"choice\"").skip(1).collect();
    assert!(shown[1].contains("<p class=\"words\">follows has auc"), "{}", &shown[1][..300]);
    // A model that was trained for a tighter bound beats the one of the loosest on the same page.
    assert!(shown[0].contains("; it was trained for 0.0000."), "{}", &shown[0][..300]);
    assert_eq!(report.best(0.9), Some(&report.curves[1].points[2]));
    assert_eq!(report.best(0.2), Some(&report.curves[1].points[2]));
    let least = if values(1, 2).1 < values(0, 0).1 { "follows has" } else { "plain has" };
    assert!(shown[2].contains(least));
    assert!(!page.contains("NaN"));
}
