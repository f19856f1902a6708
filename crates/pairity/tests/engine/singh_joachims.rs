//! Stochastic rankings of whole tables.

use pairity::examples::{Columns, Examples, Groups};
use pairity::model::exposure::{Exposure, Rankings, Utilities, policy};
use pairity_testing::need_data;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

/// Rows of queries with two groups.
struct RankedTable {
    scores: Vec<f64>,
    groups: Vec<String>,
    queries: Vec<u32>,
}

impl RankedTable {
    fn policy(&self, exposure: Exposure, utilities: Utilities) -> Rankings {
        let groups = Groups::from_names(&self.groups);
        let columns = Columns { groups: Some(&groups), queries: Some(&self.queries), ..Columns::default() };
        policy(&Examples::new(columns).unwrap(), &self.scores, exposure, utilities).unwrap()
    }
}

/// The labeled expert search data, where they are at hand, scored by the feature that varies in
/// most queries and a little by gender.
fn experts() -> Option<RankedTable> {
    let file = need_data("exposure of experts", "w3c_experts/w3c_experts_48x200_labelled.csv")?;
    let text = std::fs::read_to_string(file).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let number = |row: &Vec<&str>, column: usize| row[column].parse::<f64>().unwrap();
    Some(RankedTable {
        scores: rows.iter().map(|row| number(row, 4) - 0.1 * number(row, 1)).collect(),
        groups: rows.iter().map(|row| row[1].to_owned()).collect(),
        queries: rows.iter().map(|row| number(row, 0) as u32).collect(),
    })
}

#[test]
fn experts_of_both_genders_get_exposure_for_their_utility() {
    let Some(table) = experts() else { return };
    let rankings = table.policy(Exposure::Treatment, Utilities::Range);
    assert_eq!(rankings.slacks.len(), 48);
    assert!(rankings.members.len() <= 2);
    let mut queries = table.queries.clone();
    queries.sort_unstable();
    queries.dedup();
    let mut constrained = 0;
    for (query, slack) in queries.iter().zip(&rankings.slacks) {
        let rows: Vec<usize> = (0..table.queries.len()).filter(|&r| table.queries[r] == *query).collect();
        let scores: Vec<f64> = rows.iter().map(|&r| table.scores[r]).collect();
        let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Mean exposure for mean utility, from the members' scores alone. Rows of equal score share the
        // exposure of their ranks.
        let ratio = |group: &str| {
            let (mut exposure, mut utility) = (0.0, 0.0);
            for (&row, score) in rows.iter().zip(&scores).filter(|(row, _)| table.groups[**row] == group) {
                utility += (score - low) / (high - low);
                for member in &rankings.members {
                    let own = member.scores[row];
                    let above = rows.iter().filter(|&&r| member.scores[r] > own).count();
                    let tied = rows.iter().filter(|&&r| member.scores[r] == own).count();
                    let ranks = above + 1..=above + tied;
                    let mean = ranks.map(|j| 1.0 / (1.0 + j as f64).log2()).sum::<f64>() / tied as f64;
                    exposure += member.probabilities[row] * mean;
                }
            }
            exposure / utility
        };
        // A group whose scores are all the lowest has no ratio.
        let gap = if ratio("1").is_finite() { (ratio("0") - ratio("1")).abs() } else { 0.0 };
        constrained += u32::from(ratio("1").is_finite());
        assert!((gap - slack).abs() < 1e-9, "query {query}: {gap} and {slack}");
    }
    assert!(constrained > 20, "{constrained}");
}

/// Prints; run it in release mode with `--ignored --nocapture`.
#[test]
#[ignore = "measures time"]
fn how_long_policies_take() {
    let time = |name: &str, table: &RankedTable, exposure: Exposure| {
        let start = Instant::now();
        let rankings = table.policy(exposure, Utilities::Range);
        let (elapsed, unreached) =
            (start.elapsed(), rankings.slacks.iter().filter(|&&slack| slack > 0.0).count());
        eprintln!(
            "{name}, {exposure:?}: {elapsed:?}, {} members, {unreached} unreached",
            rankings.members.len()
        );
    };
    let made = |queries: u32, size: u32, groups: u32| {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let codes: Vec<u32> = (0..queries * size).map(|_| rng.random_range(0..groups)).collect();
        let ahead = |code: u32| 0.3 * f64::from(code) / f64::from(groups);
        RankedTable {
            scores: codes.iter().map(|&code| rng.random_range(0.0..1.0) + ahead(code)).collect(),
            groups: codes.iter().map(|code| code.to_string()).collect(),
            queries: (0..queries * size).map(|row| row / size).collect(),
        }
    };
    for exposure in [Exposure::Treatment, Exposure::Impact] {
        if let Some(table) = experts() {
            time("experts, 48 x 200", &table, exposure);
        }
        for (queries, size, groups) in
            [(100_000, 10, 2), (1, 100_000, 2), (1_000, 100, 3), (100, 200, 10), (1, 1_000, 30)]
        {
            time(&format!("{queries} x {size}, {groups} groups"), &made(queries, size, groups), exposure);
        }
    }
}
