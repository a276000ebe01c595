//! Telemetry of a host and a drive while another program loads the drive.
//!
//! [`Watch::execute`] records it, and can run a program meanwhile. The operator of the host lists the allowed programs in a
//! file ([`allowlist`]). A request names a program, never a path.

pub mod allowlist;
pub mod child;
mod idle_wait;
mod monitor;

pub use idle_wait::IdleCondition;
pub use monitor::{Ended, OverwriteOptions, Watch, WatchError};
