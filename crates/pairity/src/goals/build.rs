//! Builds expressions in their plain form, so that equal parts merge and constants fold.

use super::expression::{Expression, LinearForm, add};

impl Expression {
    pub(super) fn constant(value: f64) -> Expression {
        Expression::Linear(LinearForm::constant(value))
    }

    /// Σ factor · entry.
    pub(super) fn sum(entries: impl IntoIterator<Item = (f64, Expression)>) -> Expression {
        let flat = entries.into_iter().flat_map(|(factor, entry)| match entry {
            Expression::Sum(list) => list.into_iter().map(|(inner, part)| (factor * inner, part)).collect(),
            other => vec![(factor, other)],
        });
        let mut linear = LinearForm::default();
        let mut list: Vec<(f64, Expression)> = Vec::new();
        for (factor, entry) in flat {
            match entry {
                Expression::Linear(form) => linear = linear.plus(factor, &form),
                bent => match list.iter_mut().find(|(_, other)| *other == bent) {
                    Some((known, _)) => *known = add(*known, factor),
                    None => list.push((factor, bent)),
                },
            }
        }
        list.retain(|(factor, _)| *factor != 0.0);
        if list.is_empty() || linear != LinearForm::default() {
            list.insert(0, (1.0, Expression::Linear(linear)));
        }
        match list.as_slice() {
            [(1.0, _)] => list.remove(0).1,
            _ => Expression::Sum(list),
        }
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

    /// The largest or the smallest of a list: of no other one, constants folded into one, no entry twice, no list
    /// of one.
    pub(super) fn extreme(entries: Vec<Expression>, largest: bool) -> Expression {
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

    /// Takes the constant out of it: `(expression without constant, constant)`.
    pub(super) fn split_constant(self) -> (Expression, f64) {
        let linear = match &self {
            Expression::Sum(list) => list.first().map_or(&self, |(_, first)| first),
            other => other,
        };
        let Expression::Linear(LinearForm { constant, .. }) = *linear else { return (self, 0.0) };
        (Expression::sum([(1.0, self), (-1.0, Expression::constant(constant))]), constant)
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
        let inner = Expression::extreme(vec![rate(Rate::AUC), Expression::constant(2.0)], false);
        let outer = Expression::extreme(
            vec![inner, rate(Rate::Less), rate(Rate::AUC), Expression::constant(1.0)],
            false,
        );
        assert_eq!(
            outer,
            Expression::Min(vec![rate(Rate::AUC), rate(Rate::Less), Expression::constant(1.0)])
        );
        assert_eq!(Expression::extreme(vec![rate(Rate::AUC), rate(Rate::AUC)], true), rate(Rate::AUC));
        let numbers = vec![Expression::constant(1.0), Expression::constant(2.0)];
        assert_eq!(Expression::extreme(numbers, true), Expression::constant(2.0));
    }

    #[test]
    fn the_absolute_value_of_a_known_sign_is_not_bent_twice() {
        assert_eq!(gap().abs(), gap());
        assert_eq!(gap().scaled(-1.0).abs(), gap());
        assert_eq!(Expression::constant(-2.0).abs(), Expression::constant(2.0));
        let positive = Expression::extreme(vec![rate(Rate::AUC), Expression::constant(0.0)], true);
        assert_eq!(positive.clone().abs(), positive);
        let either = Expression::extreme(vec![rate(Rate::AUC), Expression::constant(0.0)], false);
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
