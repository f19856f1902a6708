//! Pages against the reports they are made from.

use super::audit_html;
use crate::json::audit_json;
use crate::report::{AuditReport, Missing, Notes, Role};
use crate::words::{FrontEnd, count, number, rate};
use pairity::examples::{Columns, Examples, Groups};
use pairity::goals::parse_constraint;
use pairity::metrics::{Audit, Distributions, Settings};
use serde_json::Value;

/// What a table for a test is made of.
#[derive(Clone, Copy, Default)]
struct Made<'a> {
    names: &'a [&'a str],
    continuous: bool,
    queries: bool,
    unlabeled: bool,
    checks: &'a [&'a str],
}

/// Rows whose group is their number modulo the number of names.
fn pages(made: Made) -> (AuditReport, String) {
    let rows: u32 = 360;
    let k = made.names.len().max(1) as u32;
    let labels: Vec<f64> = (0..rows).map(|i| f64::from(i * 13 % 7 % 3)).collect();
    let scores: Vec<f64> =
        (0..rows).map(|i| f64::from(i * 7919 % 997) + f64::from(i * 13 % 7 % 3) * 200.0).collect();
    let names: Vec<&str> = (0..rows).filter_map(|i| made.names.get((i % k) as usize).copied()).collect();
    let groups = Groups::from_names(&names);
    let protected: Vec<f64> = (0..rows).map(|i| f64::from(i * 31 % 60)).collect();
    let queries: Vec<u32> = (0..rows).map(|i| i / 12).collect();
    let examples = Examples::new(Columns {
        labels: (!made.unlabeled).then_some(&labels),
        groups: (!names.is_empty()).then_some(&groups),
        protected: made.continuous.then_some(&protected),
        queries: made.queries.then_some(&queries),
        ..Columns::default()
    })
    .unwrap();
    let checks: Vec<_> =
        made.checks.iter().map(|text| parse_constraint(text, &examples.vocabulary()).unwrap()).collect();
    let settings = Settings::default();
    let audit = Audit::run(&examples, &scores, &checks, &settings).unwrap();
    let distributions = Distributions::run(&examples, &scores, &settings).unwrap();
    let notes = Notes {
        tables: vec!["people.csv".into()],
        columns: vec![(Role::Score, "s".into()), (Role::Label, "y".into()), (Role::Protected, "age".into())],
        rows_read: rows as usize + 3,
        rows_dropped: 3,
        missing: vec![Missing { role: Role::Score, rows: 3 }],
        ..Notes::default()
    };
    let report = AuditReport { audit, notes };
    let page = audit_html(&report, Some(&distributions), FrontEnd::CommandLine);
    (report, page)
}

/// The text between tags, with what stands for a character replaced by it.
fn text(page: &str) -> String {
    let body = page.split_once("</style>").map_or(page, |(_, body)| body);
    let mut out = String::new();
    for (i, part) in body.split('<').enumerate() {
        out += if i == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) };
        out.push(' ');
    }
    for (code, letter) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")] {
        out = out.replace(code, letter);
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every metric of a JSON document, with the path to it.
fn metrics(path: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(entries) if entries.contains_key("low") => found.push((path.to_owned(), value.clone())),
        Value::Object(entries) => entries.iter().for_each(|(k, v)| metrics(&format!("{path}.{k}"), v, found)),
        Value::Array(list) => list.iter().for_each(|v| metrics(path, v, found)),
        _ => {}
    }
}

#[test]
fn the_page_holds_every_number_of_the_json_document() {
    let tables = [
        Made { names: &["a", "b", "c"], queries: true, checks: &["cross_group <= 0.1"], ..Made::default() },
        Made { continuous: true, checks: &["continuous <= 0.1", "mse <= 1"], ..Made::default() },
    ];
    for made in tables {
        let (report, page) = pages(made);
        let text = text(&page);
        let mut all = Vec::new();
        metrics("", &audit_json(&report), &mut all);
        assert!(all.len() > 10);
        for (path, metric) in all {
            // Scores that rank within queries have no mean squared error worth showing; what has no value
            // and can't have one is not listed.
            if (path == ".mse" && made.queries) || metric["value"].is_null() {
                continue;
            }
            let write = |value: f64| match path.as_str() {
                ".mse" | ".checks" => number(value, 4),
                _ => rate(value),
            };
            let ends = [&metric["low"], &metric["high"]].map(|end| write(end.as_f64().unwrap()));
            let words = format!("{} {} to {}", write(metric["value"].as_f64().unwrap()), ends[0], ends[1]);
            assert!(text.contains(&words), "{path}: {words}");
            if path != ".mse" && path != ".checks" && path != ".auc" {
                let pairs = count(metric["pairs"].as_u64().unwrap());
                assert!(text.contains(&format!("{words} {pairs}")), "{path}: {words} {pairs}");
            }
        }
    }
}

#[test]
fn names_from_the_table_are_never_markup() {
    let nasty = ["<script>x()</script>", "\"' onload=x()", "</style></title><svg onload=x()>", "a\u{202e}b"];
    let (mut report, _) = pages(Made { names: &nasty, queries: true, ..Made::default() });
    report.notes.tables = vec![nasty[0].to_owned()];
    report.notes.columns = vec![(Role::Score, nasty[2].to_owned()), (Role::Label, nasty[1].to_owned())];
    report.notes.dropped_ids = vec![nasty[0].to_owned()];
    let examples = Examples::new(Columns { labels: Some(&[0.0, 1.0]), ..Columns::default() }).unwrap();
    let distributions = Distributions::run(&examples, &[0.0, 1.0], &Settings::default()).unwrap();
    for page in [
        audit_html(&report, Some(&distributions), FrontEnd::CommandLine),
        pages(Made { names: &nasty, queries: true, ..Made::default() }).1,
    ] {
        assert!(!page.contains("<script") && !page.contains("\" onload") && !page.contains("<svg onload"));
        assert!(!page.contains('\u{202e}'));
        assert_eq!(page.matches("</style>").count(), 1);
        assert_eq!(page.matches("</title>").count(), page.matches("<title>").count());
        assert!(page.contains("&lt;script&gt;x()&lt;&#x2f;script&gt;"), "{page}");
    }
}

#[test]
fn the_result_is_said_in_words() {
    let lead = |made: Made| {
        let text = text(&pages(made).1);
        let from = text.find("The result in words ").unwrap() + 20;
        text[from..].chars().take(240).collect::<String>()
    };
    let words = lead(Made { names: &["female", "male"], queries: true, ..Made::default() });
    assert!(
        words.starts_with("When the better candidate is female and the worse male, the model is right "),
        "{words}"
    );
    let words = lead(Made { names: &["0", "1"], ..Made::default() });
    assert!(words.starts_with("When the better candidate is from group “"), "{words}");
    let words = lead(Made { continuous: true, checks: &["auc <= 0.1"], ..Made::default() });
    assert!(
        words.starts_with("When the better candidate has the higher age, the model is right "),
        "{words}"
    );
    assert!(words.contains("The check failed."), "{words}");
    let words = lead(Made { names: &["a", "b"], unlabeled: true, ..Made::default() });
    assert!(words.starts_with("Someone of group “") && words.contains("50% would be parity"), "{words}");
    let words = lead(Made { continuous: true, unlabeled: true, ..Made::default() });
    assert!(words.starts_with("Of two candidates, the one with the higher age scores higher "), "{words}");
    assert!(words.contains("50% would be parity. The gap of "), "{words}");
    let words = lead(Made { names: &["a"], ..Made::default() });
    assert!(words.contains("There is one group only"), "{words}");
    assert!(lead(Made::default()).contains("No groups were named"));
}

#[test]
fn every_kind_of_table_has_a_page() {
    let groups: Vec<String> = (0..13).map(|i| format!("group {i}")).collect();
    let names: Vec<&str> = groups.iter().map(String::as_str).collect();
    for names in [&names[..0], &names[..1], &names[..2], &names[..4], &names[..]] {
        for (continuous, queries, unlabeled) in
            [(false, false, false), (false, true, false), (false, true, true)].into_iter().chain([
                (true, true, false),
                (true, false, false),
                (true, false, true),
            ])
        {
            if (continuous && !names.is_empty()) || (unlabeled && names.is_empty() && !continuous) {
                continue;
            }
            let page = pages(Made { names, continuous, queries, unlabeled, ..Made::default() }).1;
            assert!(page.len() < 500_000, "{} bytes", page.len());
            let heat = !names.is_empty() && names.len() <= 12 && !unlabeled;
            assert_eq!(page.contains("id=\"accuracy\""), !names.is_empty() && !unlabeled);
            assert_eq!(page.contains("Accuracy with its interval and number of pairs"), heat);
            assert_eq!(page.contains("id=\"continuous\""), continuous && !unlabeled);
            assert_eq!(page.contains("id=\"continuous-parity\""), continuous);
            assert_eq!(page.contains("<dt>P[z &gt; z'] and P[z &lt; z']</dt>"), continuous);
            assert_eq!(
                page.contains("id=\"queries\""),
                queries && !unlabeled && (continuous || names.len() > 1)
            );
            assert!(!page.contains("NaN") && !page.contains("inf%"), "{names:?}");
        }
    }
}

#[test]
fn gaps_show_the_bounds_that_were_asked_for() {
    let checks = ["cross_group <= 0.25", "cross_group - 0.1 <= 0.25"];
    let page = pages(Made { names: &["a", "b"], checks: &checks, ..Made::default() }).1;
    assert_eq!(page.matches("bound: at most 0.25").count(), 1);
    assert_eq!(page.matches("class=\"bound\"").count(), 1);
}
