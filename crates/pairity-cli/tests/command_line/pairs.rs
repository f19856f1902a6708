//! Which pairs count: queries of several columns, and pairs within a column.

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
    [&mut several, &mut joined].map(|document| document.as_object_mut().unwrap().remove("notes"));
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
    assert_eq!((&alone["auc"]["pairs"], &alone["queries"]), (&json!(8), &json!(null)));
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
