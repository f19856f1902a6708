//! The labeled expert search data, where they are at hand: `$PAIRITY_DATA/w3c_experts/`.

use super::{pairity, run};
use pairity_testing::need_data;
use serde_json::Value;
use std::path::Path;

const FILE: &str = "w3c_experts/w3c_experts_48x200_labelled.csv";

fn measure(path: &Path, column: &str, more: &[&str]) -> Value {
    let columns = ["--label", "expert", "--query", "query_id", "--format", "json", "--score", column];
    run(pairity().arg("audit").arg(path).args(columns).args(more)).json()
}

fn columns(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn each_single_column_has_its_known_accuracy_per_query() {
    let Some(path) = need_data("audits of experts", FILE) else { return };
    let text = std::fs::read_to_string(&path).expect("the file");
    let known = [0.534, 0.463, 0.500, 0.479, 0.465, 0.490];
    for (column, known) in columns(&text)[0][1..7].iter().zip(known) {
        let document = measure(&path, column, &["--average", "queries"]);
        let value = document["auc"]["value"].as_f64().expect("a value");
        assert!((value - known).abs() < 0.0005, "{column}: {value}");
    }
}

#[test]
fn pooled_accuracies_of_groups_are_those_of_pairs_counted_one_by_one() {
    let Some(path) = need_data("audits of experts", FILE) else { return };
    let text = std::fs::read_to_string(&path).expect("the file");
    let rows = columns(&text);
    let place = |name: &str| rows[0].iter().position(|column| *column == name).expect("a column");
    let (query, gender, expert) = (place("query_id"), place("gender"), place("expert"));
    let number = |row: &[&str], column: usize| row[column].parse::<f64>().expect("a number");
    for column in 1..7 {
        let (mut pairs, mut wins) = ([[0_u64; 2]; 2], [[0.0; 2]; 2]);
        for a in rows[1..].iter().filter(|row| number(row, expert) > 0.0) {
            for b in rows[1..].iter().filter(|b| b[query] == a[query] && number(b, expert) == 0.0) {
                let (i, j) = (number(a, gender) as usize, number(b, gender) as usize);
                let (x, y) = (number(a, column), number(b, column));
                pairs[i][j] += 1;
                wins[i][j] += if x > y {
                    1.0
                } else if x == y {
                    0.5
                } else {
                    0.0
                };
            }
        }
        let document = measure(&path, rows[0][column], &["--group", "gender"]);
        assert_eq!(document["groups"], serde_json::json!(["0", "1"]));
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let metric = &document["accuracy"][i][j];
            assert_eq!(metric["pairs"], pairs[i][j], "{}", rows[0][column]);
            let value = metric["value"].as_f64().expect("a value");
            assert!((value - wins[i][j] / pairs[i][j] as f64).abs() < 1e-12, "{metric}");
        }
    }
}
