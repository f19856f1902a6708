//! A column that grows cell by cell while a file is read.
//!
//! A column whose kind is to be inferred is gathered as numbers for as long as every cell is one. What
//! such a cell looked like is not kept, so a text that comes after numbers asks for a second pass over
//! the source, for that column alone.

use std::collections::HashMap;
use std::ops::Range;

use pairity::examples::{Column, MISSING, SparseNumbers, Values};

use super::cell::{self, Meaning};
use super::error::{TableError, excerpt, not_a_number, not_finite};
use super::selection::{ColumnKind, Want};
use super::source::SourceFile;

/// Rows after which a column shows whether it is sparse.
const ENOUGH: usize = 1 << 10;

/// A column is sparse if at most one of so many of its numbers is not 0: then it takes less than half of the room, and a
/// column that is the same in all training rows is stored one by one, which keeps its feature at exactly 0.
const SPARSE: usize = 4;

pub(crate) struct ColumnBuilder {
    pub(crate) name: String,
    /// What it was asked for as.
    want: (ColumnKind, bool),
    cells: Growing,
    /// Other columns of the name in one file: what is told of them, and whether they hold something else.
    pub(crate) twins: Option<(String, bool)>,
}

/// Numbers may be so far only; in place of one that is not finite there is an infinity, which a column that is
/// decided does not have. `Again` is to be read again, as categories.
enum Growing {
    Numbers {
        numbers: Vec<f64>,
        decided: bool,
    },
    /// Numbers so far, all of single precision.
    Singles(Vec<f32>),
    /// Numbers so far, most of them 0.
    Sparse(SparseNumbers),
    Categories(Vec<u32>, LevelCodes),
    Again,
}

impl ColumnBuilder {
    pub(crate) fn new(want: &Want) -> ColumnBuilder {
        let cells = match want.kind {
            ColumnKind::Category => Growing::Categories(Vec::new(), LevelCodes::default()),
            kind => Growing::Numbers { numbers: Vec::new(), decided: kind == ColumnKind::Number },
        };
        ColumnBuilder { name: want.name.clone(), want: (want.kind, want.feature), cells, twins: None }
    }

    /// Whether the text of the next cell matters, not only its number.
    pub(crate) fn wants_text(&self) -> bool {
        matches!(self.cells, Growing::Categories(..))
    }

    /// Bytes that a cell takes.
    pub(crate) fn cell_size(&self) -> u64 {
        match self.cells {
            Growing::Numbers { .. } => size_of::<f64>() as u64,
            Growing::Singles(_) => size_of::<f32>() as u64,
            Growing::Categories(..) => size_of::<u32>() as u64,
            Growing::Sparse(_) | Growing::Again => 0,
        }
    }

    /// Makes room for more rows; false if there is no memory for them.
    pub(crate) fn reserve(&mut self, rows: usize) -> bool {
        match &mut self.cells {
            Growing::Numbers { numbers, .. } => numbers.try_reserve(rows).is_ok(),
            Growing::Singles(numbers) => numbers.try_reserve(rows).is_ok(),
            Growing::Categories(codes, _) => codes.try_reserve(rows).is_ok(),
            Growing::Sparse(_) | Growing::Again => true,
        }
    }

    /// Lets a feature without rows be sparse, from a file where most cells are 0.
    pub(crate) fn may_be_sparse(&mut self) {
        if self.is_empty_feature() {
            self.cells = Growing::Sparse(SparseNumbers::default());
        }
    }

    /// Lets a feature without rows be of single precision, from a file that has it so.
    pub(crate) fn may_be_single(&mut self) {
        if self.is_empty_feature() {
            self.cells = Growing::Singles(Vec::new());
        }
    }

    /// Whether it is a feature without rows, of numbers.
    fn is_empty_feature(&self) -> bool {
        self.want.1 && matches!(&self.cells, Growing::Numbers { numbers, .. } if numbers.is_empty())
    }

    /// Rows so far; those of a column that is to be read again are not counted.
    pub(crate) fn rows(&self) -> usize {
        match &self.cells {
            Growing::Numbers { numbers, .. } => numbers.len(),
            Growing::Singles(numbers) => numbers.len(),
            Growing::Sparse(numbers) => numbers.rows(),
            Growing::Categories(codes, _) => codes.len(),
            Growing::Again => 0,
        }
    }

    /// Whether zeros need not be added one by one.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.cells, Growing::Sparse(_))
    }

    /// Adds zeros up to a number of rows, if it is sparse.
    pub(crate) fn fill(&mut self, rows: usize) {
        if let Growing::Sparse(numbers) = &mut self.cells {
            numbers.fill(rows);
        }
    }

    /// Numbers so far, one by one and of double precision from here on.
    fn settle_as_dense(&mut self) {
        let numbers = match &self.cells {
            Growing::Sparse(numbers) => numbers.to_dense(),
            Growing::Singles(numbers) => numbers.iter().map(|&number| number.into()).collect(),
            _ => return,
        };
        self.cells = Growing::Numbers { numbers, decided: self.want.0 == ColumnKind::Number };
    }

    /// Adds a cell given as text, or says what is wrong with it.
    #[inline]
    pub(crate) fn text(&mut self, text: &[u8]) -> Result<(), String> {
        let text = text.trim_ascii();
        match &mut self.cells {
            Growing::Sparse(numbers) => {
                match cell::meaning(text) {
                    Meaning::Number(value) if !cell::is_code(text) => numbers.push(value),
                    _ => {
                        self.settle_as_dense();
                        return self.text(text);
                    }
                }
                if numbers.rows() >= ENOUGH && numbers.stored() * SPARSE > numbers.rows() {
                    self.settle_as_dense();
                }
            }
            Growing::Singles(_) => {
                self.settle_as_dense();
                return self.text(text);
            }
            Growing::Numbers { decided: false, .. } if cell::is_code(text) => {
                self.settle_as_category();
                return self.text(text);
            }
            Growing::Numbers { numbers, decided } => {
                let number = match cell::meaning(text) {
                    Meaning::Number(value) => value,
                    Meaning::Missing => f64::NAN,
                    Meaning::NotFinite if !*decided => f64::INFINITY,
                    Meaning::NotFinite => return Err(not_finite(&excerpt(text))),
                    Meaning::Boolean(value) if *decided => f64::from(u8::from(value)),
                    _ if *decided => return Err(not_a_number(&excerpt(text))),
                    _ => {
                        self.settle_as_category();
                        return self.text(text);
                    }
                };
                numbers.push(number);
            }
            Growing::Categories(codes, levels) => {
                codes.push(if cell::is_missing(text) { MISSING } else { levels.code(text)? });
            }
            Growing::Again => {}
        }
        Ok(())
    }

    /// Adds a cell given as a number, or says what is wrong with it.
    #[inline]
    pub(crate) fn number(&mut self, value: f64) -> Result<(), String> {
        match &mut self.cells {
            Growing::Numbers { numbers, .. } if value.is_finite() => numbers.push(value),
            Growing::Numbers { decided: true, .. } => return Err(not_finite(&value.to_string())),
            Growing::Numbers { numbers, .. } => numbers.push(f64::INFINITY),
            Growing::Categories(..) => return self.text(value.to_string().as_bytes()),
            Growing::Singles(numbers) if value.is_finite() && f64::from(value as f32) == value => {
                numbers.push(value as f32);
            }
            Growing::Sparse(_) | Growing::Singles(_) => {
                self.settle_as_dense();
                return self.number(value);
            }
            Growing::Again => {}
        }
        Ok(())
    }

    /// Adds a missing cell.
    #[inline]
    pub(crate) fn missing(&mut self) {
        match &mut self.cells {
            Growing::Numbers { numbers, .. } => numbers.push(f64::NAN),
            Growing::Singles(numbers) => numbers.push(f32::NAN),
            Growing::Categories(codes, _) => codes.push(MISSING),
            Growing::Sparse(_) => {
                self.settle_as_dense();
                self.missing();
            }
            Growing::Again => {}
        }
    }

    /// Adds some cells of a column of the same kind.
    pub(crate) fn append(&mut self, from: &Values, rows: Range<usize>) {
        match (&mut self.cells, from) {
            (Growing::Numbers { numbers, .. }, Values::Numbers(from)) => {
                numbers.extend_from_slice(&from[rows]);
            }
            (Growing::Categories(codes, known), Values::Categories { codes: from, levels }) => {
                // Each level is looked up once, unless a few rows would pay for many levels.
                let mut again = vec![MISSING; if levels.len() <= rows.len() { levels.len() } else { 0 }];
                codes.extend(from[rows].iter().map(|&code| match code {
                    MISSING => MISSING,
                    code => match again.get_mut(code as usize) {
                        Some(&mut code) if code != MISSING => code,
                        slot => {
                            // Texts and less than 4 billion rows, which the caller has seen to: all get a code.
                            let code = known.code(levels[code as usize].as_bytes()).unwrap_or(MISSING);
                            slot.into_iter().for_each(|slot| *slot = code);
                            code
                        }
                    },
                }));
            }
            _ => {}
        }
    }

    /// Decides for categories, if nothing is decided yet.
    pub(crate) fn settle_as_category(&mut self) {
        if let Growing::Singles(_) = self.cells {
            self.settle_as_dense();
        }
        if let Growing::Numbers { numbers, decided: false } = &self.cells {
            self.cells = match numbers.iter().all(|number| number.is_nan()) {
                true => Growing::Categories(vec![MISSING; numbers.len()], LevelCodes::default()),
                false => Growing::Again,
            };
        }
    }

    /// Notes that a file has so many columns of the name, and where they differ first, if they do, such as on line 3.
    pub(crate) fn has_twins(&mut self, file: &SourceFile, count: usize, differ: Option<(&str, u64)>) {
        let what = format!("{} has {count} columns named {:?}", file.name, self.name);
        match differ {
            Some((place, at)) => {
                let words = format!("{what}, which differ {place} {at}. Rename all but one of them");
                self.twins = Some((words, true));
            }
            None if self.twins.is_none() => {
                self.twins = Some((format!("{what} with the same cells: the first is used"), false));
            }
            None => {}
        }
    }

    /// The error for a cell, on a line or in a row of a file.
    pub(crate) fn wrong(&self, file: &SourceFile, at: (&'static str, u64), problem: String) -> TableError {
        TableError::Cell { file: file.name.clone(), at, column: self.name.clone(), problem }
    }

    /// The column, or what it has to be read as in a second pass.
    pub(crate) fn finish(self) -> Result<Column, Want> {
        let values = match self.cells {
            // Reading the column as numbers finds the place of the cell that is not finite.
            Growing::Numbers { numbers, decided: false } if numbers.contains(&f64::INFINITY) => {
                return Err(Want { name: self.name, kind: ColumnKind::Number, feature: self.want.1 });
            }
            Growing::Numbers { numbers, .. } => Values::Numbers(numbers),
            Growing::Singles(numbers) => Values::Singles(numbers),
            Growing::Sparse(numbers) => match numbers.stored() * SPARSE > numbers.rows() {
                true => Values::Numbers(numbers.to_dense()),
                false => Values::Sparse(numbers),
            },
            Growing::Categories(codes, levels) => Values::Categories { codes, levels: levels.into_texts() },
            Growing::Again => return Err(Want::category(&self.name)),
        };
        Ok(Column { name: self.name, values })
    }
}

/// So few texts are compared one by one.
const FEW: usize = 8;

/// Texts to small numbers: each different text gets the next code, in order of first appearance.
#[derive(Default)]
struct LevelCodes {
    codes: HashMap<Vec<u8>, u32>,
    /// Neighboring rows often hold the same text (a query, a group), which is tried first. None is empty: an
    /// empty cell is missing.
    last: (Vec<u8>, u32),
}

impl LevelCodes {
    /// The code of a text, which becomes a new level if it was never seen.
    #[inline]
    fn code(&mut self, text: &[u8]) -> Result<u32, String> {
        if self.last.0 == text {
            return Ok(self.last.1);
        }
        let known = match self.codes.len() <= FEW {
            true => self.codes.iter().find(|(known, _)| *known == text).map(|(_, code)| *code),
            false => self.codes.get(text).copied(),
        };
        let code = known.map_or_else(|| self.add(text), Ok)?;
        self.last.0.clear();
        self.last.0.extend_from_slice(text);
        self.last.1 = code;
        Ok(code)
    }

    fn add(&mut self, text: &[u8]) -> Result<u32, String> {
        let code = u32::try_from(self.codes.len()).unwrap_or(MISSING);
        if code == MISSING {
            let advice = "Read the column as numbers, or leave it out";
            return Err(format!("more than 4 billion different values. {advice}"));
        }
        if std::str::from_utf8(text).is_err() {
            let (text, advice) = (excerpt(text), "Save the file in the UTF-8 encoding");
            return Err(format!("the cell is not UTF-8 text (it reads {text:?}). {advice}"));
        }
        self.codes.insert(text.to_vec(), code);
        Ok(code)
    }

    fn into_texts(self) -> Vec<String> {
        let mut texts = vec![String::new(); self.codes.len()];
        for (text, code) in self.codes {
            // Nothing else was added.
            texts[code as usize] = String::from_utf8(text).unwrap_or_default();
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(kind: ColumnKind, cells: &[&str]) -> Result<Column, Want> {
        let mut gather = ColumnBuilder::new(&Want { kind, ..Want::infer("x") });
        for cell in cells {
            gather.text(cell.as_bytes()).unwrap();
        }
        gather.finish()
    }

    fn kind_of(gathered: &Result<Column, Want>) -> &'static str {
        match gathered {
            Ok(Column { values: Values::Numbers(_), .. }) => "numbers",
            Ok(Column { values: Values::Singles(_), .. }) => "single numbers",
            Ok(Column { values: Values::Sparse(_), .. }) => "sparse numbers",
            Ok(Column { values: Values::Categories { .. }, .. }) => "categories",
            Err(Want { kind: ColumnKind::Number, .. }) => "again as number",
            Err(_) => "again as category",
        }
    }

    #[test]
    fn the_kind_is_inferred_from_all_cells() {
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["1", "", "2.5"])), "numbers");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["", "NA", "?"])), "numbers");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["", "a", "1"])), "categories");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["true", "False"])), "categories");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["1", "", "a"])), "again as category");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["1", "inf"])), "again as number");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["", "00501", "10001"])), "categories");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["10001", "00501"])), "again as category");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["0", "0.5", "-0", "1"])), "numbers");
        assert_eq!(kind_of(&gather(ColumnKind::Number, &["00501"])), "numbers");
        assert_eq!(kind_of(&gather(ColumnKind::Infer, &["1", "inf", "a"])), "again as category");
    }

    #[test]
    fn missing_cells_before_the_first_text_are_kept() {
        let Ok(column) = gather(ColumnKind::Infer, &["", "a", "NA", "a"]) else { panic!() };
        assert_eq!(column.categories(), Some((&[MISSING, 0, MISSING, 0][..], &["a".to_owned()][..])));
    }

    #[test]
    fn booleans_are_one_and_zero_in_a_column_of_numbers() {
        let Ok(column) = gather(ColumnKind::Number, &["True", "false", "1", "FALSE"]) else { panic!() };
        assert_eq!(column.numbers(), Some(&[1.0, 0.0, 1.0, 0.0][..]));
    }

    #[test]
    fn codes_follow_the_first_appearance_for_few_and_for_many_texts() {
        let mut levels = LevelCodes::default();
        for round in 0..3 {
            for i in 0..5000_u32 {
                let code = levels.code(format!("text {i}").as_bytes());
                assert_eq!(code, Ok(i), "round {round}");
            }
        }
        let texts = levels.into_texts();
        assert_eq!(texts.len(), 5000);
        assert_eq!(texts[4321], "text 4321");
    }

    #[test]
    fn bytes_that_are_no_text_become_no_level() {
        let mut levels = LevelCodes::default();
        let problem =
            "the cell is not UTF-8 text (it reads \"\u{fffd}\"). Save the file in the UTF-8 encoding";
        assert_eq!(levels.code(b"\xff"), Err(problem.to_owned()));
        assert_eq!(levels.code(b"a"), Ok(0));
        assert_eq!(levels.into_texts(), ["a"]);
    }
}
