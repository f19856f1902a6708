//! The tree that a text is read into, with names resolved, and the expression that it means: what is not
//! piecewise linear is refused.

use std::ops::Range;

use super::criterion::Criterion;
use super::error::Fault;
use super::expression::Expression;
use super::linear::LinearForm;
use crate::rates::Rate;

/// A part of a goal and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: NodeKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    /// A number or a rate.
    Value(LinearForm),
    Criterion(Criterion, Expression),
    /// Parts with the sign 1 or -1; parentheses are a sum of one.
    Sum(Vec<(f64, Node)>),
    Product(Vec<(Operator, Node)>),
    Call(Function, Vec<Node>),
}

/// What stands before a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Times,
    By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Min,
    Max,
}

impl Function {
    pub(super) const ALL: [Function; 3] = [Function::Abs, Function::Min, Function::Max];

    pub(super) fn name(self) -> &'static str {
        match self {
            Function::Abs => "abs",
            Function::Min => "min",
            Function::Max => "max",
        }
    }
}

impl Node {
    /// The first place where a rate is written.
    pub(super) fn find_rate(&self, rate: Rate) -> Option<Range<usize>> {
        match &self.kind {
            NodeKind::Value(form) => {
                form.terms.iter().any(|&(name, _)| name == rate).then(|| self.span.clone())
            }
            NodeKind::Criterion(..) => None,
            NodeKind::Sum(list) => list.iter().find_map(|(_, node)| node.find_rate(rate)),
            NodeKind::Product(list) => list.iter().find_map(|(_, node)| node.find_rate(rate)),
            NodeKind::Call(_, list) => list.iter().find_map(|node| node.find_rate(rate)),
        }
    }

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

    fn product(&self, factors: &[(Operator, Node)]) -> Result<Expression, Fault> {
        let mut bent: Option<Expression> = None;
        let mut scale = 1.0;
        for (operator, node) in factors {
            let span = node.span.clone();
            let value = node.lower()?;
            match (value.as_constant(), operator) {
                (Some(0.0), Operator::By) => return Err(Fault::new(span, "division by zero")),
                (Some(constant), Operator::By) => scale /= constant,
                (Some(constant), Operator::Times) => scale *= constant,
                (None, Operator::By) => {
                    return Err(Fault::new(span, "division by a rate is not linear")
                        .help("write x >= 0.8 * y rather than x / y >= 0.8"));
                }
                (None, Operator::Times) if bent.is_some() => {
                    return Err(Fault::new(self.span.start..span.end, "a product of rates is not linear")
                        .help("one of two factors must be a number"));
                }
                (None, Operator::Times) => bent = Some(value),
            }
        }
        Ok(bent.unwrap_or_else(|| Expression::constant(1.0)).scaled(scale))
    }
}
