//! Reports for people.

use super::{SMALL, audit, pairity, run};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn the_report_of_the_example_reads_as_documented() {
    let outcome = run(pairity()
        .current_dir(ROOT)
        .args(["audit", "examples/hiring.csv"])
        .args(super::HIRING_COLUMNS)
        .args(["--check", "cross_group <= 0.1", "--check", "auc >= 0.7"]));
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    assert_eq!(outcome.out, include_str!("text/hiring.txt"));
}

#[test]
fn intersections_still_fit_a_page() {
    let outcome = run(pairity()
        .current_dir(ROOT)
        .args(["audit", "examples/hiring.csv"])
        .args(super::HIRING_COLUMNS)
        .args(["--group", "age_band"]));
    let widest = outcome.out.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|width| width <= 100), "{}", outcome.out);
    assert_eq!(outcome.out, include_str!("text/intersections.txt"));
}

#[test]
fn the_worst_cell_is_marked_without_color() {
    let outcome = super::audit_hiring(&[]);
    assert!(!outcome.out.contains('\u{1b}'));
    assert!(
        outcome.out.contains("◄ worst: a better \"female\" scores above a worse \"male\""),
        "{}",
        outcome.out
    );
}

#[test]
fn names_cannot_control_the_terminal() {
    let table = SMALL.replace(",a,", ",\u{1b}[31mred\u{7},").replace("q,g,y", "q,g\u{1b}]0;x,y");
    let columns = ["--score", "s", "--label", "y", "--query", "q", "--group", "g\u{1b}]0;x"];
    let outcome = audit(&table, &columns);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", outcome.out);
    assert!(outcome.out.contains("\\u{1b}[31mred\\u{7}"), "{}", outcome.out);
}

#[test]
fn many_groups_show_their_ends_only() {
    let rows: String =
        (0..4000).map(|i| format!("g{},{},{}\n", i % 21, i * 31 % 3, i * 7919 % 997)).collect();
    let outcome = audit(&format!("g,y,s\n{rows}"), &["--score", "s", "--label", "y", "--group", "g"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.lines().count() < 80, "{}", outcome.out);
    assert!(outcome.out.contains("--format json has all"), "{}", outcome.out);
    assert!(outcome.out.lines().all(|line| line.chars().count() <= 100), "{}", outcome.out);
}

#[test]
fn the_mean_squared_error_is_shown_where_scores_predict_labels_or_a_check_asks() {
    let table = |scale: f64, grades: u32| {
        let row = |i: u32| format!("{},{}\n", i * 7 % grades, scale * f64::from(i * 7 % grades + i % 2));
        "y,s\n".to_owned() + &(0..60).map(row).collect::<String>()
    };
    let mse = |table: &str, more: &[&str]| {
        let columns = ["--score", "s", "--label", "y", "--format", "json"];
        let document = audit(table, &[&columns[..], more].concat()).json();
        document["mse"]["value"].as_f64()
    };
    assert_eq!(mse(&table(1.0, 30), &[]), Some(0.5));
    assert_eq!(mse(&table(100.0, 30), &[]), None, "scores of another scale");
    assert_eq!(mse(&table(1.0, 2), &[]), None, "grades");
    assert_eq!(mse(&table(1.0, 2), &["--check", "mse <= 2"]), Some(0.5));
    let text = |table: &str| audit(table, &["--score", "s", "--label", "y"]).out;
    assert!(text(&table(1.0, 30)).contains("mse") && !text(&table(1.0, 2)).contains("mse"));
}

#[test]
fn text_is_as_wide_as_asked_so_that_matrices_keep_their_intervals() {
    let rows: String = (0..800).map(|i| format!("g{},{},{}\n", i % 8, i * 31 % 3, i * 7919 % 997)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table.csv");
    std::fs::write(&table, format!("g,y,s\n{rows}")).expect("a table");
    let text = |columns: &str| {
        let columns = [("COLUMNS", columns)];
        run(pairity()
            .envs(columns)
            .arg("audit")
            .arg(&table)
            .args(["--score", "s", "--label", "y", "--group", "g"]))
        .out
    };
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let (wide, narrow) = (text("180"), text("100"));
    assert!(widest(&wide) > 120 && widest(&wide) <= 180 && widest(&narrow) <= 100, "{wide}{narrow}");
    let intervals = |text: &str| text.matches('–').count();
    assert!(intervals(&wide) > 100 && intervals(&narrow) == 0, "{wide}{narrow}");
}

#[test]
fn names_of_a_megabyte_make_no_report_of_one() {
    let (a, b) = ("a".repeat(1 << 20), "b".repeat(1 << 20));
    let table: String = (0..60)
        .map(|row| format!("0.{},{},{}\n", row * 7 % 60, row % 2, if row % 3 == 0 { &a } else { &b }))
        .collect();
    let columns = ["--score", "s", "--label", "y", "--group", "g", "--check", "cross_group <= 0.1"];
    let outcome = audit(&format!("s,y,g\n{table}"), &columns);
    // 20 rows are few: which group decides is said of every gap.
    assert!(outcome.out.contains("decides it"), "{}", outcome.out);
    assert!(outcome.out.len() < 10_000, "{}", outcome.out.len());
}
