//! Texts to small numbers: each different text gets the next code, in order of first appearance.
//!
//! A hash table of codes over the list of texts, so that a text is stored once. Neighboring rows often
//! hold the same text (a query, a group), which is tried first.

use std::hash::{BuildHasher, RandomState};

use pairity::examples::MISSING;

use super::error::{CellProblem, excerpt};

/// So few texts are compared one by one.
const FEW: usize = 8;

#[derive(Default)]
pub(crate) struct LevelCodes {
    texts: Vec<String>,
    /// Codes by hash, with linear probing; free slots are `MISSING`. Empty while there are few texts,
    /// then a power of two and at most half full.
    slots: Vec<u32>,
    hasher: RandomState,
    last: usize,
}

impl LevelCodes {
    /// The code of a text, which becomes a new level if it was never seen.
    #[inline]
    pub(crate) fn code(&mut self, text: &[u8]) -> Result<u32, CellProblem> {
        if self.texts.get(self.last).is_some_and(|last| last.as_bytes() == text) {
            return Ok(self.last as u32);
        }
        let code = self.find_or_add(text)?;
        self.last = code as usize;
        Ok(code)
    }

    pub(crate) fn into_texts(self) -> Vec<String> {
        self.texts
    }

    fn find_or_add(&mut self, text: &[u8]) -> Result<u32, CellProblem> {
        if self.slots.is_empty() {
            if let Some(code) = self.texts.iter().position(|known| known.as_bytes() == text) {
                return Ok(code as u32);
            }
            let code = self.add(text)?;
            if self.texts.len() > FEW {
                self.rebuild();
            }
            return Ok(code);
        }
        let mask = self.slots.len() - 1;
        let mut slot = self.hasher.hash_one(text) as usize & mask;
        while self.slots[slot] != MISSING {
            let code = self.slots[slot];
            if self.texts[code as usize].as_bytes() == text {
                return Ok(code);
            }
            slot = (slot + 1) & mask;
        }
        let code = self.add(text)?;
        self.slots[slot] = code;
        if self.texts.len() * 2 > self.slots.len() {
            self.rebuild();
        }
        Ok(code)
    }

    fn add(&mut self, text: &[u8]) -> Result<u32, CellProblem> {
        let code = u32::try_from(self.texts.len()).unwrap_or(MISSING);
        if code == MISSING {
            return Err(CellProblem::TooManyLevels);
        }
        let text = std::str::from_utf8(text).map_err(|_| CellProblem::NotUtf8(excerpt(text)))?;
        self.texts.push(text.to_owned());
        Ok(code)
    }

    fn rebuild(&mut self) {
        let size = (self.texts.len() * 4).next_power_of_two();
        let mask = size - 1;
        self.slots = vec![MISSING; size];
        for (code, text) in self.texts.iter().enumerate() {
            let mut slot = self.hasher.hash_one(text.as_bytes()) as usize & mask;
            while self.slots[slot] != MISSING {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = code as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let problem = CellProblem::NotUtf8("\u{fffd}".into());
        assert_eq!(levels.code(b"\xff"), Err(problem));
        assert_eq!(levels.code(b"a"), Ok(0));
        assert_eq!(levels.into_texts(), ["a"]);
    }
}
