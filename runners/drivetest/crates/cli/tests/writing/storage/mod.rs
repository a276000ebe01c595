//! `drivetest storage` and `drivetest index` through the real program: runs, refusals and stops.

#[allow(dead_code, reason = "the parts that tests of a known drive need")]
mod bench;
mod block_device;
mod config;
mod modes;
mod refused;
mod reports;
mod runs;
mod stopped;
