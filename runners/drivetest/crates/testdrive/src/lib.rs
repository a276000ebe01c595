//! A drive of known truth, for tests and benchmarks; never part of drivetest.
//!
//! [`TestDrive::mount`] shows one file in a directory. Its requests are answered as the [`faults`] say: after a stated
//! time, never, or with an error. What it did is counted by the drive itself, in the [`truth`], from its own stamps:
//! what a load generator prints can be held against it by counting. Nothing here uses drivetest's clock, histograms
//! or random choices, which are what is judged.

mod answers;
pub mod capacity;
pub mod command;
pub mod drive;
pub mod faults;
mod file;
mod memory;
mod priority;
pub mod truth;

pub use drive::{DriveError, Shape, TestDrive};
pub use faults::{Delay, Failing, Operation};
