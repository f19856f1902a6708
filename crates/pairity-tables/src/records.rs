//! Rows of a table without queries that wait in a hidden file, as records of the engine: in sorted runs, which are
//! merged, or in random blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use pairity::examples::{RECORD, RowRecord, join_records};
use pairity::metrics::RowBlocks;
use rayon::slice::ParallelSliceMut;

use super::error::TableError;
use super::waiting::Waiting;

/// Records that are merged at once, and those of a run that are read at once, at least.
const PIECE: usize = 1 << 13;

/// The most runs that are merged: each has a piece in memory.
const MOST_RUNS: usize = 1024;

/// Words of a record whose rows have no weights: the others are those of 1.
const PLAIN: usize = 3;

/// Records in the order of their coming, of which so many are in memory; others wait in sorted runs in a hidden file in
/// a folder. It is removed at the end; that of a program that was killed is removed by the next one that needs such a
/// file in this folder.
///
/// ```
/// use pairity::examples::Columns;
/// use pairity::metrics::{PlainTable, Settings, measure_sorted};
/// use pairity::rates::Rate;
/// use pairity_tables::{RecordRuns, TableError};
///
/// let (mut table, mut runs) = (PlainTable::default(), RecordRuns::new(&std::env::temp_dir(), 2, false, true));
/// let labels = [0.0, 1.0, 0.0, 1.0, 1.0];
/// let columns = Columns { labels: Some(&labels), ..Columns::default() };
/// runs.add(&table.add(&columns, &[0.1, 0.9, 0.4, 0.3, 0.8]).unwrap())?;
/// table.arrange().unwrap();
/// let audit = measure_sorted(&table, &Settings::default(), &mut |each| runs.merge(each))?;
/// assert_eq!(audit.rate(Rate::AUC).value, Some(5.0 / 6.0));
/// # Ok::<(), TableError>(())
/// ```
pub struct RecordRuns {
    folder: PathBuf,
    /// The most records in memory.
    room: usize,
    words: usize,
    /// Whether records of rows that are alike are joined.
    joins: bool,
    held: Vec<RowRecord>,
    is_sorted: bool,
    /// Buckets are runs.
    waiting: Option<Waiting>,
    /// Place and number of records of each run.
    runs: Vec<(u64, usize)>,
}

/// Some records of a run.
struct RunReader {
    start: u64,
    left: usize,
    piece: Vec<RowRecord>,
    at: usize,
}

impl RecordRuns {
    /// None yet. The records of rows without weights are shorter; those of a continuous attribute are not joined.
    pub fn new(folder: &Path, room: usize, weighted: bool, joins: bool) -> RecordRuns {
        RecordRuns {
            folder: folder.to_owned(),
            room: room.max(2),
            words: if weighted { RECORD } else { PLAIN },
            joins,
            held: Vec::new(),
            is_sorted: false,
            waiting: None,
            runs: Vec::new(),
        }
    }

    /// Adds records.
    ///
    /// # Errors
    /// A run can't be written.
    pub fn add(&mut self, mut records: &[RowRecord]) -> Result<(), TableError> {
        if self.held.capacity() == 0 {
            self.held.reserve_exact(self.room.min(records.len().max(PIECE) * 64));
        }
        while !records.is_empty() {
            let (fit, rest) = records.split_at(records.len().min(self.room - self.held.len()));
            self.held.extend_from_slice(fit);
            self.is_sorted = false;
            records = rest;
            if self.held.len() == self.room {
                self.sort();
                // Where most are joined there is room again.
                if self.held.len() > self.room / 2 {
                    self.write_run()?;
                }
            }
        }
        Ok(())
    }

    /// Number of records, which may still be joined.
    pub fn len(&self) -> usize {
        self.held.len() + self.runs.iter().map(|(_, records)| records).sum::<usize>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn sort(&mut self) {
        self.held.par_sort_unstable();
        if self.joins {
            self.held.dedup_by(|next, last| join_records(last, next));
        }
        self.is_sorted = true;
    }

    fn write_run(&mut self) -> Result<(), TableError> {
        let waiting = match &mut self.waiting {
            Some(waiting) => waiting,
            none => none.insert(Waiting::create(&self.folder, 0)?),
        };
        let (mut start, mut bytes) = (None, Vec::new());
        for records in self.held.chunks(PIECE) {
            bytes.clear();
            for record in records {
                record[..self.words].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            }
            let place = waiting.append(&bytes)?;
            start.get_or_insert(place.0);
        }
        self.runs.extend(start.map(|start| (start, self.held.len())));
        self.held.clear();
        Ok(())
    }

    /// Calls a function with all records in order, some at a time. May be called again.
    ///
    /// # Errors
    /// Runs can't be written or read.
    pub fn merge(&mut self, each: &mut dyn FnMut(&[RowRecord])) -> Result<(), TableError> {
        if !self.is_sorted {
            self.sort();
        }
        if self.runs.is_empty() {
            self.held.chunks(PIECE).for_each(each);
            return Ok(());
        }
        if self.runs.len() >= MOST_RUNS {
            let problem = format!("the table has {} times as many rows as fit", self.runs.len());
            return Err(TableError::Other(format!("{problem}: give it more memory")));
        }
        let Some(mut waiting) = self.end_runs()? else { return Ok(()) };
        let result = self.merge_runs(&mut waiting, each);
        self.waiting = Some(waiting);
        result
    }

    /// Writes the last run, so that no record is in memory.
    fn end_runs(&mut self) -> Result<Option<Waiting>, TableError> {
        if !self.held.is_empty() {
            self.write_run()?;
        }
        self.held = Vec::new();
        Ok(self.waiting.take())
    }

    fn merge_runs(
        &self,
        waiting: &mut Waiting,
        each: &mut dyn FnMut(&[RowRecord]),
    ) -> Result<(), TableError> {
        let piece = (self.room / (2 * self.runs.len())).clamp(PIECE, 16 * PIECE);
        let mut readers: Vec<RunReader> = self.readers().collect();
        let mut bytes = Vec::new();
        let mut heads = BinaryHeap::new();
        for (run, reader) in readers.iter_mut().enumerate() {
            self.refill(waiting, reader, piece, &mut bytes)?;
            heads.push(Reverse((reader.piece[0][0], run)));
        }
        let mut merged: Vec<RowRecord> = Vec::with_capacity(PIECE);
        while let Some(Reverse((_, run))) = heads.pop() {
            // Only scores have to be in order, so that a run goes on up to the next head.
            let next = heads.peek().map_or(u64::MAX, |Reverse((score, _))| *score);
            let reader = &mut readers[run];
            loop {
                merged.push(reader.piece[reader.at]);
                if merged.len() == PIECE {
                    each(&merged);
                    merged.clear();
                }
                reader.at += 1;
                if reader.at == reader.piece.len() {
                    if reader.left == 0 {
                        break;
                    }
                    self.refill(waiting, reader, piece, &mut bytes)?;
                }
                let score = reader.piece[reader.at][0];
                if score > next {
                    heads.push(Reverse((score, run)));
                    break;
                }
            }
        }
        each(&merged);
        Ok(())
    }

    fn readers(&self) -> impl Iterator<Item = RunReader> {
        self.runs.iter().map(|&(start, left)| RunReader { start, left, piece: Vec::new(), at: 0 })
    }

    /// Reads the next records of a run.
    fn refill(
        &self,
        waiting: &mut Waiting,
        reader: &mut RunReader,
        piece: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<(), TableError> {
        let records = reader.left.min(piece);
        let length = records * self.words * size_of::<u64>();
        waiting.read((reader.start, length), bytes)?;
        reader.start += length as u64;
        reader.left -= records;
        reader.at = 0;
        reader.piece.clear();
        reader.piece.extend(bytes.chunks_exact(self.words * size_of::<u64>()).map(decoded));
        Ok(())
    }

    /// Puts the records into blocks at random, each by itself whatever it was joined to.
    ///
    /// # Errors
    /// Files can't be written or read.
    pub fn into_blocks(mut self, blocks: usize, seed: u64) -> Result<RecordBlocks, TableError> {
        let mut to = Waiting::create(&self.folder, blocks)?;
        let (mut held, mut number) = (0, 0_u64);
        let (words, room) = (self.words, self.room * self.words * size_of::<u64>());
        let joins = self.joins;
        let mut scatter = |to: &mut Waiting, record: &RowRecord| {
            // A joined record has the number of its rows in its third word, beside the group.
            let count = if joins { record[2] & ((1 << 48) - 1) } else { 1 };
            let mut single = *record;
            single[2] -= count - 1;
            for _ in 0..count {
                let bucket = &mut to.buckets[(mixed(seed, number) % blocks as u64) as usize];
                number += 1;
                bucket.rows += 1;
                single[..words].iter().for_each(|word| bucket.held.extend(word.to_le_bytes()));
                held += words * size_of::<u64>();
                if held >= room {
                    held = 0;
                    to.flush()?;
                }
            }
            Ok::<(), TableError>(())
        };
        for record in std::mem::take(&mut self.held) {
            scatter(&mut to, &record)?;
        }
        if let Some(mut waiting) = self.waiting.take() {
            let mut bytes = Vec::new();
            for mut reader in self.readers() {
                while reader.left > 0 {
                    self.refill(&mut waiting, &mut reader, PIECE, &mut bytes)?;
                    reader.piece.iter().try_for_each(|record| scatter(&mut to, record))?;
                }
            }
        }
        to.flush()?;
        to.buckets.iter_mut().for_each(|bucket| bucket.held = Vec::new());
        Ok(RecordBlocks { waiting: to, words, sums: vec![None; blocks] })
    }
}

/// A record of its bytes.
fn decoded(bytes: &[u8]) -> RowRecord {
    let mut record = [1.0_f64.to_bits(); RECORD];
    for (to, word) in record.iter_mut().zip(bytes.chunks_exact(size_of::<u64>())) {
        *to = word.try_into().map_or(0, u64::from_le_bytes);
    }
    record
}

/// A number that looks random (splitmix64): which block a row is in must not depend on anything else.
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_add(1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        z = (z ^ z >> 30).wrapping_mul(factor);
    }
    z ^ z >> 31
}

/// Records in random blocks in a hidden file, and sums of their rows. The file is removed at the end.
pub struct RecordBlocks {
    waiting: Waiting,
    words: usize,
    /// Where the sums of each block are.
    sums: Vec<Option<(u64, usize)>>,
}

impl RowBlocks<TableError> for RecordBlocks {
    fn count(&self) -> usize {
        self.waiting.buckets.len()
    }

    fn records(&mut self, block: usize) -> Result<Vec<RowRecord>, TableError> {
        let mut records = Vec::with_capacity(self.waiting.buckets[block].rows);
        let (pieces, mut bytes) = (self.waiting.buckets[block].written.clone(), Vec::new());
        for piece in pieces {
            self.waiting.read(piece, &mut bytes)?;
            records.extend(bytes.chunks_exact(self.words * size_of::<u64>()).map(decoded));
        }
        Ok(records)
    }

    fn sums(&mut self, block: usize) -> Result<Vec<f64>, TableError> {
        let (Some(place), mut bytes) = (self.sums[block], Vec::new()) else { return Ok(Vec::new()) };
        self.waiting.read(place, &mut bytes)?;
        let number = |word: &[u8]| word.try_into().map_or(0.0, f64::from_le_bytes);
        Ok(bytes.chunks_exact(size_of::<f64>()).map(number).collect())
    }

    fn keep(&mut self, block: usize, sums: &[f64]) -> Result<(), TableError> {
        let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        match self.sums[block] {
            Some((start, _)) => self.waiting.write(start, &bytes),
            None => {
                self.sums[block] = Some(self.waiting.append(&bytes)?);
                Ok(())
            }
        }
    }
}
