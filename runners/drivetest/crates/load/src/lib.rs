//! Loads a device as ACT does, on even arrivals, and writes the log.
//!
//! [`Order::carry_out`] is the whole: header, devices, threads, blocks, ending. Requests come in [`stream`]s, each with a
//! [`schedule`]; every thread counts in its own [`recorder`], and the [`collector`] adds them up for the [`report`].

pub mod buckets;
pub mod buffer;
pub mod cells;
pub mod clock;
pub mod collector;
pub mod config;
pub mod crew;
pub mod device;
pub mod draws;
pub mod host;
pub mod order;
pub mod prep;
pub mod recorder;
pub mod report;
pub mod schedule;
pub mod signals;
pub mod stop;
pub mod stream;
pub mod timestamp;
mod worker;

pub use order::{Order, Outcome};
