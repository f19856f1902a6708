//! Data sets: made-up files in the published formats, and the published files themselves.

mod loaders;
mod published;
