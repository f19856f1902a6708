//! Builds expressions in their plain form, so that equal parts merge and constants fold.

use super::expression::Expression;
use super::linear::{self, LinearForm};

impl Expression {
    pub(super) fn constant(value: f64) -> Expression {
        Expression::Linear(LinearForm::constant(value))
    }

    /// Σ factor · entry.
    pub(super) fn sum(entries: impl IntoIterator<Item = (f64, Expression)>) -> Expression {
        let mut total = Total::default();
        for (factor, entry) in entries {
            total.add(factor, entry);
        }
        total.finish()
    }

    pub(super) fn scaled(self, factor: f64) -> Expression {
        Expression::sum([(factor, self)])
    }

    pub(super) fn abs(self) -> Expression {
        if self.has_sign(1.0) {
            self
        } else if self.has_sign(-1.0) {
            self.scaled(-1.0)
        } else {
            Expression::Abs(Box::new(self))
        }
    }

    pub(super) fn min(entries: Vec<Expression>) -> Expression {
        extreme(entries, false)
    }

    pub(super) fn max(entries: Vec<Expression>) -> Expression {
        extreme(entries, true)
    }

    /// Takes the constant out of it: `(expression without constant, constant)`.
    pub(super) fn split_constant(self) -> (Expression, f64) {
        match self {
            Expression::Linear(form) => {
                (Expression::Linear(LinearForm { constant: 0.0, terms: form.terms }), form.constant)
            }
            Expression::Sum(list) => {
                let mut constant = 0.0;
                let rest = Expression::sum(list.into_iter().map(|(factor, entry)| match entry {
                    Expression::Linear(form) => {
                        constant += factor * form.constant;
                        (factor, Expression::Linear(LinearForm { constant: 0.0, terms: form.terms }))
                    }
                    bent => (factor, bent),
                }));
                (rest, constant)
            }
            bent => (bent, 0.0),
        }
    }

    /// Whether its form shows that `sign · self` is at least zero at any rates.
    fn has_sign(&self, sign: f64) -> bool {
        match self {
            Expression::Linear(form) => form.is_constant() && form.constant * sign >= 0.0,
            Expression::Abs(_) | Expression::Spread(_) => sign > 0.0,
            Expression::Max(list) if sign > 0.0 => list.iter().any(|entry| entry.has_sign(sign)),
            Expression::Min(list) if sign < 0.0 => list.iter().any(|entry| entry.has_sign(sign)),
            Expression::Max(list) | Expression::Min(list) => list.iter().all(|entry| entry.has_sign(sign)),
            Expression::Sum(list) => {
                list.iter().all(|(factor, entry)| entry.has_sign(sign * factor.signum()))
            }
        }
    }
}

/// A sum while it grows.
#[derive(Default)]
struct Total {
    linear: LinearForm,
    bent: Vec<(f64, Expression)>,
}

impl Total {
    fn add(&mut self, factor: f64, entry: Expression) {
        match entry {
            Expression::Linear(form) => self.linear = std::mem::take(&mut self.linear).plus(factor, &form),
            Expression::Sum(list) => {
                list.into_iter().for_each(|(inner, part)| self.add(factor * inner, part))
            }
            bent => match self.bent.iter_mut().find(|(_, other)| *other == bent) {
                Some((known, _)) => *known = linear::add(*known, factor),
                None => self.bent.push((factor, bent)),
            },
        }
    }

    fn finish(mut self) -> Expression {
        self.bent.retain(|(factor, _)| *factor != 0.0);
        let without_linear = self.linear == LinearForm::default();
        match self.bent.pop() {
            None => Expression::Linear(self.linear),
            Some((1.0, only)) if self.bent.is_empty() && without_linear => only,
            Some(last) => {
                self.bent.push(last);
                if !without_linear {
                    self.bent.insert(0, (1.0, Expression::Linear(self.linear)));
                }
                Expression::Sum(self.bent)
            }
        }
    }
}

/// A maximum or minimum: of no other one, constants folded into one, no entry twice, no list of one.
fn extreme(entries: Vec<Expression>, largest: bool) -> Expression {
    let nested = entries.into_iter().flat_map(|entry| match entry {
        Expression::Max(list) if largest => list,
        Expression::Min(list) if !largest => list,
        other => vec![other],
    });
    let better = if largest { f64::max } else { f64::min };
    let mut constant: Option<f64> = None;
    let mut list: Vec<Expression> = Vec::new();
    for entry in nested {
        match entry.as_constant() {
            Some(value) => constant = Some(constant.map_or(value, |best| better(best, value))),
            None if list.contains(&entry) => {}
            None => list.push(entry),
        }
    }
    list.extend(constant.map(Expression::constant));
    match list.len() {
        1 => list.remove(0),
        _ if largest => Expression::Max(list),
        _ => Expression::Min(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::Rate;

    fn rate(rate: Rate) -> Expression {
        Expression::Linear(LinearForm::rate(rate))
    }

    fn gap() -> Expression {
        Expression::Spread(vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less)])
    }

    #[test]
    fn linear_parts_become_one_form() {
        let sum = Expression::sum([
            (2.0, rate(Rate::AUC)),
            (-1.0, gap()),
            (-2.0, Expression::constant(3.0)),
            (1.0, rate(Rate::Mse)),
        ]);
        let form = LinearForm::new(-6.0, [(Rate::AUC, 2.0), (Rate::Mse, 1.0)]);
        assert_eq!(sum, Expression::Sum(vec![(1.0, Expression::Linear(form)), (-1.0, gap())]));
    }

    #[test]
    fn equal_bent_parts_merge_and_cancel() {
        assert_eq!(Expression::sum([(1.0, gap()), (2.0, gap())]), Expression::Sum(vec![(3.0, gap())]));
        assert_eq!(Expression::sum([(1.0, gap()), (-1.0, gap())]), Expression::constant(0.0));
        assert_eq!(Expression::sum([(0.5, gap().scaled(2.0))]), gap());
    }

    #[test]
    fn lists_are_flat_and_have_no_entry_twice() {
        let inner = Expression::min(vec![rate(Rate::AUC), Expression::constant(2.0)]);
        let outer =
            Expression::min(vec![inner, rate(Rate::Less), rate(Rate::AUC), Expression::constant(1.0)]);
        assert_eq!(
            outer,
            Expression::Min(vec![rate(Rate::AUC), rate(Rate::Less), Expression::constant(1.0)])
        );
        assert_eq!(Expression::max(vec![rate(Rate::AUC), rate(Rate::AUC)]), rate(Rate::AUC));
        let numbers = vec![Expression::constant(1.0), Expression::constant(2.0)];
        assert_eq!(Expression::max(numbers), Expression::constant(2.0));
    }

    #[test]
    fn the_absolute_value_of_a_known_sign_is_not_bent_twice() {
        assert_eq!(gap().abs(), gap());
        assert_eq!(gap().scaled(-1.0).abs(), gap());
        assert_eq!(Expression::constant(-2.0).abs(), Expression::constant(2.0));
        let positive = Expression::max(vec![rate(Rate::AUC), Expression::constant(0.0)]);
        assert_eq!(positive.clone().abs(), positive);
        let either = Expression::min(vec![rate(Rate::AUC), Expression::constant(0.0)]);
        assert_eq!(either.clone().abs(), either.scaled(-1.0));
        assert_eq!(rate(Rate::AUC).abs(), Expression::Abs(Box::new(rate(Rate::AUC))));
    }

    #[test]
    fn the_constant_of_a_sum_can_be_taken_out() {
        let (rest, constant) =
            Expression::sum([(1.0, gap()), (1.0, Expression::constant(3.0))]).split_constant();
        assert_eq!((rest, constant), (gap(), 3.0));
    }
}
