//! Computes the expression that a tree means, and refuses what is not piecewise linear.

use super::error::Fault;
use super::expression::Expression;
use super::syntax::{Factor, Function, Node, NodeKind};

impl Node {
    /// The expression it means.
    pub(super) fn lower(&self) -> Result<Expression, Fault> {
        let expression = match &self.kind {
            NodeKind::Value(form) => Expression::Linear(form.clone()),
            NodeKind::Criterion(_, expression) => expression.clone(),
            NodeKind::Sum(parts) => {
                let lowered: Result<Vec<_>, Fault> =
                    parts.iter().map(|(sign, part)| Ok((*sign, part.lower()?))).collect();
                Expression::sum(lowered?)
            }
            NodeKind::Product(factors) => self.product(factors)?,
            NodeKind::Call(function, list) => {
                let mut lowered = list.iter().map(Node::lower).collect::<Result<Vec<_>, Fault>>()?;
                match (function, lowered.len()) {
                    (Function::Abs, 1) => lowered.remove(0).abs(),
                    (Function::Max, _) => Expression::max(lowered),
                    _ => Expression::min(lowered),
                }
            }
        };
        if !expression.is_finite() {
            return Err(Fault::new(self.span.clone(), "the numbers here are too large"));
        }
        Ok(expression)
    }

    fn product(&self, factors: &[Factor]) -> Result<Expression, Fault> {
        let mut bent: Option<Expression> = None;
        let mut scale = 1.0;
        for Factor { divides, node } in factors {
            let span = node.span.clone();
            let value = node.lower()?;
            match (value.as_constant(), divides) {
                (Some(0.0), true) => return Err(Fault::new(span, "division by zero")),
                (Some(constant), true) => scale /= constant,
                (Some(constant), false) => scale *= constant,
                (None, true) => {
                    return Err(Fault::new(span, "division by a rate is not linear")
                        .help("write x >= 0.8 * y rather than x / y >= 0.8"));
                }
                (None, false) if bent.is_some() => {
                    return Err(Fault::new(self.span.start..span.end, "a product of rates is not linear")
                        .help("one of two factors must be a number"));
                }
                (None, false) => bent = Some(value),
            }
        }
        Ok(bent.unwrap_or_else(|| Expression::constant(1.0)).scaled(scale))
    }
}
