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

/// Three groups, of which one is small; ages from 10 to 69, and two cities.
fn people() -> String {
    let row = |i: u32| {
        let group = if i.is_multiple_of(20) { "c" } else { ["a", "b"][(i % 2) as usize] };
        let city = ["x", "y z"][(i / 2 % 2) as usize];
        format!("{group},{},{},{},{city},{}\n", i * 31 % 3, i * 7919 % 997, 10 + i, i % 10)
    };
    "g,y,s,age,city,q\n".to_owned() + &(0..60).map(row).collect::<String>()
}

fn chosen(arguments: &[&str]) -> super::Outcome {
    let columns = ["--score", "s", "--label", "y", "--group", "g"];
    audit(&people(), &[&columns[..], arguments].concat())
}

#[test]
fn rows_are_chosen_by_comparisons_of_columns() {
    for (filter, rows) in [
        ("age >= 18", 52),
        ("age < 20 and city = x", 6),
        ("city != 'y z'", 30),
        ("\"city\"=\"y z\" and age!=12", 29),
        ("age == 10", 1),
        ("age > 1e1 and age <= 69", 59),
    ] {
        let document = chosen(&["--where", filter, "--format", "json"]).json();
        assert_eq!(
            (&document["rows"], &document["notes"]["where"]),
            (&rows.into(), &filter.into()),
            "{filter}"
        );
        assert_eq!(document["notes"]["rows_dropped"], 0, "{filter}");
    }
    assert!(chosen(&["--where", "age >= 18"]).out.contains("only rows where age >= 18"));
    for (filter, message) in [
        ("age", "one of < <= > >= = != has to follow"),
        ("age >= x", "texts are compared by = or !="),
        ("age >= 18 or age < 3", "comparisons are joined by `and`"),
        ("city = 'x", "a quote is never closed"),
        ("age > 100", "no row of 60 meets"),
        ("years > 1", "years"),
    ] {
        let outcome = chosen(&["--where", filter]);
        assert!(outcome.refusal().contains(message), "{filter}: {}", outcome.err);
    }
}

#[test]
fn groups_are_chosen_by_name_and_by_size() {
    let groups = |arguments: &[&str]| {
        let document = chosen(&[arguments, &["--format", "json"]].concat()).json();
        let left_out = document["notes"]["groups_left_out"].clone();
        (document["groups"].clone(), document["rows"].clone(), left_out[0].clone())
    };
    let two = (serde_json::json!(["a", "b"]), serde_json::json!(60), serde_json::json!("\"c\" (3 rows)"));
    assert_eq!(groups(&["--groups", "a,b"]), two);
    assert_eq!(groups(&["--min-rows", "4"]), two);
    assert_eq!(groups(&["--min-rows", "3"]).0, serde_json::json!(["a", "b", "c"]));
    // All three of its rows are in one query.
    assert_eq!(groups(&["--min-rows", "2", "--query", "q"]).2, "\"c\" (1 query)");
    assert!(chosen(&["--min-rows", "4"]).out.contains("groups not compared: \"c\" (3 rows)"));
    assert!(chosen(&["--groups", "a,d"]).refusal().contains("no row is of the group \"d\""));
    assert!(chosen(&["--min-rows", "400"]).refusal().contains("no group has the 400 rows"));
    let alone = chosen(&["--groups", "a", "--check", "cross_group <= 0.1"]);
    assert_eq!(alone.code, 3, "{}", alone.err);
}

#[test]
fn a_check_that_names_a_group_left_out_cannot_be_estimated() {
    for choice in [["--groups", "a,b"], ["--groups", "a"], ["--min-rows", "4"]] {
        let outcome = chosen(&[&choice[..], &["--check", "A[c > a] >= 0.1"]].concat());
        assert_eq!(outcome.code, 3, "{choice:?} {}", outcome.err);
        let why = "A[c > a] has no pairs: the group \"c\" is left out";
        assert!(outcome.out.contains(why), "{}", outcome.out);
    }
    // A group that no row has stays a mistake.
    let unknown = chosen(&["--groups", "a,b", "--check", "A[d > a] >= 0.1"]);
    assert!(unknown.refusal().contains("unknown group \"d\""), "{}", unknown.err);
}

#[test]
fn a_group_of_few_rows_is_marked_where_it_decides() {
    let few = "decides it, and the group \"c\" has 3 rows only";
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("out.html");
    let check = ["--check", "cross_group <= 0.99", "--check", "A[b > b] >= 0"];
    let text = chosen(&[&check[..], &["--html", page.to_str().unwrap()]].concat()).out;
    let (gaps, checks) = text.split_once("Checks").unwrap();
    assert!(gaps.replace("\n", " ").contains(few), "{text}");
    assert!(checks.split_whitespace().collect::<Vec<_>>().join(" ").contains(few), "{text}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&few.replace('"', "&quot;")), "{page}");
    let document = chosen(&[&check[..], &["--format", "json"]].concat()).json();
    for marked in [&document["gaps"]["cross_group"], &document["checks"][0]] {
        assert!(marked["few"].as_str().is_some_and(|words| words.ends_with(few)), "{marked}");
    }
    // Thirty rows are not few, and a rate that decides nothing has no mark.
    assert!(document["checks"][1].get("few").is_none(), "{document}");
    assert!(document["accuracy"][2][2].get("few").is_none(), "{document}");
    // Ten queries are not many in any group: it is the table that is small.
    let queries = chosen(&["--query", "q", "--format", "json"]).json();
    assert!(queries["gaps"]["cross_group"].get("few").is_none(), "{queries}");
}
