//! Training by every method, comparing them, and the frontier.

use super::train::{SHORT, Work, read};
use super::{Outcome, pairity, run};
use pairity::methods::{self, Method};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const GOAL: [&str; 2] = ["--subject-to", "cross_group <= 0.05"];

impl Work {
    fn command(&self, command: &str, more: &[&str]) -> Outcome {
        let mut arguments = self.arguments("unused", more);
        arguments[0] = command.to_owned();
        let place = arguments.iter().position(|argument| argument == "-o").unwrap();
        arguments.drain(place..place + 2);
        run(pairity().args(arguments))
    }

    /// Scores the table with a model.
    fn score(&self, model: &str, more: &[&str]) -> Outcome {
        let [model, table, scored] = [model, "table.csv", "scored.csv"].map(|name| self.path(name));
        run(pairity().arg("score").args([model, table]).arg("-o").arg(scored).args(more))
    }

    fn audit_of_scored(&self) -> Value {
        let scored = self.path("scored.csv");
        let columns =
            ["--score", "score", "--label", "y", "--query", "q", "--group", "g", "--format", "json"];
        run(pairity().arg("audit").arg(scored).args(columns)).json()
    }
}

fn near(a: &Value, b: &Value) {
    assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-12, "{a} and {b}");
}

#[test]
fn a_model_that_changes_scores_by_group_does_so_on_new_tables() {
    let work = Work::new(90);
    for method in ["kallus-zhou", "group-offset", "quantile-match", "x-order"] {
        let more = ["--method", method, "--split", "1,0,0", "--format", "json"];
        let trained = work.train("model.json", &[&SHORT[..], &GOAL, &more].concat());
        assert!(trained.code < 2, "{method}: {}", trained.err);
        let json: Value = serde_json::from_str(&trained.out).unwrap();
        assert_eq!((&json["method"], json["components"].as_array().unwrap().len()), (&method.into(), 1));
        assert_eq!(work.score("model.json", &[]).code, 0);
        let audit = work.audit_of_scored();
        near(&audit["auc"]["value"], &json["train"]["auc"]);
        near(&audit["gaps"]["cross_group"]["value"], &json["train"]["violations"][0]["value"]);
    }
}

#[test]
fn a_model_that_ranks_gives_each_query_a_ranking() {
    let work = Work::new(60);
    for exposure in ["impact", "treatment"] {
        let more = ["--method", "singh-joachims", "--exposure", exposure, "--split", "1,0,0"];
        let trained = work.train("model.json", &[&SHORT[..], &GOAL, &more].concat());
        assert!(trained.code < 2, "{}", trained.err);
        let scored = |seed: &str| {
            assert_eq!(work.score("model.json", &["--seed", seed]).code, 0);
            read(&work.path("scored.csv"))
        };
        let first = scored("1");
        assert_eq!(first, scored("1"));
        assert_ne!(first, scored("2"));
        let mut ranks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for line in first.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            ranks.entry(cells[0]).or_default().push(-cells.last().unwrap().parse::<f64>().unwrap());
        }
        assert_eq!(ranks.len(), 60);
        for ranks in ranks.values_mut() {
            ranks.sort_by(f64::total_cmp);
            assert_eq!(*ranks, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        }
    }
    let refused = work.score("model.json", &["--expected"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("ranks have no expected score"), "{}", refused.err);
}

#[test]
fn methods_in_training_are_named_in_the_report() {
    let work = Work::new(60);
    for method in ["robust", "debiased", "beutel"] {
        let trained = work.train("model.json", &[&SHORT[..], &GOAL, &["--method", method]].concat());
        assert!(trained.code < 2, "{method}: {}", trained.err);
        assert!(trained.out.contains(&format!("(method: {method})")), "{}", trained.out);
    }
    let other =
        work.train("other.json", &[&SHORT[..], &GOAL, &["--method", "beutel", "--penalty", "-1"]].concat());
    assert_eq!(other.code, 2);
}

#[test]
fn a_method_that_does_not_apply_is_an_error_in_training() {
    let work = Work::new(30);
    let more = ["--method", "singh-joachims", "--minimize", "mse"];
    let outcome = work.train("model.json", &[&SHORT[..], &GOAL, &more].concat());
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("Singh & Joachims does not apply: it gives rankings"), "{}", outcome.err);
    assert_eq!(work.files(), ["table.csv"]);
    // Before anything is trained, however long that would take.
    for (method, why) in [("kallus-zhou", "it adjusts groups"), ("robust", "there are no constraints")] {
        let long = ["--label", "y", "--features", "x", "--iterations", "1000000000", "--method", method];
        let (table, model) = (work.path("table.csv"), work.path("m.json"));
        let outcome = run(pairity().arg("train").arg(table).args(long).arg("-o").arg(model));
        assert_eq!(outcome.code, 2);
        assert!(outcome.err.contains(why), "{}", outcome.err);
    }
}

#[test]
fn a_comparison_has_every_method_and_marks_what_is_dominated() {
    let work = Work::new(120);
    let json = work.command("compare", &[&SHORT[..], &GOAL, &["--format", "json"]].concat()).json();
    assert_eq!((&json["schema"], &json["objective"]), (&"pairity.compare/1".into(), &"auc".into()));
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 13);
    let value = |result: &Value, name: &str| result["test"][name]["value"].as_f64().unwrap();
    for result in results {
        assert_eq!(result["applies"], true, "{result}");
        let low = result["test"]["objective"]["low"].as_f64().unwrap();
        assert!(low < value(result, "objective"), "{result}");
        let better = |other: &Value| {
            let (a, b) = (value(other, "objective"), value(other, "violation"));
            let (own, gap) = (value(result, "objective"), value(result, "violation"));
            a >= own && b <= gap && (a, b) != (own, gap)
        };
        assert_eq!(result["dominated"], results.iter().any(better), "{result}");
        assert!(result["seconds"].as_f64().unwrap() > 0.0);
    }
    let constrained = |result: &&Value| result["method"] == "constrained";
    let own = work.train("model.json", &[&SHORT[..], &GOAL, &["--format", "json"]].concat());
    let own: Value = serde_json::from_str(&own.out).unwrap();
    let found = results.iter().find(constrained).unwrap();
    assert_eq!(found["test"]["objective"]["value"], own["test"]["objective"]);
    assert_eq!(found["status"], own["status"]);
}

#[test]
fn a_comparison_for_unequal_bounds_shows_misses_as_shares_of_them() {
    let work = Work::new(60);
    let goal = ["--subject-to", "cross_group <= 0.01", "--subject-to", "within_group <= 0.3"];
    let more = [&SHORT[..], &goal, &["--methods", "unconstrained,group-offset"]].concat();
    let outcome = work.command("compare", &more);
    assert!(outcome.out.contains("violation: the largest miss as a share of its bound"), "{}", outcome.out);
    let json = work.command("compare", &[&more[..], &["--format", "json"]].concat()).json();
    assert_eq!(json["violation"], "relative_miss");
}

#[test]
fn a_comparison_says_which_methods_do_not_apply_and_why() {
    let work = Work::new(60);
    let more = ["--minimize", "mse", "--methods", "robust,singh-joachims,group-offset"];
    let outcome = work.command("compare", &[&SHORT[..], &GOAL, &more].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("Does not apply\n"), "{}", outcome.out);
    assert!(outcome.out.contains("robust: it raises the least of some rates"), "{}", outcome.out);
    assert!(outcome.out.contains("  group-offset  "), "{}", outcome.out);
    // Nothing is trained for methods that don't apply.
    let more = ["--minimize", "mse", "--methods", "kallus-zhou,x-order", "--iterations", "1000000000"];
    let outcome = work.command("compare", &[&GOAL[..], &more].concat());
    assert!(outcome.out.contains("kallus-zhou: its scores lie between 0 and 1"), "{}", outcome.out);
    let outcome = work.command("compare", &SHORT);
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("--subject-to 'cross_group <= 0.01'"), "{}", outcome.err);
}

#[test]
fn a_frontier_goes_from_loose_to_tight_bounds() {
    let work = Work::new(90);
    let more = ["--bounds", "0.02,0.2,0.1", "--methods", "unconstrained,constrained,group-offset"];
    let more = [&SHORT[..], &GOAL, &more, &["--split", "1,0,0"]].concat();
    let json = work.command("frontier", &[&more[..], &["--format", "json"]].concat()).json();
    assert_eq!(json["schema"], "pairity.frontier/1");
    let curves = json["curves"].as_array().unwrap();
    let points: Vec<usize> = curves.iter().map(|curve| curve["points"].as_array().unwrap().len()).collect();
    assert_eq!(points, [1, 3, 3]);
    let constrained = curves[1]["points"].as_array().unwrap();
    let bounds: Vec<f64> = constrained.iter().map(|point| point["bound"].as_f64().unwrap()).collect();
    assert_eq!(bounds, [0.2, 0.1, 0.02]);
    // On the rows that it was trained and selected on, each keeps its bound.
    for (point, bound) in constrained.iter().zip(bounds) {
        let violation = point["test"]["violation"]["value"].as_f64().unwrap();
        assert!(violation <= bound + 1e-9, "{violation} for {bound}");
    }
    let text = work.command("frontier", &more);
    assert!(text.out.contains("constrained <= 0.1"), "{}", text.out);
    // The model of a bound is that of training for it.
    let goal = ["--subject-to", "cross_group <= 0.02", "--split", "1,0,0", "--format", "json"];
    let own: Value = serde_json::from_str(&work.train("m.json", &[&SHORT[..], &goal].concat()).out).unwrap();
    let point = &constrained[2];
    assert_eq!(point["test"]["objective"]["value"], own["train"]["objective"]);
    assert_eq!(point["test"]["violation"]["value"], own["train"]["violations"][0]["value"]);
    assert_eq!(point["components"], own["components"].as_array().unwrap().len());
    let wrong = ["--subject-to", "A[a > b] >= 0.5"];
    let outcome = work.command("frontier", &[&SHORT[..], &wrong].concat());
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("a number that can be replaced"), "{}", outcome.err);
}

/// Lists that are written by hand, for what they say of each method, have the methods of the engine.
#[test]
fn every_list_of_methods_is_that_of_the_engine() {
    let all = |method: &Method| method.given_only.is_none();
    let adjusts = |method: &Method| method.adjuster.is_some();
    // Where a list is: the file, what stands before it and behind it, and which methods it has.
    type Fits = fn(&Method) -> bool;
    let lists: [(&str, &str, &str, Fits); 6] = [
        ("docs/methods.md", "| `--method` |", "\n\n", all),
        ("docs/python.md", "\nMethods are ", ".", adjusts),
        ("docs/training.md", "maps them group by group", "so that", adjusts),
        ("python/pairity/_estimators.py", "    method\n", "    group_aware\n", all),
        ("python/pairity/_adjust.py", "    method\n", "    tune\n", adjusts),
        ("crates/pairity-cli/src/options/help/adjust.txt", "Methods, ", "\n\n", adjusts),
    ];
    for (file, before, behind, fits) in lists {
        let text = std::fs::read_to_string(format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let (_, text) = text.split_once(before).expect(file);
        let (list, _) = text.split_once(behind).expect(file);
        let list = list.replace("``", "`");
        let names: BTreeSet<&str> = match file.ends_with(".txt") {
            // The first word of a line that is indented by two blanks.
            true => {
                let lines = list.lines().filter_map(|line| line.strip_prefix("  "));
                lines.filter_map(|line| line.split(' ').next().filter(|word| !word.is_empty())).collect()
            }
            // What is marked as code, but for options and the setting of a method.
            false => {
                let code =
                    list.split('`').skip(1).step_by(2).map(|code| code.trim_start_matches("--method "));
                code.filter(|word| !word.starts_with("--") && !["strength", "protected"].contains(word))
                    .collect()
            }
        };
        let expected = methods::by_name().filter(|method| fits(method)).map(|method| method.name);
        assert_eq!(names, expected.collect(), "{file}");
    }
}
