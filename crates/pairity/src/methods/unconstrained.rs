//! The objective alone: what the other methods are measured against.

use super::{Method, Stage};

/// The method.
#[derive(Debug)]
pub struct Unconstrained;

impl Method for Unconstrained {
    fn name(&self) -> &'static str {
        "unconstrained"
    }

    fn about(&self) -> &'static str {
        "They are only reported"
    }

    fn stage(&self) -> Stage {
        Stage::Unconstrained
    }
}
