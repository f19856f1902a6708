//! Debiasing by example weights (after Dixon et al. 2018).
//!
//! Every weight stays as it is, but for the negatives of each group g other than the first, which are
//! multiplied by
//!
//! ```text
//! α_g = (N_0 / P_0) / (N_g / P_g)
//! ```
//!
//! with P and N the sums of weights of a group's positives and negatives: the ratio of negatives to
//! positives becomes that of the first group. A pair weighs the product of its examples' weights, so
//! training with these weights changes what the area under the curve is made of, and nothing else.

use super::{Method, MethodError, Stage, Task};
use crate::examples::Examples;
use crate::solvers::Data;

const METHOD: &str = "debiasing";

/// The method.
pub static DEBIASED: Method = Method {
    train: |task, _, watch| {
        let train = &task.data.train.reweighted(&weights(task.data.train)?.weights);
        Task { data: Data { train, ..task.data }, ..*task }.train(&task.problem.unconstrained(), watch)
    },
    ..Method::new(
        "debiased",
        Stage::Training,
        "Example weights balance positives and negatives in all groups (Dixon et al. 2018)",
    )
};

/// Weights that balance negatives and positives.
#[derive(Debug, Clone, PartialEq)]
pub struct BalancedWeights {
    /// One for each row: the example's weight, times its group's factor for a negative; 0 for rows that the
    /// examples leave out.
    pub weights: Vec<f64>,
    /// α of each group, in the order of the groups; 1 where there is none.
    pub factors: Vec<f64>,
    /// What could not be balanced, and why.
    pub notes: Vec<String>,
}

/// The weights to train with.
///
/// # Errors
/// Examples without groups, or with labels that are not of two values.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::methods::debiased;
///
/// // Two negatives for a positive in group a, one in group b.
/// let groups = Groups::from_names(&["a", "a", "a", "b", "b"]);
/// let labels = [1.0, 0.0, 0.0, 1.0, 0.0];
/// let examples =
///     Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })?;
/// assert_eq!(debiased::weights(&examples)?.weights, [1.0, 1.0, 1.0, 1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn weights(examples: &Examples) -> Result<BalancedWeights, MethodError> {
    let refuse = |reason: &str| MethodError::does_not_apply(METHOD, reason);
    let groups = examples.coded_groups();
    let (names, codes) = groups.map_err(|found| refuse(&format!("it balances groups, and {found}")))?;
    let Some(labels) = &examples.labels else {
        return Err(refuse("it balances negatives and positives, and there are no labels"));
    };
    let (low, high) = labels
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &label| (low.min(label), high.max(label)));
    if low == high {
        return Err(refuse("it balances negatives and positives, and all labels are equal"));
    }
    if labels.iter().any(|&label| label != low && label != high) {
        return Err(refuse("it balances negatives and positives, and labels have more than two values"));
    }
    // Sums of weights: negatives and positives of each group, and of no group.
    let mut sums = vec![[0.0f64; 2]; names.len() + 1];
    for (example, (&code, &label)) in codes.iter().zip(labels).enumerate() {
        sums[usize::from(code)][usize::from(label == high)] += examples.weight(example);
    }
    let (factors, notes) = factors(names, &sums);
    let weight = |example: usize| {
        let negative = labels[example] == low;
        let factor = if negative { factors.get(usize::from(codes[example])) } else { None };
        examples.weight(example) * factor.unwrap_or(&1.0)
    };
    let weights = examples.by_row(&(0..examples.len()).map(weight).collect::<Vec<f64>>());
    Ok(BalancedWeights { weights, factors, notes })
}

/// α of each group, and the groups that have none.
fn factors(names: &[String], sums: &[[f64; 2]]) -> (Vec<f64>, Vec<String>) {
    let mut notes = Vec::new();
    let lacks = |group: usize| match sums[group] {
        [n, p] if n <= 0.0 && p <= 0.0 => Some("no examples"),
        [n, _] if n <= 0.0 => Some("no negatives"),
        [_, p] if p <= 0.0 => Some("no positives"),
        _ => None,
    };
    let mut factors = vec![1.0; names.len()];
    let Some(first) = names.first() else { return (factors, notes) };
    if let Some(lack) = lacks(0) {
        notes.push(format!("group {first:?} has {lack}: there is no ratio to match, and no weight changes"));
        return (factors, notes);
    }
    let [negatives, positives] = sums[0];
    for (group, name) in names.iter().enumerate().skip(1) {
        let [n, p] = sums[group];
        let factor = (negatives / positives) * (p / n);
        match lacks(group) {
            Some(lack) => notes.push(format!("group {name:?} has {lack}: its weights do not change")),
            None if !(factor > 0.0 && factor.is_finite()) => notes
                .push(format!("the factor of group {name:?} would be {factor}: its weights do not change")),
            None => factors[group] = factor,
        }
    }
    (factors, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, Groups};
    use crate::pairs::oracle::tables;
    use proptest::prelude::*;

    fn debias(
        labels: &[f64],
        groups: &[&str],
        weights: Option<&[f64]>,
    ) -> Result<BalancedWeights, MethodError> {
        let groups = Groups::from_names(groups);
        let columns = Columns { labels: Some(labels), groups: Some(&groups), weights, ..Columns::default() };
        super::weights(&Examples::new(columns).unwrap())
    }

    #[test]
    fn negatives_are_weighed_to_the_ratio_of_the_first_group() {
        // a: 3 negatives to 1 positive; b: 1 to 2; c: 4 to 1.
        let labels = [1., 0., 0., 0., 1., 1., 0., 1., 0., 0., 0., 0.];
        let groups = ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c", "c", "c"];
        let found = debias(&labels, &groups, None).unwrap();
        assert_eq!(found.factors, [1.0, 6.0, 0.75]);
        assert_eq!(found.weights, [1., 1., 1., 1., 1., 1., 6., 1., 0.75, 0.75, 0.75, 0.75]);
        assert!(found.notes.is_empty());
    }

    #[test]
    fn weights_multiply_and_rows_of_no_group_keep_theirs() {
        let labels = [5., -5., 5., -5., -5., -5.];
        let groups = ["a", "a", "b", "b", "", "b"];
        // a: 2 to 1; b: 0.5 to 4; the last row is left out.
        let found = debias(&labels, &groups, Some(&[1., 2., 4., 0.5, 3., 0.])).unwrap();
        assert_eq!(found.factors, [1.0, 16.0]);
        assert_eq!(found.weights, [1., 2., 4., 8., 3., 0.]);
    }

    #[test]
    fn a_group_of_one_kind_keeps_its_weights_and_is_noted() {
        let found = debias(&[1., 0., 0., 1.], &["a", "a", "b", "c"], None).unwrap();
        assert_eq!(found.weights, [1.; 4]);
        let notes = [
            "group \"b\" has no positives: its weights do not change",
            "group \"c\" has no negatives: its weights do not change",
        ];
        assert_eq!(found.notes, notes);
        let found = debias(&[1., 1., 0., 1.], &["a", "a", "b", "b"], None).unwrap();
        assert_eq!(found.weights, [1.; 4]);
        assert!(found.notes[0].starts_with("group \"a\" has no negatives: there is no ratio"));
    }

    #[test]
    fn what_can_not_be_balanced_is_refused_with_a_reason() {
        let reason = |labels: &[f64]| debias(labels, &["a", "b", "a"], None).unwrap_err().to_string();
        assert!(reason(&[1., 2., 3.]).ends_with("labels have more than two values"));
        assert!(reason(&[0., -0., 0.]).ends_with("all labels are equal"));
        let columns = Columns { labels: Some(&[1., 0.]), protected: Some(&[1., 2.]), ..Columns::default() };
        let error = super::weights(&Examples::new(columns).unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("the protected attribute is continuous"), "{error}");
    }

    proptest! {
        #[test]
        fn every_balanced_group_has_the_first_group_s_ratio(rows in tables()) {
            let Some(examples) = rows.examples() else { return Ok(()) };
            let Ok(found) = super::weights(&examples) else { return Ok(()) };
            let (labels, groups) = (rows.labels.as_ref().unwrap(), rows.groups.as_ref().unwrap());
            let high = labels.iter().copied().fold(f64::MIN, f64::max);
            let ratio = |name: &String| {
                let sum = |positive: bool| (0..labels.len())
                    .filter(|&row| &groups[row] == name && (labels[row] == high) == positive)
                    .map(|row| found.weights[row]).sum::<f64>();
                sum(false) / sum(true)
            };
            let names = examples.groups();
            for (group, name) in names.iter().enumerate().filter(|(group, _)| found.factors[*group] != 1.0) {
                prop_assert!((ratio(name) / ratio(&names[0]) - 1.0).abs() < 1e-12, "{group}");
            }
            for (row, &weight) in found.weights.iter().enumerate().filter(|(row, _)| labels[*row] == high) {
                prop_assert_eq!(weight, rows.weights.as_ref().map_or(1.0, |weights| weights[row]));
            }
        }
    }
}
