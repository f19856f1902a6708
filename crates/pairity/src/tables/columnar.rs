//! Parquet: only the wanted columns are read and decoded.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use super::arrays::{self, Problem};
use super::error::{Place, TableError};
use super::gather::Gather;
use super::meter::Meter;
use super::selection::{Header, positions};
use super::source::{Part, Whole};

/// Rows decoded at a time.
const BATCH: usize = 8192;

/// The columns of a file.
pub(super) fn headers(part: &Part) -> Result<Vec<Header>, TableError> {
    let header = |field: &FieldRef| Header {
        name: field.name().clone(),
        readable: arrays::readable(field.data_type()),
    };
    Ok(metadata(part)?.schema().fields().iter().map(header).collect())
}

/// Adds the rows of a file to the columns and returns their number.
pub(super) fn read(part: &Part, columns: &mut [Gather], meter: &mut Meter<'_>) -> Result<usize, TableError> {
    let metadata = metadata(part)?;
    let schema = metadata.schema();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let roots = positions(columns.iter().map(Gather::name), &names, part.name())?;
    for &root in &roots {
        let field = schema.field(root);
        if !arrays::readable(field.data_type()) {
            return Err(TableError::ColumnType {
                file: part.name().to_owned(),
                column: field.name().clone(),
                found: field.data_type().to_string(),
            });
        }
    }
    each_batch(part, metadata, &roots, meter, |before, arrays| {
        for (column, array) in columns.iter_mut().zip(arrays) {
            arrays::append(array, column).map_err(|problem| match problem {
                Problem::Array(error) => failed(part, error),
                Problem::Cell(row, problem) => TableError::Cell {
                    file: part.name().to_owned(),
                    place: Place::Row((before + row + 1) as u64),
                    column: column.name().to_owned(),
                    problem,
                },
            })?;
        }
        Ok(())
    })
}

/// Calls a function with the arrays of some columns, in the order named, batch after batch, and with the
/// number of rows before. Returns the number of rows.
pub(super) fn each_batch(
    part: &Part,
    metadata: ArrowReaderMetadata,
    roots: &[usize],
    meter: &mut Meter<'_>,
    mut each: impl FnMut(usize, &[ArrayRef]) -> Result<(), TableError>,
) -> Result<usize, TableError> {
    let expected = u64::try_from(metadata.metadata().file_metadata().num_rows())
        .map_err(|_| failed(part, "its number of rows is negative"))?;
    let whole = part.whole()?;
    let mut batches = decode(part, || match whole {
        Whole::File(file) => batches(file, metadata, roots),
        Whole::Memory(bytes) => batches(bytes, metadata, roots),
    })?;
    // Batches hold the columns in the order of the file.
    let mut sorted = roots.to_vec();
    sorted.sort_unstable();
    let places: Vec<usize> = roots.iter().map(|root| sorted.partition_point(|other| other < root)).collect();
    let mut rows = 0;
    while let Some(batch) = decode(part, || batches.next().transpose())? {
        let array = |&at: &usize| batch.columns().get(at).cloned();
        let arrays: Option<Vec<ArrayRef>> = places.iter().map(array).collect();
        each(rows, &arrays.ok_or_else(|| failed(part, "a column is missing"))?)?;
        rows += batch.num_rows();
        let share = rows as f64 / expected.max(rows as u64).max(1) as f64;
        meter.at((share * part.size() as f64) as u64);
    }
    if rows as u64 != expected {
        return Err(failed(part, format!("it should have {expected} rows, and has {rows}")));
    }
    Ok(rows)
}

/// The schema and the places of the pages.
pub(super) fn metadata(part: &Part) -> Result<ArrowReaderMetadata, TableError> {
    let whole = part.whole()?;
    decode(part, || match whole {
        Whole::File(file) => ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()),
        Whole::Memory(bytes) => ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()),
    })
}

/// Runs a step of the Parquet reader, some of whose checks of damaged files are panics. What panicked
/// is not used again.
fn decode<T, E: ToString>(part: &Part, step: impl FnOnce() -> Result<T, E>) -> Result<T, TableError> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| failed(part, error)),
        Err(_) => Err(failed(part, "its pages contradict each other")),
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
pub(super) fn failed(part: &Part, cause: impl ToString) -> TableError {
    TableError::Parquet { file: part.name().to_owned(), cause: cause.to_string() }
}
