//! The download of one file: attempts, each of which goes on where the last one ended, and a check whether the
//! bytes are those of the published file.

use super::{FetchSettings, Progress};
use crate::data::{DataError, FileCheck};
use pairity_tables::FileId;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use ureq::Agent;
use ureq::http::{Response, header};

/// A file to be downloaded.
pub(super) struct Download<'a> {
    pub(super) name: &'a str,
    pub(super) check: FileCheck,
    pub(super) address: String,
    pub(super) target: &'a Path,
}

/// Nothing if a step went well, or what went wrong and may go better another time.
type Step = Result<Option<String>, DataError>;

impl Download<'_> {
    /// Downloads the file unless it is there.
    pub(super) fn run(&self, settings: &FetchSettings, progress: &dyn Fn(Progress)) -> Result<(), DataError> {
        if is_right(self.target, self.check) {
            return Ok(());
        }
        // Where the bytes go until all are there.
        let mut part = self.target.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        if let Some(folder) = self.target.parent() {
            fs::create_dir_all(folder).map_err(unwritable(folder))?;
        }
        let _claimed = claim(&part)?;
        // Another call may have fetched it meanwhile.
        let done =
            if is_right(self.target, self.check) { Ok(()) } else { self.complete(&part, settings, progress) };
        // What holds nothing is no start of a file.
        if fs::metadata(&part).is_ok_and(|file| file.len() == 0) {
            fs::remove_file(&part).map_err(unwritable(&part))?;
        }
        done
    }

    /// Downloads what a part lacks, and puts it in place.
    fn complete(
        &self,
        part: &Path,
        settings: &FetchSettings,
        progress: &dyn Fn(Progress),
    ) -> Result<(), DataError> {
        // Received whole by a call that ended before it could say so.
        if is_right(part, self.check) && self.settle(part)?.is_none() {
            return Ok(());
        }
        let agent = agent(&self.address, settings);
        let mut pause = settings.pause;
        let attempts = settings.attempts.max(1);
        let mut cause = String::new();
        for attempt in 0..attempts {
            if attempt > 0 {
                std::thread::sleep(pause);
                pause = pause.saturating_mul(2);
            }
            let kept = fs::metadata(part).map_or(0, |file| file.len());
            cause = match self.attempt(&agent, part, kept, progress)? {
                Some(passing) => passing,
                None => match self.settle(part)? {
                    None => return Ok(()),
                    // What was kept may have been the start of another file.
                    Some(problem) if kept > 0 => problem,
                    Some(problem) => return Err(self.wrong(problem)),
                },
            };
        }
        Err(DataError::Other(format!(
            "{}: {cause} ({attempts} attempts). Check the connection and try again: what was received is \
             kept",
            self.address
        )))
    }

    /// Puts a right file in place and empties a wrong one, saying how it differs.
    fn settle(&self, part: &Path) -> Step {
        let problem = difference(part, self.check).map_err(unwritable(part))?;
        match problem {
            None => fs::rename(part, self.target).map_err(unwritable(self.target))?,
            Some(_) => empty(part)?,
        }
        Ok(problem)
    }

    /// Receives what is missing after the bytes that were kept.
    fn attempt(&self, agent: &Agent, part: &Path, kept: u64, progress: &dyn Fn(Progress)) -> Step {
        let mut request = agent.get(&self.address);
        if kept > 0 {
            request = request.header(header::RANGE, format!("bytes={kept}-"));
        }
        let response = match request.call() {
            Ok(response) => response,
            Err(error) => return Ok(Some(error.to_string())),
        };
        let begins = match response.status().as_u16() {
            200 => 0,
            // Other bytes than those asked for don't pass the check.
            206 => kept,
            // There are none after those kept: from the start, then.
            416 if kept > 0 => {
                empty(part)?;
                return Ok(Some(format!("the server has no more than {kept} bytes")));
            }
            status @ (408 | 425 | 429 | 500..) => {
                return Ok(Some(format!("the server answered with status {status}")));
            }
            status => {
                let (address, target) = (&self.address, self.target.display());
                return Err(DataError::Other(format!(
                    "{address}: the server answered with status {status}. Has the file moved? Put it in place by \
                     hand: {target}"
                )));
            }
        };
        let go_on = || OpenOptions::new().append(true).open(part);
        let file = if begins > 0 { go_on() } else { File::create(part) }.map_err(unwritable(part))?;
        self.receive(response, file, part, begins, progress)
    }

    /// Writes the body of an answer to a file that has so many bytes already.
    fn receive(
        &self,
        response: Response<ureq::Body>,
        mut file: File,
        part: &Path,
        begins: u64,
        progress: &dyn Fn(Progress),
    ) -> Step {
        let size = self.check.size;
        // With other line ends a text is at most twice as long; what is longer is another file.
        let longest = size.saturating_mul(2);
        let announced = response.body().content_length().map(|length| begins.saturating_add(length));
        let mut body = response.into_body().into_reader();
        let mut bytes = [0; 1 << 14];
        let mut done = begins;
        loop {
            progress(Progress { file: self.name, done, size });
            let count = match body.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(Some(format!("after {done} of {size} bytes: {error}"))),
            };
            file.write_all(&bytes[..count]).map_err(unwritable(part))?;
            done += count as u64;
            if done > longest {
                empty(part)?;
                return Err(self.wrong(format!("it has more than {longest} bytes, not {size}")));
            }
        }
        file.sync_all().map_err(unwritable(part))?;
        // Without a length an answer ends when the connection does, be it too early.
        let early = done < size && announced.is_none_or(|length| done < length);
        Ok(early.then(|| format!("the connection ended after {done} of {size} bytes")))
    }

    fn wrong(&self, problem: String) -> DataError {
        let (address, target) = (&self.address, self.target.display());
        DataError::Other(format!(
            "{address} is not the file that is expected: {problem}. The publisher may have changed it, or \
             something on the way answered in its place. Put the file in place by hand: {target}"
        ))
    }
}

/// Opens a part for one call at a time: others wait until it is done. It stays the same file meanwhile, which is why
/// it is emptied and not removed where its bytes are wrong.
fn claim(part: &Path) -> Result<File, DataError> {
    loop {
        // Nothing is written through a link that somebody put there.
        if fs::symlink_metadata(part).is_ok_and(|found| found.is_symlink()) {
            fs::remove_file(part).map_err(unwritable(part))?;
        }
        let file = OpenOptions::new().create(true).append(true).open(part).map_err(unwritable(part))?;
        // A file system without locks is no reason not to fetch.
        if let Err(error) = file.lock()
            && error.kind() != io::ErrorKind::Unsupported
        {
            return Err(unwritable(part)(error));
        }
        // Whoever had it before may have put it in place.
        let found = file.metadata().map_err(unwritable(part))?;
        if FileId::of(part) == Some(FileId::existing(part, &found)) {
            return Ok(file);
        }
    }
}

/// Starts a part over.
fn empty(part: &Path) -> Result<(), DataError> {
    File::create(part).map(drop).map_err(unwritable(part))
}

/// The error for a file that the operating system does not let be written.
fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> DataError {
    |cause| DataError::Write { path: path.to_owned(), cause }
}

fn agent(address: &str, settings: &FetchSettings) -> Agent {
    Agent::config_builder()
        .timeout_resolve(Some(settings.stall))
        .timeout_connect(Some(settings.stall))
        .timeout_recv_response(Some(settings.stall))
        .timeout_per_read(Some(settings.stall))
        .http_status_as_error(false)
        // No redirect may leave an encrypted connection for a plain one.
        .https_only(address.starts_with("https://"))
        .user_agent(concat!("pairity/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// The SHA-256 of some bytes in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a file is there and is the right one.
pub(crate) fn is_right(path: &Path, check: FileCheck) -> bool {
    let size = fs::metadata(path).map(|file| file.len());
    size.is_ok_and(|size| size == check.size)
        && fs::read(path).is_ok_and(|bytes| sha256(&bytes) == check.sha256)
}

/// How the file that was received differs from the right one, if it does. A copy that differs by its line
/// ends alone, as files do after a journey through Windows, is given the right ones.
fn difference(path: &Path, check: FileCheck) -> io::Result<Option<String>> {
    let bytes = fs::read(path)?;
    let found = sha256(&bytes);
    if found == check.sha256 {
        return Ok(None);
    }
    let plain = without_returns(&bytes);
    if sha256(&plain) == check.sha256 {
        fs::write(path, plain)?;
        return Ok(None);
    }
    Ok(Some(match bytes.len() as u64 {
        size if size != check.size => format!("it has {size} bytes, not {}", check.size),
        _ => format!("its SHA-256 is {found}, not {}", check.sha256),
    }))
}

/// `\r\n` as `\n`.
fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let stays = |(at, byte): &(usize, &u8)| **byte != b'\r' || bytes.get(at + 1) != Some(&b'\n');
    bytes.iter().enumerate().filter(stays).map(|(_, byte)| *byte).collect()
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
