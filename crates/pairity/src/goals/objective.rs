//! Objectives: an expression to make as large or as small as can be.

use super::constraint::Sense;
use super::error::{Fault, GoalError};
use super::expression::Expression;
use super::names::Vocabulary;
use super::parser::{Parser, read};
use super::shape::{Purpose, offense};
use super::syntax::Node;
use crate::rates::Rate;

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
    let help = "minimize it, or bound it by a constraint such as mse <= 0.1";
    let uses_mse = |expression: &Expression| expression.rates().contains(&Rate::Mse);
    read(text, vocabulary, |parser| objective(parser, Sense::AtLeast, uses_mse, help))
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
    let falls = |expression: &Expression| falls_with_mse(expression, 1.0);
    read(text, vocabulary, |parser| objective(parser, Sense::AtMost, falls, "give it a positive factor"))
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

/// An objective, unless it makes `mse` large.
fn objective(
    parser: &mut Parser<'_>,
    sense: Sense,
    maximizes_mse: impl Fn(&Expression) -> bool,
    help: &str,
) -> Result<Expression, Fault> {
    let (node, expression) = expression(parser)?;
    if expression.as_constant().is_some() {
        return Err(Fault::new(parser.whole().0, "there is no rate in this objective"));
    }
    if let Some(fault) = offense(&node, sense, Purpose::Optimize) {
        return Err(fault);
    }
    match node.find_rate(Rate::Mse) {
        Some(span) if maximizes_mse(&expression) => {
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
