//! SVMlight, also called LibSVM: lines of `label qid:N index:value … # comment`.
//!
//! The columns are `label`, `qid` if the lines have one, and the features, each named by its index.
//! What a line does not list is 0, so every index is a column of every file. Features that are mostly 0 stay sparse.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use super::builder::ColumnBuilder;
use super::cell::{self, Meaning};
use super::error::{TableError, excerpt};
use super::format::{BATCH, Drain, TableFormat};
use super::meter::Meter;
use super::selection::{Header, names, unknown};
use super::source::{LONGEST_ROW, SourceFile};

const LABEL: &str = "label";
const QID: &str = "qid";

/// The most cells that may be stored one by one: 8 GiB of numbers.
const MOST_CELLS: usize = 1 << 30;

/// The largest feature number where every column is read: names, too, have a cost.
const MOST_FEATURES: u64 = 1 << 22;

/// The format.
pub(crate) static SVMLIGHT: TableFormat = TableFormat {
    endings: &[],
    other_endings: &["svm", "svmlight", "libsvm"],
    is_text: true,
    recognizes: looks_like,
    headers,
    read,
    texts: None,
    place,
    writer: None,
};

/// Whether a file starts with a line `number (qid:int)? (int:number)+`.
fn looks_like(head: &[u8]) -> bool {
    let mut lines = head.split_inclusive(|&byte| byte == b'\n');
    let Some(raw) = lines.find(|raw| !content(raw).is_empty()) else { return false };
    let mut tokens: Vec<&[u8]> = tokens(content(raw)).collect();
    // A line that goes on beyond the head may have its last token cut.
    if !raw.ends_with(b"\n") && tokens.len() > 2 {
        tokens.pop();
    }
    let (label, features) = match &tokens[..] {
        [label, qid, features @ ..] if qid.starts_with(b"qid:") => (label, features),
        [label, features @ ..] => (label, features),
        [] => return false,
    };
    is_number(label)
        && !features.is_empty()
        && features.iter().all(|token| pair(token).is_some_and(|(_, value)| is_number(value)))
}

/// The columns of a file, which takes a pass over all of it.
fn headers(file: &SourceFile) -> Result<Vec<Header>, TableError> {
    let (mut smallest, mut largest, mut rows, mut any_qid) = (u64::MAX, 0, 0_u64, false);
    lines(file, |_, line| {
        rows += 1;
        any_qid |= line.qid.is_some();
        for feature in line.features() {
            let (index, _) = feature?;
            smallest = smallest.min(index);
            largest = largest.max(index);
        }
        Ok(())
    })?;
    if largest > MOST_FEATURES {
        return Err(TableError::TooWide { file: file.name.clone(), rows, largest });
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
    mut drain: Drain<'_>,
) -> Result<usize, TableError> {
    let (mut label, mut qid) = (None, None);
    // Index and place among the columns, in order of the index.
    let mut features: Vec<(u64, usize)> = Vec::new();
    for (at, column) in columns.iter_mut().enumerate() {
        match column.name.as_str() {
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
    if drain.is_none() {
        features.iter().for_each(|&(_, at)| columns[at].may_be_sparse());
    }
    // All columns have as many rows.
    let before = columns.iter().map(ColumnBuilder::rows).max().unwrap_or(0);
    // The features whose zeros are added one by one.
    let is_dense = |columns: &[ColumnBuilder], &place: &usize| !columns[features[place].1].is_sparse();
    let mut dense: Vec<usize> = (0..features.len()).filter(|place| is_dense(columns, place)).collect();
    // For each feature, the last row (from 1) that listed it.
    let mut listed = vec![0; features.len()];
    let mut rows = 0;
    lines(file, |position, line| {
        rows += 1;
        meter.at(position);
        if let Some(at) = label {
            line.add(&mut columns[at], line.label)?;
        }
        if let Some(at) = qid {
            line.add(&mut columns[at], line.qid.ok_or_else(|| no_column(file, QID))?)?;
        }
        let mut next = 0;
        for feature in line.features() {
            let (index, value) = feature?;
            // Features come in order as a rule.
            if features.get(next).is_none_or(|(wanted, _)| *wanted != index) {
                match features.binary_search_by_key(&index, |(wanted, _)| *wanted) {
                    Ok(found) => next = found,
                    Err(_) => continue,
                }
            }
            if std::mem::replace(&mut listed[next], rows) == rows {
                return Err(line.wrong(format!("feature {index} is given twice")));
            }
            let column = &mut columns[features[next].1];
            column.fill(before + rows - 1);
            let was_sparse = column.is_sparse();
            line.add(column, value)?;
            if was_sparse && !column.is_sparse() {
                dense.push(next);
            }
            next += 1;
        }
        for &place in dense.iter().filter(|&&place| listed[place] != rows) {
            let column = &mut columns[features[place].1];
            column.number(0.0).map_err(|problem| line.wrong_cell(column, problem))?;
        }
        if dense.len().saturating_mul(rows) > MOST_CELLS && drain.is_none() {
            let largest = features.last().map_or(0, |(index, _)| *index);
            return Err(TableError::TooWide { file: file.name.clone(), rows: rows as u64, largest });
        }
        match &mut drain {
            Some(drain) if rows % BATCH == 0 => drain(columns),
            _ => Ok(()),
        }
    })?;
    columns.iter_mut().for_each(|column| column.fill(before + rows));
    Ok(rows)
}

/// The line of a row.
fn place(file: &SourceFile, row: usize) -> Result<(&'static str, u64), TableError> {
    let (mut rows, mut place) = (0, 0);
    lines(file, |_, line| {
        place = if rows == row { line.number } else { place };
        rows += 1;
        Ok(())
    })?;
    Ok(("line", place))
}

/// The error for a column that can't be in such a file, with the ones that can.
fn no_column(file: &SourceFile, name: &str) -> TableError {
    headers(file).map_or_else(|error| error, |headers| unknown(name, names(&headers), file))
}

/// One line, taken apart as far as every use needs it.
struct SvmlightLine<'a> {
    file: &'a SourceFile,
    number: u64,
    label: &'a [u8],
    qid: Option<&'a [u8]>,
    rest: &'a [u8],
}

impl<'a> SvmlightLine<'a> {
    /// Index and value of each feature.
    fn features(&self) -> impl Iterator<Item = Result<(u64, &'a [u8]), TableError>> {
        tokens(self.rest)
            .map(|token| pair(token).ok_or_else(|| self.unlike("a feature as index:value", token)))
    }

    /// Adds the text of a cell to its column.
    fn add(&self, column: &mut ColumnBuilder, text: &[u8]) -> Result<(), TableError> {
        column.text(text).map_err(|problem| self.wrong_cell(column, problem))
    }

    fn wrong_cell(&self, column: &ColumnBuilder, problem: String) -> TableError {
        column.wrong(self.file, ("line", self.number), problem)
    }

    fn unlike(&self, expected: &str, found: &[u8]) -> TableError {
        self.wrong(format!("expected {expected}, found {:?}", excerpt(found)))
    }

    fn wrong(&self, problem: String) -> TableError {
        TableError::Other(format!(
            "{}, line {}: {problem}. An SVMlight line reads: label qid:7 1:0.5 3:2 # comment",
            self.file.name, self.number
        ))
    }
}

/// Calls a function with each line that is not blank or a comment, and with the position of its end.
fn lines(
    file: &SourceFile,
    mut each: impl FnMut(u64, &SvmlightLine<'_>) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut reader = BufReader::with_capacity(1 << 17, file.open_at(0)?);
    let (mut raw, mut position, mut with_qid) = (Vec::new(), 0, None);
    for number in 1.. {
        raw.clear();
        let mut bounded = reader.by_ref().take(LONGEST_ROW + 1);
        let length = bounded.read_until(b'\n', &mut raw).map_err(|cause| file.failed(cause))?;
        if length as u64 > LONGEST_ROW {
            return Err(file.failed(ErrorKind::FileTooLarge.into()));
        }
        if length == 0 {
            break;
        }
        position += length as u64;
        let content = content(&raw);
        if content.is_empty() {
            continue;
        }
        let (label, rest) = first_token(content);
        let (token, after) = first_token(rest);
        let qid = token.strip_prefix(b"qid:");
        let line = SvmlightLine { file, number, label, qid, rest: if qid.is_some() { after } else { rest } };
        if !is_number(label) {
            return Err(line.unlike("a number as the label", label));
        }
        if let Some(qid) = qid.filter(|qid| index(qid).is_none()) {
            return Err(line.unlike("a whole number after qid:", qid));
        }
        if *with_qid.get_or_insert(qid.is_some()) != qid.is_some() {
            let [here, before] = if qid.is_some() { ["a", "none"] } else { ["no", "one"] };
            return Err(line.wrong(format!("there is {here} qid, though the lines before have {before}")));
        }
        each(position, &line)?;
    }
    Ok(())
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
    let value = Some(&token[colon + 1..]).filter(|value| !value.is_empty())?;
    Some((index(&token[..colon])?, value))
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
