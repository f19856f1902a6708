//! Parquet: only the wanted columns are read and decoded.

mod arrays;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, FieldRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use crate::builder::ColumnBuilder;
use crate::error::TableError;
use crate::format::{BATCH, Drain, Row, TableFormat, Writer};
use crate::meter::Meter;
use crate::selection::{Header, all_positions};
use crate::source::{SourceFile, Whole};

/// The format.
pub(crate) static PARQUET: TableFormat = TableFormat {
    endings: &["parquet", "pq"],
    other_endings: &[],
    is_text: false,
    recognizes: |head| head.starts_with(b"PAR1"),
    headers,
    read,
    texts: Some(texts),
    place: |_, row| Ok(("row", row as u64 + 1)),
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
    mut drain: Drain<'_>,
) -> Result<usize, TableError> {
    let metadata = metadata(file)?;
    let schema = metadata.schema();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let places = all_positions(columns.iter().map(|column| column.name.as_str()), &names, file)?;
    // Columns, and behind all of these the others of their names.
    let mut roots: Vec<usize> = places.iter().map(|places| places[0]).collect();
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
    for (column, &root) in columns.iter_mut().zip(&roots) {
        if matches!(schema.field(root).data_type(), DataType::Float32 | DataType::Float16) {
            column.may_be_single();
        }
    }
    if drain.is_none() {
        make_room(file, metadata.metadata().file_metadata().num_rows(), columns)?;
    }
    let mut twins: Vec<(usize, usize)> = Vec::new();
    for (at, places) in places.iter().enumerate().filter(|(_, places)| places.len() > 1) {
        columns[at].has_twins(file, places.len(), None);
        twins.extend((roots.len()..).take(places.len() - 1).map(|twin| (at, twin)));
        roots.extend(&places[1..]);
    }
    each_batch(file, metadata, &roots, meter, |before, arrays| {
        twins.retain(|&(at, twin)| {
            let differ = first_difference(&arrays[at], &arrays[twin]);
            let row = differ.map(|row| ("in row", (before + row) as u64 + 1));
            row.inspect(|&row| columns[at].has_twins(file, places[at].len(), Some(row))).is_none()
        });
        let mut pairs = columns.iter_mut().zip(arrays);
        pairs.try_for_each(|(column, array)| arrays::append(array, column, (file, before)))?;
        drain.as_mut().map_or(Ok(()), |drain| drain(columns))
    })
}

/// The first row in which two columns are not the same.
fn first_difference(a: &ArrayRef, b: &ArrayRef) -> Option<usize> {
    if a == b { None } else { (0..a.len()).find(|&row| a.slice(row, 1) != b.slice(row, 1)) }
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
    check_compression(file, &metadata)?;
    // Batches hold the columns in the order of the file.
    let mut sorted = roots.to_vec();
    sorted.sort_unstable();
    let places: Vec<usize> = roots.iter().map(|root| sorted.partition_point(|other| other < root)).collect();
    let (mut rows, groups) = (0, metadata.metadata().num_row_groups());
    for group in 0..groups {
        let damaged = |cause| failed(file, format!("row group {} of {groups}: {cause}", group + 1));
        let (whole, metadata) = (file.whole()?, metadata.clone());
        let mut batches = decode(|| match whole {
            Whole::File(file) => batches(file, metadata, group, roots),
            Whole::Memory(bytes) => batches(bytes, metadata, group, roots),
        })
        .map_err(damaged)?;
        // While the cells of a batch are taken, the next one is decoded on another thread.
        let mut found = decode(|| batches.next().transpose());
        while let Some(batch) = found.map_err(damaged)? {
            let array = |&at: &usize| batch.columns().get(at).cloned();
            let arrays: Option<Vec<ArrayRef>> = places.iter().map(array).collect();
            let arrays = arrays.ok_or_else(|| failed(file, "a column is missing"))?;
            let (mut next, mut taken) = (Ok(None), Ok(()));
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| next = decode(|| batches.next().transpose()));
                taken = each(rows, &arrays);
            });
            taken?;
            found = next;
            rows += batch.num_rows();
            let share = rows as f64 / expected.max(rows as u64).max(1) as f64;
            meter.at((share * file.size as f64) as u64);
        }
    }
    if rows as u64 != expected {
        return Err(failed(file, format!("it should have {expected} rows, and has {rows}")));
    }
    Ok(rows)
}

/// Makes room for the rows of a file, of which a few bytes can be very many.
///
/// # Errors
/// There is no memory for them.
fn make_room(file: &SourceFile, rows: i64, columns: &mut [ColumnBuilder]) -> Result<(), TableError> {
    let rows = u64::try_from(rows).unwrap_or(0);
    let needed = columns.iter().map(ColumnBuilder::cell_size).sum::<u64>().saturating_mul(rows);
    // The system may promise more than it has.
    let fits = available_memory().is_none_or(|available| needed <= available);
    let reserved = |column: &mut ColumnBuilder| usize::try_from(rows).is_ok_and(|rows| column.reserve(rows));
    match fits && columns.iter_mut().all(reserved) {
        true => Ok(()),
        false => Err(TableError::Other(format!(
            "{} says that it has {rows} rows, which take {:.1} GB of memory: more than there is. Name fewer columns, or \
             split the file",
            file.name,
            needed as f64 / 1e9
        ))),
    }
}

/// Bytes of memory that can be had, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}

/// Refuses compressions that are not built in.
fn check_compression(file: &SourceFile, metadata: &ArrowReaderMetadata) -> Result<(), TableError> {
    let mut columns = metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
    let foreign = columns.find_map(|column| match column.compression() {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    });
    foreign.map_or(Ok(()), |compression| {
        Err(TableError::Other(format!(
            "{} is compressed with {compression}, which is not read here. Write it with Snappy, Zstandard, LZ4 or \
             gzip, or without compression",
            file.name
        )))
    })
}

/// The schema and the places of the pages.
fn metadata(file: &SourceFile) -> Result<ArrowReaderMetadata, TableError> {
    let whole = file.whole()?;
    decode(|| match whole {
        Whole::File(file) => ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()),
        Whole::Memory(bytes) => ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()),
    })
    .map_err(|cause| failed(file, cause))
}

/// Runs a step of the Parquet reader, some of whose checks of damaged files are panics. What panicked
/// is not used again.
fn decode<T, E: ToString>(step: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("its pages contradict each other".to_owned()),
    }
}

fn batches<R: ChunkReader + 'static>(
    reader: R,
    metadata: ArrowReaderMetadata,
    group: usize,
    roots: &[usize],
) -> Result<ParquetRecordBatchReader, ParquetError> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
    ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata)
        .with_row_groups(vec![group])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::selection::Want;

    #[test]
    fn more_rows_than_there_is_memory_for_are_an_error_with_advice() {
        let source = Source::from_reader("x.parquet", &b"PAR1"[..]).unwrap();
        let mut columns = [ColumnBuilder::new(&Want::number("a")), ColumnBuilder::new(&Want::category("b"))];
        make_room(&source.files[0], 1000, &mut columns).unwrap();
        let message = make_room(&source.files[0], 1 << 50, &mut columns).unwrap_err().to_string();
        assert!(
            message.starts_with("x.parquet says that it has 1125899906842624 rows, which take 13510798.9 GB")
        );
        assert!(message.ends_with("Name fewer columns, or split the file"), "{message}");
    }
}
