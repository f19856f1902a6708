//! Training on a column of texts, and scoring raw tables with the models.

use super::{Outcome, file, pairity, run};
use std::path::Path;

const FILLERS: [&str; 8] = ["the", "of", "and", "to", "in", "is", "it's", "was"];

/// Comments with quotes, commas and line breaks; one word decides the label, another one the group.
fn comments(rows: usize) -> String {
    let mut table = "comment,toxic,term,length\n".to_owned();
    for row in 0..rows {
        let mut words: Vec<&str> = (0..4 + row % 7).map(|i| FILLERS[(row * 5 + i * i) % 8]).collect();
        if row % 3 == 0 {
            words.insert(row % 5, "Nonsense,\n");
        }
        if row % 4 == 0 {
            words.push("\"\"cats\"\"");
        }
        let (toxic, term) = (u8::from(row % 3 == 0), if row % 4 == 0 { "cats" } else { "other" });
        table += &format!("\"{}\",{toxic},{term},{}\n", words.join(" "), words.len());
    }
    table
}

const COLUMNS: [&str; 6] = ["--label", "toxic", "--text", "comment", "--group", "term"];

fn train(table: &Path, model: &Path, arguments: &[&str]) -> Outcome {
    run(pairity().arg("train").arg(table).args(COLUMNS).arg("-o").arg(model).args(arguments))
}

/// Few steps of a scorer, as JSON.
fn quick(model: &'static str) -> Vec<&'static str> {
    let step = if model == "text-cnn" { "0.003" } else { "0.1" };
    vec!["--model", model, "--iterations", "60", "--step-size", step, "--snapshots", "6", "--format", "json"]
}

#[test]
fn a_word_that_decides_is_found_and_raw_tables_are_scored() {
    let (folder, table) = file("comments.csv", &comments(120));
    for model in ["linear", "text-cnn"] {
        let path = folder.path().join("model.json");
        let outcome = train(&table, &path, &quick(model));
        assert_eq!(outcome.code, 0, "{model}: {}", outcome.err);
        let json = outcome.json();
        assert_eq!(json["model"], model);
        assert_eq!(json["test"]["auc"], 1.0, "{model}: {json}");
        let features = json["features"][0].as_str().unwrap();
        assert!(features.starts_with("10 words ") && features.ends_with(" of comment"), "{features}");

        let raw = folder.path().join("new.csv");
        std::fs::write(&raw, "id,comment\n1,it was in the\n2,NONSENSE of cats\n3,\n4,XY qq\n").unwrap();
        let out = folder.path().join("scored.csv");
        let outcome = run(pairity().arg("score").arg(&path).arg(&raw).arg("-o").arg(&out));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        let text = std::fs::read_to_string(&out).unwrap();
        let scores: Vec<f64> =
            text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
        assert!(scores[1] > scores[0].max(scores[2]), "{model}: {text}");
        assert_eq!(scores[2], scores[3], "no known word is as no word");
    }
}

#[test]
fn a_network_that_gets_no_better_stops_unless_the_papers_protocol_is_asked_for() {
    let (folder, table) = file("comments.csv", &comments(120));
    let path = folder.path().join("model.json");
    let steps = ["--model", "text-cnn", "--iterations", "200", "--snapshots", "20", "--step-size", "0.003"];
    let of = |more: &[&str]| train(&table, &path, &[&steps[..], more].concat());
    let json = of(&["--format", "json"]).json();
    assert_eq!(json["runs"][0]["end"], "no_better", "{json}");
    let made = json["runs"][0]["iterations"].as_u64().unwrap();
    assert!(made < 200 && json["test"]["auc"] == 1.0, "{json}");
    let text = of(&[]).out;
    assert!(text.contains(&format!("{made} of 200 steps, then no better")), "{text}");
    for whole in [&["--patience", "0"][..], &["--solver", "paper"]] {
        let json = of(&[&["--format", "json"], whole].concat()).json();
        assert!(json["runs"].is_null(), "{json}");
    }
}

#[test]
fn the_model_has_the_same_bytes_for_any_number_of_threads() {
    let (folder, table) = file("comments.csv", &comments(80));
    for model in ["linear", "text-cnn"] {
        let bytes = ["1", "2"].map(|threads| {
            let path = folder.path().join(format!("{model}-{threads}.json"));
            let outcome =
                train(&table, &path, &[&quick(model)[..], &["--threads", threads, "--seed", "5"]].concat());
            assert!(outcome.code < 2, "{}", outcome.err);
            std::fs::read(path).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{model}");
    }
}

#[test]
fn constraints_hold_for_words_and_other_features_join_if_named() {
    let (folder, table) = file("comments.csv", &comments(120));
    let path = folder.path().join("model.json");
    let more = ["--subject-to", "cross_group <= 0.1", "--features", "length", "--group-aware"];
    let json = train(&table, &path, &[&quick("linear")[..], &more].concat()).json();
    assert_eq!(json["features"][0], "length");
    let text = json["features"][1].as_str().unwrap();
    assert!(text.starts_with("10 words and ") && text.ends_with(" character n-grams of comment"), "{text}");
    assert_eq!(json["meets_goal"], true, "{json}");
    let text = train(&table, &path, &["--iterations", "20", "--step-size", "0.1"]).out;
    assert!(text.contains("linear scorer of 10 words and "), "{text}");
}

#[test]
fn what_of_a_text_is_seen_can_be_said_and_saved_models_give_the_same_scores_again() {
    let (folder, table) = file("comments.csv", &comments(90));
    let (path, out) = (folder.path().join("model.json"), folder.path().join("scored.csv"));
    for (ngrams, start, end) in [
        ("words", "10 words of comment", "10 words of comment"),
        ("chars", "", " character n-grams of comment"),
        ("both", "10 words and ", " character n-grams of comment"),
    ] {
        let more = ["--ngrams", ngrams, "--solver", "columns", "--split", "1,0,0", "--format", "json"];
        let json = train(&table, &path, &more).json();
        let features = json["features"][0].as_str().unwrap();
        assert!(features.starts_with(start) && features.ends_with(end), "{features}");
        assert_eq!(json["train"]["auc"], 1.0, "{ngrams}: {json}");
        let outcome =
            run(pairity().arg("score").arg(&path).arg(&table).args(["--score", "s"]).arg("-o").arg(&out));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        let checks = ["--label", "toxic", "--score", "s", "--check", "auc >= 0.99999"];
        let audit = run(pairity().arg("audit").arg(&out).args(checks));
        assert!(audit.out.contains("auc") && !audit.out.contains("FAIL"), "{ngrams}: {}", audit.out);
    }
    let few = [
        "--ngrams",
        "both",
        "--vocabulary",
        "3",
        "--iterations",
        "9",
        "--step-size",
        "0.1",
        "--format",
        "json",
    ];
    let json = train(&table, &path, &few).json();
    assert_eq!(json["features"][0], "3 words and 3 character n-grams of comment");
}

#[test]
fn word_vectors_are_taken_from_a_file() {
    let (folder, table) = file("comments.csv", &comments(60));
    let vectors = folder.path().join("vectors.txt");
    std::fs::write(&vectors, "nonsense 1 0 0\nthe 0 1 0\nunused 0 0 1\n").unwrap();
    let path = folder.path().join("model.json");
    let more = ["--embeddings", vectors.to_str().unwrap()];
    let json = train(&table, &path, &[&quick("text-cnn")[..], &more].concat()).json();
    assert_eq!(json["notes"][0], "2 of 10 words have a vector in the file");
    let model: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(model["architecture"]["embedding"], 3);
    std::fs::write(&vectors, "nonsense 1 0 0\nthe 0 1\n").unwrap();
    let outcome = train(&table, &path, &[&quick("text-cnn")[..], &more].concat());
    assert!(outcome.refusal().contains("line 2 of the word vectors"), "{}", outcome.err);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let (folder, table) = file("comments.csv", &comments(40));
    let path = folder.path().join("model.json");
    let refusal = |arguments: &[&str]| train(&table, &path, arguments).refusal().to_owned();
    assert!(refusal(&["--model", "mlp"]).contains("use a linear scorer or a text network"));
    assert!(refusal(&["--model", "text-cnn", "--group-aware"]).contains("use offsets"));
    assert!(refusal(&["--model", "text-cnn", "--features", "length"]).contains("other features"));
    assert!(refusal(&["--embeddings", "vectors.txt"]).contains("--embeddings are for --model text-cnn"));
    assert!(
        refusal(&["--model", "text-cnn", "--ngrams", "chars"]).contains("--ngrams are for --model linear")
    );
    let plain = |arguments: &[&str]| {
        let command = ["--label", "toxic", "-o", path.to_str().unwrap()];
        run(pairity().arg("train").arg(&table).args(command).args(arguments)).refusal().to_owned()
    };
    assert!(plain(&["--model", "text-cnn"]).contains("name its column with --text"));
    assert!(plain(&["--text", "toxic"]).contains("name another column with --text"));
    assert!(plain(&["--text", "coment"]).contains("comment"));
    assert!(!path.exists());
}
