//! How far reading is, told about once a mebibyte.

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

    /// More to read: another pass.
    pub(crate) fn expect(&mut self, bytes: u64) {
        self.total += bytes;
    }

    /// So many bytes of the current file are read.
    #[inline]
    pub(crate) fn at(&mut self, position: u64) {
        if self.before + position >= self.told + STEP {
            self.tell(self.before + position);
        }
    }

    /// The current file, of so many bytes, is finished.
    pub(crate) fn finished(&mut self, size: u64) {
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
