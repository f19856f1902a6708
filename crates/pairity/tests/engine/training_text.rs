//! Training on texts: what one word decides is learned in a few steps, with the same bytes for any number of
//! threads and after an interruption.

use pairity::examples::{Column, Columns, Examples, Values};
use pairity::goals::{Goal, Objective, Problem, parse_maximize};
use pairity::learners::text::{Ngrams, TextCnn, TextLayout};
use pairity::learners::{Architecture, Encoder, Features, GroupUse, Linear};
use pairity::model::{Component, Model};
use pairity::solvers::{Checkpoint, Data, Status, TrainSettings, Trained, Watch, train};
use std::cell::RefCell;
use std::time::Duration;

const FILLERS: [&str; 8] = ["the", "of", "and", "to", "in", "is", "it", "was"];

/// Texts of fillers, of which every third has the word that decides.
fn task(rows: usize) -> (Column, Vec<f64>) {
    let text = |row: usize| {
        let mut words: Vec<&str> = (0..4 + row % 7).map(|i| FILLERS[(row * 5 + i * i) % 8]).collect();
        if row.is_multiple_of(3) {
            words.insert(row % 5, "Nonsense!");
        }
        words.join(" ")
    };
    let levels = (0..rows).map(text).collect();
    let codes = (0..rows as u32).collect();
    let labels = (0..rows).map(|row| f64::from(u8::from(row % 3 == 0))).collect();
    (Column { name: "comment".into(), values: Values::Categories { codes, levels } }, labels)
}

fn cnn(words: usize) -> Architecture {
    let shape = TextCnn { words, embedding: 8, window: 3, filters: 8, hidden: 8, ..TextCnn::default() };
    Architecture::TextCnn(shape)
}

fn linear(width: usize) -> Architecture {
    Architecture::Linear(Linear { width, intercept: false, start: 0.0, groups: GroupUse::Blind })
}

fn settings() -> TrainSettings {
    TrainSettings {
        iterations: 60,
        snapshots: 6,
        step_sizes: vec![0.01],
        batch: Some(16),
        seed: 3,
        ..TrainSettings::default()
    }
}

fn run(scorer: &Architecture, features: &Features, labels: &[f64], watch: Watch) -> Trained {
    let examples = Examples::new(Columns { labels: Some(labels), ..Columns::default() }).unwrap();
    let goal = parse_maximize("auc", &examples.vocabulary()).unwrap();
    let problem = Problem::new(&goal, true, &[]).unwrap();
    let data = Data { features, train: &examples, multipliers: None, validation: None };
    train(&problem, scorer, &data, &settings(), watch).unwrap()
}

fn encoded(column: &Column, layout: TextLayout) -> (Encoder, Features) {
    let encoder = Encoder::default().with_text(column, None, 100, layout).unwrap();
    let features = encoder.encode(std::slice::from_ref(column)).unwrap().features;
    (encoder, features)
}

fn model(architecture: Architecture, encoder: Encoder, components: Vec<Component>) -> Model {
    Model {
        version: "0".into(),
        architecture,
        encoder,
        groups: None,
        query: Vec::new(),
        components,
        goal: Goal { objective: Objective::Maximize("auc".into()), subject_to: vec![] },
        seed: 0,
        status: "feasible".into(),
        after: None,
    }
}

#[test]
fn a_word_that_decides_is_learned_in_a_few_steps() {
    let (column, labels) = task(90);
    for (layout, shape) in [
        (TextLayout::Sequence { length: 50 }, cnn as fn(usize) -> Architecture),
        (TextLayout::Terms(Ngrams::Words), linear),
    ] {
        let (encoder, features) = encoded(&column, layout);
        let scorer = shape(encoder.width());
        let trained = run(&scorer, &features, &labels, Watch::default());
        assert_eq!((trained.status, trained.objective), (Status::Feasible, 1.0), "{layout:?}");

        // New texts through a saved model.
        let model = model(scorer, encoder, trained.components);
        let model = Model::from_json(&model.to_json().unwrap()).unwrap();
        let levels =
            ["it was to the of in", "nonsense", "Unknown words and NONSENSE to it", ""].map(String::from);
        let codes = vec![0, 1, 2, 3, u32::MAX];
        let new =
            Column { name: "comment".into(), values: Values::Categories { codes, levels: levels.into() } };
        let scores = model.score(&model.rows(&[new], None, None).unwrap(), 0).unwrap();
        assert!(scores[1].min(scores[2]) > scores[0].max(scores[3]), "{layout:?}: {scores:?}");
        assert_eq!(scores[3], scores[4], "a missing text is an empty one");
    }
}

#[test]
fn threads_and_interruptions_change_no_bit() {
    let (column, labels) = task(90);
    let (encoder, features) = encoded(&column, TextLayout::Sequence { length: 50 });
    let scorer = cnn(encoder.width());
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&scorer, &features, &labels, Watch::default()).components)
    };
    let whole = on(1);
    assert_eq!(whole, on(2));

    let saved = RefCell::new(None);
    let save = |checkpoint: &Checkpoint| *saved.borrow_mut() = Some(checkpoint.to_json().to_owned());
    let watch = Watch {
        progress: &|progress| progress.done < 20,
        save: &save,
        save_every: Duration::from_secs(1000),
        resume: None,
    };
    assert_eq!(run(&scorer, &features, &labels, watch).status, Status::TimeLimit);
    let resume = Checkpoint::from_json(&saved.take().unwrap()).unwrap();
    assert!((20..60).contains(&resume.iterations()));
    let watch = Watch { resume: Some(resume), ..Watch::default() };
    assert_eq!(run(&scorer, &features, &labels, watch).components, whole);
}

#[test]
fn other_texts_are_another_run() {
    let (column, labels) = task(30);
    let (encoder, features) = encoded(&column, TextLayout::Terms(Ngrams::Words));
    let scorer = linear(encoder.width());
    let saved = RefCell::new(None);
    let save = |checkpoint: &Checkpoint| *saved.borrow_mut() = Some(checkpoint.clone());
    let watch =
        Watch { progress: &|_| false, save: &save, save_every: Duration::from_secs(1000), resume: None };
    run(&scorer, &features, &labels, watch);
    let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() }).unwrap();
    let goal = parse_maximize("auc", &examples.vocabulary()).unwrap();
    let problem = Problem::new(&goal, true, &[]).unwrap();
    let others: Vec<u32> = (0..30).rev().collect();
    let other = features.select(&others);
    let data = Data { features: &other, train: &examples, multipliers: None, validation: None };
    let watch = Watch { resume: saved.take(), ..Watch::default() };
    let error = train(&problem, &scorer, &data, &settings(), watch).unwrap_err();
    assert_eq!(error, pairity::solvers::TrainError::OtherRun);
}
