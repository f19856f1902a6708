//! Reads what stands in the brackets of `A[x > y]`, `P[x > y]` and `S[x]`.

use std::ops::Range;

use super::criterion::symmetric;
use super::error::Fault;
use super::lexer::{Token, TokenKind as Is};
use super::linear::LinearForm;
use super::parser::Parser;
use crate::rates::{Rate, Side};

impl Parser<'_> {
    /// The rate called `A`, `P` or `S` from its opening bracket on, and where it ends.
    pub(super) fn sides(&mut self, rate: &str) -> Result<(LinearForm, usize), Fault> {
        let example = if rate == "S" { "S[x]".to_string() } else { format!("{rate}[x > y]") };
        let written = |fault: Fault| match fault.help {
            None => fault.help(format!("it is written {example}")),
            Some(_) => fault,
        };
        let open = self.expect(&Is::OpenBracket, &format!("`[` after `{rate}`")).map_err(written)?.span;
        let unclosed = || Fault::new(open.clone(), "this bracket is never closed");

        let first = self.side().map_err(written)?;
        let form = if rate == "S" {
            symmetric(self.group_of(&first, "`S` takes one group")?)
        } else {
            let comparison = match self.peek().kind {
                Is::Above | Is::Below => self.advance(),
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
            Is::CloseBracket => Ok((form, self.advance().span.end)),
            Is::End => Err(unclosed()),
            _ => Err(written(self.unexpected("`]`"))),
        }
    }

    fn side(&mut self) -> Result<Token, Fault> {
        match self.peek().kind {
            Is::Name { .. } | Is::Star | Is::ZPrime => Ok(self.advance()),
            _ => Err(self.unexpected("the name of a group")),
        }
    }

    fn accuracy(&self, first: &Token, comparison: &Token, second: &Token) -> Result<Rate, Fault> {
        let whole = first.span.start..second.span.end;
        if first.kind == Is::ZPrime || second.kind == Is::ZPrime {
            let z = Is::Name { name: "z".to_string(), quoted: false };
            if first.kind != z {
                return Err(Fault::new(whole, "`z'` stands on the right of `z`")
                    .help("rates of a continuous attribute are A[z > z'] and A[z < z']"));
            }
            if !self.vocabulary.continuous {
                return Err(Fault::new(whole, "there is no continuous protected attribute"));
            }
            return Ok(if comparison.kind == Is::Above { Rate::Greater } else { Rate::Less });
        }
        above(comparison)?;
        Ok(Rate::Accuracy { better: self.any_or_group(first)?, worse: self.any_or_group(second)? })
    }

    fn parity(&self, first: &Token, comparison: &Token, second: &Token) -> Result<Rate, Fault> {
        above(comparison)?;
        let index = |side| self.group_of(side, "`P` compares two groups");
        let (a, b) = (index(first)?, index(second)?);
        if a == b {
            let whole: Range<usize> = first.span.start..second.span.end;
            return Err(Fault::new(whole, "`P` compares two groups, and these are the same")
                .help("labels don't count in P: within one group it is always 1/2"));
        }
        Ok(Rate::Parity { first: a, second: b })
    }

    fn any_or_group(&self, side: &Token) -> Result<Side, Fault> {
        match side.kind {
            Is::Star => Ok(Side::Any),
            _ => self.group_of(side, "a group is needed here").map(Side::Group),
        }
    }

    fn group_of(&self, side: &Token, need: &str) -> Result<usize, Fault> {
        match &side.kind {
            Is::Name { name, .. } => self.vocabulary.group(name, &side.span),
            Is::Star => Err(Fault::new(side.span.clone(), format!("{need}, `*` is none"))),
            _ => Err(Fault::new(side.span.clone(), format!("{need}, `z'` is none"))),
        }
    }
}

fn above(comparison: &Token) -> Result<(), Fault> {
    match comparison.kind {
        Is::Above => Ok(()),
        _ => Err(Fault::new(comparison.span.clone(), "groups are compared by `>`").help(
            "the group of the higher example comes first; `<` is for a continuous attribute: A[z < z']",
        )),
    }
}
