//! `drivetest storage` on the fault drive: its figures match what the drive did to its requests.
//!
//! Needs root and /dev/fuse; reports it and passes without them. The tests run one at a time, because they measure.

#![allow(clippy::unwrap_used, reason = "a test whose drive cannot be set up fails")]

mod attribution;
#[path = "../writing/storage/bench.rs"]
#[allow(dead_code, reason = "the parts that tests of plain files need")]
mod bench;
mod honesty;
mod loaded;
mod offsets;
mod quiet;
mod shares;
mod stalls;
