//! `drivetest prep` through the real program: what it writes, tells, keeps and refuses.

#![allow(clippy::unwrap_used, reason = "a test whose bench cannot be set up fails")]

mod bench;
#[path = "../support/drive.rs"]
mod drive;
mod faults;
mod resumed;
mod steady;
mod told;
mod written;
