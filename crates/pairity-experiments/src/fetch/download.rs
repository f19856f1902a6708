//! The download of one file: attempts, each of which goes on where the last one ended.

use super::{FetchError, FetchSettings, Progress, verify};
use crate::data::FileCheck;
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

/// Why an attempt ended without a file.
enum Trouble {
    /// It may go better another time.
    Passing(String),
    Final(FetchError),
}

impl Download<'_> {
    /// Downloads the file unless it is there.
    pub(super) fn run(
        &self,
        settings: &FetchSettings,
        progress: &dyn Fn(Progress),
    ) -> Result<(), FetchError> {
        if verify::is_right(self.target, self.check) {
            return Ok(());
        }
        let part = self.part();
        if let Some(folder) = self.target.parent() {
            fs::create_dir_all(folder).map_err(|cause| self.write_failed(folder, cause))?;
        }
        // Received whole by a call that ended before it could say so.
        if verify::is_right(&part, self.check) && self.settle(&part)?.is_none() {
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
            let kept = fs::metadata(&part).map_or(0, |file| file.len());
            match self.attempt(&agent, &part, kept, progress) {
                Err(Trouble::Passing(passing)) => cause = passing,
                Err(Trouble::Final(error)) => return Err(error),
                Ok(()) => match self.settle(&part)? {
                    None => return Ok(()),
                    // What was kept may have been the start of another file.
                    Some(problem) if kept > 0 => cause = problem,
                    Some(problem) => return Err(self.wrong(problem)),
                },
            }
        }
        Err(FetchError::Other(format!(
            "{}: {cause} ({attempts} attempts). Check the connection and try again: what was received is \
             kept",
            self.address
        )))
    }

    /// Where the bytes go until all are there.
    fn part(&self) -> PathBuf {
        let mut name = self.target.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        self.target.with_file_name(name)
    }

    /// Puts a right file in place and removes a wrong one, saying how it differs.
    fn settle(&self, part: &Path) -> Result<Option<String>, FetchError> {
        let failed = |cause| self.write_failed(part, cause);
        let problem = verify::settle(part, self.check).map_err(failed)?;
        match problem {
            None => fs::rename(part, self.target).map_err(|cause| self.write_failed(self.target, cause))?,
            Some(_) => fs::remove_file(part).map_err(failed)?,
        }
        Ok(problem)
    }

    /// Receives what is missing after the bytes that were kept.
    fn attempt(
        &self,
        agent: &Agent,
        part: &Path,
        kept: u64,
        progress: &dyn Fn(Progress),
    ) -> Result<(), Trouble> {
        let mut request = agent.get(&self.address);
        if kept > 0 {
            request = request.header(header::RANGE, format!("bytes={kept}-"));
        }
        let response = request.call().map_err(|error| Trouble::Passing(error.to_string()))?;
        let begins = match response.status().as_u16() {
            200 => 0,
            // Other bytes than those asked for don't pass the check.
            206 => kept,
            // There are none after those kept: from the start, then.
            416 if kept > 0 => {
                fs::remove_file(part).map_err(|cause| self.final_write(part, cause))?;
                return Err(Trouble::Passing(format!("the server has no more than {kept} bytes")));
            }
            status @ (408 | 425 | 429 | 500..) => {
                return Err(Trouble::Passing(format!("the server answered with status {status}")));
            }
            status => {
                return Err(Trouble::Final(FetchError::Other(format!(
                    "{}: the server answered with status {status}. Has the file moved? Put it in place by \
                     hand: {}",
                    self.address,
                    self.target.display()
                ))));
            }
        };
        let mut file = open(part, begins > 0).map_err(|cause| self.final_write(part, cause))?;
        self.receive(response, &mut file, part, begins, progress)
    }

    /// Writes the body of an answer to a file that has so many bytes already.
    fn receive(
        &self,
        response: Response<ureq::Body>,
        file: &mut File,
        part: &Path,
        begins: u64,
        progress: &dyn Fn(Progress),
    ) -> Result<(), Trouble> {
        // With other line ends a text is at most twice as long; what is longer is another file.
        let longest = self.check.size.saturating_mul(2);
        let announced = response.body().content_length().map(|length| begins.saturating_add(length));
        let mut body = response.into_body().into_reader();
        let mut bytes = [0; 1 << 14];
        let mut done = begins;
        loop {
            progress(Progress { file: self.name, done, size: self.check.size });
            let count = match body.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let size = self.check.size;
                    return Err(Trouble::Passing(format!("after {done} of {size} bytes: {error}")));
                }
            };
            file.write_all(&bytes[..count]).map_err(|cause| self.final_write(part, cause))?;
            done += count as u64;
            if done > longest {
                fs::remove_file(part).map_err(|cause| self.final_write(part, cause))?;
                let problem = format!("it has more than {longest} bytes, not {}", self.check.size);
                return Err(Trouble::Final(self.wrong(problem)));
            }
        }
        file.sync_all().map_err(|cause| self.final_write(part, cause))?;
        // Without a length an answer ends when the connection does, be it too early.
        if done < self.check.size && announced.is_none_or(|length| done < length) {
            let size = self.check.size;
            return Err(Trouble::Passing(format!("the connection ended after {done} of {size} bytes")));
        }
        Ok(())
    }

    fn wrong(&self, problem: String) -> FetchError {
        let (address, target) = (&self.address, self.target.display());
        FetchError::Other(format!(
            "{address} is not the file that is expected: {problem}. The publisher may have changed it, or \
             something on the way answered in its place. Put the file in place by hand: {target}"
        ))
    }

    fn write_failed(&self, path: &Path, cause: io::Error) -> FetchError {
        FetchError::Write { path: path.to_owned(), cause }
    }

    fn final_write(&self, path: &Path, cause: io::Error) -> Trouble {
        Trouble::Final(self.write_failed(path, cause))
    }
}

/// Opens a file to go on with it, or to start it over.
fn open(path: &Path, go_on: bool) -> io::Result<File> {
    match go_on {
        true => OpenOptions::new().append(true).open(path),
        false => File::create(path),
    }
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
