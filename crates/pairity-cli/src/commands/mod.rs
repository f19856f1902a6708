//! The commands, one file each: load, ask the engine, write the report.

pub mod adjust;
pub mod audit;
pub mod compare;
pub mod data;
pub mod demo;
pub mod reproduce;
pub mod score;
pub mod train;
