//! Loads devices as ACT does, at due times that no thread count changes, and writes the log.
//!
//! [`Order::carry_out`] is the whole: header, devices, threads, blocks, ending. Requests come in [`stream`]s, each with a
//! [`schedule`]; every thread counts in its own [`recorder`], and the [`collector`] adds them up for the [`report`].

pub mod account;
pub mod buckets;
pub mod buffer;
pub mod cells;
pub mod clock;
pub mod collector;
pub mod config;
pub mod device;
pub mod draws;
pub mod engine;
pub mod faults;
pub mod held;
pub mod host;
pub mod operation;
pub mod order;
pub mod prep;
pub mod raid;
pub mod recorder;
pub mod report;
pub mod schedule;
pub mod signals;
pub mod stop;
pub mod stream;
pub mod telemetry;
pub mod timestamp;

pub use engine::crew;
pub use order::{Order, Outcome};
