//! Fetching from a server on this machine that misbehaves as told.

use super::download::{Download, sha256};
use super::*;
use crate::data::FileCheck;
use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

/// How the server answers one request.
#[derive(Debug, Clone)]
enum Answer {
    /// As it should: what was asked for.
    Whole,
    /// Everything, whatever part was asked for.
    IgnoreRange,
    /// A part that begins elsewhere than asked for.
    OtherRange,
    /// With a status alone.
    Status(u16),
    /// The connection ends after so many bytes of the body.
    Cut(usize),
    /// The same without saying how long the body is.
    CutWithoutLength(usize),
    /// Nothing more after so many bytes of the body.
    Stall(usize),
    /// Not a single byte.
    Silence,
    /// Another body.
    Other(Vec<u8>),
    /// To the path after a first request.
    Redirect(&'static str),
}

/// A server that gives one answer a connection. It ends after the last one, with what was asked: each path,
/// and the range if there was one.
fn serve(body: &[u8], answers: &[Answer]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (body, answers) = (body.to_vec(), answers.to_vec());
    let asked = std::thread::spawn(move || {
        answers.iter().map(|answer| respond(listener.accept().unwrap().0, &body, answer)).collect()
    });
    (base, asked)
}

fn respond(mut stream: TcpStream, body: &[u8], answer: &Answer) -> String {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let path = lines.next().unwrap().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers = lines.map(|line| line.unwrap().to_ascii_lowercase()).take_while(|line| !line.is_empty());
    let range = headers.filter_map(|line| Some(line.strip_prefix("range: bytes=")?.to_owned())).last();
    let start = range.as_ref().and_then(|range| range.strip_suffix('-')?.parse().ok()).unwrap_or(0);
    let asked = range.map_or(path.clone(), |range| format!("{path} {range}"));
    let head = |status: &str, more: &str| format!("HTTP/1.1 {status}\r\n{more}Connection: close\r\n\r\n");
    let length = |length: usize| format!("Content-Length: {length}\r\n");
    let ranged = |begins: usize| match start {
        0 => head("200 OK", &length(body.len())),
        _ => head(
            "206 Partial Content",
            &format!("Content-Range: bytes {begins}-{}/{}\r\n", body.len() - 1, body.len())
                .chars()
                .chain(length(body.len() - begins).chars())
                .collect::<String>(),
        ),
    };
    let (head, sent): (String, &[u8]) = match answer {
        Answer::Whole if start >= body.len() => (head("416 Range Not Satisfiable", &length(0)), &[]),
        Answer::Whole => (ranged(start), &body[start..]),
        Answer::IgnoreRange => (head("200 OK", &length(body.len())), body),
        Answer::OtherRange => (ranged(1), &body[1..]),
        Answer::Status(status) => (head(&format!("{status} Trouble"), &length(0)), &[]),
        Answer::Cut(count) | Answer::Stall(count) => (ranged(start), &body[start..start + count]),
        Answer::CutWithoutLength(count) => (head("200 OK", ""), &body[..*count]),
        Answer::Silence => (String::new(), &[]),
        Answer::Other(other) => (head("200 OK", &length(other.len())), other),
        Answer::Redirect(to) => (head("302 Found", &format!("Location: {to}\r\n{}", length(0))), &[]),
    };
    // The client may have left already.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent));
    if matches!(answer, Answer::Stall(_) | Answer::Silence) {
        // Until the client has had enough.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    asked
}

fn body() -> Vec<u8> {
    (0..60_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

fn quick() -> FetchSettings {
    FetchSettings {
        stall: Duration::from_secs(30),
        attempts: 4,
        pause: Duration::from_millis(1),
        ..FetchSettings::default()
    }
}

/// What a download left behind.
struct Outcome {
    result: Result<(), DataError>,
    /// What the server was asked.
    asked: Vec<String>,
    /// The file, if it is there.
    file: Option<Vec<u8>>,
    /// The part, if it is there.
    part: Option<Vec<u8>>,
    /// The progress, at every change.
    done: Vec<u64>,
}

/// Downloads a file from a server that answers so, with so many bytes left of an earlier time.
fn download(answers: &[Answer], left: &[u8]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("deep").join("numbers.txt");
    let part = target.with_file_name("numbers.txt.part");
    if !left.is_empty() {
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(&part, left).unwrap();
    }
    let body = body();
    let check = FileCheck { size: body.len() as u64, sha256: sha256(&body).leak() };
    let (base, asked) = serve(&body, answers);
    let done = RefCell::new(Vec::new());
    let show = |progress: Progress| {
        assert_eq!((progress.file, progress.size), ("numbers.txt", check.size));
        done.borrow_mut().push(progress.done);
    };
    let address = format!("{base}/numbers.txt");
    let stalls = answers.iter().any(|answer| matches!(answer, Answer::Stall(_) | Answer::Silence));
    let stall = if stalls { Duration::from_secs(1) } else { quick().stall };
    let settings = FetchSettings { stall, ..quick() };
    let result = Download { name: "numbers.txt", check, address, target: &target }.run(&settings, &show);
    // A server with answers left would wait for ever; a connection without a request ends it in a panic.
    let _ = TcpStream::connect(base.trim_start_matches("http://"));
    Outcome {
        result,
        asked: asked.join().unwrap(),
        file: fs::read(&target).ok(),
        part: fs::read(&part).ok(),
        done: done.into_inner(),
    }
}

/// A download that ends well, with what the server was asked.
fn succeeds(answers: &[Answer], left: &[u8], asked: &[&str]) {
    let outcome = download(answers, left);
    outcome.result.unwrap_or_else(|error| panic!("{answers:?}: {error}"));
    assert!(outcome.file.is_some_and(|file| file == body()), "{answers:?}");
    assert_eq!(outcome.part, None, "{answers:?}");
    assert_eq!(outcome.asked, asked, "{answers:?}");
    assert_eq!(outcome.done.last().copied().unwrap_or(body().len() as u64), body().len() as u64);
}

/// A download that fails, with its message and the number of bytes kept.
fn fails(answers: &[Answer], message: &str, kept: Option<usize>) {
    let outcome = download(answers, &[]);
    let error = outcome.result.expect_err(message).to_string();
    assert!(error.contains(message), "{answers:?}: {error}");
    assert_eq!(outcome.file, None, "{answers:?}");
    assert_eq!(outcome.part.map(|part| part.len()), kept, "{answers:?}");
    assert_eq!(outcome.asked.len(), answers.len());
}

#[test]
fn a_file_arrives_whole_and_its_progress_is_told() {
    let outcome = download(&[Answer::Whole], &[]);
    outcome.result.unwrap();
    assert!(outcome.file.unwrap() == body());
    assert_eq!(outcome.asked, ["/numbers.txt"]);
    assert!(outcome.done.len() > 2 && outcome.done.is_sorted());
    assert_eq!((outcome.done[0], *outcome.done.last().unwrap()), (0, body().len() as u64));
}

#[test]
fn a_download_that_is_cut_off_goes_on_where_it_ended() {
    let rest = ["/numbers.txt", "/numbers.txt 1000-"];
    succeeds(&[Answer::Cut(1000), Answer::Whole], &[], &rest);
    succeeds(&[Answer::CutWithoutLength(1000), Answer::Whole], &[], &rest);
    succeeds(
        &[Answer::Cut(1000), Answer::Cut(500), Answer::Whole],
        &[],
        &["/numbers.txt", "/numbers.txt 1000-", "/numbers.txt 1500-"],
    );
}

#[test]
fn a_later_call_goes_on_where_an_earlier_one_ended() {
    succeeds(&[Answer::Whole], &body()[..2000], &["/numbers.txt 2000-"]);
    succeeds(&[], &body(), &[]);
}

#[test]
fn a_stalled_server_is_left_and_asked_again() {
    succeeds(&[Answer::Stall(1000), Answer::Whole], &[], &["/numbers.txt", "/numbers.txt 1000-"]);
    succeeds(&[Answer::Silence, Answer::Whole], &[], &["/numbers.txt"; 2]);
}

#[test]
fn a_server_that_ignores_ranges_starts_the_file_over() {
    succeeds(&[Answer::Cut(1000), Answer::IgnoreRange], &[], &["/numbers.txt", "/numbers.txt 1000-"]);
}

#[test]
fn a_server_that_sends_another_range_is_asked_for_everything() {
    let asked = ["/numbers.txt 1000-", "/numbers.txt"];
    succeeds(&[Answer::OtherRange, Answer::Whole], &body()[..1000], &asked);
}

#[test]
fn the_start_of_another_file_is_thrown_away() {
    succeeds(&[Answer::Whole, Answer::Whole], &[b'x'; 1000], &["/numbers.txt 1000-", "/numbers.txt"]);
    let longer = [body(), vec![b'x']].concat();
    let range = format!("/numbers.txt {}-", longer.len());
    succeeds(&[Answer::Whole, Answer::Whole], &longer, &[&range, "/numbers.txt"]);
}

#[test]
fn a_busy_server_is_asked_again_and_a_refusal_is_final() {
    succeeds(&[Answer::Status(503), Answer::Status(429), Answer::Whole], &[], &["/numbers.txt"; 3]);
    fails(
        &[Answer::Status(404)],
        "/numbers.txt: the server answered with status 404. Has the file moved?",
        None,
    );
    fails(&[Answer::Status(403)], "status 403", None);
}

#[test]
fn attempts_are_bounded_and_what_came_is_kept() {
    fails(&[const { Answer::Status(500) }; 4], "the server answered with status 500 (4 attempts)", None);
    fails(&[const { Answer::Cut(10) }; 4], "after 40 of", Some(40));
    fails(&[const { Answer::Stall(10) }; 4], "after 40 of", Some(40));
}

#[test]
fn another_file_than_expected_is_refused_and_not_kept() {
    let mut other = body();
    other[1234] ^= 1;
    fails(&[Answer::Other(other)], "is not the file that is expected: its SHA-256 is ", None);
    let page = b"<html>Please log in</html>".to_vec();
    fails(&[Answer::Other(page)], "it has 26 bytes, not ", None);
    let long = body().repeat(3);
    fails(&[Answer::Other(long)], "it has more than ", None);
}

#[test]
fn other_line_ends_are_no_other_file() {
    let text = String::from_utf8(body()).unwrap().replace('\n', "\r\n");
    let outcome = download(&[Answer::Other(text.into_bytes())], &[]);
    outcome.result.unwrap();
    assert!(outcome.file.unwrap() == body());
}

#[test]
fn a_redirect_is_followed() {
    succeeds(&[Answer::Redirect("/moved"), Answer::Whole], &[], &["/numbers.txt", "/moved"]);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    // A port that no test listens to: only the system may.
    let settings = FetchSettings { mirror: Some("http://127.0.0.1:1/".to_owned()), ..quick() };
    let error = fetch("crime", folder.path(), &settings, &|_| ()).unwrap_err().to_string();
    let address = "http://127.0.0.1:1/ml/machine-learning-databases/communities/communities.data: ";
    assert!(error.starts_with(address) && error.contains("(4 attempts)"), "{error}");
}

#[test]
fn a_file_that_is_there_is_not_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("numbers.txt");
    fs::write(&target, body()).unwrap();
    let check = FileCheck { size: body().len() as u64, sha256: sha256(&body()).leak() };
    let address = "http://127.0.0.1:1/numbers.txt".to_owned();
    Download { name: "numbers.txt", check, address, target: &target }.run(&quick(), &|_| ()).unwrap();
}

#[test]
fn two_calls_at_once_fetch_a_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("numbers.txt");
    let check = FileCheck { size: body().len() as u64, sha256: sha256(&body()).leak() };
    let (base, asked) = serve(&body(), &[Answer::Whole]);
    let address = format!("{base}/numbers.txt");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (address, target) = (address.clone(), &target);
            scope.spawn(move || {
                Download { name: "numbers.txt", check, address, target }.run(&quick(), &|_| ()).unwrap();
            });
        }
    });
    assert!(fs::read(&target).unwrap() == body());
    assert_eq!(asked.join().unwrap().len(), 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (target, precious) = (folder.path().join("numbers.txt"), folder.path().join("precious"));
    fs::write(&precious, "mine").unwrap();
    std::os::unix::fs::symlink(&precious, folder.path().join("numbers.txt.part")).unwrap();
    let check = FileCheck { size: body().len() as u64, sha256: sha256(&body()).leak() };
    let (base, asked) = serve(&body(), &[Answer::Whole]);
    let address = format!("{base}/numbers.txt");
    Download { name: "numbers.txt", check, address, target: &target }.run(&quick(), &|_| ()).unwrap();
    asked.join().unwrap();
    assert!(fs::read(&target).unwrap() == body());
    assert_eq!(fs::read(&precious).unwrap(), b"mine");
}

#[test]
fn a_wrong_file_in_place_is_replaced_only_by_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("numbers.txt");
    fs::write(&target, "old").unwrap();
    let check = FileCheck { size: body().len() as u64, sha256: sha256(&body()).leak() };
    let (base, asked) = serve(&body(), &[Answer::Status(404), Answer::Whole]);
    let address = format!("{base}/numbers.txt");
    let download = Download { name: "numbers.txt", check, address, target: &target };
    download.run(&quick(), &|_| ()).unwrap_err();
    assert_eq!(fs::read(&target).unwrap(), b"old");
    download.run(&quick(), &|_| ()).unwrap();
    assert!(fs::read(&target).unwrap() == body());
    asked.join().unwrap();
}

#[test]
fn a_folder_that_can_not_be_written_to_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = fetch("crime", &file, &quick(), &|_| ()).unwrap_err();
    assert!(matches!(error, DataError::Write { .. }), "{error}");
    assert!(error.to_string().starts_with("can't write "), "{error}");
}

#[test]
fn a_data_set_without_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str| fetch(name, folder.path(), &quick(), &|_| ()).unwrap_err().to_string();
    assert!(message("business").contains("is generated and has no files"));
    assert!(message("adult").starts_with("there is no data set \"adult\""));
}

#[test]
fn a_mirror_has_the_files_under_the_same_paths() {
    let address = "https://example.org/a/b.csv";
    let mirror = |mirror: Option<&str>| FetchSettings { mirror: mirror.map(str::to_owned), ..quick() };
    assert_eq!(at(address, &mirror(None)), address);
    assert_eq!(at(address, &mirror(Some("http://m:8/"))), "http://m:8/a/b.csv");
    assert_eq!(at(address, &mirror(Some("http://m:8/copy"))), "http://m:8/copy/a/b.csv");
}
