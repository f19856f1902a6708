//! Rows with names, and draws with a seed.

use super::{HIRING, HIRING_COLUMNS, audit, pairity, run};

const NAMED: &str =
    "id,g,y,s,w\nann,a,1,0.9,1\nbob,b,0,0.1,1\ncy,a,,0.2,1\ndee,b,1,0.8,1\neve,a,0,,1\nfay,a,0,0.3,1\n";
const COLUMNS: [&str; 8] = ["--score", "s", "--label", "y", "--group", "g", "--id", "id"];

#[test]
fn rows_left_out_are_listed_by_id() {
    let document = audit(NAMED, &[&COLUMNS[..], &["--format", "json"]].concat()).json();
    assert_eq!(document["notes"]["rows_dropped"], 2);
    assert_eq!(document["notes"]["dropped_ids"], serde_json::json!(["cy", "eve"]));
    let text = audit(NAMED, &COLUMNS).out;
    assert!(text.contains("left out: cy, eve"), "{text}");
}

#[test]
fn an_error_in_a_row_names_its_id() {
    let table = NAMED.replace("dee,b,1,0.8,1", "dee,b,1,0.8,-1");
    let outcome = audit(&table, &[&COLUMNS[..], &["--weight", "w"]].concat());
    assert!(outcome.refusal().contains("line 5 (id \"dee\"), column \"w\""), "{}", outcome.err);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_hardly_moves_a_gap() {
    let table = |seed: &str| {
        let arguments = ["--group", "age_band", "--seed", seed, "--format", "json"];
        run(pairity().arg("audit").arg(HIRING).args(HIRING_COLUMNS).args(arguments))
    };
    let (one, again, other) = (table("1"), table("1"), table("2"));
    assert_eq!(one.out, again.out);
    let high = |document: &serde_json::Value| document["gaps"]["within_group"]["high"].as_f64().unwrap();
    let (one, other) = (high(&one.json()), high(&other.json()));
    assert!(one != other && (one - other).abs() < 0.02, "{one} {other}");
}
