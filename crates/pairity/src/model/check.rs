//! Whether the parts of a model belong together.

use std::collections::HashSet;

use super::{After, Model, ModelError};
use crate::learners::{Encoding, MAX_LEVELS};

/// How far from 1 probabilities may sum up, by rounding.
const ROUNDING: f64 = 1e-9;

impl Model {
    /// Checks that the parts of the model belong together.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self) -> Result<(), ModelError> {
        self.architecture.check_shape()?;
        self.check_encoder().map_err(ModelError::Inconsistent)?;
        self.check_groups().map_err(ModelError::Inconsistent)?;
        self.check_components().map_err(ModelError::Inconsistent)?;
        match &self.after {
            Some(After::Adjusted(adjustment)) => {
                adjustment.check().map_err(|error| ModelError::Inconsistent(error.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn check_encoder(&self) -> Result<(), String> {
        let (expected, found) = (self.architecture.width(), self.encoder.width());
        if found != expected {
            return Err(format!("the encoder gives {found} features, but the scorer takes {expected}"));
        }
        let mut seen = HashSet::new();
        let last = self.encoder.columns().len();
        for (at, column) in self.encoder.columns().iter().enumerate() {
            let name = column.name();
            if !seen.insert(name) {
                return Err(format!("the encoder has column {name:?} twice"));
            }
            match column {
                Encoding::Number { shift, scale, fill, .. } => {
                    if !(shift.is_finite() && fill.is_finite() && scale.is_finite() && *scale > 0.0) {
                        return Err(format!(
                            "column {name:?} is encoded with shift {shift}, scale {scale} and fill {fill}, \
                             which must be finite, the scale above 0"
                        ));
                    }
                }
                Encoding::Category { levels, .. } => {
                    if levels.len() > MAX_LEVELS || !levels.is_sorted_by(|a, b| a < b) {
                        return Err(format!(
                            "the levels of column {name:?} must be sorted, different, and at most {MAX_LEVELS}"
                        ));
                    }
                }
                Encoding::Text { words, .. } => {
                    if at + 1 < last {
                        return Err(format!("the text column {name:?} must be the last one"));
                    }
                    if words.iter().collect::<HashSet<_>>().len() < words.len() {
                        return Err(format!("a word of column {name:?} is listed twice"));
                    }
                }
            }
        }
        Ok(())
    }

    fn check_groups(&self) -> Result<(), String> {
        match (self.architecture.groups().groups(), &self.groups) {
            (None, None) if self.after.is_some() => {
                Err("scores are changed by group, but no groups are listed".to_owned())
            }
            (None, None) => Ok(()),
            (None, Some(_)) if self.after.is_some() => Ok(()),
            (None, Some(_)) => Err("groups are listed, but the scorer uses none".to_owned()),
            (Some(expected), None) => Err(format!("the scorer uses {expected} groups, but none are listed")),
            (Some(expected), Some(groups)) => {
                let found = groups.names.len();
                if found != expected {
                    return Err(format!("{found} groups are listed, but the scorer uses {expected}"));
                }
                if groups.names.iter().collect::<HashSet<_>>().len() != found {
                    return Err("a group is listed twice".to_owned());
                }
                if groups.columns.is_empty() {
                    return Err("groups are listed without the column they are in".to_owned());
                }
                Ok(())
            }
        }
    }

    fn check_components(&self) -> Result<(), String> {
        if self.components.is_empty() {
            return Err("there are no components".to_owned());
        }
        let expected = self.architecture.len();
        for (at, component) in self.components.iter().enumerate() {
            let (at, probability) = (at + 1, component.probability);
            if !(0.0..=1.0).contains(&probability) {
                return Err(format!("component {at} has the probability {probability}, not between 0 and 1"));
            }
            let found = component.parameters.len();
            if found != expected {
                return Err(format!(
                    "component {at} has {found} parameters, but the scorer takes {expected}"
                ));
            }
            if let Some(parameter) = component.parameters.iter().position(|parameter| !parameter.is_finite())
            {
                let value = component.parameters[parameter];
                return Err(format!("parameter {} of component {at} is {value}, not finite", parameter + 1));
            }
        }
        let sum: f64 = self.components.iter().map(|component| component.probability).sum();
        if (sum - 1.0).abs() > ROUNDING {
            return Err(format!("the probabilities of the components sum up to {sum}, not to 1"));
        }
        Ok(())
    }
}
