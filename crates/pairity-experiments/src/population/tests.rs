//! Against a large sample, and against limits that were found elsewhere.

use super::*;
use crate::simulated::CANDIDATES;
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use pairity::goals::{Expression, LinearForm, Vocabulary, parse_expression};
use pairity::metrics::{Settings, rate_values};

#[test]
fn a_large_sample_has_nearly_the_population_rates() {
    let scorer = |group: usize| GroupScorer {
        weights: [[0.8, 0.6], [0.1, 1.2], [1.0, -0.3]][group],
        offset: [0.0, 0.7, -0.4][group],
    };
    for task in
        [SimulatedTask::two_groups(), SimulatedTask::three_groups(), SimulatedTask::two_groups().as_printed()]
    {
        let queries = 20_000;
        let rows = task.draw(queries, 11);
        let scores: Vec<f64> = rows
            .features
            .iter()
            .zip(&rows.groups)
            .map(|(x, &group)| {
                let GroupScorer { weights, offset } = scorer(group as usize);
                weights[0] * x[0] + weights[1] * x[1] + offset
            })
            .collect();
        let examples = rows.dataset("simulated").examples().unwrap();
        let exact = rates_by_group(&task, &scorer);
        let groups = task.groups().len();
        let mut all = vec![(Rate::AUC, 1.0)];
        for i in 0..groups {
            let share = task.groups()[i].share;
            all.extend([(Rate::row(i), share), (Rate::column(i), 1.0)]);
            // Queries whose positive is of group i, and that have a negative of group j.
            let present = |j: usize| 1.0 - (1.0 - task.groups()[j].share).powi(CANDIDATES as i32 - 1);
            all.extend((0..groups).map(|j| (Rate::accuracy(i, j), share * present(j))));
        }
        let names: Vec<Rate> = all.iter().map(|(rate, _)| *rate).collect();
        let measured = rate_values(&examples, &scores, &names, &Settings::default()).unwrap();
        for ((rate, share), measured) in all.into_iter().zip(measured) {
            // A query's own rate is within [0, 1], so that its deviation is at most a half.
            let tolerance = 4.0 * 0.5 / (f64::from(queries) * share).sqrt();
            let (exact, measured) = (exact.rate(rate).unwrap(), measured.unwrap());
            assert!((exact - measured).abs() < tolerance, "{rate:?}: {exact} {measured} ± {tolerance}");
        }
    }
}

#[test]
fn a_scorer_without_weights_ties_all_but_its_offsets() {
    let flat = rates(&SimulatedTask::two_groups(), [0.0, 0.0]);
    assert_eq!(flat.accuracy, [[0.5, 0.5], [0.5, 0.5]]);
    assert_eq!(flat.auc, 0.5);
    let offsets = |group| GroupScorer { weights: [0.0, 0.0], offset: group as f64 };
    let apart = rates_by_group(&SimulatedTask::two_groups(), &offsets);
    assert_eq!(apart.accuracy, [[0.5, 0.0], [1.0, 0.5]]);
    assert_eq!(apart.rate(Rate::accuracy(0, 2)), None);
    assert_eq!(apart.rate(Rate::Mse), None);
}

/// Every direction of a linear scorer, in steps of a tenth of a degree.
fn directions() -> impl Iterator<Item = [f64; 2]> {
    (0..3600).map(|step| (f64::from(step) / 10.0).to_radians()).map(|angle| [angle.cos(), angle.sin()])
}

fn expression(task: &SimulatedTask, text: &str) -> Expression {
    let groups = (0..task.groups().len()).map(|group| group.to_string()).collect();
    parse_expression(text, &Vocabulary { groups, continuous: false }).unwrap()
}

fn value(expression: &Expression, rates: &PopulationRates) -> f64 {
    expression.value(&mut |rate| rates.rate(rate).unwrap())
}

/// The largest AUC of a single direction whose gap is at most 0.01, and the least gap of all directions.
fn best_direction(task: &SimulatedTask, gap: &str) -> (Option<f64>, f64) {
    let gap = expression(task, gap);
    let all: Vec<(f64, f64)> =
        directions().map(|w| rates(task, w)).map(|rates| (rates.auc, value(&gap, &rates))).collect();
    let fair = all.iter().filter(|(_, gap)| *gap <= 0.01).map(|(auc, _)| *auc).max_by(f64::total_cmp);
    (fair, all.iter().map(|(_, gap)| *gap).fold(f64::INFINITY, f64::min))
}

/// The AUC of the best mixture of directions, by a linear program: the largest t that is at most each
/// linear form of a concave goal, where each form of a gap is at most 0.01.
fn best_mixture(task: &SimulatedTask, goal: &str, gap: Option<&str>) -> f64 {
    let scorers: Vec<PopulationRates> = directions().step_by(5).map(|w| rates(task, w)).collect();
    let mut program = Problem::new(OptimizationDirection::Maximize);
    let t = program.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let shares: Vec<_> = scorers.iter().map(|_| program.add_var(0.0, (0.0, 1.0))).collect();
    let one: Vec<_> = shares.iter().map(|&share| (share, 1.0)).collect();
    program.add_constraint(&one, ComparisonOp::Eq, 1.0);
    let expected = |form: &LinearForm| -> Vec<_> {
        let values = scorers.iter().map(|rates| form.value(&mut |rate| rates.rate(rate).unwrap()));
        shares.iter().copied().zip(values).collect()
    };
    for form in expression(task, &format!("-({goal})")).linear_forms(1.0, 100, &mut Vec::new()).unwrap() {
        let mut row = expected(&form);
        row.push((t, 1.0));
        program.add_constraint(&row, ComparisonOp::Le, 0.0);
    }
    for form in
        gap.iter().flat_map(|gap| expression(task, gap).linear_forms(1.0, 100, &mut Vec::new()).unwrap())
    {
        program.add_constraint(expected(&form), ComparisonOp::Le, 0.01);
    }
    let solution = program.solve().unwrap().into_solution().unwrap();
    shares.iter().zip(&scorers).map(|(&share, rates)| solution.var_value(share) * rates.auc).sum()
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 0.00051
}

#[test]
fn the_best_linear_scorers_are_those_known() {
    let best = |task: &SimulatedTask| directions().map(|w| rates(task, w).auc).fold(0.0, f64::max);
    assert!(near(best(&SimulatedTask::two_groups()), 0.9225));
    assert!(near(best(&SimulatedTask::two_groups().as_printed()), 0.888));
    assert!(near(best(&SimulatedTask::three_groups()), 0.940));

    let two = SimulatedTask::two_groups();
    let (auc, _) = best_direction(&two, "cross_group");
    assert!(near(auc.unwrap(), 0.870), "{auc:?}");
    let (auc, least) = best_direction(&two, "max(cross_group, within_group)");
    assert!(auc.is_none() && near(least, 0.048), "{auc:?} {least}");
    let (auc, least) = best_direction(&SimulatedTask::three_groups(), "marginal");
    assert!(auc.is_none() && near(least, 0.066), "{auc:?} {least}");
}

#[test]
fn the_best_mixtures_of_linear_scorers_are_those_known() {
    let (two, three) = (SimulatedTask::two_groups(), SimulatedTask::three_groups());
    assert!(near(best_mixture(&two, "auc", Some("cross_group")), 0.870));
    assert!(near(best_mixture(&two, "auc", Some("max(cross_group, within_group)")), 0.677));
    assert!(near(best_mixture(&three, "auc", Some("marginal")), 0.713));
    assert!(near(best_mixture(&two, "min(auc, A[0 > 1], A[1 > 0])", None), 0.883));
    let both = "min(A[0 > 1], A[1 > 0]) + min(A[0 > 0], A[1 > 1])";
    assert!(near(best_mixture(&two, both, None), 0.891));
    assert!(near(best_mixture(&three, "min(A[0 > *], A[1 > *], A[2 > *])", None), 0.915));
}

#[test]
fn an_offset_for_the_group_makes_fairness_nearly_free() {
    let task = SimulatedTask::two_groups();
    let gap = expression(&task, "cross_group");
    let mut best = 0.0_f64;
    for weights in directions().step_by(10) {
        for offset in (0..400).map(|step| f64::from(step) / 100.0) {
            let scorer = |group| GroupScorer { weights, offset: if group == 1 { offset } else { 0.0 } };
            let rates = rates_by_group(&task, &scorer);
            if value(&gap, &rates) <= 0.01 {
                best = best.max(rates.auc);
            }
        }
    }
    assert!(near(best, 0.936), "{best}");
}
