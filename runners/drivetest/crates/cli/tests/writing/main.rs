//! The commands that write to drives, through the real program: `prep`, `storage` and `index`, in the foreground and in the
//! background, and the devices that they must not touch.
//!
//! One test program for all, because each program costs another link.

#![allow(clippy::unwrap_used, reason = "a test whose bench cannot be set up fails")]

#[path = "../support/closed_output.rs"]
mod closed_output;
mod closed_pipe;
mod detached;
#[path = "../support/drive.rs"]
mod drive;
mod gate;
#[path = "../truth/loaded.rs"]
#[allow(dead_code, reason = "the parts that tests of measured times need")]
mod loaded;
/// `drivetest prep` through the real program: its writes, reports, state and refusals.
mod prep {
    mod bench;
    mod faults;
    mod reports;
    mod resumed;
    mod steady;
    mod written;
}
/// `drivetest storage` and `drivetest index` through the real program: runs, refusals and stops.
mod storage {
    #[allow(dead_code, reason = "the parts that tests of a known drive need")]
    pub mod bench;
    mod block_device;
    mod config;
    mod dry_run;
    mod faulty_drive;
    mod modes;
    mod refused;
    mod reports;
    mod runs;
    mod stopped;
}

use storage::bench;
