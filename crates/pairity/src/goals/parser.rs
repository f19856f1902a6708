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

use super::criterion::{Criterion, symmetric};
use super::error::{Fault, GoalError};
use super::expression::{Expression, LinearForm};
use super::lexer::{Token, TokenKind as Is, tokens};
use super::names::{CONTINUOUS_RATES, Vocabulary};
use super::tree::{FUNCTIONS, Node, NodeKind};
use crate::rates::{Rate, Side};
use crate::similar;

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
    let last = text.trim_end().len();
    let end = Token { kind: Is::End, span: last..last };
    let mut parser = Parser { text, vocabulary, tokens: tokens(text), end, next: 0, depth: 0 };
    let result = match parser.peek().kind {
        Is::End => Err(Fault::new(0..text.len(), "this goal is empty").help("write one, such as `auc`")),
        _ => reader(&mut parser),
    };
    result.map_err(|fault| fault.in_text(text))
}

pub(super) struct Parser<'a> {
    text: &'a str,
    vocabulary: &'a Vocabulary,
    tokens: Vec<Token>,
    end: Token,
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
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

    fn is_at(&self, symbol: &'static str) -> bool {
        self.peek().kind == Is::Symbol(symbol)
    }

    /// Whether the next token is a comparison of any kind.
    pub(super) fn at_comparison(&self) -> bool {
        matches!(self.peek().kind, Is::Comparison(_) | Is::WrongComparison(_))
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
            Is::Symbol(")") => Err(Fault::new(fault.span, "this parenthesis was never opened")),
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
            Is::Comparison(_) => Fault::new(span, format!("expected {wanted}, found a comparison"))
                .help("there is one comparison in a constraint, outside of parentheses"),
            _ => Fault::new(span, format!("expected {wanted}, found `{found}`")),
        }
    }

    pub(super) fn sum(&mut self) -> Result<Node, Fault> {
        self.chain(NodeKind::Sum, ["+", "-"], |parser| {
            parser.chain(NodeKind::Product, ["*", "/"], Parser::signed)
        })
    }

    /// Parts with one of two operators between them, of which the second counts -1; a part alone is itself.
    fn chain(
        &mut self,
        kind: NodeKind,
        [plus, minus]: [&'static str; 2],
        part: fn(&mut Self) -> Result<Node, Fault>,
    ) -> Result<Node, Fault> {
        let first = part(self)?;
        if !self.is_at(plus) && !self.is_at(minus) {
            return Ok(first);
        }
        let mut span = first.span.clone();
        let mut parts = vec![(1.0, first)];
        while self.is_at(plus) || self.is_at(minus) {
            let sign = if self.advance().kind == Is::Symbol(plus) { 1.0 } else { -1.0 };
            let node = part(self)?;
            span.end = node.span.end;
            parts.push((sign, node));
        }
        Ok(Node { span, kind, parts })
    }

    fn signed(&mut self) -> Result<Node, Fault> {
        let start = self.peek().span.start;
        let mut sign = 1.0;
        while self.is_at("+") || self.is_at("-") {
            if self.advance().kind == Is::Symbol("-") {
                sign = -sign;
            }
        }
        let atom = self.atom()?;
        if atom.span.start == start {
            return Ok(atom);
        }
        Ok(Node { span: start..atom.span.end, kind: NodeKind::Sum, parts: vec![(sign, atom)] })
    }

    fn atom(&mut self) -> Result<Node, Fault> {
        let token = self.peek().clone();
        match &token.kind {
            Is::Number(value) => Ok(leaf(self.advance().span, LinearForm::constant(*value))),
            Is::Word(word) => self.word(word),
            Is::Symbol("(") => {
                let (parts, end) = self.list("these parentheses")?;
                let span = token.span.start..end;
                match parts.len() {
                    1 => Ok(Node { span, kind: NodeKind::Sum, parts }),
                    _ => Err(Fault::new(span, "parentheses hold one expression")),
                }
            }
            _ => Err(self.unexpected("a rate or a number")),
        }
    }

    fn word(&mut self, word: &str) -> Result<Node, Fault> {
        let span = self.advance().span;
        if let Some(function) = FUNCTIONS.into_iter().find(|function| *function == word) {
            if !self.is_at("(") {
                return Err(self.unexpected(&format!("`(` after `{word}`")));
            }
            let (parts, end) = self.list(&format!("`{word}`"))?;
            let span = span.start..end;
            if function == "abs" && parts.len() != 1 {
                let message = format!("`abs` takes one expression, and got {}", parts.len());
                return Err(Fault::new(span, message));
            }
            return Ok(Node { span, kind: NodeKind::Call(function), parts });
        }
        if let Some(criterion) = Criterion::from_name(word) {
            let expression =
                criterion.expression(self.vocabulary).map_err(|reason| Fault::new(span.clone(), reason))?;
            return Ok(Node { span, kind: NodeKind::Leaf(criterion.name(), expression), parts: Vec::new() });
        }
        match word {
            "auc" => Ok(leaf(span, LinearForm::rate(Rate::AUC))),
            "mse" => Ok(leaf(span, LinearForm::rate(Rate::Mse))),
            "A" | "P" | "S" => {
                let (form, end) = self.sides(word)?;
                Ok(leaf(span.start..end, form))
            }
            _ => Err(unknown(word, span)),
        }
    }

    /// A list in parentheses, and where it ends.
    fn list(&mut self, of: &str) -> Result<(Vec<(f64, Node)>, usize), Fault> {
        let open = self.advance().span;
        if self.depth >= DEEPEST {
            return Err(Fault::new(open, format!("parentheses are nested more than {DEEPEST} deep")));
        }
        if self.is_at(")") {
            let empty = open.start..self.peek().span.end;
            return Err(Fault::new(empty, format!("there is nothing in {of}")));
        }
        self.depth += 1;
        let mut list = vec![(1.0, self.sum()?)];
        while self.is_at(",") {
            self.advance();
            list.push((1.0, self.sum()?));
        }
        self.depth -= 1;
        match self.peek().kind {
            Is::Symbol(")") => Ok((list, self.advance().span.end)),
            Is::End => Err(Fault::new(open, "this parenthesis is never closed")),
            _ => Err(self.unexpected("an operator or `)`")),
        }
    }

    /// The rate called `A`, `P` or `S` from its opening bracket on, and where it ends.
    fn sides(&mut self, rate: &str) -> Result<(LinearForm, usize), Fault> {
        let example = if rate == "S" { "S[x]".to_string() } else { format!("{rate}[x > y]") };
        let written = |fault: Fault| match fault.help {
            None => fault.help(format!("it is written {example}")),
            Some(_) => fault,
        };
        if !self.is_at("[") {
            return Err(written(self.unexpected(&format!("`[` after `{rate}`"))));
        }
        let open = self.advance().span;
        let unclosed = || Fault::new(open.clone(), "this bracket is never closed");

        let first = self.side().map_err(written)?;
        let form = if rate == "S" {
            symmetric(self.group_of(&first, "`S` takes one group")?)
        } else {
            let comparison = match self.peek().kind {
                Is::Symbol(">" | "<") => self.advance(),
                Is::End => return Err(unclosed()),
                _ => return Err(written(self.unexpected("`>`"))),
            };
            let second = self.side().map_err(written)?;
            LinearForm::rate(match rate {
                "A" => self.accuracy(&first, &comparison, &second)?,
                _ => self.parity(&first, &comparison, &second)?,
            })
        };
        match self.peek().kind {
            Is::Symbol("]") => Ok((form, self.advance().span.end)),
            Is::End => Err(unclosed()),
            _ => Err(written(self.unexpected("`]`"))),
        }
    }

    fn side(&mut self) -> Result<Token, Fault> {
        match self.peek().kind {
            Is::Name(_) | Is::Symbol("*" | "z'") => Ok(self.advance()),
            _ => Err(self.unexpected("the name of a group")),
        }
    }

    /// Whether a rate is one of a continuous attribute, and then whether its first side has the greater one.
    fn order(&self, first: &Token, comparison: &Token, second: &Token) -> Result<Option<bool>, Fault> {
        let whole = first.span.start..second.span.end;
        if ![&first.kind, &second.kind].contains(&&Is::Symbol("z'")) {
            return Ok(None);
        }
        if self.text.get(first.span.clone()) != Some("z") {
            return Err(Fault::new(whole, "`z'` stands on the right of `z`")
                .help(format!("rates of a continuous attribute are {CONTINUOUS_RATES}")));
        }
        if !self.vocabulary.continuous {
            return Err(Fault::new(whole, "there is no continuous protected attribute"));
        }
        Ok(Some(comparison.kind == Is::Symbol(">")))
    }

    fn accuracy(&self, first: &Token, comparison: &Token, second: &Token) -> Result<Rate, Fault> {
        if let Some(greater) = self.order(first, comparison, second)? {
            return Ok(if greater { Rate::Greater } else { Rate::Less });
        }
        above(comparison)?;
        Ok(Rate::Accuracy { better: self.any_or_group(first)?, worse: self.any_or_group(second)? })
    }

    fn parity(&self, first: &Token, comparison: &Token, second: &Token) -> Result<Rate, Fault> {
        if let Some(greater) = self.order(first, comparison, second)? {
            return Ok(if greater { Rate::ParityGreater } else { Rate::ParityLess });
        }
        above(comparison)?;
        let index = |side| self.group_of(side, "`P` compares two groups");
        let (a, b) = (index(first)?, index(second)?);
        if a == b {
            let whole = first.span.start..second.span.end;
            return Err(Fault::new(whole, "`P` compares two groups, and these are the same")
                .help("labels don't count in P: within one group it is always 1/2"));
        }
        Ok(Rate::Parity { first: a, second: b })
    }

    fn any_or_group(&self, side: &Token) -> Result<Side, Fault> {
        match side.kind {
            Is::Symbol("*") => Ok(Side::Any),
            _ => self.group_of(side, "a group is needed here").map(Side::Group),
        }
    }

    fn group_of(&self, side: &Token, need: &str) -> Result<usize, Fault> {
        match &side.kind {
            Is::Name(name) => self.vocabulary.group(name, &side.span),
            Is::Symbol(symbol) => Err(Fault::new(side.span.clone(), format!("{need}, `{symbol}` is none"))),
            _ => Err(Fault::new(side.span.clone(), need)),
        }
    }
}

/// A number or a rate.
fn leaf(span: Range<usize>, form: LinearForm) -> Node {
    Node { span, kind: NodeKind::Leaf("this", Expression::Linear(form)), parts: Vec::new() }
}

fn above(comparison: &Token) -> Result<(), Fault> {
    match comparison.kind {
        Is::Symbol(">") => Ok(()),
        _ => Err(Fault::new(comparison.span.clone(), "groups are compared by `>`").help(
            "the group of the higher example comes first; `<` is for a continuous attribute: A[z < z']",
        )),
    }
}

fn unknown(word: &str, span: Range<usize>) -> Fault {
    let criteria = Criterion::ALL.map(Criterion::name);
    let names = ["auc", "mse", "A", "P", "S"].into_iter().chain(criteria).chain(FUNCTIONS);
    let help = match similar::nearest(word, names).first() {
        Some(name @ (&"A" | &"P")) => format!("did you mean `{name}[x > y]`?"),
        Some(&"S") => "did you mean `S[x]`?".to_string(),
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            format!("rates are auc, mse, A[x > y], P[x > y] and S[x]; criteria are {}", criteria.join(", "))
        }
    };
    Fault::new(span, format!("unknown name `{word}`")).help(help)
}
