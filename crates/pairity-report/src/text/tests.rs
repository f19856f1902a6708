use super::{Look, audit_text};
use crate::report::{AuditReport, Missing, Notes, Role};
use crate::words::FrontEnd;
use pairity::examples::{Columns, Examples, Groups};
use pairity::goals::parse_constraint;
use pairity::metrics::{Audit, Settings};

/// An audit of rows whose group is their number modulo the number of names.
fn report(names: &[String], checks: &[&str]) -> AuditReport {
    let rows = 40 * names.len();
    let labels: Vec<f64> = (0..rows).map(|i| ((i / names.len()) % 3) as f64).collect();
    let scores: Vec<f64> = (0..rows).map(|i| (i * 7919 % 997) as f64).collect();
    let groups = Groups::from_names(&(0..rows).map(|i| &names[i % names.len()]).collect::<Vec<_>>());
    let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    let examples = Examples::new(columns).unwrap();
    let checks: Vec<_> =
        checks.iter().map(|text| parse_constraint(text, &examples.vocabulary()).unwrap()).collect();
    let audit = Audit::run(&examples, &scores, &checks, &Settings::default()).unwrap();
    let notes = Notes {
        tables: vec!["people.csv".into()],
        columns: vec![(Role::Score, "s".into()), (Role::Group, "g".into())],
        rows_read: rows + 3,
        rows_dropped: 3,
        missing: vec![Missing { role: Role::Score, rows: 3 }, Missing { role: Role::Label, rows: 0 }],
        ..Notes::default()
    };
    AuditReport { audit, notes }
}

/// Plain text of so many columns.
fn plain(report: &AuditReport, width: usize) -> String {
    audit_text(report, &Look { color: false, pictures: false, width, front_end: FrontEnd::CommandLine })
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("group number {i}")).collect()
}

fn widest(text: &str) -> usize {
    text.lines().map(crate::words::columns).max().unwrap_or(0)
}

#[test]
fn every_number_of_groups_fits_the_page() {
    for count in [1, 2, 3, 4, 5, 8, 9, 12] {
        let report = report(&names(count), &["auc >= 0.3"]);
        for width in [80, 100, 120] {
            for pictures in [false, true] {
                let text = audit_text(
                    &report,
                    &Look { color: false, pictures, width, front_end: FrontEnd::CommandLine },
                );
                // Below 100 columns the values of eight groups stay together, rather than be cut.
                let limit = if count > 5 && width < 100 { 100 } else { width };
                assert!(widest(&text) <= limit, "{count} groups, {width} columns:\n{text}");
            }
        }
    }
}

#[test]
fn color_changes_nothing_but_color() {
    let report = report(&names(3), &["auc >= 0.3", "auc >= 0.9", "cross_group <= 0.1"]);
    let painted = audit_text(
        &report,
        &Look { color: true, pictures: true, width: 100, front_end: FrontEnd::CommandLine },
    );
    assert!(painted.contains('\u{1b}'));
    let mut bare = String::new();
    let mut rest = painted.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        bare += &rest[..at];
        rest = rest[at..].split_once('m').map_or("", |(_, rest)| rest);
    }
    assert_eq!(
        bare + rest,
        audit_text(
            &report,
            &Look { color: false, pictures: true, width: 100, front_end: FrontEnd::CommandLine }
        )
    );
}

#[test]
fn reasons_for_rows_left_out_are_told_where_there_are_any() {
    let text = plain(&report(&names(2), &[]), 100);
    assert!(text.contains("3 of 83 rows left out: score missing in 3\n"), "{text}");
}

#[test]
fn one_group_has_no_worst_cell() {
    let text = plain(&report(&names(1), &[]), 100);
    assert!(!text.contains('◄'), "{text}");
    assert!(text.contains("is the only group"), "{text}");
}

#[test]
fn long_and_wide_names_are_cut() {
    let names = ["x".repeat(300), "日本語".repeat(50), "z".to_owned()];
    let text = plain(&report(&names, &[]), 100);
    assert!(widest(&text) <= 100, "{text}");
}

#[test]
fn pictures_stand_beside_the_numbers_only_if_asked_for() {
    let report = report(&names(2), &[]);
    let text = audit_text(
        &report,
        &Look { color: false, pictures: true, width: 100, front_end: FrontEnd::CommandLine },
    );
    assert!(text.contains('├') && text.contains('●') && text.contains("▅ 0."), "{text}");
    let plain = plain(&report, 100);
    assert!(!plain.contains(['├', '●', '▅']), "{plain}");
    // The same numbers in both.
    let numbers = |text: &str| {
        let words =
            text.split_whitespace().filter(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '['));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let without_axes: String =
        text.lines().filter(|line| !line.starts_with(&" ".repeat(30))).collect::<Vec<_>>().join("\n");
    assert_eq!(numbers(&without_axes), numbers(&plain));
}

#[test]
fn each_front_end_gives_advice_in_its_own_words() {
    let groups = Groups::from_names(&["a", "b"]);
    let examples = Examples::new(Columns { groups: Some(&groups), ..Columns::default() }).unwrap();
    let check = parse_constraint("auc >= 0.5", &examples.vocabulary()).unwrap();
    let audit = Audit::run(&examples, &[0.1, 0.2], &[check], &Settings::default()).unwrap();
    let report = AuditReport { audit, notes: Notes::default() };
    let text =
        |front_end| audit_text(&report, &Look { color: false, pictures: false, width: 100, front_end });
    let (shell, python) = (text(FrontEnd::CommandLine), text(FrontEnd::Python));
    assert_eq!(shell.matches("name the label column with --label").count(), 2, "{shell}");
    assert_eq!(python.matches("pass labels").count(), 2, "{python}");
    assert!(!python.contains("--"), "{python}");
}
