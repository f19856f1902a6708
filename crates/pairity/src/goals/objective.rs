//! Objectives: an expression to make as large or as small as can be.

use super::error::{Fault, GoalError};
use super::expression::Expression;
use super::names::Vocabulary;
use super::parser::{Parser, read};
use super::shape::{Purpose, Push, offense};
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
    read(text, vocabulary, |parser| {
        let (node, expression) = objective(parser, Push::Up)?;
        match node.find_rate(Rate::Mse) {
            Some(span) if expression.rates().contains(&Rate::Mse) => {
                Err(Fault::new(span, "`mse` is an error, and can't be maximized")
                    .help("minimize it, or bound it by a constraint such as mse <= 0.1"))
            }
            _ => Ok(expression),
        }
    })
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
    read(text, vocabulary, |parser| {
        let (node, expression) = objective(parser, Push::Down)?;
        match node.find_rate(Rate::Mse) {
            Some(span) if falls_with_mse(&expression, 1.0) => {
                Err(Fault::new(span, "`mse` is an error, and can't be maximized")
                    .help("give it a positive factor"))
            }
            _ => Ok(expression),
        }
    })
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

fn objective(parser: &mut Parser<'_>, push: Push) -> Result<(Node, Expression), Fault> {
    let (node, expression) = expression(parser)?;
    if expression.as_constant().is_some() {
        return Err(Fault::new(parser.whole().0, "there is no rate in this objective"));
    }
    match offense(&node, push, Purpose::Optimize) {
        Some(fault) => Err(fault),
        None => Ok((node, expression)),
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
