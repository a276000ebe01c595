//! Access to a path: its type, exclusive opening, and the data that is on it.

pub(crate) mod path_probe;
pub mod signature;
