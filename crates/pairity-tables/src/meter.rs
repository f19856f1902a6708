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
        self.expect(files, 1);
        let mut counts = Vec::with_capacity(files.len());
        for (at, file) in files.iter().enumerate() {
            counts.push(read(at, self)?);
            self.done(file.size);
        }
        Ok(counts)
    }

    /// There will be so many more passes.
    pub(crate) fn expect(&mut self, files: &[SourceFile], passes: u64) {
        let size = files.iter().map(|file| file.size).sum::<u64>();
        self.total = self.total.max(self.before + passes * size);
    }

    /// So many bytes of the current file are read.
    #[inline]
    pub(crate) fn at(&mut self, position: u64) {
        if self.before + position >= self.told + STEP {
            self.tell(self.before + position);
        }
    }

    /// So many bytes are read, and others follow.
    pub(crate) fn done(&mut self, size: u64) {
        self.before += size;
        self.at(0);
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
