//! Counting pairs exactly, without ever listing them.

mod continuous;
mod discrete;
mod mass;
mod members;
#[cfg(test)]
pub(crate) mod oracle;
mod parity;
mod shares;
mod tally;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use members::Arranged;
pub(crate) use shares::{Part, Shares};
pub(crate) use tally::{CellSum, Layout, Tally};
