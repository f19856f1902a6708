use super::{PageAside, training_html};
use crate::json::training_json;
use crate::report::TrainingReport;
use crate::text::{Look, training_text};
use crate::words::{FrontEnd, drawn, number, rate};
use pairity::examples::{Column, Columns, Examples, Groups, Values};
use pairity::goals::Goal;
use pairity::run::{FitRequest, Plane, PlaneLine, PlanePoint, Rows, TrainRequest, TrainingPart, train};
use pairity::solvers::{Evaluation, Status, Watch};

/// A run on rows of two features and some groups, or of a continuous attribute without any.
fn run(groups: &[&str], constraints: &[&str]) -> (TrainingReport, Option<Evaluation>) {
    let rows: u32 = 240;
    let labels: Vec<f64> = (0..rows).map(|i| f64::from(i * 13 % 7 % 2)).collect();
    let names: Vec<&str> =
        (0..rows).filter_map(|i| groups.get(i as usize % groups.len().max(1)).copied()).collect();
    let members = Groups::from_names(&names);
    let protected: Vec<f64> = (0..rows).map(|i| f64::from(i * 31 % 60)).collect();
    let queries: Vec<u32> = (0..rows).map(|i| i / 12).collect();
    let examples = Examples::new(Columns {
        labels: Some(&labels),
        groups: (!groups.is_empty()).then_some(&members),
        protected: groups.is_empty().then_some(&protected),
        queries: Some(&queries),
        ..Columns::default()
    })
    .unwrap();
    // The first feature ranks even rows well, the second one odd ones.
    let noise = |i: u32| f64::from(i * 7919 % 997) / 997.0;
    let label = |i: u32| f64::from(i * 13 % 7 % 2);
    let first = (0..rows).map(|i| noise(i) + label(i) * f64::from(i % 2)).collect();
    let second = (0..rows).map(|i| 1.0 - noise(i) + label(i) * f64::from((i + 1) % 2)).collect();
    let column = |name: &str, numbers| Column { name: name.into(), values: Values::Numbers(numbers) };
    let mut rows = Rows::new(examples, vec![column("x", first), column("w", second)]);
    rows.tables = vec!["people.csv".into()];
    let fit = FitRequest {
        goal: Goal::new(None, None, constraints.iter().map(|text| (*text).to_owned()).collect()),
        standardize: false,
        split: Some([1.0, 0.0, 0.0]),
        iterations: 60,
        snapshots: Some(20),
        step_sizes: vec![0.3],
        seed: 3,
        ..FitRequest::default()
    };
    let request = TrainRequest { fit, pictures: true, ..TrainRequest::default() };
    let mut run = train(rows, &request, Watch::default()).unwrap();
    let evaluation = run.parts[0].evaluation.clone();
    run.parts = ["train", "validation", "test"]
        .map(|name| TrainingPart { name, evaluation: evaluation.clone() })
        .into();
    run.seconds = 1.25;
    let before = run.pictures.take().and_then(|pictures| pictures.before);
    (TrainingReport { run, file: Some("model.json".into()) }, before)
}

#[test]
fn the_page_holds_the_numbers_of_the_json_document() {
    let (report, before) = run(&["a", "b"], &["cross_group <= 0.05"]);
    let page = training_html(
        &report,
        &PageAside { command: Some("pairity train x"), before: before.as_ref(), ..PageAside::default() },
    );
    let json = training_json(&report);
    for part in ["train", "validation", "test"] {
        let part = &json[part];
        let number = |value: &serde_json::Value| number(value.as_f64().unwrap(), 4);
        let objective = format!(
            "{} <small>{} to {}</small>",
            number(&part["objective"]),
            number(&part["objective_low"]),
            number(&part["objective_high"])
        );
        assert_eq!(page.matches(&objective).count(), 3, "{objective}");
        let check = format!("{} <small>", number(&part["violations"][0]["value"]));
        assert!(page.contains(&check), "{check}");
    }
    for row in json["test"]["accuracy"].as_array().unwrap() {
        for cell in row.as_array().unwrap() {
            assert!(page.contains(&format!("<b>{}</b>", rate(cell.as_f64().unwrap()))), "{cell}");
        }
    }
    for words in
        ["<pre>pairity train x</pre>", "Before: the best scorer", "After: the model", "seed 3", "Weights (λ)"]
    {
        assert!(page.contains(words), "{words}");
    }
    // Every scorer, with what it is drawn with.
    for component in &report.run.trained.components {
        assert!(page.contains(&format!(">{}<", drawn(component.probability).replace('<', "&lt;"))));
    }
}

#[test]
fn colors_before_and_after_mean_the_same() {
    let (report, before) = run(&["a", "b"], &["cross_group <= 0.05"]);
    let page = training_html(&report, &PageAside { before: before.as_ref(), ..PageAside::default() });
    assert_eq!(page.matches("<table class=\"heat").count(), 2);
    assert_eq!(page.matches("class=\"heat-legend\"").count(), 1);
    let alone = training_html(&report, &PageAside::default());
    assert_eq!(alone.matches("<table class=\"heat").count(), 1);
    assert!(!alone.contains("Before"));
}

#[test]
fn names_from_elsewhere_are_never_markup() {
    let nasty = "<script>x()</script>";
    let (mut report, before) = run(&[nasty, "\"' onload=x()"], &["cross_group <= 0.05"]);
    report.run.tables = vec![nasty.into()];
    report.run.notes = vec![nasty.into()];
    report.file = Some(nasty.into());
    report.run.features = vec![nasty.into(), nasty.into()];
    report.run.goal.subject_to = vec![nasty.into()];
    let plane = Plane {
        features: [nasty.into(), nasty.into()],
        groups: vec![nasty.into()],
        points: vec![PlanePoint { x: [0.0, 1.0], group: Some(0), high: true }],
        lines: vec![PlaneLine { name: nasty.into(), weights: [1.0, 2.0] }],
    };
    let page = training_html(
        &report,
        &PageAside {
            command: Some(nasty),
            before: before.as_ref(),
            plane: Some(&plane),
            ..PageAside::default()
        },
    );
    assert!(!page.contains("<script") && !page.contains("\" onload"));
    assert!(page.matches("&lt;script&gt;").count() > 20);
}

#[test]
fn every_kind_of_run_has_a_page() {
    let many: Vec<String> = (0..14).map(|i| format!("g{i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (groups, constraints) in [
        (&["a", "b"][..], &[][..]),
        (&["a"], &["auc >= 0.1"]),
        (&[], &["continuous <= 0.1", "auc >= 0.9"]),
        (&many, &["auc >= 0.5"]),
    ] {
        let (report, before) = run(groups, constraints);
        let page = training_html(&report, &PageAside { before: before.as_ref(), ..PageAside::default() });
        assert!(!page.contains("NaN") && !page.contains("inf%") && page.len() < 500_000, "{groups:?}");
        assert_eq!(page.contains("id=\"continuous\""), groups.is_empty());
        assert_eq!(page.contains("lowest accuracies"), groups.len() > 12);
        assert_eq!(page.contains("Largest violation"), !constraints.is_empty());
        assert_eq!(before.is_some(), !constraints.is_empty());
    }
}

#[test]
fn each_front_end_gives_advice_in_its_own_words() {
    let (mut report, _) = run(&["a", "b"], &["cross_group <= 0.05"]);
    let text = |report: &TrainingReport, front_end| {
        training_text(report, &Look { color: false, pictures: false, width: 300, front_end })
    };
    for (status, method, shell, python) in [
        (Status::TimeLimit, "constrained", "--resume goes on.", "a larger time_limit= lets it finish."),
        (Status::NotConverged, "constrained", "more --iterations may help.", "more iterations= may help."),
        (Status::Infeasible, "debiased", "--method constrained", "method=\"constrained\" trains for it."),
        (
            Status::Infeasible,
            "constrained",
            "use a richer --model, or allow --group-aware.",
            "use a richer model=, or allow group_aware=True.",
        ),
    ] {
        (report.run.trained.status, report.run.method) = (status, method);
        report.file = Some("model.json".to_owned());
        let told = text(&report, FrontEnd::CommandLine);
        assert!(told.contains(shell) && told.contains("pairity score model.json TABLE"), "{told}");
        report.file = None;
        let told = text(&report, FrontEnd::Python);
        assert!(told.contains(python) && !told.contains("--") && !told.contains("written to"), "{told}");
        let page = training_html(&report, &PageAside { front_end: FrontEnd::Python, ..PageAside::default() });
        let words = python.replace('"', "&quot;");
        assert!(page.contains(&words) && !page.contains("pairity score"), "{words}");
    }
    report.run.tables.clear();
    assert!(text(&report, FrontEnd::Python).starts_with("Training\n"));
}
