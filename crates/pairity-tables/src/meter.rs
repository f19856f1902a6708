//! How far reading is, told about once a mebibyte.

use super::error::TableError;
use super::source::SourceFile;

/// Who is told how far reading is: bytes so far and, if known, bytes in all.
pub type ReadProgress<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);

const STEP: u64 = 1 << 20;

pub(crate) struct Meter<'a> {
    progress: ReadProgress<'a>,
    /// Bytes of the files that are finished.
    before: u64,
    told: u64,
    total: u64,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(progress: ReadProgress<'a>) -> Meter<'a> {
        Meter { progress, before: 0, told: 0, total: 0 }
    }

    /// Calls a function with the place of each file, which reads it and returns its number of rows.
    pub(crate) fn pass(
        &mut self,
        files: &[SourceFile],
        mut read: impl FnMut(usize, &mut Meter<'a>) -> Result<usize, TableError>,
    ) -> Result<Vec<usize>, TableError> {
        self.total += files.iter().map(|file| file.size).sum::<u64>();
        let mut counts = Vec::with_capacity(files.len());
        for (at, file) in files.iter().enumerate() {
            counts.push(read(at, self)?);
            self.before += file.size;
            self.at(0);
        }
        Ok(counts)
    }

    /// So many bytes of the current file are read.
    #[inline]
    pub(crate) fn at(&mut self, position: u64) {
        if self.before + position >= self.told + STEP {
            self.tell(self.before + position);
        }
    }

    /// All is read.
    pub(crate) fn end(&mut self) {
        self.tell(self.before);
    }

    fn tell(&mut self, bytes: u64) {
        self.told = bytes;
        (self.progress)(bytes, Some(self.total.max(bytes)));
    }
}
