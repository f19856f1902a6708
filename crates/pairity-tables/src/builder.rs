//! A column that grows cell by cell while a file is read.
//!
//! A column whose kind is to be inferred is gathered as numbers for as long as every cell is one. What
//! such a cell looked like is not kept, so a text that comes after numbers asks for a second pass over
//! the source, for that column alone.

use pairity::examples::{Column, MISSING, Values};

use super::cell::{self, Meaning};
use super::error::{CellProblem, excerpt};
use super::levels::LevelCodes;
use super::selection::{ColumnKind, Want};

pub(crate) struct ColumnBuilder {
    name: String,
    cells: Growing,
}

enum Growing {
    Numbers(Vec<f64>),
    Categories { codes: Vec<u32>, levels: LevelCodes },
    Undecided(Undecided),
    Again(ColumnKind),
}

/// Numbers so far.
#[derive(Default)]
struct Undecided {
    numbers: Vec<f64>,
    any_present: bool,
    any_not_finite: bool,
}

impl ColumnBuilder {
    pub(crate) fn new(want: &Want) -> ColumnBuilder {
        let cells = match want.kind {
            ColumnKind::Number => Growing::Numbers(Vec::new()),
            ColumnKind::Category => Growing::Categories { codes: Vec::new(), levels: LevelCodes::default() },
            ColumnKind::Infer => Growing::Undecided(Undecided::default()),
        };
        ColumnBuilder { name: want.name.clone(), cells }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the text of the next cell matters, not only its number.
    pub(crate) fn wants_text(&self) -> bool {
        matches!(self.cells, Growing::Categories { .. })
    }

    /// Adds a cell given as text.
    #[inline]
    pub(crate) fn text(&mut self, text: &[u8]) -> Result<(), CellProblem> {
        let text = cell::trim(text);
        match &mut self.cells {
            Growing::Numbers(numbers) => numbers.push(number(text)?),
            Growing::Categories { codes, levels } => {
                codes.push(if cell::is_missing(text) { MISSING } else { levels.code(text)? });
            }
            Growing::Undecided(undecided) => match cell::meaning(text) {
                Meaning::Missing => undecided.numbers.push(f64::NAN),
                Meaning::Number(value) => undecided.number(value),
                Meaning::NotFinite => undecided.number(f64::NAN),
                Meaning::Boolean(_) | Meaning::Text => {
                    self.settle_as_category();
                    return self.text(text);
                }
            },
            Growing::Again(_) => {}
        }
        Ok(())
    }

    /// Adds a cell given as a number.
    #[inline]
    pub(crate) fn number(&mut self, value: f64) -> Result<(), CellProblem> {
        match &mut self.cells {
            Growing::Numbers(_) if !value.is_finite() => {
                return Err(CellProblem::NotFinite(value.to_string()));
            }
            Growing::Numbers(numbers) => numbers.push(value),
            Growing::Categories { .. } => return self.text(value.to_string().as_bytes()),
            Growing::Undecided(undecided) => undecided.number(value),
            Growing::Again(_) => {}
        }
        Ok(())
    }

    /// Adds a missing cell.
    #[inline]
    pub(crate) fn missing(&mut self) {
        match &mut self.cells {
            Growing::Numbers(numbers) => numbers.push(f64::NAN),
            Growing::Categories { codes, .. } => codes.push(MISSING),
            Growing::Undecided(undecided) => undecided.numbers.push(f64::NAN),
            Growing::Again(_) => {}
        }
    }

    /// Decides for categories, if nothing is decided yet.
    pub(crate) fn settle_as_category(&mut self) {
        if let Growing::Undecided(undecided) = &self.cells {
            self.cells = if undecided.any_present {
                Growing::Again(ColumnKind::Category)
            } else {
                Growing::Categories {
                    codes: vec![MISSING; undecided.numbers.len()],
                    levels: LevelCodes::default(),
                }
            };
        }
    }

    /// The column, or what it has to be read as in a second pass.
    pub(crate) fn finish(self) -> Result<Column, Want> {
        let values = match self.cells {
            Growing::Numbers(numbers) => Values::Numbers(numbers),
            Growing::Categories { codes, levels } => {
                Values::Categories { codes, levels: levels.into_texts() }
            }
            // Reading the column as numbers finds the place of the cell that is not finite.
            Growing::Undecided(undecided) if undecided.any_not_finite => {
                return Err(Want { name: self.name, kind: ColumnKind::Number });
            }
            Growing::Undecided(undecided) => Values::Numbers(undecided.numbers),
            Growing::Again(kind) => return Err(Want { name: self.name, kind }),
        };
        Ok(Column { name: self.name, values })
    }
}

impl Undecided {
    #[inline]
    fn number(&mut self, value: f64) {
        self.numbers.push(value);
        self.any_present = true;
        self.any_not_finite |= !value.is_finite();
    }
}

#[inline]
fn number(text: &[u8]) -> Result<f64, CellProblem> {
    match cell::meaning(text) {
        Meaning::Number(value) => Ok(value),
        Meaning::Missing => Ok(f64::NAN),
        Meaning::Boolean(value) => Ok(f64::from(u8::from(value))),
        Meaning::NotFinite => Err(CellProblem::NotFinite(excerpt(text))),
        Meaning::Text => Err(CellProblem::NotANumber(excerpt(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(kind: ColumnKind, cells: &[&str]) -> Result<Column, Want> {
        let mut gather = ColumnBuilder::new(&Want { name: "x".into(), kind });
        for cell in cells {
            gather.text(cell.as_bytes()).unwrap();
        }
        gather.finish()
    }

    fn kind_of(gathered: &Result<Column, Want>) -> &'static str {
        match gathered {
            Ok(Column { values: Values::Numbers(_), .. }) => "numbers",
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
}
