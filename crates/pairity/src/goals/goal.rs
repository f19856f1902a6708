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

impl Goal {
    /// A goal of what is to be large, `auc` if nothing is said; or of what is to be small, instead.
    pub fn new(maximize: Option<String>, minimize: Option<String>, subject_to: Vec<String>) -> Goal {
        let objective = match (maximize, minimize) {
            (_, Some(text)) => Objective::Minimize(text),
            (text, None) => Objective::Maximize(text.unwrap_or_else(|| "auc".to_owned())),
        };
        Goal { objective, subject_to }
    }
}

impl Default for Goal {
    fn default() -> Goal {
        Goal::new(None, None, Vec::new())
    }
}

impl Objective {
    /// What is to be large or small.
    pub fn text(&self) -> &str {
        match self {
            Objective::Maximize(text) | Objective::Minimize(text) => text,
        }
    }
}
