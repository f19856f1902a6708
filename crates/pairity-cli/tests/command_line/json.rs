//! The JSON document, key by key.

use super::{HIRING, SMALL, SMALL_COLUMNS, audit, audit_hiring, pairity, run};
use serde_json::Value;

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn is_metric(metric: &Value) {
    match metric["value"].as_f64() {
        Some(value) => {
            assert_eq!(keys(metric), ["value", "low", "high", "pairs"], "{metric}");
            let (low, high) = (metric["low"].as_f64().expect("low"), metric["high"].as_f64().expect("high"));
            assert!(low <= value && value <= high, "{metric}");
        }
        None => {
            assert_eq!(keys(metric), ["value", "low", "high", "pairs", "reason"], "{metric}");
            assert!(metric["value"].is_null() && metric["low"].is_null() && metric["high"].is_null());
            assert!(metric["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
        }
    }
    assert!(metric["pairs"].is_u64(), "{metric}");
}

#[test]
fn the_document_has_the_keys_of_the_contract_in_their_order() {
    let document = audit_hiring(&["--format", "json", "--check", "auc >= 0.5"]).json();
    assert_eq!(
        keys(&document),
        [
            "schema",
            "rows",
            "queries",
            "average",
            "ties",
            "confidence",
            "auc",
            "mse",
            "groups",
            "accuracy",
            "row_marginals",
            "column_marginals",
            "parity",
            "symmetric",
            "continuous",
            "gaps",
            "checks",
            "notes"
        ]
    );
    assert_eq!(document["schema"], "pairity.audit/1");
    assert_eq!(document["rows"], 600);
    assert_eq!(document["queries"], 60);
    assert_eq!(document["average"], "pairs");
    assert_eq!(document["ties"], "half");
    assert_eq!(document["confidence"], 0.95);
    assert_eq!(document["groups"], serde_json::json!(["female", "male"]));
    assert!(document["continuous"].is_null());
    is_metric(&document["auc"]);
    assert!(document["mse"].is_null(), "scores that rank");
    for list in ["row_marginals", "column_marginals", "symmetric"] {
        let list = document[list].as_array().expect(list);
        assert_eq!(list.len(), 2);
        list.iter().for_each(is_metric);
    }
    for (r, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        is_metric(&document["accuracy"][r][c]);
        match r == c {
            true => assert!(document["parity"][r][c].is_null()),
            false => is_metric(&document["parity"][r][c]),
        }
    }
    assert_eq!(
        keys(&document["gaps"]),
        [
            "cross_group",
            "within_group",
            "marginal",
            "equal_opportunity",
            "statistical_parity",
            "symmetric",
            "continuous",
            "continuous_parity"
        ]
    );
    document["gaps"].as_object().expect("gaps").values().for_each(is_metric);
    assert!(document["gaps"]["continuous"]["value"].is_null());
    let check = &document["checks"][0];
    assert_eq!(keys(check)[..6], ["expression", "value", "low", "high", "bound", "verdict"]);
    assert_eq!(check["expression"], "auc >= 0.5");
    assert_eq!(check["bound"], 0.5);
    assert_eq!(check["value"], document["auc"]["value"]);
}

/// Pairs and wins of [`HIRING`] whose first and second row are of some groups, counted one by one.
fn count_pairs(first: Option<&str>, second: Option<&str>, labeled: bool) -> (u64, f64) {
    let table = std::fs::read_to_string(HIRING).expect("the example");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let (mut pairs, mut wins) = (0, 0.0);
    for (at, a) in rows.iter().enumerate() {
        for (other, b) in rows.iter().enumerate() {
            let of_groups = first.is_none_or(|g| a[2] == g) && second.is_none_or(|g| b[2] == g);
            if at != other && a[0] == b[0] && of_groups && (!labeled || number(a[4]) > number(b[4])) {
                pairs += 1;
                wins += match number(a[5]).total_cmp(&number(b[5])) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
            }
        }
    }
    (pairs, wins / pairs as f64)
}

#[test]
fn values_are_those_of_pairs_counted_by_hand() {
    let document = audit_hiring(&["--format", "json"]).json();
    let is = |metric: &Value, (pairs, value): (u64, f64)| {
        assert_eq!(metric["pairs"], pairs);
        let found = metric["value"].as_f64().expect("a value");
        assert!((found - value).abs() < 1e-12, "{metric} is not {value}");
        value
    };
    let groups = [Some("female"), Some("male")];
    let mut accuracy = [[0.0; 2]; 2];
    for (i, better) in groups.into_iter().enumerate() {
        for (j, worse) in groups.into_iter().enumerate() {
            accuracy[i][j] = is(&document["accuracy"][i][j], count_pairs(better, worse, true));
            if i != j {
                is(&document["parity"][i][j], count_pairs(better, worse, false));
            }
        }
        let row = is(&document["row_marginals"][i], count_pairs(better, None, true));
        let column = is(&document["column_marginals"][i], count_pairs(None, better, true));
        let symmetric = document["symmetric"][i]["value"].as_f64().expect("a value");
        assert!((symmetric - row - column).abs() < 1e-12);
    }
    is(&document["auc"], count_pairs(None, None, true));
    let gap = |name: &str| document["gaps"][name]["value"].as_f64().expect("a value");
    assert!((gap("cross_group") - (accuracy[0][1] - accuracy[1][0]).abs()).abs() < 1e-12);
    assert!((gap("within_group") - (accuracy[0][0] - accuracy[1][1]).abs()).abs() < 1e-12);
}

#[test]
fn threads_do_not_change_a_byte() {
    for format in ["text", "json"] {
        let bytes = |threads| audit_hiring(&["--format", format, "--threads", threads]).out;
        assert_eq!(bytes("1"), bytes("2"));
    }
    // Without queries every row is a unit, and there are thousands of them.
    let table: String = (0..6000_u64)
        .map(|i| format!("{},{},{}\n", ["a", "b", "c"][i as usize % 3], i * 7919 % 5, i * 104_729 % 9973))
        .collect();
    let bytes = |threads| {
        let columns = ["--score", "s", "--label", "y", "--group", "g", "--format", "json"];
        audit(&format!("g,y,s\n{table}"), &[&columns[..], &["--threads", threads]].concat()).out
    };
    assert_eq!(bytes("1"), bytes("2"));
}

#[test]
fn queries_can_count_alike() {
    // Query 1 has one pair, ranked wrong; query 2 has three, ranked right.
    let table = "q,y,s\n1,1,0\n1,0,1\n2,1,1\n2,0,0\n2,0,0.5\n2,0,0.2\n";
    let value = |average: &str| {
        let columns = ["--score", "s", "--label", "y", "--query", "q", "--format", "json"];
        let document = audit(table, &[&columns[..], &["--average", average]].concat()).json();
        assert_eq!(document["average"], average);
        document["auc"]["value"].as_f64()
    };
    assert_eq!(value("pairs"), Some(0.75));
    assert_eq!(value("queries"), Some(0.5));
}

#[test]
fn ties_earn_half_or_nothing() {
    let table = "y,s\n1,1\n1,1\n0,1\n0,1\n";
    let value = |ties: &str| {
        let columns = ["--score", "s", "--label", "y", "--format", "json", "--ties", ties];
        audit(table, &columns).json()["auc"]["value"].as_f64()
    };
    assert_eq!((value("half"), value("strict")), (Some(0.5), Some(0.0)));
}

#[test]
fn several_group_columns_are_intersected() {
    let document = audit_hiring(&["--group", "age_band", "--format", "json"]).json();
    let names = document["groups"].as_array().expect("names");
    assert_eq!(names.len(), 6);
    assert_eq!(names[0], "female & 30 to 45");
    assert_eq!(document["accuracy"].as_array().map(Vec::len), Some(6));
    assert_eq!(document["notes"]["columns"]["group"], serde_json::json!(["gender", "age_band"]));
}

#[test]
fn a_continuous_attribute_gives_two_accuracies_two_parities_and_their_gaps() {
    let columns = ["--score", "s", "--label", "y", "--query", "q", "--protected", "age", "--format", "json"];
    let document = audit(SMALL, &columns).json();
    is_metric(&document["continuous"]["greater"]);
    is_metric(&document["continuous"]["less"]);
    is_metric(&document["gaps"]["continuous"]);
    assert_eq!(document["gaps"]["continuous"]["value"], 0.0);
    assert!(document["gaps"]["cross_group"]["value"].is_null());
    assert_eq!(document["groups"], serde_json::json!([]));
    let parity = |document: &serde_json::Value| {
        let parts = ["parity_greater", "parity_less"].map(|name| &document["continuous"][name]);
        parts.into_iter().chain([&document["gaps"]["continuous_parity"]]).for_each(is_metric);
        assert_eq!(parts[0]["pairs"], parts[1]["pairs"]);
        let [greater, less] = parts.map(|metric| metric["value"].as_f64().expect("a value"));
        assert!((greater + less - 1.0).abs() < 1e-12, "{greater} {less}");
        (greater, document["gaps"]["continuous_parity"].clone())
    };
    let (labeled, gap) = parity(&document);
    let check = ["--score", "s", "--query", "q", "--protected", "age", "--check", "P[z > z'] <= 1"];
    let outcome = audit(SMALL, &[&check[..], &["--format", "json"]].concat());
    assert_eq!((outcome.code, parity(&outcome.json())), (0, (labeled, gap)));
    let text = audit(SMALL, &check).out;
    assert!(text.contains("Parity by a continuous attribute") && text.contains("P[z < z']"), "{text}");
    assert!(text.contains("continuous_parity") && !text.contains("A[z > z']"), "{text}");
}

#[test]
fn an_empty_protected_cell_leaves_the_row_in() {
    let table = SMALL.replace("0.9,1,20", "0.9,1,");
    let columns = ["--score", "s", "--label", "y", "--query", "q", "--protected", "age", "--format", "json"];
    let document = audit(&table, &columns).json();
    assert_eq!(document["rows"], 8);
    assert_eq!(document["notes"]["rows_without_attribute"], 1);
}

#[test]
fn pairs_can_weigh_their_difference_in_labels() {
    // The pair of labels 2 and 0 is ranked wrong, those of 2 and 1 and of 1 and 0 right.
    let table = "y,s\n2,2\n1,1\n0,3\n";
    let columns = ["--score", "s", "--label", "y", "--format", "json"];
    let value = |more: &[&str]| audit(table, &[&columns[..], more].concat()).json()["auc"]["value"].as_f64();
    assert_eq!(value(&[]), Some(1.0 / 3.0));
    assert_eq!(value(&["--pair-weight", "label-gap"]), Some(0.25));
}

#[test]
fn pairs_can_weigh_the_product_of_a_column() {
    let table = "y,s,p\n1,2,1\n0,1,3\n0,3,1\n";
    let columns = ["--score", "s", "--label", "y", "--format", "json", "--pair-weight", "p"];
    assert_eq!(audit(table, &columns).json()["auc"]["value"], 0.75);
}

#[test]
fn rows_that_lack_something_are_left_out_and_counted_by_reason() {
    let table = "q,g,y,s,w\n1,a,1,0.9,1\n1,b,,0.1,1\n1,a,0,,1\n1,b,NA,?,1\n,a,1,0.5,1\n1,b,0,0.2,\n\
        1,,0,0.3,1\n1,b,0,0.4,0\n2,a,1,0.5,1\n2,b,0,0.2,1\n";
    let columns = [&SMALL_COLUMNS[..], &["--weight", "w"]].concat();
    let document = audit(table, &[&columns[..], &["--format", "json"]].concat()).json();
    let notes = &document["notes"];
    assert_eq!(document["rows"], 4);
    assert_eq!(notes["rows_read"], 10);
    assert_eq!(notes["rows_dropped"], 5);
    assert_eq!(notes["missing"], serde_json::json!({"score": 2, "label": 2, "weight": 1, "query": 1}));
    assert_eq!(notes["rows_of_no_weight"], 1);
    assert_eq!(notes["rows_without_attribute"], 1);
    let text = audit(table, &columns).out;
    let why = "5 of 10 rows left out: score missing in 2, label missing in 2, weight missing in 1, query missing in 1";
    assert!(text.contains(why), "{text}");
    assert!(text.contains("1 row of weight 0 left out"), "{text}");
    assert!(text.contains("1 row of no group"), "{text}");
}

#[test]
fn without_labels_only_parity_is_estimated() {
    let document = audit(SMALL, &["--score", "s", "--query", "q", "--group", "g", "--format", "json"]).json();
    is_metric(&document["parity"][0][1]);
    assert!(document["parity"][0][1]["value"].is_f64());
    assert!(document["gaps"]["statistical_parity"]["value"].is_f64());
    assert!(document["mse"].is_null());
    for metric in [&document["auc"], &document["accuracy"][0][1], &document["gaps"]["cross_group"]] {
        is_metric(metric);
        assert!(metric["reason"].as_str().expect("a reason").contains("needs labels"), "{metric}");
    }
    let text = audit(SMALL, &["--score", "s", "--query", "q", "--group", "g"]).out;
    assert!(text.contains("name the label column with --label"), "{text}");
}

#[test]
fn without_a_protected_attribute_there_is_only_the_whole() {
    let document = audit(SMALL, &["--score", "s", "--label", "y", "--format", "json"]).json();
    assert_eq!(document["queries"], 1);
    assert!(document["auc"]["value"].is_f64() && document["mse"].is_null());
    assert_eq!(document["accuracy"], serde_json::json!([]));
    document["gaps"].as_object().expect("gaps").values().for_each(is_metric);
}

#[test]
fn numbers_are_in_full_precision() {
    let table = "y,s\n1,2\n0,1\n0,3\n1,0.5\n1,4\n0,1.5\n1,7\n";
    let document = audit(table, &["--score", "s", "--label", "y", "--format", "json"]).json();
    assert_eq!(document["auc"]["value"], 8.0 / 12.0);
}

#[test]
fn a_column_may_be_number_and_group_at_once() {
    let table = "q,z,y\n1,0,1\n1,1,0\n1,1,1\n1,0,0\n2,0,1\n2,1,0\n";
    let columns = ["--score", "z", "--label", "y", "--group", "z", "--query", "q", "--format", "json"];
    let document = audit(table, &columns).json();
    assert_eq!(document["groups"], serde_json::json!(["0", "1"]));
    assert_eq!(document["accuracy"][1][0]["value"], 1.0);
    assert_eq!(document["accuracy"][0][1]["value"], 0.0);
}

#[test]
fn names_of_groups_are_kept_as_they_are() {
    let table = SMALL.replace(",a,", ",<script>,").replace(",b,", ",\"x\u{1b}[31m\u{7}\"\"y\",");
    let document = audit(&table, &[&SMALL_COLUMNS[..], &["--format", "json"]].concat()).json();
    assert_eq!(document["groups"], serde_json::json!(["<script>", "x\u{1b}[31m\u{7}\"y"]));
}

#[test]
fn the_document_goes_out_alone() {
    let outcome =
        run(pairity().arg("audit").arg(HIRING).args(super::HIRING_COLUMNS).args(["--format", "json"]));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.starts_with("{\n\"schema\": ") && outcome.out.ends_with("}\n"));
    let documents = serde_json::Deserializer::from_str(&outcome.out).into_iter::<Value>().count();
    assert_eq!(documents, 1);
}
