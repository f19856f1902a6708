//! A file that appears whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The hidden files of this program, so that a signal that ends it can remove them. A name is given under this
/// lock: several files get theirs before a signal, or none does.
static HIDDEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn hidden_files() -> MutexGuard<'static, Vec<PathBuf>> {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How names of hidden files end.
const ENDING: &str = ".partial";

/// A file to be written, which takes its name only when it is [kept](WholeFile::keep). Until then what is
/// written is in a hidden file beside it, which is removed if this is dropped before; and a file of the
/// same name stays as it was. Hidden files of programs that were killed are removed by the next one that writes a
/// file of that name.
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
pub(crate) struct Hidden(pub(crate) PathBuf);

impl Drop for Hidden {
    fn drop(&mut self) {
        // It is gone already if it got its name.
        let _ = fs::remove_file(&self.0);
        hidden_files().retain(|path| *path != self.0);
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

    /// Brings all that was written to the disk, so that little can go wrong when it gets its name.
    ///
    /// # Errors
    /// Not all of it could be written.
    pub fn sync(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        // Otherwise a name could outlive a power failure that its content does not.
        if self.rename.is_some() { self.writer.get_ref().sync_all() } else { Ok(()) }
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// Not all of it could be written; a file of that name is as it was.
    pub fn keep(self) -> io::Result<()> {
        WholeFile::keep_all(vec![self])
    }

    /// Ends several files and gives them their names when all of them are written.
    ///
    /// # Errors
    /// Not all of them could be written, and none has got its name; or a name could not be given, and the error
    /// says which files were written before.
    pub fn keep_all(mut files: Vec<WholeFile>) -> io::Result<()> {
        files.iter_mut().try_for_each(WholeFile::sync)?;
        let guard = hidden_files();
        let mut written: Vec<String> = Vec::new();
        // Each is still open, and with that locked, when it gets its name.
        for (hidden, path) in files.iter().filter_map(|file| file.rename.as_ref()) {
            if let Err(error) = fs::rename(&hidden.0, path) {
                let before = match written.is_empty() {
                    true => String::new(),
                    false => format!("; already written: {}", written.join(", ")),
                };
                drop(guard);
                return Err(io::Error::new(error.kind(), format!("{}: {error}{before}", path.display())));
            }
            written.push(path.display().to_string());
        }
        drop(guard);
        Ok(())
    }

    /// Removes all files that have no name yet, and lets none get one anymore: the program is about to end.
    pub fn abandon_all() {
        let guard = hidden_files();
        guard.iter().for_each(|path| drop(fs::remove_file(path)));
        std::mem::forget(guard);
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

/// A new file with a name of its own in the same folder, from where it can be renamed in one step. It is locked
/// for as long as it is open.
pub(crate) fn hidden_beside(path: &Path) -> io::Result<(File, Hidden)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    let start = format!(".{}.", name.to_string_lossy());
    remove_abandoned(path, &start);
    for attempt in 0..1000 {
        let hidden = path.with_file_name(format!("{start}{}-{attempt}{ENDING}", std::process::id()));
        let mut all = hidden_files();
        match OpenOptions::new().read(true).write(true).create_new(true).open(&hidden) {
            Ok(file) => {
                all.push(hidden.clone());
                drop(all);
                let hidden = Hidden(hidden);
                // Another program may have taken it for an abandoned one before it was locked. A file system
                // without locks is no reason not to write.
                let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !hidden.0.exists();
                if !taken {
                    return Ok((file, hidden));
                }
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Removes what programs that were killed have left of earlier files of this name: nobody holds their locks.
fn remove_abandoned(path: &Path, start: &str) {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let is_ours = |name: &str| {
        let inner = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(ENDING));
        let numbers = inner.and_then(|inner| inner.split_once('-'));
        numbers.is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok())
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // A link of such a name is not ours.
        let plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        if plain
            && entry.file_name().to_str().is_some_and(is_ours)
            && let Ok(file) = OpenOptions::new().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
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
    fn what_a_killed_program_left_is_removed_and_what_another_still_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [".a.csv.1-0.partial", ".a.csv.2-1.partial", ".b.csv.1-0.partial", ".a.csv.mine.partial"]
        {
            fs::write(path(name), "half").unwrap();
        }
        let other = File::open(path(".a.csv.2-1.partial")).unwrap();
        other.lock().unwrap();
        WholeFile::create(&path("a.csv")).unwrap().keep().unwrap();
        let left = [".a.csv.2-1.partial", ".a.csv.mine.partial", ".b.csv.1-0.partial", "a.csv"];
        assert_eq!(names(folder.path()), left);
        drop(other);
        WholeFile::create(&path("a.csv")).unwrap();
        assert!(!path(".a.csv.2-1.partial").exists());
    }

    #[test]
    fn several_files_get_their_names_together_or_the_error_says_which_did() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let files = || ["a.csv", "b.csv"].map(|name| WholeFile::create(&path(name)).unwrap()).into();
        WholeFile::keep_all(files()).unwrap();
        assert_eq!(names(folder.path()), ["a.csv", "b.csv"]);
        fs::remove_file(path("b.csv")).unwrap();
        let again = files();
        // A folder takes the second name meanwhile.
        fs::create_dir(path("b.csv")).unwrap();
        let message = WholeFile::keep_all(again).unwrap_err().to_string();
        let (a, b) = (path("a.csv").canonicalize().unwrap(), path("b.csv"));
        assert!(message.starts_with(&format!("{}: ", b.display())), "{message}");
        assert!(message.ends_with(&format!("; already written: {}", a.display())), "{message}");
        assert_eq!(names(folder.path()), ["a.csv", "b.csv"]);
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
