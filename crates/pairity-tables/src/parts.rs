//! Tables larger than memory, read part by part, so that no query is torn.
//!
//! A first pass reads the columns of the queries alone (and those whose kind is to be inferred): it counts the rows
//! and tells whether the rows of each query stand together. Nothing is handed out before that is known, and it
//! costs little: Parquet decodes no other column, and text is split into fields without reading their numbers.
//! Where queries stand together, a second pass hands out part after part as it goes. Otherwise it scatters the rows
//! by a hash of their query over buckets, which wait in a file and are handed out one by one.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use pairity::examples::{Column, Values};

use super::builder::ColumnBuilder;
use super::error::TableError;
use super::format::{TableFormat, detect};
use super::meter::{Meter, ReadProgress};
use super::no_rows;
use super::selection::{ColumnKind, Want, distinct};
use super::source::{Source, SourceFile};
use super::table::Table;
use super::waiting::{Bucket, Waiting};

/// The most buckets: what is held is written in as many pieces, which should not be tiny.
const MOST_BUCKETS: usize = 512;

/// How much of a table is in memory at once, and where the rest may wait.
#[derive(Debug, Clone, Copy)]
pub struct TableParts<'a> {
    /// Rows of a part, about: it ends with the query that reaches so many. Reading holds about as many rows.
    pub rows: usize,
    /// Where rows wait if those of a query do not stand together: in one hidden file `.pairity-parts.*.partial`,
    /// about as large as the cells (8 bytes a number, 8 more than its text a category). It is removed at the end;
    /// that of a program that was killed is removed by the next one that needs such a file in this folder.
    pub folder: &'a Path,
}

/// Reads columns of a table part by part. All rows that agree on the columns `query` are in one part, in the order of
/// the file. A row that lacks a cell of these columns belongs to no query and is in any part, and so is every row if
/// there are no such columns: such parts need no first pass where the kinds of all columns are known.
///
/// Cells, kinds and errors are those of [`read`](super::read), and each row knows where it came from; the levels of a
/// column of categories are those of the part. What does not depend on the order of parts is the same for
/// every number of rows. An error of `part` ends the reading. `progress` is called as by [`read`](super::read): every
/// pass counts.
///
/// # Errors
/// Those of [`read`](super::read), some only after parts were handed out; a query column that is not wanted; a file of
/// rows that can't be written.
///
/// ```
/// use pairity_tables::{TableParts, Source, TableError, Want, read_in_parts};
///
/// let source = Source::from_reader("x.csv", &b"query,score\na,1\nb,2\nb,3\nc,4\n"[..])?;
/// let wants = [Want::category("query"), Want::number("score")];
/// let parts = TableParts { rows: 2, folder: &std::env::temp_dir() };
/// let mut scores = Vec::new();
/// read_in_parts(&source, &wants, &["query".to_owned()], &parts, &|_, _| (), &mut |part| {
///     scores.push(part.columns()[1].numbers().unwrap_or_default().to_vec());
///     Ok::<(), TableError>(())
/// })?;
/// assert_eq!(scores, [vec![1.0, 2.0, 3.0], vec![4.0]]);
/// # Ok::<(), TableError>(())
/// ```
pub fn read_in_parts<E: From<TableError>>(
    source: &Source,
    wants: &[Want],
    query: &[String],
    parts: &TableParts<'_>,
    progress: ReadProgress<'_>,
    part: &mut dyn FnMut(Table) -> Result<(), E>,
) -> Result<(), E> {
    let mut ended = None;
    let mut part = |table| {
        part(table).map_err(|error| {
            ended = Some(error);
            TableError::Other("the reader of the parts ended it".to_owned())
        })
    };
    let result = hand_out(source, wants, query, parts, progress, &mut part);
    ended.map_or_else(|| result.map_err(E::from), Err)
}

fn hand_out(
    source: &Source,
    wants: &[Want],
    query: &[String],
    parts: &TableParts<'_>,
    progress: ReadProgress<'_>,
    part: &mut dyn FnMut(Table) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut wants = distinct(wants)?;
    let place = |name: &String| {
        let problem =
            || format!("the query column {name:?} is not among the columns to read. Add it to them");
        wants.iter().position(|want| want.name == *name).ok_or_else(|| TableError::Other(problem()))
    };
    let mut query = query.iter().map(place).collect::<Result<Vec<usize>, _>>()?;
    // No column is read twice.
    query.sort_unstable();
    query.dedup();

    let files = &source.files[..];
    let mut passes = Passes::new(source, progress)?;
    let inferred = |wants: &[Want], at: usize| wants[at].kind == ColumnKind::Infer;
    // Whether two cells agree depends on their kind.
    let unknown: Vec<usize> = query.iter().copied().filter(|&at| inferred(&wants, at)).collect();
    if !unknown.is_empty() {
        passes.meter.expect(files, 3);
        survey(&mut passes, &mut wants, &unknown, &[])?;
    }
    let unknown: Vec<usize> = (0..wants.len()).filter(|&at| inferred(&wants, at)).collect();
    if unknown.is_empty() && query.is_empty() {
        return as_they_come(&mut passes, source, &wants, parts.rows, part);
    }
    passes.meter.expect(files, 2);
    let (counts, together) = survey(&mut passes, &mut wants, &unknown, &query)?;
    let total: usize = counts.iter().sum();
    if total == 0 {
        return Err(no_rows(source));
    }
    if u32::try_from(total).is_err() {
        return Err(too_many());
    }

    let names = files.iter().map(|file| file.name.clone());
    let names: Vec<(String, usize)> = names.zip(counts.iter().copied()).collect();
    let mut part = |StreamedBlock { numbers, columns }| {
        let (rows, files) = (numbers.len(), names.clone());
        part(Table { rows, columns, skipped: Vec::new(), warnings: Vec::new(), files, kept: Some(numbers) })
    };
    let again = match together || total <= parts.rows {
        true => stream(&mut passes, &wants, &query, parts.rows.min(total), &mut part)?,
        false => scatter(&mut passes, &wants, &query, parts, total, &mut part)?,
    };
    if let Some(at) = (0..files.len()).find(|&at| again[at] != counts[at]) {
        return Err(files[at].changed());
    }
    passes.meter.end();
    files.iter().try_for_each(SourceFile::check_unchanged)
}

fn too_many() -> TableError {
    let advice = "At most 4 billion rows are read at once: split the table by its queries";
    TableError::Other(format!("the table has too many rows. {advice}"))
}

/// Hands out rows in one pass: there are neither queries nor kinds to be found out before.
fn as_they_come(
    passes: &mut Passes<'_>,
    source: &Source,
    wants: &[Want],
    rows: usize,
    part: &mut dyn FnMut(Table) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let (files, done) = (passes.files, Rc::clone(&passes.done));
    let mut total = 0;
    let counts = stream(passes, wants, &[], rows, &mut |StreamedBlock { numbers, columns }| {
        total += numbers.len();
        // A file that is not done has more rows than are known.
        let done = done.borrow();
        let counts = done.iter().copied().chain(std::iter::repeat(u32::MAX as usize));
        let files = files.iter().map(|file| file.name.clone()).zip(counts).collect();
        let (rows, kept) = (numbers.len(), Some(numbers));
        part(Table { rows, columns, skipped: Vec::new(), warnings: Vec::new(), files, kept })
    })?;
    if total == 0 || counts.iter().sum::<usize>() == 0 {
        return Err(no_rows(source));
    }
    passes.meter.end();
    files.iter().try_for_each(SourceFile::check_unchanged)
}

type HandOut<'a> = &'a mut dyn FnMut(StreamedBlock) -> Result<(), TableError>;

/// Decides the kinds of columns that are not known; returns the number of rows of each file, and whether the rows of
/// each query stand together.
pub(super) fn survey(
    passes: &mut Passes<'_>,
    wants: &mut [Want],
    unknown: &[usize],
    query: &[usize],
) -> Result<(Vec<usize>, bool), TableError> {
    let chosen: Vec<Want> = unknown.iter().chain(query).map(|&at| wants[at].clone()).collect();
    unknown.iter().for_each(|&at| wants[at].kind = ColumnKind::Number);
    let mut runs = Runs::default();
    let counts = passes.pass(&chosen, &mut |chunk| {
        for (&at, column) in unknown.iter().zip(&chunk) {
            let category = match column {
                Ok(column) => column.categories().is_some(),
                Err(again) => again.kind == ColumnKind::Category,
            };
            if category {
                wants[at].kind = ColumnKind::Category;
            }
        }
        hashes(chunk[unknown.len()..].iter().flatten()).into_iter().for_each(|hash| runs.add(hash));
        Ok(())
    })?;
    Ok((counts, runs.together()))
}

/// Hands out rows as they come; a part ends where a query does.
fn stream(
    passes: &mut Passes<'_>,
    wants: &[Want],
    query: &[usize],
    rows: usize,
    part: HandOut<'_>,
) -> Result<Vec<usize>, TableError> {
    let (mut gathered, mut current) = (StreamedRows::new(wants, rows), None);
    let counts = passes.blocks(wants, query, &mut |block, hashes| {
        let mut start = 0;
        for (row, &hash) in hashes.iter().enumerate() {
            let ends = hash.is_none() || hash != current;
            current = hash;
            if ends && gathered.len() + row - start >= rows {
                gathered.append(&block, start..row);
                start = row;
                part(std::mem::replace(&mut gathered, StreamedRows::new(wants, rows)).finish())?;
            }
        }
        gathered.append(&block, start..hashes.len());
        Ok(())
    })?;
    part(gathered.finish())?;
    Ok(counts)
}

/// Brings the rows of each query together in a bucket, and hands out bucket after bucket.
fn scatter(
    passes: &mut Passes<'_>,
    wants: &[Want],
    query: &[usize],
    parts: &TableParts<'_>,
    total: usize,
    part: HandOut<'_>,
) -> Result<Vec<usize>, TableError> {
    passes.meter.expect(passes.files, 2);
    // A quarter more than would do if all buckets were equally full.
    let count = (total.div_ceil(parts.rows.max(1)).saturating_mul(5) / 4).clamp(2, MOST_BUCKETS);
    let mut waiting = Waiting::create(parts.folder, count)?;
    let mut held = 0;
    let counts = passes.blocks(wants, query, &mut |block, hashes| {
        for (row, hash) in hashes.iter().enumerate() {
            let hash = hash.unwrap_or_else(|| u64::from(block.numbers[row]));
            let bucket = &mut waiting.buckets[(hash % count as u64) as usize];
            bucket.rows += 1;
            block.write(row, &mut bucket.held);
        }
        held += hashes.len();
        if held >= parts.rows {
            held = 0;
            waiting.flush()?;
        }
        Ok(())
    })?;
    waiting.flush()?;
    let size = passes.files.iter().map(|file| file.size).sum::<u64>();
    let mut handed_out = 0;
    for bucket in 0..count {
        let block = taken(&mut waiting, wants, bucket)?;
        handed_out += block.numbers.len();
        if !block.numbers.is_empty() {
            part(block)?;
        }
        passes.meter.at((handed_out as f64 / total as f64 * size as f64) as u64);
    }
    passes.meter.done(size);
    Ok(counts)
}

/// The files, which are read several times.
pub(super) struct Passes<'a> {
    files: &'a [SourceFile],
    formats: Vec<&'static TableFormat>,
    meter: Meter<'a>,
    /// The rows of each file that the current pass is done with.
    done: Rc<RefCell<Vec<usize>>>,
}

impl<'a> Passes<'a> {
    pub(super) fn new(source: &'a Source, progress: ReadProgress<'a>) -> Result<Passes<'a>, TableError> {
        let files = &source.files[..];
        let formats = files.iter().map(detect).collect::<Result<Vec<_>, _>>()?;
        Ok(Passes { files, formats, meter: Meter::new(progress), done: Rc::default() })
    }

    /// Calls a function with the columns of some rows at a time; returns the number of rows of each file.
    pub(super) fn pass(
        &mut self,
        wants: &[Want],
        each: &mut dyn FnMut(Vec<Result<Column, Want>>) -> Result<(), TableError>,
    ) -> Result<Vec<usize>, TableError> {
        let mut columns: Vec<ColumnBuilder> = wants.iter().map(ColumnBuilder::new).collect();
        let mut drain = |columns: &mut [ColumnBuilder]| {
            // Columns of one name that are not the same.
            let differ = |column: &mut ColumnBuilder| column.twins.take().filter(|(_, differ)| *differ);
            match columns.iter_mut().find_map(differ) {
                Some((words, _)) => Err(TableError::Other(words)),
                None => each(replaced(columns, wants).collect()),
            }
        };
        self.done.borrow_mut().clear();
        self.meter.pass(self.files, |at, meter| {
            let rows = (self.formats[at].read)(&self.files[at], &mut columns, meter, Some(&mut drain))?;
            drain(&mut columns)?;
            self.done.borrow_mut().push(rows);
            Ok(rows)
        })
    }

    /// Calls a function with some rows of columns of known kinds at a time, and with hashes of their queries.
    fn blocks(
        &mut self,
        wants: &[Want],
        query: &[usize],
        each: &mut dyn FnMut(StreamedBlock, Vec<Option<u64>>) -> Result<(), TableError>,
    ) -> Result<Vec<usize>, TableError> {
        let mut before: u32 = 0;
        self.pass(wants, &mut |chunk| {
            let columns: Vec<Column> = chunk.into_iter().flatten().collect();
            let rows = columns.first().map_or(0, Column::len);
            let hashes = match query {
                [] => vec![None; rows],
                query => hashes(query.iter().map(|&at| &columns[at])),
            };
            let end =
                u32::try_from(rows).ok().and_then(|rows| before.checked_add(rows)).ok_or_else(too_many)?;
            let numbers: Vec<u32> = (before..end).collect();
            before = end;
            each(StreamedBlock { numbers, columns }, hashes)
        })
    }
}

/// The columns so far, in whose place empty ones grow.
fn replaced(columns: &mut [ColumnBuilder], wants: &[Want]) -> impl Iterator<Item = Result<Column, Want>> {
    let pairs = columns.iter_mut().zip(wants);
    pairs.map(|(column, want)| std::mem::replace(column, ColumnBuilder::new(want)).finish())
}

/// A hash of the query of each row, nothing where one of its cells is missing. Queries that share a hash share a part,
/// which does no harm.
fn hashes<'a>(query: impl Iterator<Item = &'a Column>) -> Vec<Option<u64>> {
    fn hash(cell: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        cell.hash(&mut hasher);
        hasher.finish()
    }
    let cells = query.map(|column| match &column.values {
        // The two zeros are equal.
        Values::Numbers(numbers) => {
            numbers.iter().map(|x| (!x.is_nan()).then(|| hash((x + 0.0).to_bits()))).collect()
        }
        // Columns of queries are never features.
        Values::Singles(_) | Values::Sparse(_) => vec![None; column.values.len()],
        Values::Categories { codes, levels } => {
            let levels: Vec<u64> = levels.iter().map(hash).collect();
            // The code of missing cells is none of a level.
            codes.iter().map(|&code| levels.get(code as usize).copied()).collect()
        }
    });
    let join = |(one, two): (Option<u64>, Option<u64>)| {
        Some(one?.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(two?))
    };
    cells.reduce(|one: Vec<_>, two| one.into_iter().zip(two).map(join).collect()).unwrap_or_default()
}

/// Finds out whether a query comes back after another one. Takes 8 bytes for each time that a query starts, until one
/// is seen to have started twice, which is so at the latest when about twice as many have started as there are.
#[derive(Default)]
struct Runs {
    current: Option<u64>,
    /// Empty for good when a query came back.
    started: Vec<u64>,
    checked: usize,
    torn: bool,
}

impl Runs {
    fn add(&mut self, query: Option<u64>) {
        if self.current != query && !self.torn {
            self.started.extend(query);
            if self.started.len() > 2 * self.checked.max(1 << 12) {
                self.check();
            }
        }
        self.current = query;
    }

    fn check(&mut self) {
        self.started.sort_unstable();
        self.torn = self.started.windows(2).any(|pair| pair[0] == pair[1]);
        self.checked = self.started.len();
        if self.torn {
            self.started = Vec::new();
        }
    }

    fn together(mut self) -> bool {
        if !self.torn {
            self.check();
        }
        !self.torn
    }
}

/// Rows that were gathered: their numbers in the table, and their cells.
struct StreamedBlock {
    numbers: Vec<u32>,
    columns: Vec<Column>,
}

impl StreamedBlock {
    /// Writes a row: its number, the bits of numbers, and texts after their lengths. Texts are not shared: most that
    /// take room are those of queries, of which a bucket holds a few rows at a time.
    fn write(&self, row: usize, bytes: &mut Vec<u8>) {
        bytes.extend(self.numbers[row].to_le_bytes());
        for column in &self.columns {
            match &column.values {
                Values::Numbers(numbers) => bytes.extend(numbers[row].to_le_bytes()),
                Values::Singles(numbers) => bytes.extend(f64::from(numbers[row]).to_le_bytes()),
                Values::Sparse(numbers) => bytes.extend(numbers.get(row).to_le_bytes()),
                Values::Categories { codes, levels } => {
                    // No text is empty: that is how a missing cell is written.
                    let text = levels.get(codes[row] as usize).map_or("", |level| level);
                    bytes.extend((text.len() as u64).to_le_bytes());
                    bytes.extend(text.as_bytes());
                }
            }
        }
    }
}

/// A block that grows.
struct StreamedRows {
    numbers: Vec<u32>,
    columns: Vec<ColumnBuilder>,
}

impl StreamedRows {
    fn new(wants: &[Want], room: usize) -> StreamedRows {
        let mut columns: Vec<ColumnBuilder> = wants.iter().map(ColumnBuilder::new).collect();
        // Without room now it may still be found when rows come.
        for column in &mut columns {
            column.reserve(room);
        }
        StreamedRows { numbers: Vec::with_capacity(room), columns }
    }

    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn append(&mut self, block: &StreamedBlock, rows: Range<usize>) {
        self.numbers.extend_from_slice(&block.numbers[rows.clone()]);
        for (column, from) in self.columns.iter_mut().zip(&block.columns) {
            column.append(&from.values, rows.clone());
        }
    }

    /// Adds the next row that was written; nothing if there is none.
    fn read(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.numbers.push(u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?));
        for column in &mut self.columns {
            let word = *bytes.split_off(..8)?.first_chunk()?;
            if column.wants_text() {
                let length = usize::try_from(u64::from_le_bytes(word)).ok()?;
                column.text(bytes.split_off(..length)?).ok()?;
            } else {
                match f64::from_le_bytes(word) {
                    number if number.is_nan() => column.missing(),
                    number => column.number(number).ok()?,
                }
            }
        }
        Some(())
    }

    fn finish(self) -> StreamedBlock {
        // The kinds are known: each is done.
        let columns = self.columns.into_iter().filter_map(|column| column.finish().ok()).collect();
        StreamedBlock { numbers: self.numbers, columns }
    }
}

/// All rows of a bucket, in the order of the table.
fn taken(waiting: &mut Waiting, wants: &[Want], bucket: usize) -> Result<StreamedBlock, TableError> {
    let Bucket { rows, held: mut bytes, written } = std::mem::take(&mut waiting.buckets[bucket]);
    let mut all = StreamedRows::new(wants, rows);
    for piece in written {
        waiting.read(piece, &mut bytes)?;
        let mut bytes = &bytes[..];
        while !bytes.is_empty() {
            let row = all.read(&mut bytes).ok_or_else(|| ErrorKind::InvalidData.into());
            row.map_err(|cause| TableError::Read { file: waiting.name(), cause })?;
        }
    }
    Ok(all.finish())
}
