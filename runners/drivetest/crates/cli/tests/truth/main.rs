//! `drivetest storage` on a drive of known truth: what it prints is what was done to its requests.
//!
//! Needs root and /dev/fuse; says so and passes where there is none. One test runs at a time: they measure.

#![allow(clippy::unwrap_used, reason = "a test whose drive cannot be set up fails")]

mod awake;
#[path = "../writing/storage/bench.rs"]
#[allow(dead_code, reason = "the parts that tests of plain files need")]
mod bench;
mod errors;
mod honesty;
mod loaded;
mod offsets;
mod shares;
mod stalls;
