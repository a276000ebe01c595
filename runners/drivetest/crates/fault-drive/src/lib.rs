//! A simulated drive with injected faults, for tests and benchmarks. It is never part of drivetest.
//!
//! [`FaultDrive::mount`] shows one file in a directory. The [`faults`] decide how its requests end: after a fixed time,
//! never, or with an error. The drive counts its own replies with its own clock, in [`ground_truth`]. A test compares
//! these counts with what a load generator reports. The crate uses no clock, histogram or random generator of drivetest,
//! because those are under test.

mod burners;
pub mod command;
pub mod drive;
pub mod faults;
mod filesystem;
pub mod ground_truth;
mod replies;

pub use drive::{DriveError, DriveOptions, FaultDrive};
pub use faults::{Delay, FailureRule, Operation};
