//! Where a table comes from: files, the files of a folder or of a pattern, or a stream held in memory.

use std::fs::{self, File, Metadata};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;

use super::error::{TableError, shown};
use super::format::{detect, is_table, searched};
use super::identity::FileId;
use super::table::Table;

/// How much of a file is looked at to tell its format.
const HEAD: u64 = 64 * 1024;

/// Bytes that a row of a text file may have.
pub(crate) const LONGEST_ROW: u64 = 64 << 20;

/// Starts of files that people take for tables, what they are, and what to do.
const FOREIGN: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "compressed with gzip", "Decompress it first, with gunzip"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "Save the table as CSV"),
    (b"\xff\xfe", "text in UTF-16", "Save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "Save it as UTF-8"),
];

/// The files (or the stream) that make up one table.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) files: Vec<SourceFile>,
}

/// One file, or the bytes of a stream.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) size: u64,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    File(PathBuf, Stamp),
    Memory(Bytes),
}

/// What tells whether a file is still the one that was found: which it is, its size, and when it was written.
#[derive(Debug, Clone, PartialEq)]
struct Stamp(FileId, u64, Option<SystemTime>);

impl Stamp {
    fn of(path: &Path, found: &Metadata) -> Stamp {
        Stamp(FileId::existing(path, found), found.len(), found.modified().ok())
    }
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

    /// One source out of several texts, each as for [`parse`](Source::parse).
    ///
    /// # Errors
    /// A file that can't be read, or one that is named twice, by whatever path: its rows would count twice.
    pub fn parse_all<T: AsRef<str>>(texts: &[T]) -> Result<Source, TableError> {
        let mut files: Vec<SourceFile> = Vec::new();
        let twice = |one: &str, two: &str| {
            let both = if one == two {
                format!("{one} is named twice")
            } else {
                format!("{one} and {two} are one file")
            };
            Err(TableError::Other(format!("{both}, so that its rows would count twice: name it once")))
        };
        for (at, text) in texts.iter().map(T::as_ref).enumerate() {
            // Before it is read: a stream can be read once only.
            if texts[..at].iter().any(|before| before.as_ref() == text) {
                return twice(text, text);
            }
            for file in files_of(text)? {
                if let Some(known) = files.iter().find(|known| known.is(&file)) {
                    return twice(&known.name, &file.name);
                }
                files.push(file);
            }
        }
        Ok(Source { files })
    }

    /// One source that holds the files of several, one after the other.
    pub fn chain(sources: Vec<Source>) -> Source {
        Source { files: sources.into_iter().flat_map(|source| source.files).collect() }
    }

    /// A table held in memory: reads a stream to its end. The name stands in messages, and its extension
    /// tells the format as that of a file does.
    pub fn from_reader(name: &str, reader: impl Read) -> Result<Source, TableError> {
        Ok(Source { files: vec![SourceFile::from_reader(name, reader)?] })
    }

    /// The names of the files, as they stand in messages.
    pub fn names(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.name.as_str()).collect()
    }

    /// The size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Where a row of a table that was read from here came from, such as `people.csv, line 13`.
    pub fn locate(&self, table: &Table, row: usize) -> String {
        let place = |(at, within): (usize, usize)| {
            let file = self.files.get(at)?;
            let (what, number) = (detect(file).ok()?.place)(file, within).ok()?;
            Some(format!("{}, {what} {number}", file.name))
        };
        table.place(row).and_then(place).unwrap_or_else(|| table.locate(row))
    }

    /// Whether a file is one of those of the table, by whatever path.
    pub fn reads(&self, path: &Path) -> bool {
        let id = FileId::of(path);
        id.is_some() && self.files.iter().any(|file| file.id() == id.as_ref())
    }

    /// The name of a file that is also one of another source.
    pub fn shared(&self, other: &Source) -> Option<&str> {
        self.files
            .iter()
            .find(|file| other.files.iter().any(|known| known.is(file)))
            .map(|file| &file.name[..])
    }
}

impl SourceFile {
    fn id(&self) -> Option<&FileId> {
        match &self.content {
            Content::File(_, Stamp(id, ..)) => Some(id),
            Content::Memory(_) => None,
        }
    }

    /// Whether it is the same file, or the same stream.
    fn is(&self, other: &SourceFile) -> bool {
        self.id() == other.id() && (self.id().is_some() || self.name == other.name)
    }

    fn from_reader(name: &str, mut reader: impl Read) -> Result<SourceFile, TableError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|cause| unreadable(name, cause))?;
        let (name, size) = (name.to_owned(), bytes.len() as u64);
        Ok(SourceFile { name, size, content: Content::Memory(bytes.into()) })
    }

    fn from_path(path: &Path) -> Result<SourceFile, TableError> {
        let name = shown(&path.display().to_string());
        let failed = |cause| unreadable(&name, cause);
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_file() {
            let stamp = Stamp::of(path, &metadata);
            Ok(SourceFile { name, size: metadata.len(), content: Content::File(path.to_owned(), stamp) })
        } else {
            // A pipe, such as the shell makes for `<(…)`, can be read once only.
            SourceFile::from_reader(&name, File::open(path).map_err(failed)?)
        }
    }

    /// The bytes from a position on.
    pub(crate) fn open_at(&self, position: u64) -> Result<Box<dyn Read>, TableError> {
        match self.whole()? {
            Whole::File(mut file) => {
                file.seek(SeekFrom::Start(position)).map_err(|cause| self.failed(cause))?;
                Ok(Box::new(file))
            }
            Whole::Memory(bytes) => {
                let mut cursor = Cursor::new(bytes);
                cursor.set_position(position);
                Ok(Box::new(cursor))
            }
        }
    }

    /// The first bytes.
    ///
    /// # Errors
    /// The file can't be read, or starts like something that people take for a table.
    pub(crate) fn head(&self) -> Result<Vec<u8>, TableError> {
        let mut bytes = Vec::new();
        self.open_at(0)?.take(HEAD).read_to_end(&mut bytes).map_err(|cause| self.failed(cause))?;
        match FOREIGN.iter().find(|(start, ..)| bytes.starts_with(start)) {
            Some((_, what, advice)) => {
                Err(TableError::Other(format!("{} is {what}, which is not read here. {advice}", self.name)))
            }
            None => Ok(bytes),
        }
    }

    /// All bytes if they are in memory, the file otherwise.
    ///
    /// # Errors
    /// The file can't be read, or is not what it was: what is read twice would not belong together.
    pub(crate) fn whole(&self) -> Result<Whole, TableError> {
        match &self.content {
            Content::File(path, _) => {
                let file = File::open(path).map_err(|cause| self.failed(cause))?;
                self.check_same(file.metadata())?;
                Ok(Whole::File(file))
            }
            Content::Memory(bytes) => Ok(Whole::Memory(bytes.clone())),
        }
    }

    /// Whether the file is what it was when it was found.
    pub(crate) fn check_unchanged(&self) -> Result<(), TableError> {
        match &self.content {
            Content::File(path, _) => self.check_same(fs::metadata(path)),
            Content::Memory(_) => Ok(()),
        }
    }

    fn check_same(&self, found: io::Result<Metadata>) -> Result<(), TableError> {
        let found = found.map_err(|cause| self.failed(cause))?;
        match &self.content {
            Content::File(path, stamp) if *stamp != Stamp::of(path, &found) => Err(self.changed()),
            _ => Ok(()),
        }
    }

    /// The error for a file that is not what it was.
    pub(crate) fn changed(&self) -> TableError {
        TableError::Other(format!(
            "{} changed while it was read: start again when nobody writes to it",
            self.name
        ))
    }

    pub(crate) fn failed(&self, cause: io::Error) -> TableError {
        match cause.kind() {
            ErrorKind::FileTooLarge => TableError::Other(format!(
                "{} has a row of more than {} MiB, which is no row of a table. Check that its lines end in line \
                 breaks, and look for a quotation mark that is not closed",
                self.name,
                LONGEST_ROW >> 20
            )),
            _ => unreadable(&self.name, cause),
        }
    }
}

/// The error for what the operating system does not give.
fn unreadable(file: impl ToString, cause: io::Error) -> TableError {
    TableError::Read { file: file.to_string(), cause }
}

/// What random access needs.
pub(crate) enum Whole {
    File(File),
    Memory(Bytes),
}

fn files_of(text: &str) -> Result<Vec<SourceFile>, TableError> {
    if text == "-" {
        return Ok(vec![SourceFile::from_reader("standard input", io::stdin().lock())?]);
    }
    let path = Path::new(text);
    if path.is_dir() {
        return folder(path);
    }
    // A file may have a star in its name: what exists is no pattern.
    if !path.exists() && text.contains(['*', '?', '[']) {
        return pattern(text);
    }
    Ok(vec![SourceFile::from_path(path)?])
}

fn folder(folder: &Path) -> Result<Vec<SourceFile>, TableError> {
    let failed = |cause| unreadable(folder.display(), cause);
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed)?;
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.retain(|path| !hidden(path) && is_table(path) && path.is_file());
    let (folder, endings) = (shown(&folder.display().to_string()), searched());
    in_order(paths, format!("no tables in the folder {folder}: no file directly in it ends in {endings}"))
}

fn pattern(pattern: &str) -> Result<Vec<SourceFile>, TableError> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
    let matches = glob::glob_with(pattern, options).map_err(|error| {
        let problem = format!("is not a file, and not a pattern either: {}", error.msg);
        TableError::Other(format!("{pattern:?} {problem}. Check the path"))
    })?;
    let paths = matches.collect::<Result<Vec<PathBuf>, _>>();
    let mut paths = paths.map_err(|error| unreadable(error.path().display().to_string(), error.into()))?;
    paths.retain(|path| !path.is_dir());
    in_order(paths, format!("no file matches {pattern:?}. Check the pattern and the folder it starts from"))
}

/// The files of some paths in their order, or an error if there are none.
fn in_order(mut paths: Vec<PathBuf>, none: String) -> Result<Vec<SourceFile>, TableError> {
    paths.sort();
    match paths.is_empty() {
        true => Err(TableError::Other(none)),
        false => paths.iter().map(|path| SourceFile::from_path(path)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_files_and_spreadsheets_are_named_as_such() {
        let source = Source::from_reader("a.csv", &b"PK\x03\x04..."[..]).unwrap();
        let message = source.files[0].head().unwrap_err().to_string();
        assert_eq!(
            message,
            "a.csv is a zip archive or a spreadsheet, which is not read here. Save the table as CSV"
        );
    }
}
