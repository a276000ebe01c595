//! The load generator: runs ACT workloads on devices at exact due times, prepares drives, and writes the log.
//!
//! [`LoadRun::execute`] is a whole run: header, devices, threads, blocks, end. Requests come in streams, each with a
//! [`schedule`]. Every thread has a recorder in [`stats`]; the collector adds them up for the [`report`].

pub mod clock;
pub mod config;
pub mod device;
pub mod engine;
pub mod host;
pub mod outcome;
pub mod prep;
pub mod report;
pub mod run;
pub mod schedule;
pub mod signals;
pub mod stats;
pub mod stop;
pub mod telemetry;
pub mod tomb_raider;

pub use outcome::Outcome;
pub use run::LoadRun;
