//! Telemetry of a host and a drive while something else loads it: a program of the operator's, or nobody that we started.
//!
//! [`Watch::carry_out`] is the whole. What may be run stands in a file of the host's operator ([`allowlist`]): whoever orders
//! names a program, never a path.

pub mod allowlist;
pub mod child;
mod idle_wait;
mod monitor;
mod record;

pub use idle_wait::Quiet;
pub use monitor::{Ended, Overwrites, Watch, WatchError};
