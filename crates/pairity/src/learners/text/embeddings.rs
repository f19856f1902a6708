//! Word vectors that were learned elsewhere, in GloVe's text format: a word and its numbers a line.

use std::collections::HashMap;
use std::io::BufRead;

/// The most numbers of a word's vector.
const LONGEST: usize = 10_000;

/// Why a file holds no word vectors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// The file can't be read.
    #[error("can't read the word vectors: {0}")]
    Read(#[from] std::io::Error),
    /// A line that is not as the others.
    #[error(
        "line {line} of the word vectors {problem}: each line needs a word and {numbers} numbers, \
         separated by spaces, as in GloVe's files"
    )]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
        /// Numbers a line, as the first one has them; at least 1.
        numbers: usize,
    },
    /// More numbers than vectors of words have.
    #[error(
        "the word vectors have {found} numbers each, more than the {} that are allowed: use shorter ones, such as \
         those of 100 or 300 numbers",
        LONGEST
    )]
    TooLong {
        /// Numbers of the first line.
        found: usize,
    },
    /// Nothing in it.
    #[error("the file of word vectors is empty: each line needs a word and its numbers")]
    Empty,
}

/// Vectors of some words, all of the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    size: usize,
    vectors: Vec<Option<Vec<f32>>>,
}

impl Embeddings {
    /// Reads the vectors of some words, and skips those of others.
    ///
    /// # Errors
    /// A file that can't be read, or is not in GloVe's format.
    ///
    /// ```
    /// use pairity::learners::text::Embeddings;
    ///
    /// let file = "the 0.5 -1\nof 0.25 2\n";
    /// let vectors = Embeddings::read(file.as_bytes(), &["of".into(), "cat".into()])?;
    /// assert_eq!((vectors.size(), vectors.found()), (2, 1));
    /// # Ok::<(), pairity::learners::text::EmbeddingError>(())
    /// ```
    pub fn read(file: impl BufRead, words: &[String]) -> Result<Embeddings, EmbeddingError> {
        let places: HashMap<&str, usize> =
            words.iter().enumerate().map(|(place, word)| (word.as_str(), place)).collect();
        let (mut size, mut vectors) = (0, vec![None; words.len()]);
        for (at, line) in file.lines().enumerate() {
            let line = line?;
            let mut fields = line.trim_end().split(' ');
            let word = fields.next().unwrap_or_default();
            let count = fields.clone().count();
            if at == 0 {
                size = count;
            }
            if size > LONGEST {
                return Err(EmbeddingError::TooLong { found: size });
            }
            let wrong = |problem| EmbeddingError::Line { line: at + 1, problem, numbers: size.max(1) };
            if count == 0 || count != size {
                return Err(wrong("has another number of fields"));
            }
            let Some(&place) = places.get(word) else { continue };
            let vector: Option<Vec<f32>> =
                fields.map(|field| field.parse().ok().filter(|x: &f32| x.is_finite())).collect();
            vectors[place] = Some(vector.ok_or_else(|| wrong("has a field that is no finite number"))?);
        }
        match size {
            0 => Err(EmbeddingError::Empty),
            size => Ok(Embeddings { size, vectors }),
        }
    }

    /// Numbers of each vector.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many of the words have a vector.
    pub fn found(&self) -> usize {
        self.vectors.iter().flatten().count()
    }

    /// The vector of each word, where there is one.
    pub fn vectors(&self) -> &[Option<Vec<f32>>] {
        &self.vectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_must_be_a_word_and_as_many_numbers_as_the_first() {
        let read = |text: &str| Embeddings::read(text.as_bytes(), &["a".into()]);
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert!(message("").contains("is empty"));
        assert!(message("a\n").starts_with("line 1 of the word vectors has another number"));
        assert!(message("a 1 2\nb 1\n").starts_with("line 2 "));
        assert!(
            message("b 1 2\na 1 x\n").contains("line 2 of the word vectors has a field that is no finite")
        );
        assert!(message("a 1 inf\n").contains("no finite"));
        assert!(message(&format!("a{}", " 1".repeat(10_001))).contains("have 10001 numbers each"));
        let known = read("b x y\r\na 1 -2.5 \n").unwrap();
        assert_eq!(known.vectors(), [Some(vec![1.0, -2.5])]);
    }
}
