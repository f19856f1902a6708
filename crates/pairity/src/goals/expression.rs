//! Piecewise linear expressions of rates, and their values.

use std::collections::BTreeSet;

use super::linear::LinearForm;
use crate::rates::Rate;

/// A piecewise linear expression of rates.
///
/// Those that come from a text are in a plain form: a part that is linear is one [`LinearForm`], a sum has
/// no sums in it and at most one linear entry, whose factor is 1, and no list is empty.
///
/// ```
/// use pairity::goals::{Vocabulary, parse_expression};
/// let expression = parse_expression("1 - 2 * abs(A[z > z'] - A[z < z'])",
///     &Vocabulary { groups: vec![], continuous: true })?;
/// let value = expression.value(&mut |rate| if rate == pairity::rates::Rate::Greater { 0.75 } else { 0.5 });
/// assert_eq!(value, 0.5);
/// # Ok::<(), pairity::goals::GoalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A linear form.
    Linear(LinearForm),
    /// The absolute value.
    Abs(Box<Expression>),
    /// The smallest of a list.
    Min(Vec<Expression>),
    /// The largest of a list.
    Max(Vec<Expression>),
    /// A sum, each entry with its factor.
    Sum(Vec<(f64, Expression)>),
    /// The largest absolute difference between two of a list: what a named criterion is.
    Spread(Vec<LinearForm>),
}

impl Expression {
    /// The value at given rates. A rate that is NaN (it has no pairs) makes the value NaN: it is never
    /// passed over by `min`, `max` or a criterion.
    pub fn value(&self, rate: &mut dyn FnMut(Rate) -> f64) -> f64 {
        match self {
            Expression::Linear(form) => form.value(rate),
            Expression::Abs(inner) => inner.value(rate).abs(),
            Expression::Min(list) => smallest(list.iter().map(|entry| entry.value(rate))),
            Expression::Max(list) => largest(list.iter().map(|entry| entry.value(rate))),
            Expression::Sum(list) => list.iter().map(|(factor, entry)| factor * entry.value(rate)).sum(),
            Expression::Spread(list) => {
                let values: Vec<f64> = list.iter().map(|form| form.value(rate)).collect();
                match values.len() {
                    0 => 0.0,
                    _ => largest(values.iter().copied()) - smallest(values.iter().copied()),
                }
            }
        }
    }

    /// The rates it depends on, sorted, each once.
    pub fn rates(&self) -> Vec<Rate> {
        let mut names = BTreeSet::new();
        self.visit(&mut |form| names.extend(form.terms.iter().map(|&(rate, _)| rate)));
        names.into_iter().collect()
    }

    /// The number it is, if it is one whatever the rates are.
    pub fn as_constant(&self) -> Option<f64> {
        match self {
            Expression::Linear(form) if form.is_constant() => Some(form.constant),
            _ => None,
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        let mut finite = true;
        self.visit(&mut |form| finite &= form.is_finite());
        finite && !matches!(self, Expression::Sum(list) if list.iter().any(|(factor, _)| !factor.is_finite()))
    }

    fn visit(&self, see: &mut dyn FnMut(&LinearForm)) {
        match self {
            Expression::Linear(form) => see(form),
            Expression::Abs(inner) => inner.visit(see),
            Expression::Min(list) | Expression::Max(list) => list.iter().for_each(|entry| entry.visit(see)),
            Expression::Sum(list) => list.iter().for_each(|(_, entry)| entry.visit(see)),
            Expression::Spread(list) => list.iter().for_each(see),
        }
    }
}

/// Like `f64::min` over a list, but NaN wins.
fn smallest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, |best, value| if value.is_nan() || value < best { value } else { best })
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    -smallest(values.map(|value| -value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_rate_is_never_passed_over() {
        let list =
            || vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less), LinearForm::constant(0.5)];
        let entries = || list().into_iter().map(Expression::Linear).collect();
        for unknown in [Rate::Greater, Rate::Less] {
            let mut rate = |name| if name == unknown { f64::NAN } else { 0.7 };
            for expression in
                [Expression::Min(entries()), Expression::Max(entries()), Expression::Spread(list())]
            {
                assert!(expression.value(&mut rate).is_nan(), "{expression:?}");
            }
        }
    }

    #[test]
    fn a_spread_is_the_largest_difference() {
        let list =
            vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less), LinearForm::constant(0.5)];
        let spread = Expression::Spread(list);
        assert_eq!(spread.value(&mut |rate| if rate == Rate::Less { 0.25 } else { 1.0 }), 0.75);
        assert_eq!(spread.rates(), [Rate::Greater, Rate::Less]);
    }
}
