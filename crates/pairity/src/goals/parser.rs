//! Reads tokens into a tree, by recursive descent:
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = { "+" | "-" } atom
//! atom    = number | "(" sum ")" | "auc" | "mse" | criterion
//!         | ("abs" | "min" | "max") "(" sum { "," sum } ")" | ("A" | "P" | "S") "[" ... "]"
//! ```

use std::ops::Range;

use super::criterion::Criterion;
use super::error::{Fault, GoalError};
use super::lexer::{Token, TokenKind as Is, tokens};
use super::linear::LinearForm;
use super::names::{Vocabulary, nearest};
use super::syntax::{Function, Node, NodeKind, Operator};
use crate::rates::Rate;

/// The longest text that is read, in bytes.
const LONGEST: usize = 10_000;

/// How deep parentheses and functions may be nested.
const DEEPEST: usize = 100;

/// Runs a reader on the whole of a text; what it leaves unread is an error.
pub(super) fn read<T>(
    text: &str,
    vocabulary: &Vocabulary,
    reader: impl FnOnce(&mut Parser<'_>) -> Result<T, Fault>,
) -> Result<T, GoalError> {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let message = format!("this goal has {} bytes, more than the {LONGEST} allowed", text.len());
        return Err(Fault::new(end..end, message).in_text(text.get(..end).unwrap_or_default()));
    }
    let mut parser = Parser::new(text, vocabulary);
    let result = match parser.peek().kind {
        Is::End => Err(Fault::new(0..text.len(), "this goal is empty").help("write one, such as `auc`")),
        _ => reader(&mut parser),
    };
    result.map_err(|fault| fault.in_text(text))
}

pub(super) struct Parser<'a> {
    text: &'a str,
    pub(super) vocabulary: &'a Vocabulary,
    tokens: Vec<Token>,
    end: Token,
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, vocabulary: &'a Vocabulary) -> Parser<'a> {
        let last = text.trim_end().len();
        let end = Token { kind: Is::End, span: last..last };
        Parser { text, vocabulary, tokens: tokens(text), end, next: 0, depth: 0 }
    }

    /// The text without the space around it, and where it is.
    pub(super) fn whole(&self) -> (Range<usize>, &'a str) {
        let start = self.text.len() - self.text.trim_start().len();
        (start..self.end.span.end, self.text.trim())
    }

    pub(super) fn peek(&self) -> &Token {
        self.tokens.get(self.next).unwrap_or(&self.end)
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    pub(super) fn expect(&mut self, kind: &Is, wanted: &str) -> Result<Token, Fault> {
        if self.peek().kind == *kind { Ok(self.advance()) } else { Err(self.unexpected(wanted)) }
    }

    /// Whether the next token is a comparison of any kind.
    pub(super) fn at_comparison(&self) -> bool {
        matches!(self.peek().kind, Is::AtMost | Is::AtLeast | Is::WrongComparison(_))
    }

    /// Refuses text that no rule could read.
    pub(super) fn finish(&self) -> Result<(), Fault> {
        let fault = self.unexpected("an operator");
        match &self.peek().kind {
            Is::End => Ok(()),
            Is::Word(word) if word == "and" => Err(fault.help("write two goals, one for each part")),
            Is::Word(_) | Is::Number(_) => {
                Err(fault.help("a product is written with `*`, as in `0.8 * auc`"))
            }
            Is::Close => Err(Fault::new(fault.span, "this parenthesis was never opened")),
            _ => Err(fault),
        }
    }

    /// The fault that the next token is not what was wanted.
    pub(super) fn unexpected(&self, wanted: &str) -> Fault {
        let token = self.peek();
        let span = token.span.clone();
        let found = self.text.get(span.clone()).unwrap_or_default();
        match &token.kind {
            Is::Invalid(fault) => fault.clone(),
            Is::End => Fault::new(span, format!("expected {wanted}, found the end")),
            Is::WrongComparison(instead) => {
                let fault = Fault::new(span, format!("`{found}` is not allowed, use {instead}"));
                match *instead {
                    "<= or >=" => fault.help("for equality write abs(x - y) <= 0.01"),
                    _ => fault,
                }
            }
            Is::AtMost | Is::AtLeast => Fault::new(span, format!("expected {wanted}, found a comparison"))
                .help("there is one comparison in a constraint, outside of parentheses"),
            _ => Fault::new(span, format!("expected {wanted}, found `{found}`")),
        }
    }

    pub(super) fn sum(&mut self) -> Result<Node, Fault> {
        let operator = |kind: &Is| match kind {
            Is::Plus => Some(1.0),
            Is::Minus => Some(-1.0),
            _ => None,
        };
        self.chain(1.0, operator, Parser::product, NodeKind::Sum)
    }

    fn product(&mut self) -> Result<Node, Fault> {
        let operator = |kind: &Is| match kind {
            Is::Star => Some(Operator::Times),
            Is::Slash => Some(Operator::By),
            _ => None,
        };
        self.chain(Operator::Times, operator, Parser::signed, NodeKind::Product)
    }

    /// Parts with operators between them; a part alone is itself.
    fn chain<T>(
        &mut self,
        first: T,
        operator: fn(&Is) -> Option<T>,
        part: fn(&mut Self) -> Result<Node, Fault>,
        kind: fn(Vec<(T, Node)>) -> NodeKind,
    ) -> Result<Node, Fault> {
        let node = part(self)?;
        if operator(&self.peek().kind).is_none() {
            return Ok(node);
        }
        let mut span = node.span.clone();
        let mut parts = vec![(first, node)];
        while let Some(operator) = operator(&self.peek().kind) {
            self.advance();
            let node = part(self)?;
            span.end = node.span.end;
            parts.push((operator, node));
        }
        Ok(Node { span, kind: kind(parts) })
    }

    fn signed(&mut self) -> Result<Node, Fault> {
        let start = self.peek().span.start;
        let mut sign = 1.0;
        while let Is::Plus | Is::Minus = self.peek().kind {
            if self.advance().kind == Is::Minus {
                sign = -sign;
            }
        }
        let atom = self.atom()?;
        if atom.span.start == start {
            return Ok(atom);
        }
        Ok(Node { span: start..atom.span.end, kind: NodeKind::Sum(vec![(sign, atom)]) })
    }

    fn atom(&mut self) -> Result<Node, Fault> {
        let token = self.peek().clone();
        match &token.kind {
            Is::Number(value) => {
                self.advance();
                Ok(Node { span: token.span, kind: NodeKind::Value(LinearForm::constant(*value)) })
            }
            Is::Word(word) => {
                self.advance();
                self.word(word, token.span)
            }
            Is::Open => {
                let (mut list, end) = self.list("these parentheses")?;
                match (list.pop(), list.is_empty()) {
                    (Some(only), true) => {
                        let kind = NodeKind::Sum(vec![(1.0, only)]);
                        Ok(Node { span: token.span.start..end, kind })
                    }
                    _ => Err(Fault::new(token.span.start..end, "parentheses hold one expression")),
                }
            }
            _ => Err(self.unexpected("a rate or a number")),
        }
    }

    fn word(&mut self, word: &str, span: Range<usize>) -> Result<Node, Fault> {
        if let Some(function) = Function::ALL.into_iter().find(|function| function.name() == word) {
            if self.peek().kind != Is::Open {
                return Err(self.unexpected(&format!("`(` after `{word}`")));
            }
            let (list, end) = self.list(&format!("`{word}`"))?;
            let span = span.start..end;
            if function == Function::Abs && list.len() != 1 {
                let message = format!("`abs` takes one expression, and got {}", list.len());
                return Err(Fault::new(span, message));
            }
            return Ok(Node { span, kind: NodeKind::Call(function, list) });
        }
        if let Some(criterion) = Criterion::from_name(word) {
            let expression =
                criterion.expression(self.vocabulary).map_err(|reason| Fault::new(span.clone(), reason))?;
            return Ok(Node { span, kind: NodeKind::Criterion(criterion, expression) });
        }
        match word {
            "auc" => Ok(Node { span, kind: NodeKind::Value(LinearForm::rate(Rate::AUC)) }),
            "mse" => Ok(Node { span, kind: NodeKind::Value(LinearForm::rate(Rate::Mse)) }),
            "A" | "P" | "S" => {
                let (form, end) = self.sides(word)?;
                Ok(Node { span: span.start..end, kind: NodeKind::Value(form) })
            }
            _ => Err(unknown(word, span)),
        }
    }

    /// A list in parentheses, and where it ends.
    fn list(&mut self, of: &str) -> Result<(Vec<Node>, usize), Fault> {
        let open = self.advance().span;
        if self.depth >= DEEPEST {
            return Err(Fault::new(open, format!("parentheses are nested more than {DEEPEST} deep")));
        }
        if self.peek().kind == Is::Close {
            let empty = open.start..self.peek().span.end;
            return Err(Fault::new(empty, format!("there is nothing in {of}")));
        }
        self.depth += 1;
        let mut list = vec![self.sum()?];
        while self.peek().kind == Is::Comma {
            self.advance();
            list.push(self.sum()?);
        }
        self.depth -= 1;
        match self.peek().kind {
            Is::Close => Ok((list, self.advance().span.end)),
            Is::End => Err(Fault::new(open, "this parenthesis is never closed")),
            _ => Err(self.unexpected("an operator or `)`")),
        }
    }
}

fn unknown(word: &str, span: Range<usize>) -> Fault {
    let names = || {
        let criteria = Criterion::ALL.into_iter().map(Criterion::name);
        let functions = Function::ALL.into_iter().map(Function::name);
        ["auc", "mse", "A", "P", "S"].into_iter().chain(criteria).chain(functions)
    };
    let help = match nearest(word, names()) {
        Some(name @ ("A" | "P")) => format!("did you mean `{name}[x > y]`?"),
        Some("S") => "did you mean `S[x]`?".to_string(),
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let criteria: Vec<&str> = Criterion::ALL.into_iter().map(Criterion::name).collect();
            format!("rates are auc, mse, A[x > y], P[x > y] and S[x]; criteria are {}", criteria.join(", "))
        }
    };
    Fault::new(span, format!("unknown name `{word}`")).help(help)
}
