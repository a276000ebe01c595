//! Telemetry of a host and a drive while something else loads it: a program of the operator's, or nobody that we started.
//!
//! [`Watch::carry_out`] is the whole. What may be run stands in a file of the host's operator ([`programs`]): whoever orders
//! names a program, never a path.

pub mod child;
pub mod programs;
mod quiet;
mod record;
mod watched;

pub use quiet::Quiet;
pub use watched::{Ended, Overwrites, Watch, WatchError};
