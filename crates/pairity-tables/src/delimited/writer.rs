//! Writing text: the cells of files as they are where they have texts, and numbers or categories elsewhere.

use std::borrow::Cow;
use std::fmt::{Display, LowerExp};
use std::io::Write;

use pairity::examples::{Column, Values};

use super::cause;
use crate::adding::{Added, Copying, InputFile, arrange, check_texts, lossless, unwritable};
use crate::error::TableError;
use crate::format::EachRow;
use crate::meter::Meter;

/// Checks that everything has a text.
pub(super) fn plan(files: &[InputFile<'_>], _added: &[&str]) -> Result<(), TableError> {
    check_texts(files)?;
    if texts(files).is_some() { arrange(files).map(drop) } else { Ok(()) }
}

/// Writes a copy with this byte between the fields.
pub(super) fn write(copy: Copying<'_>, delimiter: u8) -> Result<(), TableError> {
    let Copying { files, added, name, out, progress } = copy;
    let source = added.source;
    let mut builder = csv::WriterBuilder::new();
    let writer = builder.delimiter(delimiter).buffer_capacity(1 << 17).from_writer(out);
    let mut rows = TextRows { writer, name, added };
    match texts(files) {
        None => {
            let table = lossless(source, progress)?;
            rows.added.check(table.rows(), |found| found >= table.rows())?;
            rows.header(table.columns().iter().map(|column| column.name.as_bytes()))?;
            for row in 0..table.rows() {
                let cells: Vec<Cow<str>> = table.columns().iter().map(|column| cell(column, row)).collect();
                rows.row(cells.iter().map(|cell| cell.as_bytes()))?;
            }
        }
        Some(texts) => {
            let (orders, mut meter) = (arrange(files)?, Meter::new(progress));
            meter.pass(&source.files, |at, meter| {
                let (file, mut is_header) = (&source.files[at], true);
                texts[at](file, &orders[at], meter, &mut |cells| match std::mem::take(&mut is_header) {
                    true if at == 0 => rows.header(cells),
                    true => Ok(()),
                    false => rows.row(cells),
                })
            })?;
            meter.end();
        }
    }
    rows.added.finish()?;
    rows.writer.flush().map_err(|cause| unwritable(name, cause))
}

/// What gives the rows of each file as texts, if all of them can be had so.
fn texts(files: &[InputFile<'_>]) -> Option<Vec<EachRow>> {
    files.iter().map(|file| file.format.texts).collect()
}

/// The text of a cell.
fn cell(column: &Column, row: usize) -> Cow<'_, str> {
    match &column.values {
        Values::Numbers(numbers) => number_cell(numbers[row]).into(),
        Values::Singles(numbers) => number_cell(numbers[row].into()).into(),
        Values::Sparse(numbers) => number_cell(numbers.get(row)).into(),
        Values::Categories { codes, levels } => {
            levels.get(codes[row] as usize).map_or("", String::as_str).into()
        }
    }
}

/// Writes rows with quotation marks where they are needed.
struct TextRows<'a> {
    writer: csv::Writer<&'a mut (dyn Write + Send)>,
    /// What messages call the output.
    name: &'a str,
    added: Added<'a>,
}

impl TextRows<'_> {
    /// The names of all columns.
    fn header<'n>(&mut self, names: impl Iterator<Item = &'n [u8]>) -> Result<(), TableError> {
        self.write(names, self.added.names.iter().cloned())
    }

    /// The cells of a row, then its numbers.
    fn row<'c>(&mut self, cells: impl Iterator<Item = &'c [u8]>) -> Result<(), TableError> {
        let (row, columns) = (self.added.next(1)?.start, self.added.columns);
        self.write(cells, columns.iter().map(|column| number_cell(column[row])))
    }

    fn write<'c>(
        &mut self,
        mut cells: impl Iterator<Item = &'c [u8]>,
        mut added: impl Iterator<Item = String>,
    ) -> Result<(), TableError> {
        let writer = &mut self.writer;
        let written = cells.try_for_each(|cell| writer.write_field(cell));
        let written = written.and_then(|()| added.try_for_each(|cell| writer.write_field(cell)));
        let written = written.and_then(|()| writer.write_record(None::<&[u8]>));
        written.map_err(|error| unwritable(self.name, cause(error)))
    }
}

/// A number, or nothing in place of NaN.
fn number_cell(number: f64) -> String {
    if number.is_nan() { String::new() } else { number_text(number) }
}

/// The shortest digits that read back as the same number, with an exponent instead of many zeros.
pub(crate) fn number_text<T: Display + LowerExp + Into<f64> + Copy>(number: T) -> String {
    let size = number.into().abs();
    match size == 0.0 || (1e-5..1e16).contains(&size) {
        true => format!("{number}"),
        false => format!("{number:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (1.0, "1"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
            (123_456_789_012_345_680.0, "1.2345678901234568e17"),
            (0.00001, "0.00001"),
        ];
        for (number, expected) in cases {
            assert_eq!(number_text(number), expected);
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back_bit_by_bit(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            if !number.is_nan() {
                prop_assert_eq!(number_text(number).parse::<f64>().unwrap().to_bits(), bits);
            }
        }
    }
}
