//! The commands: load, ask the engine, write the report, and give the exit code.

pub mod experiments;
pub mod score;
pub mod scored;
pub mod train;
