//! Where a table comes from: files, the files of a folder or of a pattern, or a stream held in memory.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::error::TableError;

/// The files (or the stream) that make up one table.
#[derive(Debug, Clone)]
pub struct Source {
    parts: Vec<Part>,
}

/// One file, or the bytes of a stream.
#[derive(Debug, Clone)]
pub(super) struct Part {
    name: String,
    size: u64,
    data: Data,
}

#[derive(Debug, Clone)]
enum Data {
    File(PathBuf),
    Memory(Bytes),
}

impl Source {
    /// The source that a user means by a text: `-` for standard input, a file, a folder (its `.csv`,
    /// `.tsv`, `.parquet` and `.pq` files in order of their names) or a glob pattern such as
    /// `data/part-*.parquet` (the matching files in order of their paths).
    ///
    /// Standard input and pipes are read to their end here, because a table may need two passes.
    pub fn parse(text: &str) -> Result<Source, TableError> {
        Source::parse_all(&[text])
    }

    /// One source out of several texts, each as for [`parse`](Source::parse). A file that is named
    /// twice is read once.
    pub fn parse_all(texts: &[&str]) -> Result<Source, TableError> {
        let mut parts: Vec<Part> = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            if texts[..at].contains(text) {
                continue;
            }
            for part in parts_of(text)? {
                if !parts.iter().any(|known| known.name == part.name) {
                    parts.push(part);
                }
            }
        }
        Ok(Source { parts })
    }

    /// One source that holds the files of several, one after the other.
    pub fn chain(sources: Vec<Source>) -> Source {
        Source { parts: sources.into_iter().flat_map(|source| source.parts).collect() }
    }

    /// A table held in memory: reads a stream to its end. The name stands in messages, and its extension
    /// tells the format as that of a file does.
    pub fn from_reader(name: &str, reader: impl Read) -> Result<Source, TableError> {
        Ok(Source { parts: vec![Part::from_reader(name, reader)?] })
    }

    /// The names of the files, as they stand in messages.
    pub fn names(&self) -> Vec<&str> {
        self.parts.iter().map(|part| part.name.as_str()).collect()
    }

    /// Whether a file is one of those of the table, by whatever path.
    pub fn reads(&self, path: &Path) -> bool {
        let Ok(path) = fs::canonicalize(path) else { return false };
        let is = |part: &Part| match &part.data {
            Data::File(read) => fs::canonicalize(read).is_ok_and(|read| read == path),
            Data::Memory(_) => false,
        };
        self.parts.iter().any(is)
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl Part {
    fn from_reader(name: &str, mut reader: impl Read) -> Result<Part, TableError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|cause| TableError::Read { file: name.to_owned(), cause })?;
        Ok(Part { name: name.to_owned(), size: bytes.len() as u64, data: Data::Memory(bytes.into()) })
    }

    fn from_path(path: &Path) -> Result<Part, TableError> {
        let name = path.display().to_string();
        let failed = |cause| TableError::Read { file: path.display().to_string(), cause };
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_file() {
            Ok(Part { name, size: metadata.len(), data: Data::File(path.to_owned()) })
        } else {
            // A pipe, such as the shell makes for `<(…)`, can be read once only.
            Part::from_reader(&name, File::open(path).map_err(failed)?)
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The lower-case extension of the name, without the point.
    pub(super) fn extension(&self) -> Option<String> {
        Some(Path::new(&self.name).extension()?.to_str()?.to_ascii_lowercase())
    }

    /// The bytes from a position on.
    pub(super) fn open_at(&self, position: u64) -> Result<Box<dyn Read>, TableError> {
        match &self.data {
            Data::File(path) => {
                let mut file = File::open(path).map_err(|cause| self.failed(cause))?;
                file.seek(SeekFrom::Start(position)).map_err(|cause| self.failed(cause))?;
                Ok(Box::new(file))
            }
            Data::Memory(bytes) => {
                let mut cursor = Cursor::new(bytes.clone());
                cursor.set_position(position);
                Ok(Box::new(cursor))
            }
        }
    }

    /// The first bytes, up to a length.
    pub(super) fn head(&self, length: u64) -> Result<Vec<u8>, TableError> {
        let mut bytes = Vec::new();
        self.open_at(0)?.take(length).read_to_end(&mut bytes).map_err(|cause| self.failed(cause))?;
        Ok(bytes)
    }

    /// All bytes if they are in memory, the file otherwise.
    pub(super) fn whole(&self) -> Result<Whole, TableError> {
        match &self.data {
            Data::File(path) => Ok(Whole::File(File::open(path).map_err(|cause| self.failed(cause))?)),
            Data::Memory(bytes) => Ok(Whole::Memory(bytes.clone())),
        }
    }

    pub(super) fn failed(&self, cause: io::Error) -> TableError {
        TableError::Read { file: self.name.clone(), cause }
    }
}

/// What random access needs.
pub(super) enum Whole {
    File(File),
    Memory(Bytes),
}

fn parts_of(text: &str) -> Result<Vec<Part>, TableError> {
    if text == "-" {
        return Ok(vec![Part::from_reader("standard input", io::stdin().lock())?]);
    }
    let path = Path::new(text);
    if path.is_dir() {
        return folder(path);
    }
    // A file may have a star in its name: what exists is no pattern.
    if !path.exists() && text.contains(['*', '?', '[']) {
        return pattern(text);
    }
    Ok(vec![Part::from_path(path)?])
}

fn folder(folder: &Path) -> Result<Vec<Part>, TableError> {
    let failed = |cause| TableError::Read { file: folder.display().to_string(), cause };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && is_table(&path) && path.is_file() {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(TableError::NoTables { folder: folder.display().to_string() });
    }
    paths.sort();
    paths.iter().map(|path| Part::from_path(path)).collect()
}

fn is_table(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    matches!(extension.as_deref(), Some("csv" | "tsv" | "parquet" | "pq"))
}

fn pattern(pattern: &str) -> Result<Vec<Part>, TableError> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
    let matches = glob::glob_with(pattern, options)
        .map_err(|error| TableError::Pattern { pattern: pattern.to_owned(), cause: error.msg.to_owned() })?;
    let mut paths = Vec::new();
    for found in matches {
        let path = found.map_err(|error| TableError::Read {
            file: error.path().display().to_string(),
            cause: error.into(),
        })?;
        if !path.is_dir() {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(TableError::NoMatch { pattern: pattern.to_owned() });
    }
    paths.sort();
    paths.iter().map(|path| Part::from_path(path)).collect()
}
