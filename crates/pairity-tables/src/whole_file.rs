//! A file that appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file to be written, which takes its name only when it is [kept](WholeFile::keep). Until then what is
/// written is in a hidden file beside it, which is removed if this is dropped before; and a file of the
/// same name stays as it was.
///
/// ```
/// use pairity_tables::WholeFile;
/// use std::io::Write;
///
/// # let folder = std::env::temp_dir().join(format!("pairity-whole-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("people.csv");
/// let mut file = WholeFile::create(&path)?;
/// file.write_all(b"name,age\n")?;
/// assert!(!path.exists());
/// file.keep()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "name,age\n");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct WholeFile {
    writer: BufWriter<File>,
    /// Where it is written, and the name that it will get. Nothing for pipes and devices, which can't be
    /// replaced.
    rename: Option<(Hidden, PathBuf)>,
}

/// A file that is removed when this goes.
#[derive(Debug)]
struct Hidden(PathBuf);

impl Drop for Hidden {
    fn drop(&mut self) {
        // It is gone already if it got its name.
        let _ = fs::remove_file(&self.0);
    }
}

impl WholeFile {
    /// Starts a file.
    ///
    /// # Errors
    /// There is no such folder, or it or an existing file can't be written to.
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        // A link stays one: what it leads to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let known = match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            found => Some(found?),
        };
        if known.is_some() {
            // Changes nothing, and says whether it could.
            let file = OpenOptions::new().append(true).open(&path)?;
            if known.as_ref().is_some_and(|known| !known.is_file()) {
                return Ok(WholeFile { writer: BufWriter::new(file), rename: None });
            }
        }
        let (file, hidden) = hidden_beside(&path)?;
        if let Some(known) = known {
            file.set_permissions(known.permissions())?;
        }
        Ok(WholeFile { writer: BufWriter::new(file), rename: Some((hidden, path)) })
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// Not all of it could be written; a file of that name is as it was.
    pub fn keep(self) -> io::Result<()> {
        let file = self.writer.into_inner().map_err(|error| error.into_error())?;
        let Some((hidden, path)) = self.rename else { return Ok(()) };
        // Otherwise a name could outlive a power failure that its content does not.
        file.sync_all()?;
        drop(file);
        fs::rename(&hidden.0, path)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A new file with a name of its own in the same folder, from where it can be renamed in one step.
fn hidden_beside(path: &Path) -> io::Result<(File, Hidden)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    let mut attempt = 0;
    loop {
        let unique = format!(".{}.{}-{attempt}.partial", name.to_string_lossy(), std::process::id());
        let hidden = path.with_file_name(unique);
        match OpenOptions::new().write(true).create_new(true).open(&hidden) {
            Ok(file) => return Ok((file, Hidden(hidden))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_is_not_kept_leaves_nothing_behind_and_the_old_one_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(&[b'x'; 100_000]).unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        drop(file);
        assert_eq!(names(folder.path()), Vec::<String>::new());

        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn two_files_of_one_name_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut one = WholeFile::create(&path).unwrap();
        let mut two = WholeFile::create(&path).unwrap();
        one.write_all(b"one").unwrap();
        two.write_all(b"two, longer").unwrap();
        two.keep().unwrap();
        one.keep().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn folders_are_not_replaced_nor_made() {
        let folder = tempfile::tempdir().unwrap();
        assert!(WholeFile::create(folder.path()).is_err());
        assert!(WholeFile::create(&folder.path().join("none/a.csv")).is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.csv"), folder.path().join("link.csv"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        let mut file = WholeFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.keep().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
