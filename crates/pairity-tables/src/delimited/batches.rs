//! Rows in batches: while the fields of one are found, the cells of the one before become numbers and categories on other
//! threads, column by column. Errors are those of reading row by row: the first row that has one, and its first column.

use rayon::prelude::*;

use super::{Records, line_of_field};
use crate::builder::ColumnBuilder;
use crate::error::TableError;
use crate::format::{BATCH, Drain};
use crate::meter::Meter;

/// The fields of one column, one after the other, and where each ends.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// The wanted fields of some rows.
struct Batch {
    /// Where each row starts in the file.
    starts: Vec<u64>,
    columns: Vec<Fields>,
}

/// A cell that is wrong: its row in the batch, its column, and what is wrong with it.
type WrongCell = (usize, usize, String);

impl Batch {
    fn new(columns: usize) -> Batch {
        Batch { starts: Vec::new(), columns: (0..columns).map(|_| Fields::default()).collect() }
    }

    /// Takes the next rows of a file; returns whether there may be more. What was found before an error is there.
    fn fill(&mut self, records: &mut Records<'_>, fields: &[usize]) -> Result<bool, TableError> {
        self.starts.clear();
        for column in &mut self.columns {
            column.bytes.clear();
            column.ends.clear();
        }
        while self.starts.len() < BATCH {
            let Some((start, record)) = records.next()? else { return Ok(false) };
            self.starts.push(start);
            for (column, &field) in self.columns.iter_mut().zip(fields) {
                column.bytes.extend_from_slice(&record[field]);
                column.ends.push(column.bytes.len());
            }
        }
        Ok(true)
    }

    /// Adds the cells to the columns.
    fn add_to(&self, columns: &mut [ColumnBuilder]) -> Option<WrongCell> {
        let add = |(at, (column, fields)): (usize, (&mut ColumnBuilder, &Fields))| {
            let mut start = 0;
            fields.ends.iter().enumerate().find_map(|(row, &end)| {
                let cell = &fields.bytes[std::mem::replace(&mut start, end)..end];
                column.text(cell).err().map(|problem| (row, at, problem))
            })
        };
        let wrong = columns.par_iter_mut().zip(&self.columns).enumerate().filter_map(add);
        wrong.min_by_key(|&(row, column, _)| (row, column))
    }
}

/// Adds the rows of a file to the columns, which stand in these fields, and returns their number.
pub(super) fn read(
    records: &mut Records<'_>,
    fields: &[usize],
    columns: &mut [ColumnBuilder],
    meter: &mut Meter<'_>,
    mut drain: Drain<'_>,
) -> Result<usize, TableError> {
    let (mut ready, mut next) = (Batch::new(fields.len()), Batch::new(fields.len()));
    let mut found = ready.fill(records, fields);
    let mut rows = 0;
    loop {
        let (mut wrong, mut found_next) = (None, Ok(false));
        rayon::in_place_scope(|scope| {
            let (ready, columns, wrong) = (&ready, &mut *columns, &mut wrong);
            scope.spawn(move |_| *wrong = ready.add_to(columns));
            if matches!(found, Ok(true)) {
                found_next = next.fill(records, fields);
            }
        });
        if let Some((row, column, problem)) = wrong {
            let line = line_of_field(records.file, ready.starts[row], fields[column])?;
            return Err(columns[column].wrong(records.file, ("line", line), problem));
        }
        let has_more = found?;
        rows += ready.starts.len();
        meter.at(ready.starts.last().copied().unwrap_or(0));
        if !has_more {
            return Ok(rows);
        }
        if let Some(drain) = &mut drain {
            drain(columns)?;
        }
        std::mem::swap(&mut ready, &mut next);
        found = found_next;
    }
}
