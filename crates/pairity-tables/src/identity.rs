//! Which file a path leads to: spellings and links don't matter.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// A file as the operating system knows it, by whatever path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileId(Identity);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and inode, which links share.
    #[cfg(unix)]
    Node(u64, u64),
    /// The path without links and dots.
    Path(PathBuf),
}

impl FileId {
    /// The file at a path, or the one that would be made there. Nothing for folders, pipes and devices, which
    /// are never replaced.
    pub fn of(path: &Path) -> Option<FileId> {
        match fs::metadata(path) {
            Ok(found) => found.is_file().then(|| FileId::existing(path, &found)),
            Err(_) => {
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
                Some(FileId(Identity::Path(folder.join(path.file_name()?))))
            }
        }
    }

    /// A file that is there, at a path and with what is known of it.
    #[cfg(unix)]
    pub fn existing(_: &Path, found: &Metadata) -> FileId {
        use std::os::unix::fs::MetadataExt;
        FileId(Identity::Node(found.dev(), found.ino()))
    }

    /// A file that is there, at a path and with what is known of it.
    #[cfg(not(unix))]
    pub fn existing(path: &Path, _: &Metadata) -> FileId {
        FileId(Identity::Path(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_and_links_lead_to_one_file_and_copies_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "1").unwrap();
        fs::copy(path("a"), path("copy")).unwrap();
        fs::hard_link(path("a"), path("hard")).unwrap();
        let id = |name: &str| FileId::of(&path(name)).unwrap();
        assert_eq!(id("a"), id("./a"));
        assert_ne!(id("a"), id("copy"));
        assert_eq!(id("new"), id("./new"));
        assert_ne!(id("new"), id("other"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("a"), path("link")).unwrap();
            std::os::unix::fs::symlink(folder.path(), path("self")).unwrap();
            assert_eq!((id("link"), id("hard")), (id("a"), id("a")));
            assert_eq!(id("self/new"), id("new"));
        }
        assert_eq!((FileId::of(folder.path()), FileId::of(&path("none/a"))), (None, None));
    }
}
