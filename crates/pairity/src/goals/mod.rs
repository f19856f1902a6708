//! The goal language.
