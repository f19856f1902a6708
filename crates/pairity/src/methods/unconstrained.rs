//! The objective alone: what the other methods are measured against.

use super::{Method, MethodEntry, Stage};

/// The method.
#[derive(Debug)]
pub struct Unconstrained;

impl Method for Unconstrained {
    fn entry(&self) -> MethodEntry {
        MethodEntry { name: "unconstrained", stage: Stage::Unconstrained, about: "They are only reported" }
    }
}
