//! The published files themselves, where `$PAIRITY_DATA` says they are: what is known of them must hold.

use pairity::learners::Encoder;
use pairity_experiments::data::{self, DATA_SETS};
use pairity_experiments::dataset::Dataset;
use pairity_experiments::fetch::{FetchSettings, fetch};
use pairity_experiments::loaders::{law, w3c, wiki};
use pairity_testing::{need, need_data};
use std::path::{Path, PathBuf};

/// The files of a data set, if they are there.
fn files(test: &str, name: &str) -> Option<Vec<PathBuf>> {
    let folder = need_data(test, "")?;
    need("data", test, data::find(name, Some(&folder)).map_err(|error| error.to_string()))
}

/// Another file beside one, if it is there.
fn beside(test: &str, path: &Path, name: &str) -> Option<PathBuf> {
    let other = path.with_file_name(name);
    let found = if other.is_file() { Ok(other) } else { Err(format!("there is no {}", other.display())) };
    need("data", test, found)
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

fn variance(values: &[f64]) -> f64 {
    let center = mean(values.iter().copied());
    mean(values.iter().map(|x| (x - center).powi(2)))
}

fn members(data: &Dataset, group: usize) -> Vec<usize> {
    let groups = data.groups.as_ref().unwrap();
    (0..data.rows()).filter(|&row| groups.code(row) == Some(group)).collect()
}

fn features(data: &Dataset) -> usize {
    let columns: Vec<_> = data.columns.iter().collect();
    Encoder::learn(&columns, None, data.standardize).unwrap().width()
}

/// The text or the number of every cell of a column.
fn cells(data: &Dataset, column: usize) -> Vec<String> {
    match data.columns[column].categories() {
        Some((codes, levels)) => {
            let text = |&code: &u32| levels.get(code as usize).cloned().unwrap_or_default();
            codes.iter().map(text).collect()
        }
        None => data.columns[column].numbers().unwrap().iter().map(f64::to_string).collect(),
    }
}

#[test]
fn crime_has_its_rows_percentile_and_features() {
    let Some(_) = files("crime", "crime") else { return };
    let ranking = data::load("crime-ranking", None, 0).unwrap();
    assert_eq!((ranking.rows(), features(&ranking)), (1994, 145));
    assert_eq!(ranking.labels.iter().sum::<f64>(), 608.0);
    assert!(ranking.notes[0].contains("at least 0.28,"), "{:?}", ranking.notes);
    let race = ranking.protected.as_ref().unwrap();
    let many: Vec<usize> = (0..1994).filter(|&row| race[row] >= 0.17).collect();
    assert_eq!(many.len(), 609);
    assert!((mean(many.iter().map(|&row| ranking.labels[row])) - 0.650).abs() < 5e-4);
    let missing =
        |column: &pairity::examples::Column| (0..1994).filter(|&row| column.is_missing(row)).count();
    let counts: Vec<usize> = ranking.columns.iter().map(missing).filter(|&count| count > 0).collect();
    assert_eq!(counts.len(), 23);
    assert_eq!(counts.iter().filter(|&&count| count == 1675).count(), 22);

    let regression = data::load("crime-regression", None, 0).unwrap();
    assert!((mean(regression.labels.iter().copied()) - 0.23798).abs() < 5e-6);
    assert!((variance(&regression.labels) - 0.05425).abs() < 5e-6);
    assert_eq!(regression.labels.iter().filter(|&&label| label > 0.28).count(), 583);
    assert_eq!(regression.columns.len(), 122);
}

#[test]
fn law_has_its_rows_and_both_tables_are_the_same_data() {
    let Some(paths) = files("law", "law") else { return };
    let law = law::load(&paths[0]).unwrap();
    assert_eq!(law.rows(), 27_234);
    assert_eq!(law.notes, ["244 of 27478 rows left out: ugpa or gender is missing"]);
    assert_eq!(law.groups.as_ref().unwrap().names(), ["male", "female"]);
    assert!((mean(law.labels.iter().copied()) - 3.2214).abs() < 5e-5);
    assert!((variance(&law.labels) - 0.1764).abs() < 5e-5);
    assert_eq!(law.labels.iter().filter(|&&label| label == 0.0).count(), 2);
    let grades = |group| mean(members(&law, group).into_iter().map(|row| law.labels[row]));
    assert_eq!(members(&law, 1).len(), 11_974);
    assert!((grades(0) - 3.172).abs() < 5e-4 && (grades(1) - 3.284).abs() < 5e-4);
    let missing = |at: usize| (0..law.rows()).filter(|&row| law.columns[at].is_missing(row)).count();
    assert_eq!([0, 1, 2, 3, 4, 5].map(missing), [131, 348, 44, 18, 0, 158]);

    let Some(derived) = beside("law, derived", &paths[0], "law_school_27234.csv") else { return };
    let derived = law::load(&derived).unwrap();
    assert_eq!((&derived.labels, &derived.groups), (&law.labels, &law.groups));
    for column in 0..law.columns.len() {
        assert_eq!(cells(&derived, column), cells(&law, column), "{}", law.columns[column].name);
    }
}

#[test]
fn w3c_has_its_topics_and_both_tables_are_the_same_data() {
    let Some(paths) = files("w3c", "w3c") else { return };
    let experts = w3c::load(&paths[0]).unwrap();
    assert_eq!(experts.rows(), 48 * 200);
    let queries = experts.queries.as_ref().unwrap();
    let topics: Vec<&[u32]> = queries.chunk_by(|a, b| a == b).collect();
    assert_eq!(topics.len(), 48);
    assert!(topics.iter().all(|topic| topic.len() == 200));
    assert!(
        experts.notes[1].ends_with(": 2, 5, 11, 16, 28, 29, 30, 43, 46, 49, 59, 60"),
        "{:?}",
        experts.notes
    );
    assert_eq!(experts.labels.iter().sum::<f64>(), 1090.0);
    assert_eq!(experts.groups.as_ref().unwrap().names(), ["male", "female"]);
    let women = members(&experts, 1);
    assert_eq!(women.len(), 48 * 21);
    // Experts of the topics that the judgments list, 7 apart.
    let known = [(1, 13), (3, 9), (4, 11), (6, 7), (8, 12), (9, 18), (10, 10)];
    for (topic, count) in known {
        let found = (0..experts.rows()).filter(|&row| queries[row] == topic && experts.labels[row] > 0.0);
        assert_eq!(found.count(), count, "topic {topic}");
    }

    let name = "w3c_experts_48x200_labelled.csv";
    let Some(labelled) = beside("w3c, labelled", &paths[0], name) else { return };
    let labelled = w3c::load(&labelled).unwrap();
    assert_eq!(labelled, Dataset { notes: labelled.notes.clone(), ..experts });
}

#[test]
fn the_wiki_sample_has_its_comments_and_shares() {
    let Some(paths) = files("wiki", "wiki") else { return };
    let name = "toxicity_nonfuzzed_testset.csv";
    let Some(sample) = beside("wiki, sample", &paths[0], name) else { return };
    let comments = wiki::load(&[&sample]).unwrap();
    assert_eq!((comments.rows(), comments.texts.as_ref().unwrap().len()), (1492, 1492));
    assert_eq!(comments.groups.as_ref().unwrap().names(), ["other", "gay"]);
    let toxic = |rows: Vec<usize>| mean(rows.into_iter().map(|row| comments.labels[row]));
    assert!((mean(comments.labels.iter().copied()) - 0.166).abs() < 5e-4);
    assert_eq!(members(&comments, 1).len(), 157);
    assert!((toxic(members(&comments, 1)) - 0.592).abs() < 5e-4);
    assert!((toxic(members(&comments, 0)) - 0.116).abs() < 5e-4);

    let Some(fuzzed) = beside("wiki, fuzzed", &sample, "toxicity_fuzzed_testset.csv") else { return };
    assert_eq!(members(&wiki::load(&[&fuzzed]).unwrap(), 1).len(), 60);
    let additions = "toxicity_debiasing_data.tsv";
    let Some(additions) = beside("wiki, tab-separated", &sample, additions) else { return };
    let additions = wiki::load(&[&additions]).unwrap();
    assert_eq!((additions.rows(), additions.labels.iter().sum::<f64>()), (5775, 0.0));
    assert_eq!(members(&additions, 1).len(), 4319);
}

/// Files that are right are not asked for, so that a server that isn't there is not missed.
#[test]
fn the_files_have_the_checksums_of_the_registry() {
    let Some(folder) = need_data("checksums", "") else { return };
    let settings = FetchSettings {
        mirror: Some("http://127.0.0.1:1".to_owned()),
        attempts: 1,
        ..FetchSettings::default()
    };
    for entry in DATA_SETS.iter().filter(|entry| !entry.is_generated()) {
        let files = entry.fetched().unwrap();
        if files.iter().all(|file| folder.join(entry.folder).join(file.name).is_file()) {
            fetch(entry.name, &folder, &settings, &|_| ()).unwrap();
        } else {
            need::<()>("all data", "checksums", Err(format!("{} is not there in full", entry.name)));
        }
    }
}
