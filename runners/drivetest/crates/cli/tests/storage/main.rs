//! `drivetest storage` through the real program: runs, refusals and stops.

mod bench;
mod block_device;
mod refused;
mod runs;
mod stopped;
