//! A column that grows cell by cell while a file is read.
//!
//! A column whose kind is to be inferred is gathered as numbers for as long as every cell is one. What
//! such a cell looked like is not kept, so a text that comes after numbers asks for a second pass over
//! the source, for that column alone.

use super::cell::{self, Meaning};
use super::error::{CellProblem, excerpt};
use super::levels::Levels;
use super::selection::{Kind, Want};
use super::table::{Column, MISSING, Values};

pub(super) struct Gather {
    name: String,
    cells: Cells,
}

enum Cells {
    Numbers(Vec<f64>),
    Categories { codes: Vec<u32>, levels: Levels },
    Undecided(Undecided),
    Again(Kind),
}

/// Numbers so far.
#[derive(Default)]
struct Undecided {
    numbers: Vec<f64>,
    any_present: bool,
    any_not_finite: bool,
}

/// A gathered column, or the kind to gather it as in a second pass.
pub(super) enum Gathered {
    Done(Column),
    Again(Want),
}

impl Gathered {
    pub(super) fn again(&self) -> Option<&Want> {
        match self {
            Gathered::Done(_) => None,
            Gathered::Again(want) => Some(want),
        }
    }
}

impl Gather {
    pub(super) fn new(want: &Want) -> Gather {
        let cells = match want.kind {
            Kind::Number => Cells::Numbers(Vec::new()),
            Kind::Category => Cells::Categories { codes: Vec::new(), levels: Levels::default() },
            Kind::Infer => Cells::Undecided(Undecided::default()),
        };
        Gather { name: want.name.clone(), cells }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the text of the next cell matters, not only its number.
    pub(super) fn wants_text(&self) -> bool {
        matches!(self.cells, Cells::Categories { .. })
    }

    /// Adds a cell given as text.
    #[inline]
    pub(super) fn text(&mut self, text: &[u8]) -> Result<(), CellProblem> {
        let text = cell::trim(text);
        match &mut self.cells {
            Cells::Numbers(numbers) => numbers.push(number(text)?),
            Cells::Categories { codes, levels } => {
                codes.push(if cell::is_missing(text) { MISSING } else { levels.code(text)? });
            }
            Cells::Undecided(undecided) => match cell::meaning(text) {
                Meaning::Missing => undecided.numbers.push(f64::NAN),
                Meaning::Number(value) => undecided.number(value),
                Meaning::NotFinite => undecided.number(f64::NAN),
                Meaning::Boolean(_) | Meaning::Text => {
                    self.settle_as_category();
                    return self.text(text);
                }
            },
            Cells::Again(_) => {}
        }
        Ok(())
    }

    /// Adds a cell given as a number.
    #[inline]
    pub(super) fn number(&mut self, value: f64) -> Result<(), CellProblem> {
        match &mut self.cells {
            Cells::Numbers(_) if !value.is_finite() => {
                return Err(CellProblem::NotFinite { text: value.to_string() });
            }
            Cells::Numbers(numbers) => numbers.push(value),
            Cells::Categories { .. } => return self.text(value.to_string().as_bytes()),
            Cells::Undecided(undecided) => undecided.number(value),
            Cells::Again(_) => {}
        }
        Ok(())
    }

    /// Adds a missing cell.
    #[inline]
    pub(super) fn missing(&mut self) {
        match &mut self.cells {
            Cells::Numbers(numbers) => numbers.push(f64::NAN),
            Cells::Categories { codes, .. } => codes.push(MISSING),
            Cells::Undecided(undecided) => undecided.numbers.push(f64::NAN),
            Cells::Again(_) => {}
        }
    }

    /// Decides for categories, if nothing is decided yet.
    pub(super) fn settle_as_category(&mut self) {
        if let Cells::Undecided(undecided) = &self.cells {
            self.cells = if undecided.any_present {
                Cells::Again(Kind::Category)
            } else {
                Cells::Categories { codes: vec![MISSING; undecided.numbers.len()], levels: Levels::default() }
            };
        }
    }

    pub(super) fn finish(self) -> Gathered {
        let values = match self.cells {
            Cells::Numbers(numbers) => Values::Numbers(numbers),
            Cells::Categories { codes, levels } => Values::Categories { codes, levels: levels.into_texts() },
            // Reading the column as numbers finds the place of the cell that is not finite.
            Cells::Undecided(undecided) if undecided.any_not_finite => {
                return Gathered::Again(Want { name: self.name, kind: Kind::Number });
            }
            Cells::Undecided(undecided) => Values::Numbers(undecided.numbers),
            Cells::Again(kind) => return Gathered::Again(Want { name: self.name, kind }),
        };
        Gathered::Done(Column { name: self.name, values })
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
        Meaning::NotFinite => Err(CellProblem::NotFinite { text: excerpt(text) }),
        Meaning::Text => Err(CellProblem::NotANumber { text: excerpt(text) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(kind: Kind, cells: &[&str]) -> Gathered {
        let mut gather = Gather::new(&Want { name: "x".into(), kind });
        for cell in cells {
            gather.text(cell.as_bytes()).unwrap();
        }
        gather.finish()
    }

    fn kind_of(gathered: &Gathered) -> &'static str {
        match gathered {
            Gathered::Done(Column { values: Values::Numbers(_), .. }) => "numbers",
            Gathered::Done(Column { values: Values::Categories { .. }, .. }) => "categories",
            Gathered::Again(Want { kind: Kind::Number, .. }) => "again as number",
            Gathered::Again(_) => "again as category",
        }
    }

    #[test]
    fn the_kind_is_inferred_from_all_cells() {
        assert_eq!(kind_of(&gather(Kind::Infer, &["1", "", "2.5"])), "numbers");
        assert_eq!(kind_of(&gather(Kind::Infer, &["", "NA", "?"])), "numbers");
        assert_eq!(kind_of(&gather(Kind::Infer, &["", "a", "1"])), "categories");
        assert_eq!(kind_of(&gather(Kind::Infer, &["true", "False"])), "categories");
        assert_eq!(kind_of(&gather(Kind::Infer, &["1", "", "a"])), "again as category");
        assert_eq!(kind_of(&gather(Kind::Infer, &["1", "inf"])), "again as number");
        assert_eq!(kind_of(&gather(Kind::Infer, &["1", "inf", "a"])), "again as category");
    }

    #[test]
    fn missing_cells_before_the_first_text_are_kept() {
        let Gathered::Done(column) = gather(Kind::Infer, &["", "a", "NA", "a"]) else { panic!() };
        assert_eq!(column.categories(), Some((&[MISSING, 0, MISSING, 0][..], &["a".to_owned()][..])));
    }

    #[test]
    fn booleans_are_one_and_zero_in_a_column_of_numbers() {
        let Gathered::Done(column) = gather(Kind::Number, &["True", "false", "1", "FALSE"]) else { panic!() };
        assert_eq!(column.numbers(), Some(&[1.0, 0.0, 1.0, 0.0][..]));
    }
}
