//! Goals as their users state them, and how their texts are read: expressions to be made large or small, and
//! constraints, each an expression with the bound it must keep.

use serde::{Deserialize, Serialize};

use super::error::{Fault, GoalError};
use super::expression::{Expression, LARGEST};
use super::lexer::TokenKind as Is;
use super::names::Vocabulary;
use super::parser::{Parser, read};
use super::tree::{Node, too_large};
use crate::rates::{Rate, shortened};

/// What a model is trained for, in the goal language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// What is to be large or small.
    #[serde(flatten)]
    pub objective: Objective,
    /// What is to hold.
    pub subject_to: Vec<String>,
}

/// What is to be large or small.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// To be large.
    Maximize(String),
    /// To be small.
    Minimize(String),
}

impl Goal {
    /// A goal of what is to be large, `auc` if nothing is said; or of what is to be small, instead.
    pub fn new(maximize: Option<String>, minimize: Option<String>, subject_to: Vec<String>) -> Goal {
        let objective = match (maximize, minimize) {
            (_, Some(text)) => Objective::Minimize(text),
            (text, None) => Objective::Maximize(text.unwrap_or_else(|| "auc".to_owned())),
        };
        Goal { objective, subject_to }
    }
}

impl Default for Goal {
    fn default() -> Goal {
        Goal::new(None, None, Vec::new())
    }
}

impl Objective {
    /// What is to be large or small.
    pub fn text(&self) -> &str {
        match self {
            Objective::Maximize(text) | Objective::Minimize(text) => text,
        }
    }
}

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
    /// Why it can't be estimated, where the groups that it compares are not there: see [`parse_check`].
    pub lacks: Option<String>,
}

impl Sense {
    /// What turns an expression so that it is to be held down.
    pub(super) fn sign(self) -> f64 {
        match self {
            Sense::AtMost => 1.0,
            Sense::AtLeast => -1.0,
        }
    }
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

/// Reads a constraint that is measured on whatever a table holds today. Where one group alone is there, a
/// constraint that compares groups lacks the other, and one that names a group which the table has, but which is
/// left out, lacks that: it can't be estimated, but nothing is wrong with it.
///
/// ```
/// use pairity::goals::{Vocabulary, parse_check};
/// let words = Vocabulary { groups: vec!["a".into()], continuous: false };
/// let check = parse_check("cross_group <= 0.1", &words, &[])?;
/// assert_eq!(check.lacks.as_deref(), Some("`cross_group` compares groups, and \"a\" is the only one"));
/// assert!(parse_check("A[a > b] >= 0.1", &words, &[]).is_err());
/// let check = parse_check("A[a > b] >= 0.1", &words, &["b".into()])?;
/// assert_eq!(check.lacks.as_deref(), Some("A[a > b] has no pairs: the group \"b\" is left out"));
/// # Ok::<(), pairity::goals::GoalError>(())
/// ```
pub fn parse_check(
    text: &str,
    vocabulary: &Vocabulary,
    left_out: &[String],
) -> Result<Constraint, GoalError> {
    parse_constraint(text, vocabulary).or_else(|error| {
        let known = vocabulary.groups.len();
        let with = |more: &[String]| {
            let groups = [&vocabulary.groups, more].concat();
            let words = Vocabulary { groups, ..vocabulary.clone() };
            parse_constraint(text, &words).map(|constraint| (constraint, words.groups))
        };
        // What can be read with a second group lacks nothing else. No group has an empty name.
        if known == 1
            && let Ok((constraint, _)) = with(&[String::new()])
        {
            return Ok(Constraint { lacks: Some(error.message), ..constraint });
        }
        let Ok((constraint, names)) = with(left_out) else { return Err(error) };
        let lacking = constraint.expression.rates().into_iter().find_map(|rate| {
            let group = rate.groups().find(|&group| group >= known)?;
            let (rate, group) = (rate.in_words(&names), shortened(&names[group]));
            Some(format!("{rate} has no pairs: the group {group:?} is left out"))
        });
        match lacking {
            Some(_) => Ok(Constraint { lacks: lacking, ..constraint }),
            None => Err(error),
        }
    })
}

fn constraint(parser: &mut Parser<'_>) -> Result<Constraint, Fault> {
    let mut left = parser.sum()?;
    let Is::Comparison(sense) = parser.peek().kind else {
        let help = "a constraint ends with a bound, as in auc >= 0.8";
        return Err(parser.finish().err().unwrap_or_else(|| parser.unexpected("`<=` or `>=`").help(help)));
    };
    parser.advance();
    let mut right = parser.sum()?;
    if parser.at_comparison() {
        return Err(Fault::new(parser.peek().span.clone(), "a second comparison")
            .help("write two constraints, each with one comparison"));
    }
    parser.finish()?;
    let (whole, written) = parser.whole();

    let (mut low, mut high, mut sign) = (left.lower()?, right.lower()?, sense.sign());
    // Before the sides may be exchanged.
    let before = written[..left.span.end - whole.start].to_owned();
    let number = written[right.span.start - whole.start..right.span.end - whole.start].parse::<f64>().ok();
    let sides = number.filter(|_| sense == Sense::AtMost).map(|number| (before, number));
    if low.as_constant().is_some() {
        (left, right) = (right, left);
        (low, high, sign) = (high, low, -sign);
    }
    let (expression, constant) = Expression::sum([(1.0, low), (-1.0, high)]).split_constant();
    if !(expression.fits() && constant.abs() <= LARGEST) {
        return Err(too_large(whole));
    }
    if expression.as_constant().is_some() {
        return Err(Fault::new(whole, "there is no rate in this constraint")
            .help("it holds or fails whatever the model does"));
    }
    if !expression.is_convex(sign) {
        let blamed = left.offense(sign, false).or_else(|| right.offense(-sign, false));
        return Err(blamed.unwrap_or_else(|| Fault::new(whole, "this constraint is not convex")));
    }
    let sense = if sign > 0.0 { Sense::AtMost } else { Sense::AtLeast };
    Ok(Constraint { text: written.to_string(), expression, sense, bound: 0.0 - constant, sides, lacks: None })
}

/// Reads an expression of any shape.
///
/// ```
/// use pairity::goals::{Vocabulary, parse_expression};
/// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
/// let expression = parse_expression("(A[a > b] + A[b > a]) / 2", &words)?;
/// assert_eq!(expression.value(&mut |_| 0.75), 0.75);
/// # Ok::<(), pairity::goals::GoalError>(())
/// ```
pub fn parse_expression(text: &str, vocabulary: &Vocabulary) -> Result<Expression, GoalError> {
    read(text, vocabulary, |parser| Ok(expression(parser)?.1))
}

/// Reads an objective to be maximized. It must be concave, and have no `mse` in it.
///
/// ```
/// use pairity::goals::{Vocabulary, parse_maximize};
/// let words = Vocabulary { groups: vec!["0".into(), "1".into()], continuous: false };
/// assert!(parse_maximize("min(auc, A[0 > 1], A[1 > 0])", &words).is_ok());
/// let error = parse_maximize("auc + cross_group", &words).unwrap_err();
/// assert_eq!(error.message, "`cross_group` can be minimized, but not maximized");
/// ```
pub fn parse_maximize(text: &str, vocabulary: &Vocabulary) -> Result<Expression, GoalError> {
    read(text, vocabulary, |parser| objective(parser, -1.0))
}

/// Reads an objective to be minimized. It must be convex, and not fall where `mse` rises.
///
/// ```
/// use pairity::goals::{Vocabulary, parse_minimize};
/// let words = Vocabulary { groups: vec!["0".into(), "1".into()], continuous: false };
/// assert!(parse_minimize("mse + 0.1 * cross_group", &words).is_ok());
/// assert!(parse_minimize("min(mse, 1)", &words).is_err());
/// ```
pub fn parse_minimize(text: &str, vocabulary: &Vocabulary) -> Result<Expression, GoalError> {
    read(text, vocabulary, |parser| objective(parser, 1.0))
}

fn expression(parser: &mut Parser<'_>) -> Result<(Node, Expression), Fault> {
    let node = parser.sum()?;
    if parser.at_comparison() {
        return Err(Fault::new(parser.peek().span.clone(), "there can be no comparison here")
            .help("a comparison makes it a constraint"));
    }
    parser.finish()?;
    let expression = node.lower()?;
    Ok((node, expression))
}

/// An objective that is to be small when multiplied by a sign, unless that makes `mse` large.
fn objective(parser: &mut Parser<'_>, sign: f64) -> Result<Expression, Fault> {
    let (node, expression) = expression(parser)?;
    if expression.as_constant().is_some() {
        return Err(Fault::new(parser.whole().0, "there is no rate in this objective"));
    }
    if let Some(fault) = node.offense(sign, true) {
        return Err(fault);
    }
    let (maximizes_mse, help) = match sign > 0.0 {
        true => (falls_with_mse(&expression, 1.0), "give it a positive factor"),
        false => {
            let uses = expression.rates().contains(&Rate::Mse);
            (uses, "minimize it, or bound it by a constraint such as mse <= 0.1")
        }
    };
    match node.find_rate(Rate::Mse) {
        Some(span) if maximizes_mse => {
            Err(Fault::new(span, "`mse` is an error, and can't be maximized").help(help))
        }
        _ => Ok(expression),
    }
}

/// Whether `factor · expression`, which is convex, can fall without end as `mse` rises.
fn falls_with_mse(expression: &Expression, factor: f64) -> bool {
    match expression {
        Expression::Linear(form) => {
            form.terms.iter().any(|&(rate, coefficient)| rate == Rate::Mse && coefficient * factor < 0.0)
        }
        Expression::Min(list) | Expression::Max(list) => {
            list.iter().all(|entry| falls_with_mse(entry, factor))
        }
        Expression::Sum(list) => list.iter().any(|(inner, entry)| falls_with_mse(entry, factor * inner)),
        Expression::Abs(_) | Expression::Spread(_) => false,
    }
}
