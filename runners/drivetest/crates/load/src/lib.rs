//! The load generator: runs ACT workloads on devices at exact due times, prepares drives, and writes the log.
//!
//! [`LoadRun::execute`] is a whole run: header, devices, threads, blocks, end. Requests come in streams, each with a
//! [`schedule`]. Every thread has a recorder in [`stats`]; the collector adds them up for the [`report`].

pub mod clock;
pub mod config;
pub mod device;
pub mod engine;
pub mod host;
pub mod prep;
pub mod preview;
pub mod progress;
/// Output of a run: the log in ACT's grammar, the side file for programs, and a summary for people.
pub mod report {
    pub mod block;
    pub mod header;
    pub mod output;
    pub mod rounded;
    pub mod side;
    pub mod summary;
    pub mod worst;
}
pub mod run;
pub mod schedule;
pub mod signals;
/// Counters and latency histograms of a run: recorded by the workers, collected and evaluated by one thread.
pub mod stats {
    pub mod act_buckets;
    pub mod collector;
    pub mod histogram;
    pub mod io_errors;
    pub mod operation_stats;
    pub mod rate_check;
    pub mod recorder;
}
pub mod stop;
pub mod telemetry;
pub mod tomb_raider;

use std::path::Path;

pub use run::{LoadEnd, LoadRun};

/// How a load or a preparation ended. The text explains it.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end.
    Finished,
    /// All passes of a preparation are complete, but the rate did not become steady.
    NotSteady(String),
    /// A device was refused. Nothing was written.
    Refused(String),
    /// A device failed.
    DeviceError(String),
    /// The drive or the host cannot sustain the load.
    Overloaded(String),
    /// A signal arrived, or the log, the side file or the state file cannot be written.
    Interrupted(String),
}

impl Outcome {
    /// Returns the reason in the end record, and the text.
    pub fn reason(&self) -> (&'static str, &str) {
        match self {
            Self::Finished => ("finished", ""),
            Self::NotSteady(text) => ("not-steady", text),
            Self::Refused(text) => ("refused", text),
            Self::DeviceError(text) => ("device-error", text),
            Self::Overloaded(text) => ("lag", text),
            Self::Interrupted(text) => ("interrupted", text),
        }
    }
}

/// Returns the directory of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
