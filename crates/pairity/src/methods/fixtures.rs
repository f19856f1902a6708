//! Scored examples with groups, and goals for them.

use super::{Adjusted, MethodError, Tuning};
use crate::examples::{Columns, Examples, Groups};
use crate::goals::Problem;
use crate::goals::{Constraint, Vocabulary, parse_constraint, parse_maximize};
use crate::model::Adjustment;
use crate::pairs::oracle::{OracleRows, tables};
use crate::rates::Average;
use proptest::prelude::*;

/// A table with labels and groups.
#[derive(Debug)]
pub(super) struct ScoredTable {
    pub scores: Vec<f64>,
    pub groups: Groups,
    pub examples: Examples,
}

impl ScoredTable {
    pub(super) fn new(
        scores: &[f64],
        labels: &[f64],
        groups: &[&str],
        queries: Option<&[u32]>,
    ) -> ScoredTable {
        let groups = Groups::from_names(groups);
        let columns = Columns { labels: Some(labels), groups: Some(&groups), queries, ..Columns::default() };
        let examples = Examples::new(columns).unwrap();
        ScoredTable { scores: scores.to_vec(), groups, examples }
    }

    /// Tables with the given number of groups; the scores of later groups are higher, so that goals are
    /// missed at first.
    pub(super) fn random(rows: usize, groups: usize, queries: usize, seed: u64) -> ScoredTable {
        // A generator of fractions that needs no more than this.
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let names: Vec<String> = (0..groups).map(|group| format!("g{group}")).collect();
        let (mut scores, mut labels, mut own, mut of_query) = (vec![], vec![], vec![], vec![]);
        for row in 0..rows {
            let group = (next() * groups as f64) as usize;
            let label = f64::from(u8::from(next() < 0.4));
            scores.push(label * (1.0 - 0.2 * group as f64) + 0.7 * group as f64 + 1.5 * next());
            labels.push(label);
            own.push(names[group].as_str());
            of_query.push((row % queries) as u32);
        }
        ScoredTable::new(&scores, &labels, &own, (queries > 1).then_some(&of_query))
    }

    pub(super) fn problem(&self, constraints: &[&str]) -> Problem {
        problem(self.groups.names(), constraints)
    }

    pub(super) fn tuning<'a>(&'a self, problem: &'a Problem) -> Tuning<'a> {
        Tuning::new(&self.examples, &self.scores, problem)
    }

    pub(super) fn applied(&self, adjusted: &Adjusted) -> Vec<f64> {
        adjusted.adjustment.apply(&self.scores, Some(&self.groups)).unwrap().scores
    }
}

pub(super) fn problem(groups: &[String], constraints: &[&str]) -> Problem {
    let words = Vocabulary { groups: groups.to_vec(), continuous: false };
    let parse = |text: &&str| parse_constraint(text, &words).unwrap();
    let constraints: Vec<Constraint> = constraints.iter().map(parse).collect();
    Problem::new(&parse_maximize("auc", &words).unwrap(), true, &constraints).unwrap()
}

/// Applies a method to any table at all: an error, or an adjustment that keeps the order inside each group
/// and leaves scores finite.
pub(super) fn holds_on_any_table(
    rows: &OracleRows,
    constraint: &str,
    adjust: impl Fn(&Tuning) -> Result<Adjusted, MethodError>,
) -> Result<(), TestCaseError> {
    let Some(examples) = rows.examples() else { return Ok(()) };
    if examples.groups().len() < 2 {
        let words = Vocabulary { groups: Vec::new(), continuous: false };
        let problem = Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[]).unwrap();
        let tuning = Tuning::new(&examples, &rows.scores, &problem);
        let refused = matches!(adjust(&tuning), Err(MethodError::DoesNotApply { .. }));
        prop_assert!(refused);
        return Ok(());
    }
    let problem = problem(examples.groups(), &[constraint]);
    let tuning = Tuning { average: Average::Queries, ..Tuning::new(&examples, &rows.scores, &problem) };
    let adjusted = match adjust(&tuning) {
        Ok(adjusted) => adjusted,
        Err(MethodError::DoesNotApply { .. } | MethodError::NoPairs { .. }) => return Ok(()),
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    prop_assert_eq!(adjusted.adjustment.check(), Ok(()));
    let names = rows.groups.as_ref().map_or(&[][..], Vec::as_slice);
    let applied = adjusted.adjustment.apply(&rows.scores, Some(&Groups::from_names(names))).unwrap();
    prop_assert!(applied.scores.iter().all(|score| score.is_finite()), "{:?}", applied.scores);
    keeps_order(names, &rows.scores, &applied.scores)?;
    Ok(())
}

/// No two scores of a group are turned around, and equal ones stay equal.
pub(super) fn keeps_order(names: &[String], before: &[f64], after: &[f64]) -> Result<(), TestCaseError> {
    for i in 0..names.len() {
        for j in (0..names.len()).filter(|&j| names[i] == names[j]) {
            prop_assert!(before[i] < before[j] || after[i] >= after[j], "{} {}", before[i], before[j]);
        }
    }
    Ok(())
}

/// Tables as any test of counting sees them, most with groups: at most so many.
pub(super) fn grouped(most: usize) -> impl Strategy<Value = OracleRows> {
    let names = prop::collection::vec(0..=most, 130);
    (tables(), names, 0u8..10).prop_map(move |(mut rows, names, kind)| {
        if kind > 0 {
            let name = |&group: &usize| if group == most { String::new() } else { format!("g{group}") };
            rows.groups = Some(names[..rows.scores.len()].iter().map(name).collect());
            rows.protected = None;
        }
        rows
    })
}

/// The offsets of an adjustment by offsets.
pub(super) fn offsets(adjusted: &Adjusted) -> Vec<f64> {
    match &adjusted.adjustment {
        Adjustment::Offsets { groups } => groups.iter().map(|group| group.offset).collect(),
        other => panic!("{other:?}"),
    }
}
