//! The shape of the data, and what a network makes of it.

use super::*;
use pairity::learners::ScorerKind;
use pairity::metrics::{Audit, Settings};
use pairity::run::{FitRequest, TrainRequest, train};
use pairity::solvers::Watch;

#[test]
fn there_are_exactly_as_many_pairs_as_in_the_paper() {
    for seed in 0..20 {
        let data = draw(seed);
        let examples = data.examples().unwrap();
        let audit = Audit::run(&examples, &vec![0.0; data.rows()], &[], &Settings::default()).unwrap();
        assert_eq!(audit.auc.pairs, PAIRS as u64);
        assert_eq!((data.columns.len(), data.rows()), (FEATURES, data.labels.len()));
        // Every query has pairs, and few businesses.
        let mut labels = &data.labels[..];
        for query in data.queries.as_ref().unwrap().chunk_by(|a, b| a == b) {
            let (of_query, rest) = labels.split_at(query.len());
            assert!(of_query.contains(&1.0) && of_query.contains(&0.0) && of_query.len() <= 8);
            labels = rest;
        }
    }
}

#[test]
fn every_kind_of_business_occurs_and_chains_are_looked_for() {
    let data = draw(1);
    let groups = data.groups.as_ref().unwrap();
    let share = |label: f64, group: Option<usize>| {
        let with: Vec<usize> = (0..data.rows()).filter(|&row| data.labels[row] == label).collect();
        let of = with.iter().filter(|&&row| groups.code(row) == group).count();
        of as f64 / with.len() as f64
    };
    // Five deviations of a share among 4,000 matches, and among 14,000 others.
    assert!((share(1.0, Some(0)) - (0.8 * 0.2 + 0.2 * 0.7)).abs() < 0.037);
    assert!((share(0.0, Some(0)) - 0.2).abs() < 0.017);
    assert!((share(0.0, None) - 0.45).abs() < 0.022);
}

/// Trains the paper's network on half of the queries, selects on a quarter and measures the rest.
#[test]
#[ignore = "trains for minutes; run it when the generator changes"]
fn an_unconstrained_network_does_about_as_well_as_in_the_paper() {
    let (mut auc, mut chain, mut other) = (0.0, 0.0, 0.0);
    let seeds = 5;
    for seed in 0..seeds {
        let data = draw(seed);
        let (scorer, standardize) = (ScorerKind::Mlp, data.standardize);
        let fit =
            FitRequest { scorer, standardize, step_sizes: vec![0.01, 0.1], seed, ..FitRequest::default() };
        let request = TrainRequest { fit, ..TrainRequest::default() };
        let result = train(data.training_rows().unwrap(), &request, Watch::default()).unwrap();
        let audit = &result.part("test").unwrap().audit;
        let rows: Vec<f64> = audit.row_marginals.iter().map(|row| row.value.unwrap()).collect();
        println!("seed {seed}: {:.3} {:.3} {:.3}", audit.auc.value.unwrap(), rows[0], rows[1]);
        auc += audit.auc.value.unwrap() / seeds as f64;
        chain += rows[0] / seeds as f64;
        other += rows[1] / seeds as f64;
    }
    println!("mean: {auc:.3} {chain:.3} {other:.3}");
    assert!((auc - 0.70).abs() < 0.015, "{auc}");
    assert!((chain - other - 0.06).abs() < 0.02, "{chain} {other}");
}
