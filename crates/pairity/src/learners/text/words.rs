//! The words of every row, as codes of a vocabulary.

use crate::learners::FeaturesError;

/// Lists of codes, one a row, behind each other.
///
/// ```
/// use pairity::learners::text::Words;
///
/// let words = Words::new(3, [&[2, 0][..], &[], &[1]])?;
/// assert_eq!((words.rows(), words.row(0), words.row(1)), (3, &[2, 0][..], &[][..]));
/// # Ok::<(), pairity::learners::FeaturesError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    vocabulary: usize,
    /// Where each row starts in `codes`, and the end.
    starts: Vec<usize>,
    codes: Vec<u32>,
}

impl Words {
    /// The words of rows, each below the size of the vocabulary.
    ///
    /// # Errors
    /// No vocabulary, or a code beyond it.
    pub fn new<'a>(
        vocabulary: usize,
        rows: impl IntoIterator<Item = &'a [u32]>,
    ) -> Result<Words, FeaturesError> {
        if vocabulary == 0 {
            return Err(FeaturesError::NoWidth);
        }
        let mut words = Words { vocabulary, starts: vec![0], codes: Vec::new() };
        for row in rows {
            if let Some(&code) = row.iter().find(|&&code| code as usize >= vocabulary) {
                return Err(FeaturesError::Word { row: words.rows(), code, vocabulary });
            }
            words.push(row);
        }
        Ok(words)
    }

    /// The same vocabulary without rows.
    pub(in crate::learners) fn emptied(&self) -> Words {
        Words { vocabulary: self.vocabulary, starts: vec![0], codes: Vec::new() }
    }

    /// Adds a row of known codes.
    pub(in crate::learners) fn push(&mut self, row: &[u32]) {
        self.codes.extend_from_slice(row);
        self.starts.push(self.codes.len());
    }

    /// Removes all rows.
    pub(in crate::learners) fn clear(&mut self) {
        self.codes.clear();
        self.starts.truncate(1);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of words that there are codes for.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The words of one row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.codes[self.starts[row]..self.starts[row + 1]]
    }
}
