//! Constraints: an expression and the bound it must keep.

use super::error::{Fault, GoalError};
use super::expression::Expression;
use super::lexer::TokenKind as Is;
use super::names::Vocabulary;
use super::parser::{Parser, read};
use super::shape::{Purpose, offense};
use crate::rates::Rate;

/// On which side of its bound an expression must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sense {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
}

/// `expression <= bound` or `expression >= bound`.
///
/// Whatever depends on rates is on the left, and constants are on the right. An expression to be held
/// down is convex, and one to be held up is concave.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// What the user wrote, without the space around it.
    pub text: String,
    /// The left side.
    pub expression: Expression,
    /// The comparison.
    pub sense: Sense,
    /// The right side.
    pub bound: f64,
    /// What stands before a `<=` with nothing but a number behind it, and that number.
    pub sides: Option<(String, f64)>,
}

impl Constraint {
    /// How far the expression is on the wrong side of the bound at given rates: negative if there is
    /// room left, NaN if a rate is.
    ///
    /// ```
    /// use pairity::goals::{Vocabulary, parse_constraint};
    /// let constraint = parse_constraint("auc >= 0.75", &Vocabulary::default())?;
    /// assert_eq!(constraint.violation(&mut |_| 0.5), 0.25);
    /// # Ok::<(), pairity::goals::GoalError>(())
    /// ```
    pub fn violation(&self, rate: &mut dyn FnMut(Rate) -> f64) -> f64 {
        let value = self.expression.value(rate);
        match self.sense {
            Sense::AtMost => value - self.bound,
            Sense::AtLeast => self.bound - value,
        }
    }

    /// The same with another number behind its `<=`; none if there is no such number.
    ///
    /// ```
    /// use pairity::goals::{Vocabulary, parse_constraint};
    /// let words = Vocabulary { groups: vec!["0".into(), "1".into()], continuous: false };
    /// let constraint = parse_constraint("cross_group <= 0.01", &words)?;
    /// let looser = constraint.rebound(0.1);
    /// assert_eq!(looser, Some(parse_constraint("cross_group <= 0.1", &words)?));
    /// assert_eq!(parse_constraint("A[0 > 1] >= 0.8", &words)?.rebound(0.1), None);
    /// # Ok::<(), pairity::goals::GoalError>(())
    /// ```
    pub fn rebound(&self, bound: f64) -> Option<Constraint> {
        let (left, number) = self.sides.as_ref()?;
        Some(Constraint {
            text: format!("{left} <= {bound}"),
            bound: bound + (self.bound - number),
            sides: Some((left.clone(), bound)),
            ..self.clone()
        })
    }
}

/// Reads a constraint, which has exactly one `<=` or `>=`.
///
/// ```
/// use pairity::goals::{Sense, Vocabulary, parse_constraint};
/// let words = Vocabulary { groups: vec!["0".into(), "1".into()], continuous: false };
/// let constraint = parse_constraint("0.01 >= abs(A[0 > 1] - A[1 > 0])", &words)?;
/// assert_eq!((constraint.sense, constraint.bound), (Sense::AtMost, 0.01));
///
/// let error = parse_constraint("abs(A[0 > 1] - A[1 > 0]) >= 0.01", &words).unwrap_err();
/// assert_eq!(error.message, "`abs` can be bounded from above, but not from below");
/// # Ok::<(), pairity::goals::GoalError>(())
/// ```
pub fn parse_constraint(text: &str, vocabulary: &Vocabulary) -> Result<Constraint, GoalError> {
    read(text, vocabulary, constraint)
}

fn constraint(parser: &mut Parser<'_>) -> Result<Constraint, Fault> {
    let mut left = parser.sum()?;
    let mut sense = match parser.peek().kind {
        Is::AtMost => Sense::AtMost,
        Is::AtLeast => Sense::AtLeast,
        Is::End => {
            return Err(parser
                .unexpected("`<=` or `>=`")
                .help("a constraint ends with a bound, as in auc >= 0.8"));
        }
        Is::WrongComparison(_) => return Err(parser.unexpected("`<=` or `>=`")),
        _ => return Err(parser.finish().err().unwrap_or_else(|| parser.unexpected("`<=` or `>=`"))),
    };
    parser.advance();
    let mut right = parser.sum()?;
    if parser.at_comparison() {
        return Err(Fault::new(parser.peek().span.clone(), "a second comparison")
            .help("write two constraints, each with one comparison"));
    }
    parser.finish()?;
    let (whole, written) = parser.whole();

    let (mut low, mut high) = (left.lower()?, right.lower()?);
    // Before the sides may be exchanged.
    let before = written[..left.span.end - whole.start].to_owned();
    let number = written[right.span.start - whole.start..right.span.end - whole.start].parse::<f64>().ok();
    let sides = number.filter(|_| sense == Sense::AtMost).map(|number| (before, number));
    if low.as_constant().is_some() {
        (left, right) = (right, left);
        (low, high) = (high, low);
        sense = sense.opposite();
    }
    let (expression, constant) = Expression::sum([(1.0, low), (-1.0, high)]).split_constant();
    if !(expression.is_finite() && constant.is_finite()) {
        return Err(Fault::new(whole, "the numbers here are too large"));
    }
    if expression.as_constant().is_some() {
        return Err(Fault::new(whole, "there is no rate in this constraint")
            .help("it holds or fails whatever the model does"));
    }
    if !sense.allows(expression.curvature()) {
        let blamed = offense(&left, sense, Purpose::Constrain)
            .or_else(|| offense(&right, sense.opposite(), Purpose::Constrain));
        return Err(blamed.unwrap_or_else(|| Fault::new(whole, "this constraint is not convex")));
    }
    Ok(Constraint { text: written.to_string(), expression, sense, bound: 0.0 - constant, sides })
}
