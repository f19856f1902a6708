//! Examples without queries as a document, for a process that holds some of the rows.
//!
//! Groups keep their names, and weights their unit, whichever rows there are: sums over the pairs of several parts of a
//! table can be added.

use super::{Attribute, Columns, Examples, ExamplesError, Groups, PairWeight, PairsWhere, check_column};
use crate::numbers;
use serde::{Deserialize, Serialize};

/// A column of numbers.
#[derive(Serialize, Deserialize)]
struct NumberList(#[serde(with = "numbers")] Vec<f64>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExamplesDocument {
    labels: Option<NumberList>,
    groups: Option<(Vec<String>, Vec<u32>)>,
    /// Null where an example has none.
    continuous: Option<Vec<Option<f64>>>,
    /// The block of each example, where there are several.
    within: Option<Vec<u32>>,
    weights: Option<NumberList>,
    factors: Option<NumberList>,
    label_gap: bool,
    side: Option<NumberList>,
}

/// Why a text is not that of examples.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is no such document.
    #[error("this is no document of examples: {0}")]
    Text(#[from] serde_json::Error),
    /// What it says can't be.
    #[error(transparent)]
    Examples(#[from] ExamplesError),
}

impl Examples {
    /// The document. Queries are not in it: all rows are one.
    pub fn to_json(&self) -> String {
        let list = |values: &Option<Vec<f64>>| values.clone().map(NumberList);
        let number = |&value: &f64| Some(value).filter(|value| !value.is_nan());
        let block = |block: usize| self.block(block).map(move |_| block as u32);
        let (groups, continuous) = match &self.attribute {
            Attribute::None => (None, None),
            Attribute::Groups { names, codes } => {
                (Some((names.clone(), codes.iter().map(|&code| code.into()).collect())), None)
            }
            Attribute::Continuous(values) => (None, Some(values.iter().map(number).collect())),
        };
        let document = ExamplesDocument {
            labels: list(&self.labels),
            groups,
            continuous,
            within: (self.blocks() > 1).then(|| (0..self.blocks()).flat_map(block).collect()),
            weights: list(&self.weights),
            factors: list(&self.factors),
            label_gap: self.label_gap,
            side: list(&self.side),
        };
        serde_json::to_string(&document).unwrap_or_default()
    }

    /// The examples of a document; their rows are counted in the order that they had there.
    ///
    /// # Errors
    /// A text that is no such document, columns of different lengths, numbers that are none.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples, Groups};
    ///
    /// let groups = Groups::from_names(&["a", "b", "b"]);
    /// let columns = Columns { labels: Some(&[1.0, 0.0, 2.0]), groups: Some(&groups), ..Columns::default() };
    /// let part = Examples::new(columns)?.part(&[1, 2])?;
    /// let again = Examples::from_json(&part.to_json())?;
    /// assert_eq!((again.groups(), again.len()), (&["a".to_string(), "b".to_string()][..], 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Examples, DocumentError> {
        let document: ExamplesDocument = serde_json::from_str(text)?;
        let ExamplesDocument { groups, continuous, within, label_gap, .. } = document;
        let [labels, weights, factors, side] =
            [document.labels, document.weights, document.factors, document.side].map(|list| Some(list?.0));
        let groups = groups.map(|(names, codes)| Groups::keeping(names, codes));
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let continuous: Option<Vec<f64>> = continuous.map(|all| all.into_iter().map(number).collect());
        let mut examples = Examples::new(Columns {
            labels: labels.as_deref(),
            groups: groups.as_ref(),
            protected: continuous.as_deref(),
            queries: None,
            within: within.as_deref(),
            weights: weights.as_deref(),
            pair_weight: if label_gap { PairWeight::LabelGap } else { PairWeight::One },
            pairs_where: side.as_deref().map_or(PairsWhere::Any, PairsWhere::Higher),
        })?;
        let allowed = |factor: f64| factor >= 0.0 && factor.is_finite();
        check_column("factors", factors.as_deref(), examples.rows(), allowed)?;
        // As they were: a part whose weights are all tiny would have another unit otherwise.
        let gather = |values: Vec<f64>| examples.row.iter().map(|&row| values[row as usize]).collect();
        (examples.weights, examples.factors) = (weights.map(gather), factors.map(gather));
        Ok(examples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_keeps_the_unit_of_its_weights_and_names_that_no_row_has() {
        let groups = Groups::from_names(&["a", "b", "b", ""]);
        let weights = [1.0, 1e-40, 2e-40, 3e-40];
        let columns = Columns {
            labels: Some(&[0.0, 1.0, 2.0, 3.0]),
            groups: Some(&groups),
            weights: Some(&weights),
            ..Columns::default()
        };
        let part = Examples::new(columns).unwrap().part(&[1, 2, 3]).unwrap();
        let again = Examples::from_json(&part.to_json()).unwrap();
        assert_eq!((&again.weights, &again.factors), (&part.weights, &part.factors));
        assert_eq!((again.groups(), again.codes_by_row()), (part.groups(), vec![1, 1, 2]));
    }

    #[test]
    fn what_is_no_document_of_examples_is_refused() {
        let examples = Examples::new(Columns {
            labels: Some(&[0.0, 1.0]),
            weights: Some(&[1.0, 2.0]),
            ..Columns::default()
        });
        let json = examples.unwrap().to_json();
        for (from, to) in [("[0.0,1.0]", "[0.0]"), ("[1.0,2.0]", "[1.0,-2.0]"), ("\"labels\"", "\"label\"")] {
            assert!(Examples::from_json(&json.replacen(from, to, 1)).is_err(), "{from} {json}");
        }
        let factors = json.replacen("\"factors\":[1.0,2.0]", "\"factors\":[1.0]", 1);
        assert!(factors != json && Examples::from_json(&factors).is_err());
    }
}
