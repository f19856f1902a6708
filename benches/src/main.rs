//! One piece of work, timed: `pairity-bench WORK FOLDER THREADS REPEATS`.
//!
//! The folder holds raw little-endian f64 columns `scores`, `labels`, `attribute` and u8 codes `groups`;
//! `run.py` writes them, so that peers work on the same arrays. Prints the best seconds and the growth of
//! the peak memory in bytes.
//!
//! A work is `matrix`, `audit`, `count`, `gradient`, `gradient-up` or `train`, and a variant may follow: `-continuous` for the
//! attribute in place of groups (`train` reads `features` too, and `queries` without this variant), `-queries` for queries of ten rows, `-weights` for the attribute's absolute value as
//! weights, `-few` for five distinct labels, `-gap` for pairs weighted by the gap of labels, `-squared` for the squared
//! hinge. Counts and gradients are evaluated as training does: examples and the index of their pairs are prepared, and an
//! evaluation has the room of the one before.

mod training;

use pairity::examples::{Columns, Examples, Groups, PairWeight};
use pairity::metrics::{Audit, Settings, rate_values};
use pairity::pairs::{RateIndex, Surrogate, SurrogateKind, Weights};
use pairity::rates::{Average, Rate};
use std::path::Path;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

fn numbers(folder: &Path, name: &str) -> Result<Vec<f64>, Failure> {
    let bytes = std::fs::read(folder.join(name))?;
    let (chunks, _) = bytes.as_chunks::<8>();
    Ok(chunks.iter().map(|&chunk| f64::from_le_bytes(chunk)).collect())
}

/// A value of /proc/self/status in bytes; 0 where there is none.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("");
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0u64) * 1024
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [work, folder, threads, repeats] = arguments.as_slice() else {
        return Err("usage: pairity-bench WORK[-VARIANT] FOLDER THREADS REPEATS".into());
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    let folder = Path::new(folder);
    if work.starts_with("train") {
        let continuous = work.ends_with("-continuous");
        println!("{} 0", training::seconds(folder, repeats.parse()?, continuous)?);
        return Ok(());
    }
    let (scores, labels) = (numbers(folder, "scores")?, numbers(folder, "labels")?);
    let attribute = numbers(folder, "attribute")?;
    let codes: Vec<u32> = std::fs::read(folder.join("groups"))?.into_iter().map(u32::from).collect();
    let names = (0..=codes.iter().copied().max().unwrap_or(0)).map(|group| group.to_string()).collect();
    let groups = Groups::from_codes(names, codes);
    let k = groups.names().len();

    let labels = match work.ends_with("-few") {
        true => labels.iter().map(|label| label.round().clamp(-2.0, 2.0)).collect(),
        false => labels,
    };
    let queries: Vec<u32> = (0..labels.len() as u32).map(|row| row / 10).collect();
    let weights: Vec<f64> = attribute.iter().map(|value| value.abs()).collect();
    let (mut columns, rates): (Columns, Vec<Rate>) = if work.ends_with("continuous") {
        let columns = Columns { labels: Some(&labels), protected: Some(&attribute), ..Columns::default() };
        (columns, vec![Rate::Greater, Rate::Less])
    } else {
        let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
        (columns, (0..k).flat_map(|a| (0..k).map(move |b| Rate::accuracy(a, b))).collect())
    };
    columns.queries = work.ends_with("-queries").then_some(&queries);
    columns.weights = work.ends_with("-weights").then_some(&weights);
    if work.ends_with("-gap") {
        columns.pair_weight = PairWeight::LabelGap;
    }
    let kind = if work.ends_with("-squared") { SurrogateKind::SquaredHinge } else { SurrogateKind::Hinge };
    let settings = Settings::default();
    let before = memory("VmRSS:");
    let mut best = f64::INFINITY;
    // What a training loop prepares once.
    let is_prepared = work.starts_with("count") || work.starts_with("gradient");
    let prepared = if is_prepared { Some(Examples::new(columns)?) } else { None };
    let index = prepared.as_ref().map(|examples| RateIndex::new(examples, &rates, Average::Pairs));
    let surrogate = Surrogate::new(kind, 1.0)?;
    let mut gradient = vec![0.0; scores.len()];
    // Bounds on a gap hold rates down as well.
    let (up, down) =
        (vec![1.0; rates.len()], vec![if work == "gradient-up" { 0.0 } else { 0.5 }; rates.len()]);
    for _ in 0..repeats.parse::<usize>()? {
        let start = Instant::now();
        match &index {
            Some(index) if work.starts_with("gradient") => {
                let weights = Weights { hold_up: &up, hold_down: &down, mse: 0.0 };
                std::hint::black_box(surrogate.put_at_rows(index, &scores, weights, &mut gradient)?);
            }
            Some(index) => {
                std::hint::black_box(index.rates_at_rows(&scores)?);
            }
            None => {
                let examples = Examples::new(columns)?;
                match work.starts_with("audit") {
                    true => drop(std::hint::black_box(Audit::run(&examples, &scores, &[], &settings)?)),
                    false => drop(std::hint::black_box(rate_values(&examples, &scores, &rates, &settings)?)),
                }
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{best} {}", memory("VmHWM:").saturating_sub(before));
    Ok(())
}
