//! Preparing drives for a load: zeros everywhere, then random data everywhere, then overwriting until the rate is steady.
//!
//! A new drive answers reads of offsets never written without touching its cells, and writes to clean cells faster than it
//! ever will again. Zeros first, then random data, is what act_prep does (there in 8 threads without an end to errors).
//! Each pass writes the pieces of a device in their order, several at a time, so that what is done is a prefix and one
//! number per device is enough to go on from.

mod device;
mod progress;
mod record;
mod run;
mod sequential_fill;
mod state;
mod steady_state;
mod workers;

use std::path::PathBuf;

pub use device::PrepRefusal;
pub use progress::LiveOutput;
pub use run::Prep;
pub use state::{State, StateError};
pub use steady_state::Window;

/// What is to be done.
#[derive(Debug, Clone)]
pub struct PrepOptions {
    /// In this order.
    pub passes: Vec<PassKind>,
    /// 0 to 100: how much of the salt is random.
    pub compress_pct: u32,
    /// Requests out at a time, per device.
    pub streams: usize,
    /// A multiple of 4096.
    pub request_bytes: usize,
    /// What is written follows from it.
    pub seed: u64,
    /// Whether data that is recognised may be overwritten.
    pub may_destroy: bool,
    /// Where progress is kept.
    pub state: Option<PathBuf>,
    /// Overwriting after the passes.
    pub steady: Option<SteadyStateOptions>,
}

/// Random overwriting until the rate is steady.
#[derive(Debug, Clone)]
pub struct SteadyStateOptions {
    /// A multiple of 512.
    pub block_bytes: usize,
    /// Requests out at a time, per device.
    pub depth: usize,
    /// Length of a round, seconds.
    pub round_s: u64,
    /// Then it is given up.
    pub rounds_max: usize,
    /// Where the report goes, as JSON.
    pub report: Option<PathBuf>,
}

/// One way over the whole device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassKind {
    /// Zeros.
    Zero,
    /// Random data.
    Salt,
}

impl PassKind {
    /// The word of records and of the progress bar.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Salt => "salt",
        }
    }

    /// The word of act_prep's log.
    fn doing(self) -> &'static str {
        match self {
            Self::Zero => "cleaning",
            Self::Salt => "salting",
        }
    }
}

/// How it ended, with the sentence that tells it.
#[derive(Debug, PartialEq, Eq)]
pub enum PrepOutcome {
    /// Everything was done.
    Finished,
    /// Everything was written, and the rate did not become steady.
    NotSteady(String),
    /// A device was refused; nothing was written.
    Refused(String),
    /// A write failed.
    DeviceError(String),
    /// A signal came, or the log or the state could not be written.
    Interrupted(String),
}

impl PrepOutcome {
    /// The word of the end record, and the sentence.
    pub fn reason(&self) -> (&'static str, &str) {
        match self {
            Self::Finished => ("finished", ""),
            Self::NotSteady(text) => ("not-steady", text),
            Self::Refused(text) => ("refused", text),
            Self::DeviceError(text) => ("device-error", text),
            Self::Interrupted(text) => ("interrupted", text),
        }
    }
}
