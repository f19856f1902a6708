//! `pairity data`, with a server on this machine in place of the publishers.

use super::{Outcome, pairity, run};
use pairity_testing::need_data;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Paths of the two files of a data set at their publisher.
const CRIME: [&str; 2] = ["communities.data", "communities.names"];

/// A run that sees no data but that of the test.
fn data(home: &Path, arguments: &[&str]) -> Outcome {
    let mut command = pairity();
    command.env_remove("PAIRITY_DATA").env("HOME", home).env("XDG_CACHE_HOME", home.join("cache"));
    command.env("LOCALAPPDATA", home.join("cache"));
    run(command.arg("data").args(arguments))
}

/// The folder that such a run calls the user's cache.
fn cache(home: &Path) -> PathBuf {
    let folder = if cfg!(target_os = "macos") { "Library/Caches" } else { "cache" };
    home.join(folder).join("pairity")
}

/// A server that sends each body to one request, after saying that it has so many bytes. It ends with what
/// it was asked: the last part of each path, and the range if there was one.
fn serve(answers: Vec<(u16, usize, Vec<u8>)>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let answer = |(status, length, body): &(u16, usize, Vec<u8>)| {
            let mut stream = listener.accept().unwrap().0;
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
            let path =
                lines.next().unwrap().split(' ').nth(1).unwrap().rsplit('/').next().unwrap().to_owned();
            let lines = lines.take_while(|line| !line.is_empty()).map(|line| line.to_ascii_lowercase());
            let range = lines.filter_map(|line| Some(line.strip_prefix("range: bytes=")?.to_owned())).last();
            let start: usize =
                range.as_ref().and_then(|range| range.strip_suffix('-')?.parse().ok()).unwrap_or(0);
            let part = format!("Content-Range: bytes {start}-{}/{}\r\n", start + length - 1, start + length);
            let part = if *status == 206 { part } else { String::new() };
            let head =
                format!("HTTP/1.1 {status} x\r\n{part}Content-Length: {length}\r\nConnection: close\r\n\r\n");
            // The client may have left already.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
            range.map_or(path.clone(), |range| format!("{path} {range}"))
        };
        answers.iter().map(answer).collect()
    });
    (address, asked)
}

#[test]
fn the_list_has_every_data_set_with_its_state() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("mine");
    fs::create_dir_all(folder.join("crime")).unwrap();
    for file in CRIME {
        fs::write(folder.join("crime").join(file), "").unwrap();
    }
    let folder = folder.to_str().unwrap();
    let text = data(home.path(), &["list", "--data-dir", folder]).out;
    for words in
        ["crime  ", "communities.names", "not here: pairity data fetch law", "drawn from a seed", folder]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json = data(home.path(), &["list", "--data-dir", folder, "--format", "json"]).json();
    let names: Vec<&str> =
        json["data"].as_array().unwrap().iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["crime", "law", "w3c", "wiki", "simulated", "simulated-3", "business"]);
    assert_eq!(json["data"][0]["files"].as_array().unwrap().len(), 2);
    assert!(json["data"][1]["files"].is_null() && json["data"][4]["generated"] == true);
    assert_eq!(json["looked"], serde_json::json!([folder, cache(home.path())]));
}

#[test]
fn a_folder_goes_before_the_variable_and_that_before_the_cache() {
    let home = tempfile::tempdir().unwrap();
    let folders = [home.path().join("near"), home.path().join("far"), cache(home.path())];
    let law = "law_school_27234.csv";
    let found = |arguments: &[&str]| {
        let mut command = pairity();
        command.env("HOME", home.path()).env("XDG_CACHE_HOME", home.path().join("cache"));
        command.env("LOCALAPPDATA", home.path().join("cache")).env("PAIRITY_DATA", &folders[1]);
        run(command.args(["data", "path", "law"]).args(arguments)).out
    };
    let near = ["--data-dir", folders[0].to_str().unwrap()];
    for folder in folders.iter().rev() {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(law), "").unwrap();
        assert_eq!(found(&near), format!("{}\n", folder.join(law).display()));
    }
    assert_eq!(found(&[]), format!("{}\n", folders[1].join(law).display()));
}

#[test]
fn what_is_not_here_or_not_known_is_refused_with_advice() {
    let home = tempfile::tempdir().unwrap();
    let message = data(home.path(), &["path", "crime"]);
    assert!(message.refusal().contains("pairity data fetch crime"), "{}", message.err);
    assert!(data(home.path(), &["path", "adult"]).refusal().contains("there is no data set \"adult\""));
    assert!(data(home.path(), &["path", "business"]).refusal().contains("is generated and has no files"));
    assert!(data(home.path(), &["fetch", "crime", "adult"]).refusal().contains("no data set \"adult\""));
    assert!(!cache(home.path()).exists());
}

#[test]
fn a_wrong_file_is_refused_and_nothing_is_left() {
    let home = tempfile::tempdir().unwrap();
    let page = b"<html>Please log in</html>".to_vec();
    let (address, asked) = serve(vec![(200, page.len(), page)]);
    let outcome = data(home.path(), &["fetch", "crime", "--mirror", &address]);
    assert!(outcome.refusal().contains("it has 26 bytes, not 1100821"), "{}", outcome.err);
    assert!(outcome.err.contains("Put the file in place by hand"), "{}", outcome.err);
    assert_eq!(asked.join().unwrap(), ["communities.data"]);
    assert_eq!(fs::read_dir(cache(home.path()).join("crime")).unwrap().count(), 0);
}

#[test]
fn a_download_that_was_cut_off_goes_on_in_the_next_run() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("mine");
    let arguments = |address: &str| {
        let place = ["--data-dir", folder.to_str().unwrap(), "--attempts", "1"];
        data(home.path(), &[&["fetch", "crime", "--mirror", address], &place[..]].concat())
    };
    let (address, asked) = serve(vec![(200, 1_100_821, vec![b'1'; 5000])]);
    assert!(arguments(&address).refusal().contains("what was received is kept"));
    asked.join().unwrap();
    let part = folder.join("crime/communities.data.part");
    assert_eq!(fs::read(&part).unwrap(), [b'1'; 5000]);
    let (address, asked) = serve(vec![(206, 1_095_821, vec![b'2'; 100])]);
    assert!(arguments(&address).refusal().contains("(1 attempts)"));
    assert_eq!(asked.join().unwrap(), ["communities.data 5000-"]);
    assert_eq!(fs::metadata(&part).unwrap().len(), 5100);
}

/// With the published files at hand a fetch can succeed.
#[test]
fn right_files_arrive_and_are_not_asked_for_again() {
    let Some(folder) = need_data("fetching from a mirror", "crime") else { return };
    let home = tempfile::tempdir().unwrap();
    let bodies = CRIME.map(|file| fs::read(folder.join(file)).unwrap());
    let whole = |body: &Vec<u8>| (200, body.len(), body.clone());
    let (address, asked) = serve(bodies.iter().map(whole).collect());
    let arguments = ["fetch", "crime", "--mirror", &address, "--attempts", "1", "--format", "json"];
    let json = data(home.path(), &arguments).json();
    assert_eq!(asked.join().unwrap(), CRIME);
    for (file, body) in json["data"][0]["files"].as_array().unwrap().iter().zip(&bodies) {
        assert!(fs::read(file.as_str().unwrap()).unwrap() == *body);
    }
    let text = data(home.path(), &arguments[..6]).out;
    assert!(text.starts_with("crime (CC BY 4.0") && text.contains("communities.names\n"), "{text}");
    let paths = data(home.path(), &["path", "crime"]).out;
    assert_eq!(paths.lines().count(), 2);
}

#[test]
fn help_has_examples() {
    for arguments in [&["data", "--help"][..], &["data", "fetch", "--help"], &["data", "path", "--help"]] {
        assert!(run(pairity().args(arguments)).out.contains("Example"), "{arguments:?}");
    }
}
