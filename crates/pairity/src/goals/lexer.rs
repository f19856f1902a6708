//! Splits the text of a goal into tokens. Within brackets words are names of groups, so that `-`, `.`
//! and digits belong to them; elsewhere they are names of rates, and `-` is an operator.

use std::ops::Range;

use super::error::Fault;
use super::goal::Sense;

/// What is written outside of brackets beside words and numbers; no symbol comes after one that it starts with.
const SYMBOLS: [&str; 19] =
    ["<=", "≤", ">=", "≥", "=<", "=>", "==", "=", "<", ">", "+", "-", "*", "/", "(", ")", ",", "[", "]"];

/// What is written in brackets beside names.
const BRACKET_SYMBOLS: [&str; 4] = ["*", ">", "<", "]"];

/// A token and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Number(f64),
    /// A name outside of brackets.
    Word(String),
    /// What is written so; `z'` within brackets.
    Symbol(&'static str),
    /// `<=` or `>=`.
    Comparison(Sense),
    /// Another comparison, and what to write instead.
    WrongComparison(&'static str),
    /// The name of a group.
    Name(String),
    /// Text that is no token; no text behind it is read.
    Invalid(Fault),
    End,
}

/// The tokens of a text, without the end. Nothing follows an invalid one.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, in_brackets: false };
    std::iter::from_fn(|| lexer.token()).collect()
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    in_brackets: bool,
}

impl<'a> Lexer<'a> {
    fn token(&mut self) -> Option<Token> {
        self.take_while(char::is_whitespace);
        let start = self.at;
        let first = self.peek()?;
        let kind = match first {
            '"' | '\'' if self.in_brackets => self.quoted(first),
            _ if self.in_brackets && in_name(first) => self.name(),
            '0'..='9' | '.' => self.number(),
            _ if first == '_' || first.is_alphabetic() => {
                TokenKind::Word(self.take_while(|c| c == '_' || c.is_alphanumeric()).to_string())
            }
            _ => self.symbol(first),
        };
        let span = match &kind {
            TokenKind::Invalid(fault) => {
                self.at = self.text.len();
                fault.span.clone()
            }
            _ => start..self.at,
        };
        Some(Token { kind, span })
    }

    fn symbol(&mut self, first: char) -> TokenKind {
        let inside = self.in_brackets;
        let known = if inside { &BRACKET_SYMBOLS[..] } else { &SYMBOLS };
        if let Some(&symbol) = known.iter().find(|&&symbol| self.rest().starts_with(symbol)) {
            self.at += symbol.len();
            self.in_brackets = symbol == "[" || inside && symbol != "]";
            return match symbol {
                _ if inside => TokenKind::Symbol(symbol),
                "<=" | "≤" => TokenKind::Comparison(Sense::AtMost),
                ">=" | "≥" => TokenKind::Comparison(Sense::AtLeast),
                "=<" | "<" => TokenKind::WrongComparison("<="),
                "=>" | ">" => TokenKind::WrongComparison(">="),
                "==" | "=" => TokenKind::WrongComparison("<= or >="),
                _ => TokenKind::Symbol(symbol),
            };
        }
        let place = if inside { " in brackets" } else { "" };
        let message = format!("unexpected character {first:?}{place}");
        let fault = Fault::new(self.at..self.at + first.len_utf8(), message);
        TokenKind::Invalid(match first {
            _ if inside => fault.help(
                "a name with anything but letters, digits, `_`, `-` and `.` must be quoted: A[\"x & y\" > *]",
            ),
            '|' => fault.help("an absolute value is written abs(...)"),
            '%' => fault.help("write the number itself: 0.01 for 1%"),
            '"' | '\'' => fault.help("names of groups stand in brackets, as in A[\"x\" > \"y\"]"),
            _ => fault,
        })
    }

    fn number(&mut self) -> TokenKind {
        let start = self.at;
        let digits = |c: char| c.is_ascii_digit();
        self.take_while(digits);
        if self.peek() == Some('.') {
            self.at += 1;
            self.take_while(digits);
        }
        let mantissa = self.at;
        if let Some('e' | 'E') = self.peek() {
            self.at += 1;
            if let Some('+' | '-') = self.peek() {
                self.at += 1;
            }
            if self.take_while(digits).is_empty() {
                self.at = mantissa;
            }
        }
        let written = self.text.get(start..self.at).unwrap_or_default();
        let fault = |message: String| TokenKind::Invalid(Fault::new(start..self.at, message));
        match written.parse::<f64>() {
            Ok(value) if value.is_finite() => TokenKind::Number(value),
            Ok(_) => fault("this number is too large".to_string()),
            Err(_) => fault(format!("`{written}` is not a number")),
        }
    }

    fn name(&mut self) -> TokenKind {
        let start = self.at;
        let name = self.take_while(in_name).to_string();
        match self.peek() {
            Some(prime @ ('\'' | '’' | '′')) if name == "z" => {
                self.at += prime.len_utf8();
                TokenKind::Symbol("z'")
            }
            Some('\'') => TokenKind::Invalid(
                Fault::new(start..self.at + 1, "a name with a quote mark in it must be quoted")
                    .help(format!("write it in double quotes: \"{name}'...\"")),
            ),
            _ => TokenKind::Name(name),
        }
    }

    fn quoted(&mut self, quote: char) -> TokenKind {
        let start = self.at;
        self.at += quote.len_utf8();
        let mut name = String::new();
        while let Some(c) = self.peek() {
            let at = self.at;
            self.at += c.len_utf8();
            match c {
                _ if c == quote => return TokenKind::Name(name),
                '\\' => {
                    let Some(escaped) = self.peek() else { break };
                    self.at += escaped.len_utf8();
                    name.push(match escaped {
                        '\\' | '"' | '\'' => escaped,
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        _ => {
                            let help = "escapes are \\\\, \\\", \\', \\n, \\r and \\t";
                            let fault = Fault::new(at..self.at, "unknown escape in a name");
                            return TokenKind::Invalid(fault.help(help));
                        }
                    });
                }
                _ => name.push(c),
            }
        }
        TokenKind::Invalid(Fault::new(start..start + 1, "this quote is never closed"))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }
}

fn in_name(c: char) -> bool {
    matches!(c, '_' | '-' | '.') || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text).into_iter().map(|token| token.kind).collect()
    }

    fn name(name: &str) -> TokenKind {
        TokenKind::Name(name.to_string())
    }

    fn invalid(text: &str) -> (Range<usize>, String) {
        match tokens(text).pop().map(|token| token.kind) {
            Some(TokenKind::Invalid(fault)) => (fault.span, fault.message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_have_fractions_and_exponents() {
        let values =
            [("1", 1.0), (".5", 0.5), ("2.", 2.0), ("1e-3", 1e-3), ("2.5E+2", 250.0), ("1e-400", 0.0)];
        for (text, value) in values {
            assert_eq!(kinds(text), [TokenKind::Number(value)], "{text}");
        }
        assert_eq!(kinds("1e"), [TokenKind::Number(1.0), TokenKind::Word("e".into())]);
        assert_eq!(invalid("1 + 1e999"), (4..9, "this number is too large".into()));
        assert_eq!(invalid(" ."), (1..2, "`.` is not a number".into()));
    }

    #[test]
    fn a_minus_is_part_of_a_name_in_brackets_only() {
        let in_brackets = [TokenKind::Symbol("["), name("a-1"), TokenKind::Symbol("]")];
        assert_eq!(kinds("[a-1]"), in_brackets);
        assert_eq!(
            kinds("a-1"),
            [TokenKind::Word("a".into()), TokenKind::Symbol("-"), TokenKind::Number(1.0)]
        );
    }

    #[test]
    fn names_may_be_quoted_with_escapes() {
        assert_eq!(kinds(r#"["a \"b\" & 'c'\n"]"#)[1], name("a \"b\" & 'c'\n"));
        assert_eq!(kinds(r"['O\'Brien \\']")[1], name("O'Brien \\"));
        assert_eq!(kinds("[größe_女.x]")[1], name("größe_女.x"));
        assert_eq!(invalid("A[\"a\\q\"]"), (4..6, "unknown escape in a name".into()));
        assert_eq!(invalid("A['\\女']"), (3..7, "unknown escape in a name".into()));
        assert_eq!(invalid("A['a > b]"), (2..3, "this quote is never closed".into()));
        assert_eq!(invalid("A['a\\"), (2..3, "this quote is never closed".into()));
        assert_eq!(invalid("A[O'Brien > b]"), (2..4, "a name with a quote mark in it must be quoted".into()));
    }

    #[test]
    fn a_prime_after_z_is_not_a_quote() {
        let tokens = [
            TokenKind::Symbol("["),
            name("z"),
            TokenKind::Symbol("<"),
            TokenKind::Symbol("z'"),
            TokenKind::Symbol("]"),
        ];
        for text in ["[z<z']", "[ z < z′ ]", "[z < z’]"] {
            assert_eq!(kinds(text), tokens, "{text}");
        }
    }

    #[test]
    fn nothing_follows_an_invalid_token() {
        assert_eq!(tokens("auc | auc").len(), 2);
        assert_eq!(invalid("A[a & b]"), (4..5, "unexpected character '&' in brackets".into()));
    }

    #[test]
    fn comparisons_in_one_sign_or_two() {
        assert_eq!(
            kinds("<= ≤ >= ≥"),
            [
                TokenKind::Comparison(Sense::AtMost),
                TokenKind::Comparison(Sense::AtMost),
                TokenKind::Comparison(Sense::AtLeast),
                TokenKind::Comparison(Sense::AtLeast)
            ]
        );
        assert_eq!(kinds("=<"), [TokenKind::WrongComparison("<=")]);
        assert_eq!(kinds("< ="), [TokenKind::WrongComparison("<="), TokenKind::WrongComparison("<= or >=")]);
    }
}
