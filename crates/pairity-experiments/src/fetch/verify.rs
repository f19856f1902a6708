//! Whether bytes are those of a published file.

use crate::data::FileCheck;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

/// The SHA-256 of some bytes in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a file is there and is the right one.
pub(super) fn is_right(path: &Path, check: FileCheck) -> bool {
    let size = std::fs::metadata(path).map(|file| file.len());
    size.is_ok_and(|size| size == check.size)
        && std::fs::read(path).is_ok_and(|bytes| sha256(&bytes) == check.sha256)
}

/// How the file that was received differs from the right one, if it does. A copy that differs by its line
/// ends alone, as files do after a journey through Windows, is given the right ones.
pub(super) fn settle(path: &Path, check: FileCheck) -> io::Result<Option<String>> {
    let bytes = std::fs::read(path)?;
    let found = sha256(&bytes);
    if found == check.sha256 {
        return Ok(None);
    }
    let plain = without_returns(&bytes);
    if sha256(&plain) == check.sha256 {
        std::fs::write(path, plain)?;
        return Ok(None);
    }
    Ok(Some(match bytes.len() as u64 {
        size if size != check.size => format!("it has {size} bytes, not {}", check.size),
        _ => format!("its SHA-256 is {found}, not {}", check.sha256),
    }))
}

/// `\r\n` as `\n`.
fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        if byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            plain.push(byte);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standard_one() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn only_returns_before_a_line_feed_are_removed() {
        assert_eq!(without_returns(b"a\r\nb\r\r\nc\rd\r"), b"a\nb\r\nc\rd\r");
    }
}
