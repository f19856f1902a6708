//! Rows that come as the bytes of a Parquet file, whose cells mean what they mean on the command line: audits of whole
//! queries that are merged, and scores.

use crate::model::Model;
use crate::refuse;
use crate::settings::{get, measuring};
use crate::view::{FRONT_END, Shown, shown};
use numpy::{IntoPyArray, PyArray1};
use pairity::examples::{Column, Groups, Values, cross};
use pairity::metrics::Partial;
use pairity::run::{self, ScoreRequest};
use pairity_report::{AuditReport, Missing, Notes, Role, audit_html, audit_json, audit_text};
use pairity_tables::{self as tables, Filter, Selection, Source, Table, TableError, Want};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What Python calls the roles of columns.
const ROLES: [(&str, Role); 10] = [
    ("score", Role::Score),
    ("label", Role::Label),
    ("query", Role::Query),
    ("within", Role::Within),
    ("group", Role::Group),
    ("protected", Role::Protected),
    ("weight", Role::Weight),
    ("pair_weight", Role::PairWeight),
    ("higher", Role::Higher),
    ("lower", Role::Lower),
];

/// What no row may lack, where it is asked for.
pub fn needed() -> Vec<&'static str> {
    let name = |role: Role| ROLES.iter().find(|(_, own)| *own == role).map(|(name, _)| *name);
    Role::NEEDED.into_iter().filter_map(name).collect()
}

fn role(word: &str) -> PyResult<Role> {
    let found = ROLES.iter().find(|(name, _)| *name == word).map(|(_, role)| *role);
    found.ok_or_else(|| refuse(format!("{word:?} is no role of a column")))
}

fn source(table: &[u8]) -> Result<Source, TableError> {
    Source::from_reader("data frame", table)
}

fn read(source: &Source, wants: Vec<Want>) -> Result<Table, TableError> {
    tables::read(source, &Selection::Columns(wants), &|_, _| ())
}

type Numbers<'py> = Bound<'py, PyArray1<f64>>;
type Codes<'py> = (Bound<'py, PyArray1<u32>>, Vec<String>);
type ReadColumns<'py> = (Vec<Numbers<'py>>, Vec<Codes<'py>>);

/// Columns of numbers, NaN where one is missing, and columns of categories. Of columns that are `exact` no two whole
/// numbers are taken for one.
#[pyfunction]
pub fn read_table<'py>(
    py: Python<'py>,
    table: &[u8],
    numbers: Vec<String>,
    categories: Vec<String>,
    exact: Vec<String>,
) -> PyResult<ReadColumns<'py>> {
    // One after the other, since a column may be both.
    let columns = |names: &[String], want: fn(&str) -> Want| -> Result<Vec<Column>, TableError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let source = source(table)?;
        let table = read(&source, names.iter().map(|name| want(name)).collect())?;
        let own = |name: &String| table.column(name).filter(|column| column.numbers().is_some());
        exact.iter().filter_map(own).try_for_each(|column| tables::check_rounded(&source, column))?;
        Ok(names.iter().filter_map(|name| table.column(name).cloned()).collect())
    };
    let found = py.detach(|| Ok((columns(&numbers, Want::number)?, columns(&categories, Want::category)?)));
    let (numbers, categories) = found.map_err(|error: TableError| refuse(error))?;
    let array = |column: Column| match column.values {
        Values::Numbers(numbers) => Some(numbers.into_pyarray(py)),
        Values::Singles(_) | Values::Sparse(_) | Values::Categories { .. } => None,
    };
    let coded = |column: Column| match column.values {
        Values::Numbers(_) | Values::Singles(_) | Values::Sparse(_) => None,
        Values::Categories { codes, levels } => Some((codes.into_pyarray(py), levels)),
    };
    Ok((numbers.into_iter().filter_map(array).collect(), categories.into_iter().filter_map(coded).collect()))
}

/// The columns that a filter of rows needs.
#[pyfunction]
pub fn filter_columns(filter: &str) -> PyResult<Vec<String>> {
    Ok(Filter::parse(filter, "where").map_err(refuse)?.wants().into_iter().map(|want| want.name).collect())
}

/// Whether each row of a table of these columns meets a filter.
#[pyfunction]
pub fn filter_rows<'py>(py: Python<'py>, table: &[u8], filter: &str) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let passing = py.detach(|| {
        let filter = Filter::parse(filter, "where")?;
        Ok(filter.passing(&read(&source(table)?, filter.wants())?))
    });
    Ok(passing.map_err(|error: TableError| refuse(error))?.into_pyarray(py))
}

/// One partial audit of many.
#[pyfunction]
pub fn merge_partials(py: Python<'_>, parts: Vec<String>) -> PyResult<String> {
    py.detach(|| Ok(Partial::merge_texts(&parts).map_err(refuse)?.to_json()))
}

/// The audit of many partial ones as a document `pairity.audit/1`, and as it is shown; `notes` tell of their rows.
#[pyfunction]
pub fn merge<'py>(
    py: Python<'py>,
    parts: Vec<String>,
    checks: Vec<String>,
    settings: Bound<'py, PyDict>,
    notes: Option<Bound<'py, PyDict>>,
) -> PyResult<Shown<'py>> {
    let measure = measuring(&settings)?;
    let outcome = py.detach(|| {
        let merged = Partial::merge_texts(&parts).map_err(refuse)?;
        run::merge([merged], &checks, &measure).map_err(refuse)
    })?;
    let notes = match notes {
        Some(told) => notes_of(&told)?,
        None => Notes { rows_read: outcome.audit.rows, ..Notes::default() },
    };
    let html = |report: &_| audit_html(report, None, FRONT_END);
    shown(py, AuditReport { audit: outcome.audit, notes }, audit_json, audit_text, "Audit", html)
}

/// What tasks told of the rows of a table.
fn notes_of(told: &Bound<'_, PyDict>) -> PyResult<Notes> {
    let columns: Vec<(String, String)> = get(told, "columns")?;
    let missing: Vec<(String, usize)> = get(told, "missing")?;
    Ok(Notes {
        columns: columns.into_iter().map(|(word, name)| Ok((role(&word)?, name))).collect::<PyResult<_>>()?,
        rows_read: get(told, "rows_read")?,
        rows_dropped: get(told, "rows_dropped")?,
        missing: missing
            .into_iter()
            .map(|(word, rows)| Ok(Missing { role: role(&word)?, rows }))
            .collect::<PyResult<_>>()?,
        filter: get(told, "filter")?,
        groups_left_out: get(told, "groups_left_out")?,
        ..Notes::default()
    })
}

/// The scores of rows, and those on average over all draws, if they are wanted.
#[pyfunction]
pub fn score_table<'py>(
    py: Python<'py>,
    model: &Model,
    table: &[u8],
    query: Vec<String>,
    seed: Option<u64>,
    expected: bool,
) -> PyResult<(Numbers<'py>, Option<Numbers<'py>>)> {
    let model = &model.inner;
    let outcome = py.detach(|| {
        let source = source(table).map_err(refuse)?;
        let features = model.encoder.inputs().map(Want::from).collect();
        let features = read(&source, features).map_err(refuse)?;
        let names = model.groups.as_ref().map_or(&[][..], |groups| &groups.columns);
        let wants: Vec<Want> = query.iter().chain(names).map(|name| Want::category(name)).collect();
        let named = match wants.is_empty() {
            true => None,
            false => Some(read(&source, wants).map_err(refuse)?),
        };
        let column = |name: &String| named.as_ref()?.column(name)?.categories();
        let groups = names.iter().filter_map(column);
        let groups = groups.map(|(codes, levels)| Groups::from_codes(levels.to_vec(), codes.to_vec()));
        let groups = groups.reduce(|before, own| before.intersect(&own)).unwrap_or_default();
        let queries = cross(&query.iter().filter_map(column).collect::<Vec<_>>());
        let request = ScoreRequest {
            model,
            columns: features.columns(),
            groups: model.groups.as_ref().map(|_| &groups),
            queries: queries.as_ref().map(|(codes, names)| (&codes[..], &names[..])),
            seed,
            expected,
        };
        run::score(&request).map_err(refuse)
    })?;
    Ok((outcome.scores.into_pyarray(py), outcome.expected.map(|scores| scores.into_pyarray(py))))
}
