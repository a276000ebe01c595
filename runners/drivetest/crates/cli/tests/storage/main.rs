//! `drivetest storage` and `drivetest index` through the real program: runs, refusals and stops.

#![allow(clippy::unwrap_used, reason = "a test whose bench cannot be set up fails")]

mod bench;
mod block_device;
mod config;
mod modes;
mod refused;
mod runs;
mod stopped;
mod told;
