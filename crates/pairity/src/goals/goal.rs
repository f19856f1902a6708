//! A goal as its user states it.

use serde::{Deserialize, Serialize};

/// What a model is trained for, in the goal language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// What is to be large or small.
    #[serde(flatten)]
    pub objective: Objective,
    /// What is to hold.
    pub subject_to: Vec<String>,
}

/// What is to be large or small.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// To be large.
    Maximize(String),
    /// To be small.
    Minimize(String),
}
