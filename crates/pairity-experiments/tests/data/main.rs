//! Data sets: made-up files in the published formats, and the published files themselves.

mod guarantee;
mod loaders;
mod published;
