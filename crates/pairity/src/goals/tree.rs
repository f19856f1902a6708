//! The tree that a text is read into, with names resolved; the expression that it means, where what is not
//! piecewise linear is refused; and the part of it that keeps a goal from being convex.

use std::ops::Range;

use super::error::Fault;
use super::expression::{Expression, LARGEST};
use crate::rates::Rate;

/// The functions.
pub(super) const FUNCTIONS: [&str; 3] = ["abs", "min", "max"];

/// A part of a goal and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: NodeKind,
    /// Parts of a sum with the sign 1 or -1, factors with the power 1 or -1, arguments with 1.
    pub(super) parts: Vec<(f64, Node)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    /// A number, a rate or a criterion, and how messages call it.
    Leaf(&'static str, Expression),
    /// Parentheses are a sum of one.
    Sum,
    Product,
    /// One of [`FUNCTIONS`].
    Call(&'static str),
}

/// Numbers that overflow, or whose squares would.
pub(super) fn too_large(span: Range<usize>) -> Fault {
    let help = format!("numbers are at most {LARGEST:e}, and factors of rates at least {:e}", 1.0 / LARGEST);
    Fault::new(span, "the numbers here are too large or too small").help(help)
}

impl Node {
    /// The first place where a rate is written.
    pub(super) fn find_rate(&self, rate: Rate) -> Option<Range<usize>> {
        match &self.kind {
            NodeKind::Leaf(_, leaf) => leaf.rates().contains(&rate).then(|| self.span.clone()),
            _ => self.parts.iter().find_map(|(_, part)| part.find_rate(rate)),
        }
    }

    /// The expression it means.
    pub(super) fn lower(&self) -> Result<Expression, Fault> {
        let parts = self.parts.iter().map(|(sign, part)| Ok((*sign, part.lower()?)));
        let expression = match &self.kind {
            NodeKind::Leaf(_, leaf) => leaf.clone(),
            NodeKind::Sum => Expression::sum(parts.collect::<Result<Vec<_>, Fault>>()?),
            NodeKind::Product => self.product()?,
            NodeKind::Call(function) => {
                let mut list = parts.map(|part| Ok(part?.1)).collect::<Result<Vec<_>, Fault>>()?;
                match *function {
                    "abs" => list.remove(0).abs(),
                    _ => Expression::extreme(list, *function == "max"),
                }
            }
        };
        if !expression.fits() {
            return Err(too_large(self.span.clone()));
        }
        Ok(expression)
    }

    fn product(&self) -> Result<Expression, Fault> {
        let mut bent: Option<Expression> = None;
        let mut scale = 1.0;
        for (power, node) in &self.parts {
            let (divides, span) = (*power < 0.0, node.span.clone());
            let value = node.lower()?;
            match value.as_constant() {
                Some(0.0) if divides => return Err(Fault::new(span, "division by zero")),
                Some(constant) if divides => scale /= constant,
                Some(constant) => scale *= constant,
                None if divides => {
                    return Err(Fault::new(span, "division by a rate is not linear")
                        .help("write x >= 0.8 * y rather than x / y >= 0.8"));
                }
                None if bent.is_some() => {
                    return Err(Fault::new(self.span.start..span.end, "a product of rates is not linear")
                        .help("one of two factors must be a number"));
                }
                None => bent = Some(value),
            }
        }
        Ok(bent.unwrap_or_else(|| Expression::constant(1.0)).scaled(scale))
    }

    /// The smallest part that bends the wrong way for `sign` times the whole to be convex, as an error about an
    /// objective or about a constraint.
    pub(super) fn offense(&self, sign: f64, objective: bool) -> Option<Fault> {
        let (part, sign) = self.find_offense(sign)?;
        let span = part.span.clone();
        let name = match part.kind {
            NodeKind::Call("abs") if sign > 0.0 => {
                let help = "the `min`, `max`, `abs` or criterion inside makes it neither convex nor concave";
                return Some(Fault::new(span, "`abs` is convex around a linear expression only").help(help));
            }
            NodeKind::Call(name) | NodeKind::Leaf(name, _) => name,
            _ => "this",
        };
        let nonconvex = "the models that satisfy this don't form a convex set, so it can't be trained for";
        let (can, cannot, help) = match (objective, sign > 0.0) {
            (false, true) => ("bounded from below", "from above", nonconvex),
            (false, false) => ("bounded from above", "from below", nonconvex),
            (true, true) => {
                ("maximized", "minimized", "minimize a linear expression, `max`, `abs` or a criterion")
            }
            (true, false) => {
                let help = "maximize a linear expression or `min`, and bound the rest by a constraint";
                ("minimized", "maximized", help)
            }
        };
        Some(Fault::new(span, format!("`{name}` can be {can}, but not {cannot}")).help(help))
    }

    fn find_offense(&self, sign: f64) -> Option<(&Node, f64)> {
        if self.lower().is_ok_and(|expression| expression.is_convex(sign)) {
            return None;
        }
        let mut parts = self.parts.iter();
        let inner = match self.kind {
            NodeKind::Call(function) if function != if sign > 0.0 { "max" } else { "min" } => None,
            NodeKind::Product => {
                let constant = |(_, node): &(f64, Node)| node.lower().ok()?.as_constant();
                let sign =
                    parts.clone().filter_map(constant).fold(sign, |sign, factor| sign * factor.signum());
                parts.find_map(|(_, part)| part.find_offense(sign))
            }
            _ => parts.find_map(|(own, part)| part.find_offense(sign * own)),
        };
        Some(inner.unwrap_or((self, sign)))
    }
}
