//! Which rows are looked at: comparisons of columns with numbers or texts, joined by `and`, such as
//! `age >= 18 and city != "x"`. A missing cell meets none.

use super::error::{TableError, shown};
use super::selection::Want;
use super::table::Table;

/// What compares; no sign comes after one that it starts with.
const SIGNS: [&str; 7] = ["<=", ">=", "!=", "==", "=", "<", ">"];

/// Rows that meet all of a list of comparisons.
///
/// ```
/// use pairity_tables::{Filter, Selection, Source, read};
///
/// let source = Source::from_reader("people.csv", &b"age,city\n17,Rome\n40,Rome\n41,\n"[..])?;
/// let filter = Filter::parse("age >= 18 and city = Rome", "where")?;
/// let table = read(&source, &Selection::Columns(filter.wants()), &|_, _| ())?;
/// assert_eq!(filter.passing(&table), [false, true, false]);
/// # Ok::<(), pairity_tables::TableError>(())
/// ```
pub struct Filter(Vec<Comparison>);

struct Comparison {
    column: String,
    sign: &'static str,
    value: Value,
}

enum Value {
    Number(f64),
    Text(String),
}

enum Word {
    Sign(&'static str),
    Quoted(String),
    Bare(String),
}

impl Filter {
    /// Reads the text of a filter, which messages call by a name, such as `--where`.
    ///
    /// # Errors
    /// What can't be read, and what is expected there.
    pub fn parse(text: &str, called: &str) -> Result<Filter, TableError> {
        let wrong = |expected: &str| {
            let text = shown(text);
            let example = "it is written like 'age >= 18 and city != \"x\"'";
            TableError::Other(format!("{called} {text:?}: {expected}; {example}"))
        };
        let mut words = words(text).ok_or_else(|| wrong("a quote is never closed"))?.into_iter();
        let mut all = Vec::new();
        loop {
            let column = match words.next() {
                Some(Word::Bare(name) | Word::Quoted(name)) => name,
                _ => return Err(wrong("a comparison starts with the name of a column")),
            };
            let Some(Word::Sign(sign)) = words.next() else {
                return Err(wrong("one of < <= > >= = != has to follow the name of a column"));
            };
            let value = match words.next() {
                Some(Word::Bare(word)) => match word.parse::<f64>() {
                    Ok(number) if number.is_finite() => Value::Number(number),
                    _ => Value::Text(word),
                },
                Some(Word::Quoted(word)) => Value::Text(word),
                _ => return Err(wrong("a number or a text has to follow a comparison sign")),
            };
            if matches!(value, Value::Text(_)) && matches!(sign, "<" | "<=" | ">" | ">=") {
                return Err(wrong("texts are compared by = or !="));
            }
            all.push(Comparison { column, sign, value });
            match words.next() {
                None => return Ok(Filter(all)),
                Some(Word::Bare(word)) if word == "and" => {}
                _ => return Err(wrong("comparisons are joined by `and`")),
            }
        }
    }

    /// The columns that it needs.
    pub fn wants(&self) -> Vec<Want> {
        let want = |comparison: &Comparison| match comparison.value {
            Value::Number(_) => Want::number(&comparison.column),
            Value::Text(_) => Want::category(&comparison.column),
        };
        self.0.iter().map(want).collect()
    }

    /// Whether each row of a table of these columns meets it.
    pub fn passing(&self, table: &Table) -> Vec<bool> {
        let mut passing = vec![true; table.rows()];
        for Comparison { column, sign, value } in &self.0 {
            let Some(column) = table.column(column) else { continue };
            let code = |text: &String| column.categories()?.1.iter().position(|level| level == text);
            let code = if let Value::Text(text) = value { code(text) } else { None };
            for (row, passes) in passing.iter_mut().enumerate() {
                let order = match (value, column.numbers(), column.categories()) {
                    (Value::Number(value), Some(numbers), _) => numbers[row].partial_cmp(value),
                    // Whether it is another text is all that is asked.
                    (Value::Text(_), _, Some((codes, _))) => {
                        Some((Some(codes[row] as usize) != code).cmp(&false))
                    }
                    _ => None,
                };
                *passes &= !column.is_missing(row)
                    && order.is_some_and(|order| match *sign {
                        "<" => order.is_lt(),
                        "<=" => order.is_le(),
                        ">" => order.is_gt(),
                        ">=" => order.is_ge(),
                        "!=" => order.is_ne(),
                        _ => order.is_eq(),
                    });
            }
        }
        passing
    }
}

/// The words of a filter; none if a quote is never closed.
fn words(text: &str) -> Option<Vec<Word>> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let end;
        if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            words.push(Word::Sign(sign));
            end = sign.len();
        } else if matches!(first, '"' | '\'') {
            let length = rest[1..].find(first)?;
            words.push(Word::Quoted(rest[1..=length].to_owned()));
            end = length + 2;
        } else {
            end = rest.find(|c: char| c.is_whitespace() || "<>=!".contains(c)).unwrap_or(rest.len()).max(1);
            words.push(Word::Bare(rest.get(..end)?.to_owned()));
        }
        rest = rest[end..].trim_start();
    }
    Some(words)
}
