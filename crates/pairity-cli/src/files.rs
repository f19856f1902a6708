//! Output files, which appear whole or not at all.

use crate::progress::ReadProgress;
use anyhow::{Context, bail};
use pairity_tables::{AddColumns, TableError, WholeFile};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The output that is standard output.
pub const STANDARD: &str = "-";

/// Writes a file under another name and renames it, so that nobody ever sees half of it.
///
/// # Errors
/// The folder or the file can't be written to; what was there before is untouched.
pub fn write_file(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let write = |mut file: WholeFile| file.write_all(content).and_then(|()| file.keep());
    WholeFile::create(path).and_then(write).with_context(|| format!("can't write {}", path.display()))
}

/// Fails now rather than after an hour of work if a file can't be written.
///
/// # Errors
/// The folder does not exist or is not writable.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!("{} is a folder: name a file in it", path.display());
    }
    if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("") && !folder.is_dir()) {
        bail!("can't write {}: there is no folder {}; make it first", path.display(), folder.display());
    }
    // It is gone at once, since it is not kept.
    WholeFile::create(path).map(drop).with_context(|| format!("can't write {}", path.display()))
}

/// The file beside another, with something added to its name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(suffix);
    path.with_file_name(name)
}

/// Writes a table with its new columns: to a file, which may be open already, or to standard output.
///
/// # Errors
/// The table can't be read again, or the file can't be written; what was there before is untouched.
pub fn write_columns(
    plan: &AddColumns,
    columns: &[&[f64]],
    path: &Path,
    file: Option<WholeFile>,
    quiet: bool,
) -> anyhow::Result<()> {
    let name = path.display().to_string();
    let progress = ReadProgress::new(quiet);
    let show = |done: u64, all: Option<u64>| progress.update(done, all);
    if name == STANDARD {
        return match plan.write(columns, "standard output", &mut io::stdout(), &show) {
            // A reader that has seen enough is no error.
            Err(TableError::Write { cause, .. }) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
            done => Ok(done?),
        };
    }
    let failed = |cause| TableError::Write { file: name.clone(), cause };
    let mut file = file.map_or_else(|| WholeFile::create(path), Ok).map_err(failed)?;
    plan.write(columns, &name, &mut file, &show)?;
    Ok(file.keep().map_err(failed)?)
}
