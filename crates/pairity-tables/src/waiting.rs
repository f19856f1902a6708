//! A hidden file in which bytes wait, by bucket.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::error::TableError;
use super::whole_file::{Hidden, hidden_beside};

/// The file. It is gone when this is.
pub(crate) struct Waiting {
    file: File,
    hidden: Hidden,
    end: u64,
    pub(crate) buckets: Vec<Bucket>,
}

#[derive(Default)]
pub(crate) struct Bucket {
    pub(crate) rows: usize,
    pub(crate) held: Vec<u8>,
    /// Start and length of what is in the file.
    pub(crate) written: Vec<(u64, usize)>,
}

impl Waiting {
    pub(crate) fn create(folder: &Path, buckets: usize) -> Result<Waiting, TableError> {
        let (file, hidden) = hidden_beside(&folder.join("pairity-parts"))
            .map_err(|cause| TableError::Write { file: folder.display().to_string(), cause })?;
        Ok(Waiting { file, hidden, end: 0, buckets: (0..buckets).map(|_| Bucket::default()).collect() })
    }

    pub(crate) fn name(&self) -> String {
        self.hidden.0.display().to_string()
    }

    /// Writes what buckets hold.
    pub(crate) fn flush(&mut self) -> Result<(), TableError> {
        for at in 0..self.buckets.len() {
            let bytes = std::mem::take(&mut self.buckets[at].held);
            let piece = self.append(&bytes)?;
            let bucket = &mut self.buckets[at];
            bucket.written.push(piece);
            bucket.held = bytes;
            bucket.held.clear();
        }
        Ok(())
    }

    /// Writes bytes to the end; returns their place.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(u64, usize), TableError> {
        let place = (self.end, bytes.len());
        self.write(place.0, bytes)?;
        self.end += bytes.len() as u64;
        Ok(place)
    }

    /// Writes bytes to a place.
    pub(crate) fn write(&mut self, start: u64, bytes: &[u8]) -> Result<(), TableError> {
        let written = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.write_all(bytes));
        written.map_err(|cause| TableError::Write { file: self.name(), cause })
    }

    /// Reads the bytes at a place.
    pub(crate) fn read(&mut self, (start, length): (u64, usize), to: &mut Vec<u8>) -> Result<(), TableError> {
        to.resize(length, 0);
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(to));
        read.map_err(|cause| TableError::Read { file: self.name(), cause })
    }
}
