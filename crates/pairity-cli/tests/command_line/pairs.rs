//! Which pairs count: queries of several columns, pairs within a column, and pairs chosen by a side column.

use super::train::{SHORT, Work, read};
use super::{audit, pairity, run};
use serde_json::json;

/// Two jobs on two days, people of two cities.
const JOBS: &str = "job,day,both,city,g,y,s\n\
    cook,mon,cook & mon,Rome,a,1,0.9\ncook,mon,cook & mon,Rome,b,0,0.4\ncook,mon,cook & mon,Oslo,a,0,0.95\n\
    cook,tue,cook & tue,Oslo,b,1,0.2\ncook,tue,cook & tue,Oslo,a,0,0.5\ncook,tue,cook & tue,Rome,a,0,0.1\n\
    maid,mon,maid & mon,Rome,a,1,0.7\nmaid,mon,maid & mon,Rome,b,0,0.6\nmaid,mon,maid & mon,,b,0,0.8\n";

fn jobs(more: &[&str]) -> super::Outcome {
    audit(JOBS, &[&["--score", "s", "--label", "y", "--group", "g"], more].concat())
}

#[test]
fn queries_of_several_columns_are_their_combinations() {
    let json = ["--format", "json"];
    let mut several = jobs(&[&["--query", "job", "--query", "day"], &json[..]].concat()).json();
    let mut joined = jobs(&[&["--query", "both"], &json[..]].concat()).json();
    assert_eq!(several["queries"], 3);
    assert_eq!(several["notes"]["columns"]["query"], json!(["job", "day"]));
    for document in [&mut several, &mut joined] {
        document.as_object_mut().unwrap().remove("notes");
    }
    assert_eq!(several, joined);
    let text = jobs(&["--query", "job", "--query", "day"]).out;
    assert!(text.contains("query \"job\" & \"day\""), "{text}");
}

#[test]
fn pairs_within_a_column_are_those_of_rows_that_agree_on_it() {
    let columns = ["--query", "job", "--query", "day", "--within", "city"];
    let document = jobs(&[&columns[..], &["--format", "json"]].concat()).json();
    // One in each query, of which the one in Oslo is wrong; the row without a city is left out.
    assert_eq!((&document["auc"]["pairs"], &document["queries"]), (&json!(3), &json!(3)));
    assert!((document["auc"]["value"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12, "{document}");
    assert_eq!(document["notes"]["columns"]["within"], json!(["city"]));
    assert_eq!((&document["notes"]["missing"]["within"], &document["rows"]), (&json!(1), &json!(8)));
    let text = jobs(&columns).out;
    assert!(text.contains("pairs within \"city\""), "{text}");
    // Without queries all rows of a city are compared: 2 x 3 pairs in Rome, 1 x 2 in Oslo.
    let alone = jobs(&["--within", "city", "--format", "json"]).json();
    assert_eq!((&alone["auc"]["pairs"], &alone["queries"]), (&json!(8), &json!(1)));
    assert!((alone["auc"]["value"].as_f64().unwrap() - 0.75).abs() < 1e-12, "{alone}");
}

#[test]
fn training_and_scoring_take_queries_of_several_columns() {
    let work = Work::new(60);
    let table = read(&work.path("table.csv"));
    // The query in two columns, of which neither is one alone.
    let split = |line: &str| {
        let (query, rest) = line.split_once(',').unwrap();
        let number: Option<u32> = query.parse().ok();
        let (ten, one) =
            number.map_or(("ten".into(), "one".into()), |n| ((n / 10).to_string(), (n % 10).to_string()));
        format!("{ten},{one},{rest}\n")
    };
    let wide: String = table.lines().map(split).collect();
    std::fs::write(work.path("wide.csv"), wide).unwrap();
    let trained = |table: &str, queries: &[&str], model: &str| {
        let (table, model) = (work.path(table), work.path(model));
        let common = ["--label", "y", "--group", "g", "--features", "x,w", "--format", "json"];
        let goal = ["--subject-to", "cross_group <= 0.05", "--within", "city"];
        let mut command = pairity();
        command
            .arg("train")
            .arg(table)
            .arg("-o")
            .arg(model)
            .args(common)
            .args(goal)
            .args(SHORT)
            .args(queries);
        let outcome = run(&mut command);
        assert!(outcome.code < 2, "{}", outcome.err);
        outcome.json()
    };
    let one = trained("table.csv", &["--query", "q"], "one.json");
    let two = trained("wide.csv", &["--query", "ten", "--query", "one"], "two.json");
    assert_eq!(one["train"], two["train"]);
    assert!(two["notes"].to_string().contains("agree on \\\"city\\\""), "{}", two["notes"]);
    let model: serde_json::Value = serde_json::from_str(&read(&work.path("two.json"))).unwrap();
    assert_eq!(model["query"], json!(["ten", "one"]));
    let scored = run(pairity()
        .arg("score")
        .arg(work.path("two.json"))
        .arg(work.path("wide.csv"))
        .args(["--query", "ten", "--query", "one", "--format", "json", "-o"])
        .arg(work.path("out.csv")));
    assert_eq!((scored.code, &scored.json()["queries"]), (0, &json!(60)), "{}", scored.err);
}

/// People with the position that they were shown at.
const SHOWN: &str = "g,y,s,shown\na,1,0.9,1\nb,1,0.3,2\na,0,0.5,3\nb,0,0.4,1\na,0,0.2,\n";
const SHOWN_COLUMNS: [&str; 6] = ["--score", "s", "--label", "y", "--group", "g"];

#[test]
fn pairs_are_chosen_by_the_order_of_a_side_column() {
    let chosen = |text: &str| {
        let more = ["--pairs-where", text, "--format", "json"];
        audit(SHOWN, &[&SHOWN_COLUMNS[..], &more].concat()).json()
    };
    // The better one was shown further down: the second row above the fourth, which scores higher.
    let higher = chosen("shown > shown'");
    assert_eq!((&higher["auc"]["value"], &higher["auc"]["pairs"]), (&json!(0.0), &json!(1)));
    // The first and the second row above the third.
    let lower = chosen("shown<shown'");
    assert_eq!((&lower["auc"]["value"], &lower["auc"]["pairs"]), (&json!(0.5), &json!(2)));
    // P[b > a]: of the pairs whose b was shown further up, the fourth above the third, and the second above it too.
    assert_eq!((&lower["parity"][1][0]["value"], &lower["parity"][1][0]["pairs"]), (&json!(0.0), &json!(2)));
    assert_eq!(lower["notes"]["columns"]["pairs_where"], "shown < shown'");
    assert_eq!(lower["notes"]["missing"]["pairs_where"], 1);
    let text = audit(SHOWN, &[&SHOWN_COLUMNS[..], &["--pairs-where", "shown > shown'"]].concat()).out;
    assert!(text.contains("pairs where shown > shown'"), "{text}");
}

#[test]
fn what_can_t_choose_pairs_is_refused_with_the_reason() {
    let refused = |columns: &[&str], text: &str| {
        let outcome = audit(SHOWN, &[columns, &["--pairs-where", text]].concat());
        outcome.refusal().to_owned()
    };
    for text in ["shown", "shown > s'", "shown > shown", "> '"] {
        assert!(refused(&SHOWN_COLUMNS, text).contains("name one column twice"), "{text}");
    }
    let continuous = refused(&["--score", "s", "--label", "y", "--protected", "shown"], "s > s'");
    assert!(continuous.contains("no fast exact count of both is known"), "{continuous}");
}

#[test]
fn training_speaks_of_the_pairs_that_are_chosen() {
    let work = Work::new(60);
    // The candidates of a query are shown in turn from above and from below.
    let mut lines = read(&work.path("table.csv")).lines().map(str::to_owned).collect::<Vec<_>>();
    lines[0] += ",shown";
    lines[1..].iter_mut().enumerate().for_each(|(i, line)| *line += &format!(",{}", i * 7 % 11));
    std::fs::write(work.path("table.csv"), lines.join("\n")).unwrap();
    let more = ["--pairs-where", "shown > shown'", "--split", "1,0,0", "--format", "json"];
    let outcome =
        work.train("model.json", &[&SHORT[..], &more, &["--subject-to", "cross_group <= 0.1"]].concat());
    assert!(outcome.code < 2, "{}", outcome.err);
    let json = outcome.json();
    assert_eq!(json["features"], json!(["x", "w"]));
    let note = "only pairs whose better row has the higher \\\"shown\\\" count";
    assert!(json["notes"].to_string().contains(note), "{}", json["notes"]);
    // What the report says of the training rows is what an audit of the scores says of them.
    let scored = run(pairity()
        .arg("score")
        .args([work.path("model.json"), work.path("table.csv")])
        .arg("-o")
        .arg(work.path("out.csv")));
    assert_eq!(scored.code, 0, "{}", scored.err);
    if json["components"].as_array().unwrap().len() == 1 {
        let columns = [
            "--score",
            "score",
            "--label",
            "y",
            "--query",
            "q",
            "--group",
            "g",
            "--pairs-where",
            "shown > shown'",
        ];
        let audited =
            run(pairity().arg("audit").arg(work.path("out.csv")).args(columns).args(["--format", "json"]))
                .json();
        let near = |a: &serde_json::Value, b: &serde_json::Value| {
            (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9
        };
        assert!(near(&audited["auc"]["value"], &json["train"]["auc"]), "{audited}");
    }
}
