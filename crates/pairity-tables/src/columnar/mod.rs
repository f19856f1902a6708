//! Parquet: only the wanted columns are read and decoded.

mod arrays;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::FieldRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use crate::builder::ColumnBuilder;
use crate::error::TableError;
use crate::format::{Row, TableFormat, Writer};
use crate::meter::Meter;
use crate::selection::{Header, positions};
use crate::source::{SourceFile, Whole};

/// Rows decoded at a time.
const BATCH: usize = 8192;

/// The format.
pub(crate) static PARQUET: TableFormat = TableFormat {
    endings: &["parquet", "pq"],
    other_endings: &[],
    is_text: false,
    recognizes: |head| head.starts_with(b"PAR1"),
    headers,
    read,
    texts: Some(texts),
    writer: Some(Writer { plan: writer::plan, write: writer::write }),
};

/// The columns of a file.
fn headers(file: &SourceFile) -> Result<Vec<Header>, TableError> {
    let header = |field: &FieldRef| Header {
        name: field.name().clone(),
        readable: arrays::readable(field.data_type()),
    };
    Ok(metadata(file)?.schema().fields().iter().map(header).collect())
}

/// Adds the rows of a file to the columns and returns their number.
fn read(
    file: &SourceFile,
    columns: &mut [ColumnBuilder],
    meter: &mut Meter<'_>,
) -> Result<usize, TableError> {
    let metadata = metadata(file)?;
    let schema = metadata.schema();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let roots = positions(columns.iter().map(|column| column.name.as_str()), &names, file)?;
    let mut fields = roots.iter().map(|&root| schema.field(root));
    if let Some(field) = fields.find(|field| !arrays::readable(field.data_type())) {
        return Err(TableError::Other(format!(
            "{}, column {:?}: cells of type {} can't be read as numbers or categories. Leave the column out, \
             or store it as numbers or text",
            file.name,
            field.name(),
            field.data_type()
        )));
    }
    each_batch(file, metadata, &roots, meter, |before, arrays| {
        let mut pairs = columns.iter_mut().zip(arrays);
        pairs.try_for_each(|(column, array)| arrays::append(array, column, (file, before)))
    })
}

/// Calls a function with the names of columns and with the texts of their cells.
fn texts(
    file: &SourceFile,
    order: &[usize],
    meter: &mut Meter<'_>,
    row: Row<'_>,
) -> Result<usize, TableError> {
    let metadata = metadata(file)?;
    row(&mut order.iter().map(|&at| metadata.schema().field(at).name().as_bytes()))?;
    each_batch(file, metadata, order, meter, |_, arrays| {
        let texts = arrays.iter().map(|array| arrays::texts(array, file)).collect::<Result<Vec<_>, _>>()?;
        for at in 0..arrays.first().map_or(0, Array::len) {
            let text = |array| if StringArray::is_null(array, at) { "" } else { array.value(at) };
            row(&mut texts.iter().map(|array| text(array).as_bytes()))?;
        }
        Ok(())
    })
}

/// Calls a function with the arrays of some columns, in the order named, batch after batch, and with the
/// number of rows before. Returns the number of rows.
fn each_batch(
    file: &SourceFile,
    metadata: ArrowReaderMetadata,
    roots: &[usize],
    meter: &mut Meter<'_>,
    mut each: impl FnMut(usize, &[ArrayRef]) -> Result<(), TableError>,
) -> Result<usize, TableError> {
    let expected = u64::try_from(metadata.metadata().file_metadata().num_rows())
        .map_err(|_| failed(file, "its number of rows is negative"))?;
    let whole = file.whole()?;
    let mut batches = decode(file, || match whole {
        Whole::File(file) => batches(file, metadata, roots),
        Whole::Memory(bytes) => batches(bytes, metadata, roots),
    })?;
    // Batches hold the columns in the order of the file.
    let mut sorted = roots.to_vec();
    sorted.sort_unstable();
    let places: Vec<usize> = roots.iter().map(|root| sorted.partition_point(|other| other < root)).collect();
    let mut rows = 0;
    while let Some(batch) = decode(file, || batches.next().transpose())? {
        let array = |&at: &usize| batch.columns().get(at).cloned();
        let arrays: Option<Vec<ArrayRef>> = places.iter().map(array).collect();
        each(rows, &arrays.ok_or_else(|| failed(file, "a column is missing"))?)?;
        rows += batch.num_rows();
        let share = rows as f64 / expected.max(rows as u64).max(1) as f64;
        meter.at((share * file.size as f64) as u64);
    }
    if rows as u64 != expected {
        return Err(failed(file, format!("it should have {expected} rows, and has {rows}")));
    }
    Ok(rows)
}

/// The schema and the places of the pages.
fn metadata(file: &SourceFile) -> Result<ArrowReaderMetadata, TableError> {
    let whole = file.whole()?;
    decode(file, || match whole {
        Whole::File(file) => ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()),
        Whole::Memory(bytes) => ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()),
    })
}

/// Runs a step of the Parquet reader, some of whose checks of damaged files are panics. What panicked
/// is not used again.
fn decode<T, E: ToString>(file: &SourceFile, step: impl FnOnce() -> Result<T, E>) -> Result<T, TableError> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| failed(file, error)),
        Err(_) => Err(failed(file, "its pages contradict each other")),
    }
}

fn batches<R: ChunkReader + 'static>(
    reader: R,
    metadata: ArrowReaderMetadata,
    roots: &[usize],
) -> Result<ParquetRecordBatchReader, ParquetError> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
    ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata)
        .with_projection(mask)
        .with_batch_size(BATCH)
        .build()
}

/// The error for a file that is not as it should be.
fn failed(file: &SourceFile, cause: impl ToString) -> TableError {
    let (name, cause) = (&file.name, cause.to_string());
    TableError::Other(format!(
        "{name} can't be read as Parquet: {cause}. The file may be cut short or damaged; write it again"
    ))
}
