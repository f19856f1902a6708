//! The tree that a text is read into: names are resolved, but nothing is computed yet.

use std::ops::Range;

use super::criterion::Criterion;
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
    Product(Vec<Factor>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factor {
    /// Whether `/` stands before it.
    pub(super) divides: bool,
    pub(super) node: Node,
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
            NodeKind::Product(list) => list.iter().find_map(|factor| factor.node.find_rate(rate)),
            NodeKind::Call(_, list) => list.iter().find_map(|node| node.find_rate(rate)),
        }
    }
}
