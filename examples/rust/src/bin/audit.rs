//! Audit the scores of a model that sorts applications: is it equally right about women and men?

use pairity::{AuditRequest, Columns, Examples, Groups, Settings, audit};
use pairity_examples::Outcome;
use pairity_tables::{Selection, Source, Want, read};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../hiring.csv");

fn main() -> Outcome {
    let columns =
        ["score", "label"].map(Want::number).into_iter().chain(["gender", "query"].map(Want::category));
    let table = read(&Source::parse(TABLE)?, &Selection::Columns(columns.collect()), &|_, _| ())?;
    let numbers = |name: &str| table.column(name).and_then(|column| column.numbers()).unwrap_or_default();
    let categories =
        |name: &str| table.column(name).and_then(|column| column.categories()).unwrap_or_default();
    let (codes, names) = categories("gender");
    let groups = Groups::from_codes(names.to_vec(), codes.to_vec());
    let examples = Examples::new(Columns {
        labels: Some(numbers("label")),
        groups: Some(&groups),
        queries: Some(categories("query").0),
        ..Columns::default()
    })?;
    let outcome = audit(&AuditRequest {
        examples: &examples,
        scores: numbers("score"),
        checks: &["cross_group <= 0.1".to_owned(), "auc >= 0.7".to_owned()],
        left_out: &[],
        measure: Settings::default(),
        pictures: false,
        partial: false,
    })?;
    for (better, row) in outcome.audit.groups.iter().zip(&outcome.audit.accuracy) {
        for (worse, cell) in outcome.audit.groups.iter().zip(row) {
            println!("A[{better} > {worse}] = {:.3}", cell.value.unwrap_or(f64::NAN));
        }
    }
    for check in &outcome.audit.checks {
        println!(
            "{}: {:.3} {}",
            check.expression,
            check.metric.value.unwrap_or(f64::NAN),
            check.verdict.name()
        );
    }
    Ok(())
}
