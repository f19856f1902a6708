//! A convex expression as the largest of a list of linear forms, a concave one as the smallest.

use super::curvature::Curvature;
use super::expression::Expression;
use super::linear::LinearForm;

impl Expression {
    /// The linear forms whose maximum (of a convex expression) or minimum (of a concave one) it is, so
    /// that `e <= c` holds exactly if every form is at most `c`. A linear expression is its own one form.
    ///
    /// `None` if it is neither convex nor concave, or if there would be more than `limit` forms: a sum
    /// of bent parts has as many as the product of theirs.
    ///
    /// ```
    /// use pairity::goals::{Vocabulary, parse_expression};
    /// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
    /// let expression = parse_expression("cross_group + within_group", &words)?;
    /// assert_eq!(expression.linear_forms(100).map(|forms| forms.len()), Some(4));
    /// assert_eq!(expression.linear_forms(3), None);
    /// # Ok::<(), pairity::goals::GoalError>(())
    /// ```
    pub fn linear_forms(&self, limit: usize) -> Option<Vec<LinearForm>> {
        match self.curvature() {
            Curvature::Neither => None,
            Curvature::Concave => {
                let forms = self.pieces(-1.0, limit)?;
                Some(forms.iter().map(|form| form.scaled(-1.0)).collect())
            }
            Curvature::Affine | Curvature::Convex => self.pieces(1.0, limit),
        }
    }

    /// The forms whose maximum is `factor · self`, where that is convex.
    fn pieces(&self, factor: f64, limit: usize) -> Option<Vec<LinearForm>> {
        let forms = match self {
            _ if factor == 0.0 => vec![LinearForm::default()],
            Expression::Linear(form) => vec![form.scaled(factor)],
            Expression::Abs(inner) => {
                let mut both = inner.pieces(factor, limit)?;
                both.extend(inner.pieces(-factor, limit)?);
                both
            }
            Expression::Min(list) | Expression::Max(list) => {
                let mut all = Vec::new();
                for entry in list {
                    all.extend(entry.pieces(factor, limit.checked_sub(all.len())?)?);
                }
                all
            }
            Expression::Spread(list) => {
                within(list.len().checked_mul(list.len().saturating_sub(1))?, limit)?;
                let pairs = list.iter().enumerate().flat_map(|(i, a)| {
                    let others = list.iter().enumerate().filter(move |(j, _)| *j != i);
                    others.map(move |(_, b)| a.scaled(factor).plus(-factor, b))
                });
                pairs.collect()
            }
            Expression::Sum(list) => {
                let mut sums = vec![LinearForm::default()];
                for (inner, entry) in list {
                    let pieces = entry.pieces(factor * inner, limit)?;
                    within(sums.len().checked_mul(pieces.len())?, limit)?;
                    sums = sums
                        .iter()
                        .flat_map(|sum| pieces.iter().map(|piece| sum.clone().plus(1.0, piece)))
                        .collect();
                }
                sums
            }
        };
        within(forms.len(), limit)?;
        Some(forms)
    }
}

fn within(count: usize, limit: usize) -> Option<()> {
    (count <= limit).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::Rate;

    fn gap() -> Expression {
        Expression::Spread(vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less)])
    }

    #[test]
    fn a_gap_of_two_has_two_forms() {
        let one = LinearForm::new(0.0, [(Rate::Greater, 1.0), (Rate::Less, -1.0)]);
        let other = one.scaled(-1.0);
        assert_eq!(gap().linear_forms(2), Some(vec![one.clone(), other.clone()]));
        assert_eq!(gap().linear_forms(1), None);
        assert_eq!(gap().scaled(-1.0).linear_forms(2), Some(vec![one.scaled(-1.0), other.scaled(-1.0)]));
    }

    #[test]
    fn a_sum_too_large_is_refused_before_it_is_made() {
        let gaps = (0..60).map(|i| {
            let shifted = LinearForm::new(f64::from(i), [(Rate::AUC, 1.0)]);
            (1.0, Expression::Spread(vec![shifted, LinearForm::rate(Rate::Less)]))
        });
        assert_eq!(Expression::sum(gaps).linear_forms(10_000), None);
    }
}
