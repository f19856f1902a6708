//! Which columns are read, and as what.

use std::collections::{HashMap, HashSet};

use pairity::learners::Encoding;

use super::error::TableError;
use super::source::SourceFile;

/// What a column is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers. `true` and `false` are read as 1 and 0; any other text is an error.
    Number,
    /// Categories: every cell is a text.
    Category,
    /// Numbers if every cell that is not missing is a number, categories otherwise. A column of `true`
    /// and `false` is one of categories, and so is one with a code that has a leading zero, such as `00501`. NaN and infinities count as numbers here, and as numbers they
    /// are errors.
    Infer,
}

/// A column that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// Its name in the header.
    pub name: String,
    /// What it is read as.
    pub kind: ColumnKind,
    /// Whether it is used as a feature: then numbers that are mostly 0 stay
    /// [sparse](pairity::examples::Values::Sparse) where the file has them so.
    pub feature: bool,
}

impl Want {
    /// A column of numbers.
    pub fn number(name: &str) -> Want {
        Want { name: name.to_owned(), kind: ColumnKind::Number, feature: false }
    }

    /// A column of categories.
    pub fn category(name: &str) -> Want {
        Want { name: name.to_owned(), kind: ColumnKind::Category, feature: false }
    }

    /// A column of either.
    pub fn infer(name: &str) -> Want {
        Want { name: name.to_owned(), kind: ColumnKind::Infer, feature: false }
    }

    /// The same with every number stored.
    pub(crate) fn dense(self) -> Want {
        Want { feature: false, ..self }
    }

    /// The same, used as a feature.
    #[must_use]
    pub fn as_feature(self) -> Want {
        Want { feature: true, ..self }
    }
}

/// A column of an encoder, read as what it was learned as.
impl From<&Encoding> for Want {
    fn from(encoding: &Encoding) -> Want {
        match encoding {
            Encoding::Number { name, .. } => Want::number(name).as_feature(),
            Encoding::Category { name, .. } | Encoding::Text { name, .. } | Encoding::Terms { name, .. } => {
                Want::category(name)
            }
        }
    }
}

/// The columns to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// These only; other columns are not even parsed.
    Columns(Vec<Want>),
    /// Every column, of the kind its cells suggest, except for the ones named here.
    All {
        /// Columns of a given kind.
        overrides: Vec<Want>,
    },
    /// The same where the others are used as features.
    Features {
        /// Columns of a given kind.
        overrides: Vec<Want>,
    },
}

/// A column as a file's header or schema shows it.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) name: String,
    /// Whether its cells can be numbers or categories at all.
    pub(crate) readable: bool,
}

/// Each wanted column once: asking for it twice is fine if both agree on its kind.
pub(crate) fn distinct(wants: &[Want]) -> Result<Vec<Want>, TableError> {
    let mut distinct: Vec<Want> = Vec::with_capacity(wants.len());
    let mut places: HashMap<&str, usize> = HashMap::new();
    for want in wants {
        let at = *places.entry(&want.name).or_insert(distinct.len());
        let Some(known) = distinct.get_mut(at) else {
            distinct.push(want.clone());
            continue;
        };
        known.feature &= want.feature;
        match known {
            known if known.kind == want.kind || want.kind == ColumnKind::Infer => {}
            known if known.kind == ColumnKind::Infer => known.kind = want.kind,
            known => {
                let name = &known.name;
                return Err(TableError::Other(format!(
                    "column {name:?} is asked for both as a number and as a category. Choose one of the two"
                )));
            }
        }
    }
    Ok(distinct)
}

/// The columns of a selection of all: those that any file has, and the names of those left out.
pub(crate) fn all(
    files: &[SourceFile],
    headers: &[Vec<Header>],
    overrides: &[Want],
    feature: bool,
) -> Result<(Vec<Want>, Vec<String>), TableError> {
    let mut wants: Vec<Want> = Vec::new();
    let mut skipped = Vec::new();
    let mut seen = HashSet::new();
    let overrides = distinct(overrides)?;
    for header in headers.iter().flatten().filter(|header| seen.insert(&header.name)) {
        let wanted = overrides.iter().find(|want| want.name == header.name).cloned();
        match wanted.or_else(|| header.readable.then(|| Want { feature, ..Want::infer(&header.name) })) {
            Some(want) => wants.push(want),
            None => skipped.push(header.name.clone()),
        }
    }
    if let ([file, ..], [headers, ..]) = (files, headers)
        && let Some(want) = overrides.iter().find(|want| !seen.contains(&want.name))
    {
        return Err(unknown(&want.name, names(headers), file));
    }
    Ok((wants, skipped))
}

/// The names of a file's columns.
pub(crate) fn names(headers: &[Header]) -> Vec<String> {
    headers.iter().map(|header| header.name.clone()).collect()
}

/// The position of each wanted column among the names of a file, each of which it has once.
pub(crate) fn positions<'a>(
    wanted: impl Iterator<Item = &'a str>,
    names: &[String],
    file: &SourceFile,
) -> Result<Vec<usize>, TableError> {
    let only = |places: Vec<usize>| match places[..] {
        [only] => Ok(only),
        _ => Err(TableError::Other(format!(
            "{} has {} columns named {:?}. Rename all but one of them",
            file.name,
            places.len(),
            names[places[0]]
        ))),
    };
    all_positions(wanted, names, file)?.into_iter().map(only).collect()
}

/// All positions of each wanted column among the names of a file; at least one.
pub(crate) fn all_positions<'a>(
    wanted: impl Iterator<Item = &'a str>,
    names: &[String],
    file: &SourceFile,
) -> Result<Vec<Vec<usize>>, TableError> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        places.entry(name).or_default().push(at);
    }
    let found =
        |column: &str| places.get(column).cloned().ok_or_else(|| unknown(column, names.to_vec(), file));
    wanted.map(found).collect()
}

/// The error for a column that a file does not have.
pub(crate) fn unknown(column: &str, names: Vec<String>, file: &SourceFile) -> TableError {
    TableError::UnknownColumn { column: column.to_owned(), file: file.name.clone(), names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairity::examples::{Column, Values};
    use pairity::learners::Encoder;

    #[test]
    fn a_column_wanted_twice_is_read_once_if_the_kinds_agree() {
        let wants = [Want::infer("a"), Want::number("b"), Want::number("a"), Want::infer("b")];
        assert_eq!(distinct(&wants).unwrap(), [Want::number("a"), Want::number("b")]);
        let wants = [Want::category("a"), Want::number("a")];
        let message = distinct(&wants).unwrap_err().to_string();
        assert!(message.contains("both as a number and as a category"), "{message}");
    }

    #[test]
    fn the_columns_of_an_encoder_are_wanted_as_what_they_were_learned_as() {
        let learned = [
            Column { name: "a".into(), values: Values::Numbers(vec![1.0, 3.0]) },
            Column {
                name: "c".into(),
                values: Values::Categories { codes: vec![0, 1], levels: vec!["x".into(), "7".into()] },
            },
        ];
        let encoder = Encoder::learn(&learned.each_ref(), None, true).unwrap();
        let wants: Vec<Want> = encoder.columns().iter().map(Want::from).collect();
        assert_eq!(wants, [Want::number("a").as_feature(), Want::category("c")]);
    }
}
