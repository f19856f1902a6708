//! Features of tables that are larger than memory: training reads them a batch at a time.
//!
//! Columns are read one by one while an encoder is learned. Then the table is read once more, some rows at a time, and the
//! encoded features are written to a file, row after row, where the rows of a batch are found in whatever order they come:
//! batches are those of training in memory, bit for bit. Where all numbers of a table are of single precision, or lose
//! nothing in it, they take 4 bytes in the file and in a batch, otherwise 8.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pairity::examples::Column;
use pairity::learners::{Architecture, ColumnSource, Encoder, FeatureSource, Features, Trace};

use super::error::TableError;
use super::parts::{Passes, survey};
use super::selection::{ColumnKind, Selection, Want};
use super::source::Source;
use super::whole_file::{Hidden, hidden_beside};

/// The fewest rows that are read at once: fewer only cost time.
const FEWEST: usize = 1 << 10;

/// The columns of a table that are features, of which only some rows are in memory at a time.
pub struct StoredColumns {
    source: Source,
    wants: Vec<Want>,
    /// Those that are no features as they hold texts and nobody named them.
    pub texts: Vec<String>,
    /// The rows that count, by their numbers in the table; all if none are given.
    kept: Option<Vec<u32>>,
    rows: usize,
    memory: u64,
    folder: PathBuf,
    /// Whether a column of numbers was seen that needs double precision.
    doubles: AtomicBool,
}

impl StoredColumns {
    /// Some columns of a table; texts among them only if they are `named`. Rows wait in a hidden file
    /// `.pairity-features.*.partial` in a folder, which is removed at the end; that of a program that was killed is removed
    /// by the next one that needs such a file there.
    ///
    /// # Errors
    /// Whatever is wrong with the files.
    pub fn new(
        source: &Source,
        names: &[String],
        named: bool,
        memory: u64,
        folder: &Path,
    ) -> Result<StoredColumns, TableError> {
        let mut wants: Vec<Want> = names.iter().map(|name| Want::infer(name)).collect();
        let all: Vec<usize> = (0..wants.len()).collect();
        let counts = survey(&mut Passes::new(source, &|_, _| ())?, &mut wants, &all, &[])?.0;
        let is_text = |want: &&Want| !named && want.kind == ColumnKind::Category;
        let texts = wants.iter().filter(is_text).map(|want| want.name.clone()).collect();
        wants.retain(|want| !is_text(&want));
        let (source, folder, rows) = (source.clone(), folder.to_owned(), counts.iter().sum());
        let doubles = AtomicBool::new(false);
        Ok(StoredColumns { source, wants, texts, kept: None, rows, memory, folder, doubles })
    }

    /// Only some rows, by their numbers in the table, upward.
    #[must_use]
    pub fn keeping(self, kept: Vec<u32>) -> StoredColumns {
        StoredColumns { rows: kept.len(), kept: Some(kept), ..self }
    }

    /// Writes the features of all rows, and tells how they are stored, with a hash of them.
    fn store(&self, encoder: &Encoder) -> Result<(File, Hidden, Features, u64), String> {
        let mut hasher = DefaultHasher::new();
        // What is stored in single precision is what it is before it is standardized.
        format!("{encoder:?}").hash(&mut hasher);
        let single = !self.doubles.load(Ordering::Relaxed);
        let mut like: Option<Features> = None;
        let (file, hidden) = hidden_beside(&self.folder.join("pairity-features")).map_err(told)?;
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        let wants: Vec<Want> = encoder.inputs().map(|column| Want::from(column).dense()).collect();
        let mut passes = Passes::new(&self.source, &|_, _| ()).map_err(told)?;
        let (mut before, mut next, mut written) = (0, 0, 0);
        let counts = passes.pass(&wants, &mut |chunk| {
            let mut columns: Vec<Column> = chunk.into_iter().flatten().collect();
            let rows = columns.first().map_or(0, |column| column.values.len());
            if let Some(kept) = &self.kept {
                let end = next + kept[next..].partition_point(|&row| (row as usize) < before + rows);
                let own: Vec<u32> = kept[next..end].iter().map(|&row| row - before as u32).collect();
                columns.iter_mut().for_each(|column| column.select(&own));
                next = end;
            }
            before += rows;
            if single {
                columns.iter_mut().for_each(|column| _ = column.make_single());
            }
            let encoded = encoder.encode(&columns).map_err(other)?.features;
            written += encoded.rows();
            let like = like.get_or_insert_with(|| encoded.select(&[]));
            if like.number_size() != encoded.number_size() {
                return Err(other("a column was learned from other rows"));
            }
            let bytes = encoded.bytes();
            hasher.write(&bytes);
            writer.write_all(&bytes).map_err(other)
        });
        counts.map_err(told)?;
        self.source.files.iter().try_for_each(|file| file.check_unchanged()).map_err(told)?;
        if written != self.rows {
            return Err(format!("the table had {} rows, and has {written}", self.rows));
        }
        let like = like.ok_or_else(|| "there are no rows".to_owned())?;
        Ok((writer.into_inner().map_err(told)?, hidden, like, hasher.finish()))
    }
}

/// Reads all of some bytes from a place on, in one call to the system and without a lock: runs read side by side.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, place)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], place + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => done += more,
        }
    }
    Ok(())
}

fn told(error: impl ToString) -> String {
    error.to_string()
}

fn other(error: impl ToString) -> TableError {
    TableError::Other(error.to_string())
}

impl ColumnSource for StoredColumns {
    fn names(&self) -> Vec<String> {
        self.wants.iter().map(|want| want.name.clone()).collect()
    }

    fn column(&self, at: usize) -> Result<Column, String> {
        let selection = Selection::Columns(vec![self.wants[at].clone()]);
        let mut table = super::read(&self.source, &selection, &|_, _| ()).map_err(told)?;
        if let Some(kept) = &self.kept {
            table.keep(kept);
        }
        let mut column = table.into_columns().pop().ok_or_else(|| "there is no such column".to_owned())?;
        if column.categories().is_none() && !column.make_single() {
            self.doubles.store(true, Ordering::Relaxed);
        }
        Ok(column)
    }

    fn features(&self, encoder: &Encoder, codes: Option<Vec<u16>>) -> Result<Arc<dyn FeatureSource>, String> {
        let (file, _hidden, like, fingerprint) = self.store(encoder)?;
        let row = encoder.width() * like.number_size();
        // A batch and its scores need some room too.
        let at_once = self.memory / 4 / (row as u64 + 8);
        let at_once = usize::try_from(at_once).unwrap_or(usize::MAX).max(FEWEST);
        let rows = self.rows;
        Ok(Arc::new(StoredFeatures { file, _hidden, rows, like, row, codes, at_once, fingerprint }))
    }
}

/// Encoded features in a file.
struct StoredFeatures {
    file: File,
    _hidden: Hidden,
    rows: usize,
    /// How they are stored.
    like: Features,
    /// Bytes of a row.
    row: usize,
    codes: Option<Vec<u16>>,
    at_once: usize,
    fingerprint: u64,
}

impl StoredFeatures {
    fn select(&self, rows: &[u32]) -> Result<Features, String> {
        let mut bytes = Vec::with_capacity(rows.len() * self.row);
        // Rows of a query mostly stand together.
        for run in rows.chunk_by(|one, next| one + 1 == *next) {
            let first = run[0] as usize;
            if first + run.len() > self.rows {
                return Err(format!("there is no row {}", first + run.len()));
            }
            let before = bytes.len();
            bytes.resize(before + run.len() * self.row, 0);
            read_at(&self.file, &mut bytes[before..], (first * self.row) as u64).map_err(told)?;
        }
        let features = self.like.of_bytes(&bytes).map_err(told)?;
        match &self.codes {
            None => Ok(features),
            Some(codes) => {
                features.with_codes(rows.iter().map(|&row| codes[row as usize]).collect()).map_err(told)
            }
        }
    }
}

impl FeatureSource for StoredFeatures {
    fn scores(
        &self,
        scorer: &Architecture,
        parameters: &[&[f64]],
        rows: &[u32],
    ) -> Result<Vec<Vec<f64>>, String> {
        let mut all = vec![vec![0.0; rows.len()]; parameters.len()];
        for (part, rows) in rows.chunks(self.at_once).enumerate() {
            let features = self.select(rows)?;
            for (own, scores) in parameters.iter().zip(&mut all) {
                scorer.score(own, &features, &mut scores[part * self.at_once..][..rows.len()]);
            }
        }
        Ok(all)
    }

    fn gradient(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        rows: &[u32],
        slopes: &[f64],
    ) -> Result<Vec<f64>, String> {
        let mut sum = vec![0.0; parameters.len()];
        for (rows, slopes) in rows.chunks(self.at_once).zip(slopes.chunks(self.at_once)) {
            let own = scorer.pull_back(parameters, &self.select(rows)?, &Trace::default(), slopes);
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        Ok(sum)
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(self.fingerprint)
    }

    fn batch(&self, rows: &[u32]) -> Result<Option<Features>, String> {
        self.select(rows).map(Some)
    }
}
