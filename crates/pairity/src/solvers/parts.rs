//! The parts of the rows that training, selection and tests look at.

use crate::examples::{Examples, ExamplesError, SplitError};

/// The parts of some rows.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::solvers::Parts;
///
/// let labels: Vec<f64> = (0..8).map(f64::from).collect();
/// let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() })?;
/// let parts = Parts::split(&examples, [0.5, 0.25, 0.25], 0.0, 0.0, 7)?;
/// let sizes: Vec<_> = parts.named().map(|(name, part)| (name, part.len())).collect();
/// assert_eq!(sizes, [("train", 4), ("validation", 2), ("test", 2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Parts {
    /// What scorers are fit to.
    pub train: Examples,
    /// What only multipliers look at.
    pub multipliers: Option<Examples>,
    /// What models are chosen on.
    pub validation: Option<Examples>,
    /// What a guarantee is tested on.
    pub safety: Option<Examples>,
    /// What they are tested on.
    pub test: Option<Examples>,
    /// What training and multipliers are together.
    pub whole: Examples,
}

impl Parts {
    /// Splits rows at random, by query: into training, validation and test, a share of the first two off for the test
    /// of a guarantee, and a share of the training part for the multipliers.
    ///
    /// # Errors
    /// Shares that are none, or too few rows for them.
    pub fn split(
        examples: &Examples,
        shares: [f64; 3],
        safety_share: f64,
        multiplier_share: f64,
        seed: u64,
    ) -> Result<Parts, SplitError> {
        let empty = |share: f64| SplitError::Empty { share, units: examples.units(), kind: "units" };
        let [train, validation, test] = shares;
        let (kept, safety) = (1.0 - safety_share, safety_share * (train + validation));
        let all = [kept * train, kept * validation, test, safety];
        let mut parts = examples.split(if safety > 0.0 { &all } else { &shares }, seed)?.into_iter();
        let mut next = || parts.next().flatten();
        let (whole, validation, test, safety) = (next(), next(), next(), next());
        let whole = whole.ok_or_else(|| empty(shares[0]))?;
        let (train, multipliers) = match multiplier_share {
            0.0 => (whole.clone(), None),
            share => {
                // Another seed than that of the split, whose order this would only repeat.
                let mut parts = whole.split(&[1.0 - share, share], !seed)?.into_iter();
                let train = parts.next().flatten().ok_or_else(|| empty(1.0 - share))?;
                (train, parts.next().flatten())
            }
        };
        Ok(Parts { train, multipliers, validation, safety, test, whole })
    }

    /// Puts the validation part to the training part, where models are chosen on rows of both.
    ///
    /// # Errors
    /// Rows that are no examples of the whole.
    pub(crate) fn join_validation(&mut self, all: &Examples) -> Result<(), ExamplesError> {
        let Some(validation) = self.validation.take() else { return Ok(()) };
        let mut chosen = vec![false; all.rows()];
        let both = self.whole.example_rows().iter().chain(validation.example_rows());
        both.for_each(|&row| chosen[row as usize] = true);
        self.whole = all.part(&all.units_where(|row| chosen[row]))?;
        self.train = self.whole.clone();
        self.multipliers = None;
        Ok(())
    }

    /// The parts that are reported, by name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &Examples)> {
        let all = [
            ("train", Some(&self.whole)),
            ("validation", self.validation.as_ref()),
            ("safety", self.safety.as_ref()),
            ("test", self.test.as_ref()),
        ];
        all.into_iter().filter_map(|(name, part)| Some((name, part?)))
    }
}
