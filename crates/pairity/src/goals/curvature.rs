//! Which expressions are convex: those that can be held down, and so be constrained from above.

use super::expression::Expression;

/// The shape of an expression as a function of its rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Curvature {
    /// A linear form: both convex and concave.
    Affine,
    /// Convex: `e <= c` can be constrained, and `e` be minimized.
    Convex,
    /// Concave: `e >= c` can be constrained, and `e` be maximized.
    Concave,
    /// Not known to be either.
    Neither,
}

impl Curvature {
    /// Whether it is convex, as an affine expression is too.
    pub fn is_convex(self) -> bool {
        matches!(self, Curvature::Affine | Curvature::Convex)
    }

    /// Whether it is concave, as an affine expression is too.
    pub fn is_concave(self) -> bool {
        matches!(self, Curvature::Affine | Curvature::Concave)
    }

    fn of(convex: bool, concave: bool) -> Curvature {
        match (convex, concave) {
            (true, true) => Curvature::Affine,
            (true, false) => Curvature::Convex,
            (false, true) => Curvature::Concave,
            (false, false) => Curvature::Neither,
        }
    }

    fn scaled(self, factor: f64) -> Curvature {
        match self {
            _ if factor == 0.0 => Curvature::Affine,
            Curvature::Convex if factor < 0.0 => Curvature::Concave,
            Curvature::Concave if factor < 0.0 => Curvature::Convex,
            same => same,
        }
    }
}

impl Expression {
    /// Its shape, by the rules of composition: a maximum of convex parts is convex, a sum of convex
    /// parts with positive factors is, and so on. What these rules don't show counts as neither.
    ///
    /// ```
    /// use pairity::goals::{Curvature, Vocabulary, parse_expression};
    /// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
    /// let shape = |text| parse_expression(text, &words).map(|expression| expression.curvature());
    /// assert_eq!(shape("auc - 2 * A[a > b]")?, Curvature::Affine);
    /// assert_eq!(shape("max(cross_group, within_group)")?, Curvature::Convex);
    /// assert_eq!(shape("min(auc, A[a > b]) - cross_group")?, Curvature::Concave);
    /// assert_eq!(shape("min(auc, A[a > b]) + cross_group")?, Curvature::Neither);
    /// # Ok::<(), pairity::goals::GoalError>(())
    /// ```
    pub fn curvature(&self) -> Curvature {
        match self {
            Expression::Linear(_) => Curvature::Affine,
            Expression::Abs(inner) => Curvature::of(inner.curvature() == Curvature::Affine, false),
            Expression::Max(list) => {
                Curvature::of(list.iter().all(|entry| entry.curvature().is_convex()), false)
            }
            Expression::Min(list) => {
                Curvature::of(false, list.iter().all(|entry| entry.curvature().is_concave()))
            }
            Expression::Sum(list) => {
                let all = |test: fn(Curvature) -> bool| {
                    list.iter().all(|(factor, entry)| test(entry.curvature().scaled(*factor)))
                };
                Curvature::of(all(Curvature::is_convex), all(Curvature::is_concave))
            }
            Expression::Spread(_) => Curvature::Convex,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::linear::LinearForm;
    use crate::rates::Rate;

    #[test]
    fn a_negative_factor_turns_the_shape_over() {
        let bent = Expression::Abs(Box::new(Expression::Linear(LinearForm::rate(Rate::AUC))));
        assert_eq!(bent.curvature(), Curvature::Convex);
        assert_eq!(bent.clone().scaled(-2.0).curvature(), Curvature::Concave);
        let zero = Expression::Sum(vec![(0.0, bent.clone())]);
        assert_eq!(zero.curvature(), Curvature::Affine);
        assert_eq!(Expression::Abs(Box::new(bent)).curvature(), Curvature::Neither);
    }
}
