//! The model, its document, and whether its parts belong together.

use super::{After, ModelError};
use crate::examples::Groups;
use crate::goals::Goal;
use crate::learners::{Architecture, Encoder, Encoding, MAX_LEVELS};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The name and the number of the format.
pub const SCHEMA: &str = "pairity.model/1";

/// How far from 1 probabilities may sum up, by rounding.
const ROUNDING: f64 = 1e-9;

/// A distribution over scorers of one architecture; mostly over a single one. As a document:
///
/// ```json
/// {
///   "schema": "pairity.model/1",
///   "version": "0.1.0",
///   "architecture": {"kind": "linear", "width": 2, "intercept": false, "start": 1.0, "groups": {"use": "blind"}},
///   "encoder": [{"kind": "number", "name": "age", "shift": 40.0, "scale": 12.5, "fill": 0.0, "indicator": false}, …],
///   "groups": null,
///   "query": "query_id",
///   "components": [{"probability": 1.0, "snapshot": 42, "parameters": [0.5, -0.25]}],
///   "goal": {"maximize": "auc", "subject_to": ["cross_group <= 0.01"]},
///   "seed": 0,
///   "status": "feasible"
/// }
/// ```
///
/// Numbers are written with as many digits as bring back the same bits.
///
/// ```
/// use pairity::goals::{Goal, Objective};
/// use pairity::model::{Component, Model, ScoreRows};
/// use pairity::learners::{Architecture, Encoder, Features, GroupUse, Linear};
/// use pairity::examples::{Column, Values};
///
/// let age = Column { name: "age".into(), values: Values::Numbers(vec![20.0, 40.0]) };
/// let model = Model {
///     architecture: Architecture::Linear(Linear { width: 1, intercept: false, start: 1.0, groups: GroupUse::Blind }),
///     encoder: Encoder::learn(&[&age], None, true)?,
///     groups: None,
///     query: vec!["query_id".into()],
///     components: vec![
///         Component { probability: 0.5, snapshot: 3, parameters: vec![1.0] },
///         Component { probability: 0.5, snapshot: 9, parameters: vec![10.0] },
///     ],
///     goal: Goal { objective: Objective::Maximize("auc".into()), subject_to: vec!["cross_group <= 0.01".into()] },
///     seed: 0,
///     status: "feasible_as_mixture".into(),
///     version: env!("CARGO_PKG_VERSION").into(),
///     after: None,
/// };
/// let model = Model::from_json(&model.to_json()?)?;
///
/// // Both rows of a query see the same scorer, whatever else is in the table.
/// let features = Features::new(4, 1, vec![1.0, 2.0, 1.0, 2.0])?;
/// let names = ["monday".to_owned(), "tuesday".to_owned()];
/// let rows = ScoreRows { queries: Some((&[0, 0, 1, 1], &names)), ..ScoreRows::new(features) };
/// let scores = model.score(&rows, 7)?;
/// assert_eq!((scores[1], scores[3]), (2.0 * scores[0], 2.0 * scores[2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// What wrote the model, as pairity's version.
    pub version: String,
    /// The shape of its scorers.
    pub architecture: Architecture,
    /// What columns become.
    pub encoder: Encoder,
    /// The groups that the scorers, or what is done after them, tell apart.
    pub groups: Option<ModelGroups>,
    /// The columns of queries, which are combined; none if there was none. One is a text in the document, several are a
    /// list.
    #[serde(with = "names")]
    pub query: Vec<String>,
    /// The scorers.
    pub components: Vec<Component>,
    /// What it was trained for.
    pub goal: Goal,
    /// The seed of the training.
    pub seed: u64,
    /// How the training ended.
    pub status: String,
    /// What is done with scores afterwards, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
}

/// No name, one, or a list of several.
mod names {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Names {
        One(String),
        Several(Vec<String>),
    }

    pub fn serialize<S: Serializer>(names: &[String], to: S) -> Result<S::Ok, S::Error> {
        match names {
            [] => to.serialize_none(),
            [name] => to.serialize_str(name),
            names => names.serialize(to),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
        Ok(match Option::deserialize(from)? {
            None => Vec::new(),
            Some(Names::One(name)) => vec![name],
            Some(Names::Several(names)) => names,
        })
    }
}

/// One scorer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// How likely it is drawn.
    pub probability: f64,
    /// Which snapshot of the training it is.
    pub snapshot: usize,
    /// Its parameters. A list in the document or, if there are many, an object with the base64 of their bytes,
    /// the lowest byte first: `{"f32": "…"}` or `{"f64": "…"}`.
    #[serde(with = "crate::numbers")]
    pub parameters: Vec<f64>,
}

/// The groups of a group-aware model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelGroups {
    /// The columns of the protected attribute; several are intersected. Where it is continuous, there are no names.
    pub columns: Vec<String>,
    /// The groups' names, in the order of their parameters.
    pub names: Vec<String>,
}

impl ModelGroups {
    /// The codes of a table's groups, for [`Features::with_codes`](crate::learners::Features::with_codes). A group that the model does not know
    /// counts as no group; the second number says how many rows have one.
    ///
    /// ```
    /// use pairity::{examples::Groups, model::ModelGroups};
    /// let known = ModelGroups { columns: vec!["sex".into()], names: vec!["f".into(), "m".into()] };
    /// let (codes, unknown) = known.codes(&Groups::from_names(&["m", "x", "", "f"]));
    /// assert_eq!((codes, unknown), (vec![1, 2, 2, 0], 1));
    /// ```
    pub fn codes(&self, groups: &Groups) -> (Vec<u16>, usize) {
        let place = |name: &String| self.names.iter().position(|known| known == name);
        let places: Vec<Option<usize>> = groups.names().iter().map(place).collect();
        let mut unknown = 0;
        let code = |row: usize| {
            let place = groups.code(row).and_then(|group| {
                unknown += usize::from(places[group].is_none());
                places[group]
            });
            u16::try_from(place.unwrap_or(self.names.len())).unwrap_or(u16::MAX)
        };
        ((0..groups.len()).map(code).collect(), unknown)
    }
}

impl Model {
    /// The model as a JSON document.
    ///
    /// # Errors
    /// A model that [`from_json`](Self::from_json) would refuse.
    pub fn to_json(&self) -> Result<String, ModelError> {
        /// The document: the model under its schema.
        #[derive(Serialize)]
        struct Document<'a> {
            schema: &'static str,
            #[serde(flatten)]
            model: &'a Model,
        }
        self.check()?;
        serde_json::to_string_pretty(&Document { schema: SCHEMA, model: self })
            .map_err(|cause| ModelError::Malformed(cause.to_string()))
    }

    /// The model of a JSON document.
    ///
    /// # Errors
    /// A text that is not such a document, or parts of it that contradict each other.
    pub fn from_json(text: &str) -> Result<Model, ModelError> {
        #[derive(Deserialize)]
        struct Head {
            schema: Option<String>,
        }
        let malformed = |cause: serde_json::Error| ModelError::Malformed(cause.to_string());
        let head: Head = serde_json::from_str(text).map_err(malformed)?;
        if head.schema.as_deref() != Some(SCHEMA) {
            return Err(ModelError::Schema(head.schema.unwrap_or_default()));
        }
        let model: Model = serde_json::from_str(text).map_err(malformed)?;
        model.check()?;
        Ok(model)
    }

    /// Checks that the parts of the model belong together.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self) -> Result<(), ModelError> {
        self.architecture.check_shape()?;
        self.check_parts().map_err(ModelError::Inconsistent)
    }

    fn check_parts(&self) -> Result<(), String> {
        self.check_encoder()?;
        self.check_groups()?;
        self.check_components()?;
        match &self.after {
            Some(After::Adjusted(adjustment)) => {
                let listed = self.groups.iter().flat_map(|groups| &groups.names).map(String::as_str);
                let (listed, found) = (listed.collect::<HashSet<_>>(), adjustment.groups());
                ensure(found.iter().copied().collect::<HashSet<_>>() == listed, || {
                    format!("scores are adjusted for the groups {found:?}, which are not those of the model")
                })?;
                adjustment.check().map_err(|error| error.to_string())
            }
            _ => Ok(()),
        }
    }

    fn check_encoder(&self) -> Result<(), String> {
        let (expected, found) = (self.architecture.width(), self.encoder.width());
        ensure(found == expected, || {
            format!("the encoder gives {found} features, but the scorer takes {expected}")
        })?;
        let mut seen = HashSet::new();
        let last = self.encoder.columns().len();
        for (at, column) in self.encoder.columns().iter().enumerate() {
            let name = column.name();
            let again = matches!(column, Encoding::Products { .. });
            ensure(seen.insert(name) != again, || format!("the encoder has column {name:?} twice"))?;
            match column {
                Encoding::Products { shift, scale, of, .. } => {
                    ensure(shift.is_finite() && scale.is_finite() && *scale > 0.0, || {
                        format!("products of column {name:?} need a finite shift and a scale above 0")
                    })?;
                    let before = self.encoder.columns()[..at].iter().filter(|own| own.name() != name);
                    ensure(of.len() == before.map(Encoding::width).sum::<usize>(), || {
                        format!("products of column {name:?} are not those with the features before")
                    })?;
                }
                Encoding::Number { shift, scale, fill, .. } => {
                    let finite = shift.is_finite() && fill.is_finite() && scale.is_finite();
                    ensure(finite && *scale > 0.0, || {
                        format!(
                            "column {name:?} is encoded with shift {shift}, scale {scale} and fill {fill}, \
                             which must be finite, the scale above 0"
                        )
                    })?;
                }
                Encoding::Category { levels, .. } => {
                    ensure(levels.len() <= MAX_LEVELS && levels.is_sorted_by(|a, b| a < b), || {
                        format!(
                            "the levels of column {name:?} must be sorted, different, and at most {MAX_LEVELS}"
                        )
                    })?;
                }
                Encoding::Text { words, .. } => {
                    ensure(at + 1 == last, || format!("the text column {name:?} must be the last one"))?;
                    ensure(differ(words), || format!("a word of column {name:?} is listed twice"))?;
                }
                Encoding::Terms { kinds, .. } => {
                    ensure(at + 1 == last, || format!("the text column {name:?} must be the last one"))?;
                    for kind in kinds {
                        ensure(differ(&kind.terms), || format!("a term of column {name:?} is listed twice"))?;
                        let fit = kind.rarity.len() == kind.terms.len();
                        ensure(
                            fit && kind.rarity.iter().all(|weight| *weight >= 1.0 && weight.is_finite()),
                            || format!("each term of column {name:?} needs a weight, of at least 1"),
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    fn check_groups(&self) -> Result<(), String> {
        let fault = match (self.architecture.groups().groups(), &self.groups) {
            (None, None) if self.after.is_some() => "scores are changed by group, but no groups are listed",
            (None, Some(_)) if self.after.is_none() => "groups are listed, but the scorer uses none",
            (None, _) => return Ok(()),
            (Some(expected), None) => {
                return Err(format!("the scorer uses {expected} groups, but none are listed"));
            }
            (Some(expected), Some(ModelGroups { names, .. })) if names.len() != expected => {
                let found = names.len();
                return Err(format!("{found} groups are listed, but the scorer uses {expected}"));
            }
            (Some(_), Some(groups)) if !differ(&groups.names) => "a group is listed twice",
            (Some(_), Some(groups)) if groups.columns.is_empty() => {
                "groups are listed without the column they are in"
            }
            (Some(_), Some(_)) => return Ok(()),
        };
        Err(fault.to_owned())
    }

    fn check_components(&self) -> Result<(), String> {
        ensure(!self.components.is_empty(), || "there are no components".to_owned())?;
        let expected = self.architecture.len();
        for (at, Component { probability, parameters, .. }) in (1..).zip(&self.components) {
            ensure((0.0..=1.0).contains(probability), || {
                format!("component {at} has the probability {probability}, not between 0 and 1")
            })?;
            let found = parameters.len();
            ensure(found == expected, || {
                format!("component {at} has {found} parameters, but the scorer takes {expected}")
            })?;
            if let Some((place, value)) = (1..).zip(parameters).find(|(_, value)| !value.is_finite()) {
                return Err(format!("parameter {place} of component {at} is {value}, not finite"));
            }
        }
        let sum: f64 = self.components.iter().map(|component| component.probability).sum();
        ensure((sum - 1.0).abs() <= ROUNDING, || {
            format!("the probabilities of the components sum up to {sum}, not to 1")
        })
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn differ(names: &[String]) -> bool {
    names.iter().collect::<HashSet<_>>().len() == names.len()
}
