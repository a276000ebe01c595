//! Access to a path: its type, exclusive opening, and recognised data.

pub mod buffer;
pub(crate) mod path_probe;
pub mod signature;
