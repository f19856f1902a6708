//! Finds the part of a goal that keeps it from being convex.

use super::curvature::Curvature;
use super::error::Fault;
use super::expression::Expression;
use super::syntax::{Factor, Function, Node, NodeKind};

/// Which way a goal pushes a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Push {
    /// Bounded from above, or minimized: it must be convex.
    Down,
    /// Bounded from below, or maximized: it must be concave.
    Up,
}

impl Push {
    pub(super) fn allows(self, shape: Curvature) -> bool {
        match self {
            Push::Down => shape.is_convex(),
            Push::Up => shape.is_concave(),
        }
    }

    pub(super) fn opposite(self) -> Push {
        match self {
            Push::Down => Push::Up,
            Push::Up => Push::Down,
        }
    }

    fn times(self, factor: f64) -> Push {
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
pub(super) fn offense(node: &Node, push: Push, purpose: Purpose) -> Option<Fault> {
    let (part, push) = find(node, push)?;
    let span = part.span.clone();
    let name = match &part.kind {
        NodeKind::Call(Function::Abs, _) if push == Push::Down => {
            return Some(
                Fault::new(span, "`abs` is convex around a linear expression only")
                    .help("the `min`, `max`, `abs` or criterion inside makes it neither convex nor concave"),
            );
        }
        NodeKind::Call(function, _) => function.name(),
        NodeKind::Criterion(criterion, _) => criterion.name(),
        _ => "this",
    };
    let (message, help) = match (purpose, push) {
        (Purpose::Constrain, Push::Down) => (
            format!("`{name}` can be bounded from below, but not from above"),
            "the models that satisfy this don't form a convex set, so it can't be trained for",
        ),
        (Purpose::Constrain, Push::Up) => (
            format!("`{name}` can be bounded from above, but not from below"),
            "the models that satisfy this don't form a convex set, so it can't be trained for",
        ),
        (Purpose::Optimize, Push::Down) => (
            format!("`{name}` can be maximized, but not minimized"),
            "minimize a linear expression, `max`, `abs` or a criterion",
        ),
        (Purpose::Optimize, Push::Up) => (
            format!("`{name}` can be minimized, but not maximized"),
            "maximize a linear expression or `min`, and bound the rest by a constraint",
        ),
    };
    Some(Fault::new(span, message).help(help))
}

fn find(node: &Node, push: Push) -> Option<(&Node, Push)> {
    if node.lower().is_ok_and(|expression| push.allows(expression.curvature())) {
        return None;
    }
    let inner = match &node.kind {
        NodeKind::Value(_) | NodeKind::Criterion(..) => None,
        NodeKind::Sum(parts) => parts.iter().find_map(|(sign, part)| find(part, push.times(*sign))),
        NodeKind::Product(factors) => {
            let push = push.times(factors.iter().filter_map(constant).product());
            factors.iter().find_map(|factor| find(&factor.node, push))
        }
        NodeKind::Call(Function::Max, list) if push == Push::Down => {
            list.iter().find_map(|part| find(part, push))
        }
        NodeKind::Call(Function::Min, list) if push == Push::Up => {
            list.iter().find_map(|part| find(part, push))
        }
        NodeKind::Call(..) => None,
    };
    Some(inner.unwrap_or((node, push)))
}

/// The sign of a factor that is a number.
fn constant(factor: &Factor) -> Option<f64> {
    factor.node.lower().ok().as_ref().and_then(Expression::as_constant).map(f64::signum)
}
