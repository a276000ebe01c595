//! `drivetest storage` through the real program: runs, refusals and stops.

#![allow(clippy::unwrap_used, reason = "a test whose bench cannot be set up fails")]

mod bench;
mod block_device;
mod refused;
mod runs;
mod stopped;
