//! Rows as texts: the cells of text files as they are, and the texts of Parquet cells.

use std::fmt::{Display, LowerExp, Write as _};
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{ArrowError, DataType};

use super::super::arrays::cast;
use super::super::error::TableError;
use super::super::format::Format;
use super::super::meter::Meter;
use super::super::source::Part;
use super::super::{columnar, delimited};
use super::{Added, File};

/// Makes an error of what the operating system said about the output.
pub(super) type Failed<'a> = &'a dyn Fn(io::Error) -> TableError;

/// Copies all files.
pub(super) fn write(
    parts: &[Part],
    files: &[File],
    delimiter: u8,
    added: &mut Added<'_>,
    out: &mut (dyn Write + Send),
    failed: Failed<'_>,
    meter: &mut Meter<'_>,
) -> Result<(), TableError> {
    let mut rows = Rows::new(out, delimiter, failed);
    for (at, (part, file)) in parts.iter().zip(files).enumerate() {
        match file.format {
            Format::Delimited(delimiter) => {
                if at == 0 {
                    rows.header(delimited::header(part, delimiter)?.iter(), added.names)?;
                }
                delimited::each_record(part, delimiter, meter, |_, record| {
                    let row = added.next(1)?.start;
                    for &field in &file.order {
                        rows.field(record.get(field).unwrap_or_default())?;
                    }
                    rows.end(added.columns, row)
                })?;
            }
            // SVMlight goes another route.
            Format::Parquet | Format::Svmlight => {
                let metadata = columnar::metadata(part)?;
                if at == 0 {
                    let names = metadata.schema().fields().iter().map(|field| field.name().as_bytes());
                    rows.header(names, added.names)?;
                }
                columnar::each_batch(part, metadata, &file.order, meter, |_, arrays| {
                    let texts = arrays.iter().map(texts).collect::<Result<Vec<_>, _>>();
                    let texts = texts.map_err(|error| columnar::failed(part, error))?;
                    let count = arrays.first().map_or(0, Array::len);
                    let start = added.next(count)?.start;
                    for row in 0..count {
                        for column in &texts {
                            let column = column.as_string::<i32>();
                            rows.field(if column.is_null(row) { b"" } else { column.value(row).as_bytes() })?;
                        }
                        rows.end(added.columns, start + row)?;
                    }
                    Ok(())
                })?;
            }
        }
        meter.finished(part.size());
    }
    added.finish()?;
    rows.finish()
}

/// Writes rows with quotation marks where they are needed.
pub(super) struct Rows<'a> {
    writer: csv::Writer<&'a mut (dyn Write + Send)>,
    failed: Failed<'a>,
    text: String,
}

impl<'a> Rows<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send), delimiter: u8, failed: Failed<'a>) -> Rows<'a> {
        let mut builder = csv::WriterBuilder::new();
        let writer = builder.delimiter(delimiter).buffer_capacity(1 << 17).from_writer(out);
        Rows { writer, failed, text: String::new() }
    }

    /// The names of all columns.
    pub(super) fn header<'n>(
        &mut self,
        names: impl Iterator<Item = &'n [u8]>,
        added: &[String],
    ) -> Result<(), TableError> {
        for name in names {
            self.field(name)?;
        }
        for name in added {
            self.field(name.as_bytes())?;
        }
        self.end(&[], 0)
    }

    /// One cell.
    pub(super) fn field(&mut self, cell: &[u8]) -> Result<(), TableError> {
        self.writer.write_field(cell).map_err(|error| self.failure(error))
    }

    /// A number, or nothing in place of NaN.
    pub(super) fn number(&mut self, number: f64) -> Result<(), TableError> {
        self.text.clear();
        if !number.is_nan() {
            write_number(&mut self.text, number);
        }
        self.writer.write_field(&self.text).map_err(|error| self.failure(error))
    }

    /// The numbers of a row, then the end of it.
    pub(super) fn end(&mut self, columns: &[&[f64]], row: usize) -> Result<(), TableError> {
        for column in columns {
            self.number(column.get(row).copied().unwrap_or(f64::NAN))?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(|error| self.failure(error))
    }

    pub(super) fn finish(mut self) -> Result<(), TableError> {
        self.writer.flush().map_err(self.failed)
    }

    fn failure(&self, error: csv::Error) -> TableError {
        (self.failed)(match error.into_kind() {
            csv::ErrorKind::Io(cause) => cause,
            other => io::Error::other(format!("{other:?}")),
        })
    }
}

/// The cells of an array as texts, which mean to a reader of text what the cells mean to a reader of
/// Parquet.
fn texts(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    use DataType::*;
    match array.data_type() {
        Float16 | Float32 => Ok(numbers::<Float32Type>(&cast(array, &Float32)?)),
        Float64 => Ok(numbers::<Float64Type>(array)),
        Dictionary(_, values) => texts(&cast(array, values)?),
        // As where they are read: in UTC.
        Timestamp(unit, Some(zone)) if zone.as_ref() != "+00:00" => {
            texts(&cast(array, &Timestamp(*unit, Some(Arc::from("+00:00"))))?)
        }
        _ => cast(array, &Utf8),
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef
where
    T::Native: Display + LowerExp + Into<f64>,
{
    let mut text = String::new();
    let mut texts = arrow_array::builder::StringBuilder::new();
    for cell in array.as_primitive::<T>().iter() {
        texts.append_option(cell.map(|number| {
            text.clear();
            write_number(&mut text, number);
            &text
        }));
    }
    let texts: StringArray = texts.finish();
    Arc::new(texts)
}

/// The shortest digits that read back as the same number, with an exponent instead of many zeros.
fn write_number<T: Display + LowerExp + Into<f64> + Copy>(text: &mut String, number: T) {
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
