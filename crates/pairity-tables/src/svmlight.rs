//! SVMlight, also called LibSVM: lines of `label qid:N index:value … # comment`.
//!
//! The columns are `label`, `qid` if the lines have one, and the features, each named by its index.
//! What a line does not list is 0, so every index is a column of every file.

use std::io::{BufRead, BufReader};

use super::builder::ColumnBuilder;
use super::cell::{self, Meaning};
use super::error::{CellProblem, Place, TableError, excerpt};
use super::format::TableFormat;
use super::meter::Meter;
use super::selection::{Header, unknown};
use super::source::SourceFile;

const LABEL: &str = "label";
const QID: &str = "qid";

/// The most cells that reading every column may fill: 8 GiB of numbers.
const MOST_CELLS: u64 = 1 << 30;

/// The format.
pub(crate) static SVMLIGHT: TableFormat = TableFormat {
    endings: &[],
    other_endings: &["svm", "svmlight", "libsvm"],
    is_text: true,
    recognizes: looks_like,
    headers,
    read,
    texts: None,
    writer: None,
};

/// Whether a file starts with a line `number (qid:int)? (int:number)+`.
fn looks_like(head: &[u8]) -> bool {
    for raw in head.split_inclusive(|&byte| byte == b'\n') {
        let content = content(raw);
        if content.is_empty() {
            continue;
        }
        let mut tokens: Vec<&[u8]> = tokens(content).collect();
        // A line that goes on beyond the head may have its last token cut.
        if !raw.ends_with(b"\n") && tokens.len() > 2 {
            tokens.pop();
        }
        let Some((label, mut features)) = tokens.split_first() else { return false };
        if let [first, rest @ ..] = features
            && first.starts_with(b"qid:")
        {
            features = rest;
        }
        return is_number(label)
            && !features.is_empty()
            && features.iter().all(|token| pair(token).is_some_and(|(_, value)| is_number(value)));
    }
    false
}

/// The columns of a file, which takes a pass over all of it.
fn headers(file: &SourceFile) -> Result<Vec<Header>, TableError> {
    let mut smallest = u64::MAX;
    let mut largest = 0;
    let mut any_qid = false;
    let mut rows: u64 = 0;
    lines(file, |_, line| {
        rows += 1;
        any_qid |= line.qid.is_some();
        for token in tokens(line.features) {
            let (index, _) = pair(token).ok_or_else(|| not_a_pair(token))?;
            smallest = smallest.min(index);
            largest = largest.max(index);
        }
        Ok(())
    })?;
    // Names have a cost as well: for few rows, too, there is a limit to the largest index.
    if largest.saturating_mul(rows.max(1 << 10)) > MOST_CELLS {
        return Err(TableError::TooWide { file: file.name().to_owned(), rows, largest });
    }
    let fixed = [LABEL, QID].into_iter().take(1 + usize::from(any_qid)).map(str::to_owned);
    let features = (smallest.min(1)..=largest).map(|index| index.to_string());
    Ok(fixed.chain(features).map(|name| Header { name, readable: true }).collect())
}

/// Adds the rows of a file to the columns and returns their number.
fn read(
    file: &SourceFile,
    columns: &mut [ColumnBuilder],
    meter: &mut Meter<'_>,
) -> Result<usize, TableError> {
    let mut label = None;
    let mut qid = None;
    // Index and place among the columns, in order of the index.
    let mut features: Vec<(u64, usize)> = Vec::new();
    for (at, column) in columns.iter_mut().enumerate() {
        match column.name() {
            LABEL => label = Some(at),
            QID => {
                column.settle_as_category();
                qid = Some(at);
            }
            name => match index(name.as_bytes()).filter(|index| index.to_string() == name) {
                Some(index) => features.push((index, at)),
                None => return Err(no_column(file, name)),
            },
        }
    }
    features.sort_unstable();
    // For each feature, the last row (from 1) that listed it.
    let mut listed = vec![0; features.len()];
    let mut rows = 0;
    lines(file, |position, line| {
        rows += 1;
        meter.at(position);
        if let Some(at) = label {
            columns[at].text(line.label).map_err(|problem| LineProblem::cell(&columns[at], problem))?;
        }
        if let Some(at) = qid {
            let text = line.qid.ok_or(LineProblem::NoQid)?;
            columns[at].text(text).map_err(|problem| LineProblem::cell(&columns[at], problem))?;
        }
        let mut next = 0;
        for token in tokens(line.features) {
            let (index, value) = pair(token).ok_or_else(|| not_a_pair(token))?;
            // Features come in order as a rule.
            while features.get(next).is_some_and(|(wanted, _)| *wanted < index) {
                next += 1;
            }
            if features.get(next).is_none_or(|(wanted, _)| *wanted != index) {
                match features.binary_search_by_key(&index, |(wanted, _)| *wanted) {
                    Ok(found) => next = found,
                    Err(_) => continue,
                }
            }
            if std::mem::replace(&mut listed[next], rows) == rows {
                return Err(LineProblem::Line(format!("feature {index} is given twice")));
            }
            let column = &mut columns[features[next].1];
            column.text(value).map_err(|problem| LineProblem::cell(column, problem))?;
        }
        for (&(_, at), &last) in features.iter().zip(&listed) {
            if last != rows {
                columns[at].number(0.0).map_err(|problem| LineProblem::cell(&columns[at], problem))?;
            }
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The error for a column that can't be in such a file, with the ones that can.
fn no_column(file: &SourceFile, name: &str) -> TableError {
    match headers(file) {
        Ok(headers) => unknown(name, headers.into_iter().map(|header| header.name).collect(), file.name()),
        Err(error) => error,
    }
}

/// One line, taken apart as far as every use needs it.
struct SvmlightLine<'a> {
    label: &'a [u8],
    qid: Option<&'a [u8]>,
    features: &'a [u8],
}

/// What is wrong with a line, before its place is added.
enum LineProblem {
    Line(String),
    Cell(String, CellProblem),
    /// The query is wanted, and the file has none.
    NoQid,
}

impl LineProblem {
    fn cell(column: &ColumnBuilder, problem: CellProblem) -> LineProblem {
        LineProblem::Cell(column.name().to_owned(), problem)
    }
}

/// Calls a function with each line that is not blank or a comment, and with the position of its end.
fn lines(
    file: &SourceFile,
    mut each: impl FnMut(u64, &SvmlightLine<'_>) -> Result<(), LineProblem>,
) -> Result<(), TableError> {
    let mut reader = BufReader::with_capacity(1 << 17, file.open_at(0)?);
    let mut raw = Vec::new();
    let mut position = 0;
    let mut number = 0;
    let mut with_qid = None;
    loop {
        raw.clear();
        let length = reader.read_until(b'\n', &mut raw).map_err(|cause| file.failed(cause))?;
        if length == 0 {
            return Ok(());
        }
        position += length as u64;
        number += 1;
        let content = content(&raw);
        if content.is_empty() {
            continue;
        }
        let done = parse(content).and_then(|line| {
            let expected = *with_qid.get_or_insert(line.qid.is_some());
            match (expected, line.qid.is_some()) {
                (true, false) => {
                    Err(LineProblem::Line("there is no qid, though the lines before have one".into()))
                }
                (false, true) => {
                    Err(LineProblem::Line("there is a qid, though the lines before have none".into()))
                }
                _ => each(position, &line),
            }
        });
        let name = file.name().to_owned();
        match done {
            Ok(()) => {}
            Err(LineProblem::Line(problem)) => {
                return Err(TableError::Other(format!(
                    "{name}, line {number}: {problem}. \
                     An SVMlight line reads: label qid:7 1:0.5 3:2 # comment"
                )));
            }
            Err(LineProblem::Cell(column, problem)) => {
                return Err(TableError::Cell { file: name, place: Place::Line(number), column, problem });
            }
            Err(LineProblem::NoQid) => return Err(no_column(file, QID)),
        }
    }
}

fn parse(content: &[u8]) -> Result<SvmlightLine<'_>, LineProblem> {
    let (label, rest) = first_token(content);
    if !is_number(label) {
        return Err(LineProblem::Line(format!("expected a number as the label, found {:?}", excerpt(label))));
    }
    let (token, after) = first_token(rest);
    let Some(qid) = token.strip_prefix(b"qid:") else {
        return Ok(SvmlightLine { label, qid: None, features: rest });
    };
    if index(qid).is_none() {
        return Err(LineProblem::Line(format!(
            "expected a whole number after qid:, found {:?}",
            excerpt(qid)
        )));
    }
    Ok(SvmlightLine { label, qid: Some(qid), features: after })
}

fn not_a_pair(token: &[u8]) -> LineProblem {
    LineProblem::Line(format!("expected a feature as index:value, found {:?}", excerpt(token)))
}

/// A line without comment, surrounding spaces and byte order mark.
fn content(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    raw.split(|&byte| byte == b'#').next().unwrap_or(raw).trim_ascii()
}

fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty())
}

fn first_token(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

fn pair(token: &[u8]) -> Option<(u64, &[u8])> {
    let colon = token.iter().position(|&byte| byte == b':')?;
    let value = &token[colon + 1..];
    if value.is_empty() { None } else { Some((index(&token[..colon])?, value)) }
}

fn index(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter()
        .try_fold(0, |number: u64, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}

fn is_number(text: &[u8]) -> bool {
    matches!(cell::meaning(text), Meaning::Number(_) | Meaning::NotFinite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_format_are_recognized() {
        for text in [
            "1 1:0.5 2:3\n",
            "# comment\n\n-1 qid:3 1:0.5 # doc\n",
            "+1 5:1e-3",
            "0.5 1:2 3:4 17:0.00",
            "\u{feff}1 1:2\r\n",
        ] {
            assert!(looks_like(text.as_bytes()), "{text:?}");
        }
        for text in ["", "a,b\n1,2\n", "1,2\n", "1 2 3\n", "1\n", "time 12:30\n", "1 a:2\n", "1 qid:3\n"] {
            assert!(!looks_like(text.as_bytes()), "{text:?}");
        }
    }
}
