//! The engine from outside, in one binary: each one more would be linked anew.

mod architectures;
mod coverage;
mod encoder;
mod goals;
mod methods_fit;
mod model;
mod network_columns;
mod singh_joachims;
mod single;
mod sparse;
mod terms;
mod text;
mod training_text;
