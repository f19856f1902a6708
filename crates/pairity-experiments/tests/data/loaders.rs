//! Loaders on small files that have the oddities of the published ones.

use pairity::examples::{Column, MISSING};
use pairity::learners::Encoder;
use pairity_experiments::data::DataError;
use pairity_experiments::dataset::Dataset;
use pairity_experiments::loaders::{crime, law, w3c, wiki};
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The message of an error, without the folder.
fn message(folder: &TempDir, result: Result<Dataset, DataError>) -> String {
    let text = result.expect_err("an error").to_string();
    text.replace(&format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR), "")
}

fn names(columns: &[Column]) -> Vec<&str> {
    columns.iter().map(|column| column.name.as_str()).collect()
}

/// The texts of a column of categories; "-" where missing.
fn texts(data: &Dataset, name: &str) -> Vec<String> {
    let column = data.columns.iter().find(|column| column.name == name).unwrap();
    let (codes, levels) = column.categories().unwrap();
    let text = |&code: &u32| if code == MISSING { "-".to_owned() } else { levels[code as usize].clone() };
    codes.iter().map(text).collect()
}

fn groups(data: &Dataset) -> Vec<&str> {
    let groups = data.groups.as_ref().unwrap();
    (0..data.rows()).map(|row| groups.code(row).map_or("-", |code| &groups.names()[code])).collect()
}

mod communities {
    use super::*;

    /// As the original: prose, then a line for each column, here with the line ends of Windows.
    const NAMES: &str = "@relation crimepredict\r\n\r\n-- state: US state @attribute\r\n\
        @attribute state numeric\r\n@attribute county numeric\r\n@attribute community numeric\r\n\
        @attribute communityname string\r\n@attribute fold numeric\r\n@attribute racepctblack numeric\r\n\
        @attribute LemasSwornFT numeric\r\n@attribute OtherPerCap numeric\r\n\
        @attribute ViolentCrimesPerPop numeric\r\n\r\n@data\r\n";

    const DATA: &str = "8,?,?,Lakewoodcity,1,0.02,?,0.36,0.2\n\
        53,?,?,Tukwilacity,1,0.12,0.06,0.22,0.67\n\
        24,5,?,O'Fallon,1,0.49,?,?,0.43\n\
        34,5,81440,Willingborotownship,1,1,?,0.28,0.12\n";

    fn load(data: &str, names: &str, task: crime::CrimeTask) -> (TempDir, Result<Dataset, DataError>) {
        let folder = folder(&[("communities.data", data), ("communities.names", names)]);
        let path = |name: &str| folder.path().join(name);
        let loaded = crime::load(&path("communities.data"), &path("communities.names"), task);
        (folder, loaded)
    }

    #[test]
    fn identities_and_the_label_are_no_features_and_race_is_one() {
        let data = load(DATA, NAMES, crime::CrimeTask::Regression).1.unwrap();
        assert_eq!(data.labels, [0.2, 0.67, 0.43, 0.12]);
        assert_eq!(names(&data.columns), ["racepctblack", "LemasSwornFT", "OtherPerCap"]);
        assert_eq!(data.protected, Some(vec![0.02, 0.12, 0.49, 1.0]));
        assert!(data.columns[1].is_missing(0) && !data.columns[1].is_missing(1));
        assert!((data.groups.is_none(), data.queries.is_none(), data.standardize) == (true, true, false));
        assert!(data.examples().unwrap().is_continuous());
        let encoder = Encoder::learn(&data.columns.iter().collect::<Vec<_>>(), None, false).unwrap();
        assert_eq!(encoder.width(), 3 + 2);
        let features = encoder.encode(&data.columns).unwrap().features;
        assert_eq!(features.row(2)[..], [0.49, 0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn high_crime_starts_at_the_70th_percentile() {
        // Sorted .12 .2 .43 .67: place 2.1, which is .43 + .1 · .24 = .454.
        let data = load(DATA, NAMES, crime::CrimeTask::Ranking).1.unwrap();
        assert_eq!(data.labels, [0.0, 1.0, 0.0, 0.0]);
        assert!(data.notes[0].contains("at least 0.45"), "{:?}", data.notes);
        // The percentile itself is high.
        let equal = DATA.replace("0.67\n", "0.43\n");
        assert_eq!(load(&equal, NAMES, crime::CrimeTask::Ranking).1.unwrap().labels, [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn errors_name_the_file_the_line_and_the_column() {
        let error = |data: &str, names: &str| {
            let (folder, result) = load(data, names, crime::CrimeTask::Ranking);
            message(&folder, result)
        };
        let bad = DATA.replace("0.22", "high");
        assert!(
            error(&bad, NAMES).starts_with(
                "communities.data, line 2, column \"OtherPerCap\": expected a number, found \"high\""
            ),
            "{}",
            error(&bad, NAMES)
        );
        let short = DATA.replace(",0.67", "");
        assert!(
            error(&short, NAMES).starts_with("communities.data, line 2: found 8 fields, expected 9."),
            "{}",
            error(&short, NAMES)
        );
        let unlabeled = DATA.replace("0.67", "?");
        assert_eq!(
            error(&unlabeled, NAMES),
            "communities.data, data row 2, column \"ViolentCrimesPerPop\": the value is missing. \
             Give the row one, or remove it"
        );
        assert!(error("", NAMES).starts_with("empty table: communities.data holds nothing"));
        assert!(error(DATA, "no names").contains("communities.names: no line starts with @attribute"));
        let other = NAMES.replace("racepctblack", "race");
        assert!(error(DATA, &other).contains("no line declares the column \"racepctblack\""));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let nowhere = PathBuf::from("nowhere.names");
        let error = crime::load(&nowhere, &nowhere, crime::CrimeTask::Ranking).unwrap_err().to_string();
        assert!(error.starts_with("can't read nowhere.names: "), "{error}");
    }
}

mod students {
    use super::*;

    /// A few of the 36 columns; missing is empty or a space.
    const FULL: &str = "decile1b,id,cluster,lsat,ugpa,fulltime,fam_inc,age,gender,race1\n\
        ,1,2,30,3.1,1,4, ,female,white\n\
        10,2,1,44,3.5,1,5,-62,male,black\n\
        3,3,1,40, ,1,3,-60,male,white\n\
        3,4,1,41,2.9,1,3,-60, ,white\n\
        3,5,,,0,2,,-60,male,\n";

    fn load(text: &str) -> (TempDir, Result<Dataset, DataError>) {
        let folder = folder(&[("law.csv", text)]);
        let loaded = law::load(&folder.path().join("law.csv"));
        (folder, loaded)
    }

    #[test]
    fn rows_without_a_grade_or_a_gender_are_left_out() {
        let data = load(FULL).1.unwrap();
        assert_eq!(data.labels, [3.1, 3.5, 0.0]);
        assert_eq!(groups(&data), ["female", "male", "male"]);
        assert_eq!(data.groups.as_ref().unwrap().names(), ["male", "female"]);
        assert_eq!(data.notes, ["2 of 5 rows left out: ugpa or gender is missing"]);
        assert_eq!(names(&data.columns), ["lsat", "fam_inc", "fulltime", "race1", "gender", "cluster"]);
        assert_eq!(data.columns[0].numbers().unwrap()[..2], [30.0, 44.0]);
        assert!(data.columns[0].is_missing(2));
        assert_eq!(texts(&data, "fam_inc"), ["4", "5", "-"]);
        assert_eq!(texts(&data, "race1"), ["white", "black", "-"]);
        assert_eq!(texts(&data, "gender"), ["female", "male", "male"]);
        assert!(data.standardize && data.queries.is_none() && data.protected.is_none());
    }

    #[test]
    fn a_table_without_such_rows_is_the_same_data() {
        let derived = "id,ugpa,lsat,fam_inc,fulltime,race1,gender,cluster,tier\n\
            1,3.1,30.0,4,1,white,female,2,2\n2,3.5,44.0,5,1,black,male,1,4\n5,0.0,,,2,,male,,\n";
        let (from_full, from_derived) = (load(FULL).1.unwrap(), load(derived).1.unwrap());
        assert!(from_derived.notes.is_empty());
        assert_eq!(from_full.labels, from_derived.labels);
        assert_eq!(from_full.groups, from_derived.groups);
        for name in ["fam_inc", "fulltime", "race1", "gender", "cluster"] {
            assert_eq!(texts(&from_full, name), texts(&from_derived, name));
        }
    }

    #[test]
    fn a_gender_that_is_neither_and_a_missing_column_are_errors() {
        let (folder, result) = load(&FULL.replace("-62,male", "-62,Male"));
        assert_eq!(
            message(&folder, result),
            "law.csv, data row 2, column \"gender\": \"Male\" is neither \"male\" nor \"female\". \
             Correct the cell, or leave it empty"
        );
        let (folder, result) = load(&FULL.replace("lsat", "LSAT"));
        assert!(message(&folder, result).starts_with("no column \"lsat\" in law.csv"));
        let (folder, result) = load("ugpa,lsat,fam_inc,fulltime,race1,gender,cluster\n3,40,1,1,white,,1\n");
        assert!(message(&folder, result).contains("law.csv: no row has both ugpa and gender"));
    }
}

mod experts {
    use super::*;

    /// Topic 1: two men and one woman are experts, three men and two women are not. Topic 2: no woman is an
    /// expert, so that nobody can tell. Topic 3: one of each.
    fn original() -> String {
        let topic = |number: u32, genders: &str| -> String {
            let row = |(rank, gender): (usize, char)| {
                format!(
                    "{number},{gender}.00000,-0.2{rank},0.1,-2.72003,-0.20212,-0.19515,{:.5}\n",
                    1.0 / (1 + rank) as f64
                )
            };
            genders.chars().enumerate().map(row).collect()
        };
        topic(1, "00100011") + &topic(2, "000011") + &topic(3, "0101")
    }

    fn load(text: &str) -> (TempDir, Result<Dataset, DataError>) {
        let folder = folder(&[("w3c.csv", text)]);
        let loaded = w3c::load(&folder.path().join("w3c.csv"));
        (folder, loaded)
    }

    #[test]
    fn experts_are_told_by_the_runs_of_gender() {
        let data = load(&original()).1.unwrap();
        assert_eq!(data.labels, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(data.queries, Some(vec![1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3]));
        assert_eq!(data.groups.as_ref().unwrap().names(), ["male", "female"]);
        assert_eq!(groups(&data)[1..4], ["male", "female", "male"]);
        assert!(data.notes[1].starts_with("1 of 3 topics left out") && data.notes[1].ends_with(": 2"));
        assert_eq!(data.columns.len(), 6);
        assert_eq!(data.columns[0].name, "gender");
        assert_eq!(data.columns[0].numbers().unwrap()[..4], [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(data.columns[5].name, "match_subject_score_norm");
        assert_eq!(data.columns[1].numbers().unwrap()[8..], [-0.20, -0.21, -0.22, -0.23]);
        assert!(!data.standardize);
    }

    #[test]
    fn a_table_with_labels_is_read_as_it_is() {
        let original = load(&original()).1.unwrap();
        let header = "query_id,gender,match_body_email_subject_score_norm,match_body_email_subject_df_stdev,\
            match_body_email_subject_idf_stdev,match_body_score_norm,match_subject_score_norm,judgment,expert\n";
        let mut text = header.to_owned();
        for row in 0..original.rows() {
            let features = original.columns.iter().map(|column| column.numbers().unwrap()[row].to_string());
            let features = features.collect::<Vec<_>>().join(",");
            let query = original.queries.as_ref().unwrap()[row];
            text += &format!("{query},{features},0.5,{}\n", original.labels[row]);
        }
        let labelled = load(&text).1.unwrap();
        assert_eq!(labelled.notes.len(), 1);
        assert_eq!(labelled, Dataset { notes: labelled.notes.clone(), ..original });
    }

    #[test]
    fn shuffled_rows_and_strange_cells_are_errors() {
        let (folder, result) = load(&original().replace("1,0.0", "1,1.0").replace("3,0.0", "3,1.0"));
        assert!(message(&folder, result).contains("w3c.csv: in no topic the experts can be told"));
        let (folder, result) = load(&original().replacen("1,0.0", "1,2.0", 1));
        assert!(
            message(&folder, result)
                .starts_with("w3c.csv, data row 1, column \"gender\": 2 is neither 0 nor 1")
        );
        let (folder, result) = load(&original().replacen("-0.21,", "x,", 1));
        assert!(message(&folder, result).starts_with(
            "w3c.csv, line 2, column \"match_body_email_subject_score_norm\": expected a number, found \"x\""
        ));
        let (folder, result) = load(&original().replacen("2,0.0", "2.5,0.0", 1));
        assert!(message(&folder, result).contains("\"query_id\": 2.5 is not the number of a topic"));
    }
}

mod comments {
    use super::*;

    fn load(files: &[(&str, &str)]) -> (TempDir, Result<Dataset, DataError>) {
        let folder = folder(files);
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
        let loaded = wiki::load(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        (folder, loaded)
    }

    #[test]
    fn a_comma_separated_sample_is_read_with_its_quotes() {
        let text = "rev_id,comment,toxic\n\
            598296,\"Is this \"\"original\"\", or Gay?  \",False\n\
            1,\"two\nlines, nosegays\",True\n\
            2,\"?\",False\n";
        let data = load(&[("sample.csv", text)]).1.unwrap();
        assert_eq!(data.labels, [0.0, 1.0, 0.0]);
        assert_eq!(
            data.texts.as_deref().unwrap(),
            ["Is this \"original\", or Gay?", "two\nlines, nosegays", ""]
        );
        assert_eq!(groups(&data), ["gay", "other", "other"]);
        assert_eq!(data.groups.as_ref().unwrap().names(), ["other", "gay"]);
        assert!(data.queries.is_none() && data.columns.is_empty());
        assert_eq!(data.notes, ["3 comments, a sample of the paper's 127820", "1 comments are empty"]);
        assert!(data.sample);
    }

    #[test]
    fn the_parts_of_the_full_set_may_be_separated_by_tabs() {
        let train = "rev_id\tcomment\tis_toxic\tsplit\n1.0\tgay, you\t1.0\ttrain\n2.0\tfine\t0.0\ttrain\n";
        let dev = ",rev_id,comment,is_toxic\n0,3,\"well, well\",0\n";
        let test = "rev_id,comment,toxic\n4,bad,1\n5,good,false\n";
        let files = [("wiki_train.csv", train), ("wiki_dev.csv", dev), ("wiki_test.csv", test)];
        let data = load(&files).1.unwrap();
        assert_eq!(data.labels, [1.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(data.texts.as_ref().unwrap()[..3], ["gay, you", "fine", "well, well"]);
        assert_eq!(groups(&data), ["gay", "other", "other", "other", "other"]);
    }

    #[test]
    fn labels_that_are_none_are_errors() {
        let error = |text: &str| {
            let (folder, result) = load(&[("wiki.csv", text)]);
            message(&folder, result)
        };
        assert_eq!(
            error("comment,toxic\na,0\nb,0.5\n"),
            "wiki.csv, data row 2, column \"toxic\": 0.5 is neither 0 nor 1. Write 0 and 1, or False and True"
        );
        assert!(
            error("comment,toxic\na,0\nb,\n").contains("data row 2, column \"toxic\": the value is missing")
        );
        assert!(
            error("comment,toxic\na,perhaps\n").starts_with("wiki.csv, line 2, column \"toxic\": expected")
        );
        assert!(error("comment,insult\na,0\n").starts_with("no column \"is_toxic\" in wiki.csv"));
    }
}
