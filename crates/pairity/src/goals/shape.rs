//! Finds the part of a goal that keeps it from being convex.

use super::constraint::Sense;
use super::curvature::Curvature;
use super::error::Fault;
use super::expression::Expression;
use super::syntax::{Function, Node, NodeKind, Operator};

impl Sense {
    /// What is bounded from above, or minimized, must be convex; what is bounded from below, or maximized,
    /// must be concave.
    pub(super) fn allows(self, shape: Curvature) -> bool {
        match self {
            Sense::AtMost => shape.is_convex(),
            Sense::AtLeast => shape.is_concave(),
        }
    }

    pub(super) fn opposite(self) -> Sense {
        match self {
            Sense::AtMost => Sense::AtLeast,
            Sense::AtLeast => Sense::AtMost,
        }
    }

    fn times(self, factor: f64) -> Sense {
        if factor < 0.0 { self.opposite() } else { self }
    }
}

/// What a goal does with its expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Constrain,
    Optimize,
}

/// The smallest part that bends the wrong way, as an error.
pub(super) fn offense(node: &Node, sense: Sense, purpose: Purpose) -> Option<Fault> {
    let (part, sense) = find(node, sense)?;
    let span = part.span.clone();
    let name = match &part.kind {
        NodeKind::Call(Function::Abs, _) if sense == Sense::AtMost => {
            return Some(
                Fault::new(span, "`abs` is convex around a linear expression only")
                    .help("the `min`, `max`, `abs` or criterion inside makes it neither convex nor concave"),
            );
        }
        NodeKind::Call(function, _) => function.name(),
        NodeKind::Criterion(criterion, _) => criterion.name(),
        _ => "this",
    };
    let (message, help) = match (purpose, sense) {
        (Purpose::Constrain, Sense::AtMost) => (
            format!("`{name}` can be bounded from below, but not from above"),
            "the models that satisfy this don't form a convex set, so it can't be trained for",
        ),
        (Purpose::Constrain, Sense::AtLeast) => (
            format!("`{name}` can be bounded from above, but not from below"),
            "the models that satisfy this don't form a convex set, so it can't be trained for",
        ),
        (Purpose::Optimize, Sense::AtMost) => (
            format!("`{name}` can be maximized, but not minimized"),
            "minimize a linear expression, `max`, `abs` or a criterion",
        ),
        (Purpose::Optimize, Sense::AtLeast) => (
            format!("`{name}` can be minimized, but not maximized"),
            "maximize a linear expression or `min`, and bound the rest by a constraint",
        ),
    };
    Some(Fault::new(span, message).help(help))
}

fn find(node: &Node, sense: Sense) -> Option<(&Node, Sense)> {
    if node.lower().is_ok_and(|expression| sense.allows(expression.curvature())) {
        return None;
    }
    let inner = match &node.kind {
        NodeKind::Value(_) | NodeKind::Criterion(..) => None,
        NodeKind::Sum(parts) => parts.iter().find_map(|(sign, part)| find(part, sense.times(*sign))),
        NodeKind::Product(factors) => {
            let sense = sense.times(factors.iter().filter_map(constant).product());
            factors.iter().find_map(|(_, node)| find(node, sense))
        }
        NodeKind::Call(Function::Max, list) if sense == Sense::AtMost => {
            list.iter().find_map(|part| find(part, sense))
        }
        NodeKind::Call(Function::Min, list) if sense == Sense::AtLeast => {
            list.iter().find_map(|part| find(part, sense))
        }
        NodeKind::Call(..) => None,
    };
    Some(inner.unwrap_or((node, sense)))
}

/// The sign of a factor that is a number.
fn constant((_, node): &(Operator, Node)) -> Option<f64> {
    node.lower().ok().as_ref().and_then(Expression::as_constant).map(f64::signum)
}
