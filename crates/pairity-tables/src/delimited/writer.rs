//! Writing text: the cells of files as they are where they have texts, and numbers or categories elsewhere.

use std::fmt::{Display, LowerExp, Write as _};
use std::io::Write;

use pairity::examples::Values;

use super::cause;
use crate::adding::{Added, Copying, InputFile, arrange, check_texts, each_file, lossless, unwritable};
use crate::error::TableError;
use crate::format::EachRow;
use crate::table::Table;

/// Checks that everything has a text.
pub(super) fn plan(files: &mut [InputFile<'_>], _added: &[&str]) -> Result<(), TableError> {
    check_texts(files)?;
    if texts(files).is_some() { arrange(files) } else { Ok(()) }
}

/// Writes a copy with this byte between the fields.
pub(super) fn write(copy: Copying<'_>, delimiter: u8) -> Result<(), TableError> {
    let Copying { files, mut added, name, out, progress } = copy;
    let mut rows = TextRows::new(out, name, delimiter);
    match texts(files) {
        None => write_table(&lossless(added.source, progress)?, &mut added, &mut rows)?,
        Some(texts) => each_file(files, progress, |at, file, meter| {
            let mut header = true;
            texts[at](file.file, &file.order, meter, &mut |cells| {
                if std::mem::take(&mut header) {
                    return if at == 0 { rows.header(cells, added.names) } else { Ok(()) };
                }
                rows.fields(cells)?;
                rows.end(added.columns, added.next(1)?.start)
            })
        })?,
    }
    added.finish()?;
    rows.finish()
}

/// What gives the rows of each file as texts, if all of them can be had so.
fn texts(files: &[InputFile<'_>]) -> Option<Vec<EachRow>> {
    files.iter().map(|file| file.format.texts).collect()
}

fn write_table(table: &Table, added: &mut Added<'_>, rows: &mut TextRows<'_>) -> Result<(), TableError> {
    rows.header(table.columns().iter().map(|column| column.name.as_bytes()), added.names)?;
    for row in added.next(table.rows())? {
        for column in table.columns() {
            match &column.values {
                Values::Numbers(numbers) => rows.number(numbers[row])?,
                Values::Categories { codes, levels } => {
                    rows.field(levels.get(codes[row] as usize).map_or(b"", |text| text.as_bytes()))?;
                }
            }
        }
        rows.end(added.columns, row)?;
    }
    Ok(())
}

/// Writes rows with quotation marks where they are needed.
struct TextRows<'a> {
    writer: csv::Writer<&'a mut (dyn Write + Send)>,
    /// What messages call the output.
    name: &'a str,
    text: String,
}

impl<'a> TextRows<'a> {
    fn new(out: &'a mut (dyn Write + Send), name: &'a str, delimiter: u8) -> TextRows<'a> {
        let mut builder = csv::WriterBuilder::new();
        let writer = builder.delimiter(delimiter).buffer_capacity(1 << 17).from_writer(out);
        TextRows { writer, name, text: String::new() }
    }

    /// The names of all columns.
    fn header<'n>(
        &mut self,
        names: impl Iterator<Item = &'n [u8]>,
        added: &[String],
    ) -> Result<(), TableError> {
        self.fields(names)?;
        self.fields(added.iter().map(String::as_bytes))?;
        self.end(&[], 0)
    }

    /// Some cells.
    fn fields<'c>(&mut self, mut cells: impl Iterator<Item = &'c [u8]>) -> Result<(), TableError> {
        cells.try_for_each(|cell| self.field(cell))
    }

    fn field(&mut self, cell: &[u8]) -> Result<(), TableError> {
        self.writer.write_field(cell).map_err(|error| self.failure(error))
    }

    /// A number, or nothing in place of NaN.
    fn number(&mut self, number: f64) -> Result<(), TableError> {
        self.text.clear();
        if !number.is_nan() {
            write_number(&mut self.text, number);
        }
        self.writer.write_field(&self.text).map_err(|error| self.failure(error))
    }

    /// The numbers of a row, then the end of it.
    fn end(&mut self, columns: &[&[f64]], row: usize) -> Result<(), TableError> {
        for column in columns {
            self.number(column.get(row).copied().unwrap_or(f64::NAN))?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(|error| self.failure(error))
    }

    fn finish(mut self) -> Result<(), TableError> {
        self.writer.flush().map_err(|cause| unwritable(self.name, cause))
    }

    fn failure(&self, error: csv::Error) -> TableError {
        unwritable(self.name, cause(error))
    }
}

/// The shortest digits that read back as the same number, with an exponent instead of many zeros.
pub(crate) fn write_number<T: Display + LowerExp + Into<f64> + Copy>(text: &mut String, number: T) {
    let size = number.into().abs();
    // Writing to a string does not fail.
    let _ = match size == 0.0 || (1e-5..1e16).contains(&size) {
        true => write!(text, "{number}"),
        false => write!(text, "{number:e}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(number: f64) -> String {
        let mut text = String::new();
        write_number(&mut text, number);
        text
    }

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
            assert_eq!(text(number), expected);
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back_bit_by_bit(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            if !number.is_nan() {
                prop_assert_eq!(text(number).parse::<f64>().unwrap().to_bits(), bits);
            }
        }
    }
}
