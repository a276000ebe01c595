//! Loads devices as ACT does, at due times that no thread count changes, and writes the log.
//!
//! [`LoadRun::execute`] is the whole: header, devices, threads, blocks, ending. Requests come in [`stream`]s, each with a
//! [`schedule`]; every thread counts in its own [`recorder`], and the [`collector`] adds them up for the [`report`].

pub mod clock;
pub mod config;
pub mod device;
pub mod engine;
pub mod host;
pub mod prep;
pub mod report;
pub mod run;
pub mod schedule;
pub mod signals;
pub mod stats;
pub mod stop;
pub mod telemetry;
pub mod tomb_raider;

pub use run::{LoadRun, Outcome};
