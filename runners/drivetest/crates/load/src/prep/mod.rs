//! Preparation of drives for a load: zeros everywhere, then random data everywhere, then overwriting until the rate
//! is steady.
//!
//! A new drive answers reads of unwritten ranges without accessing its cells, and writes to clean cells faster than
//! later. act_prep also writes zeros and then random data, but with 8 threads and without handling errors. Each pass
//! writes the pieces of a device in order, several at a time. So one number per device is enough to resume it.

mod device;
mod progress;
mod record;
mod run;
mod sequential_fill;
mod state;
mod steady_state;
mod workers;

use std::path::PathBuf;

pub(crate) use progress::Meter;
pub use progress::MeterSample;
pub use run::{Prep, PrepEnd};
pub use state::{State, StateError};
pub use steady_state::Window;

/// Options of a preparation.
#[derive(Debug, Clone)]
pub struct PrepOptions {
    /// The passes, in order.
    pub passes: Vec<PassKind>,
    /// 0 to 100: percentage of the salt that is random.
    pub compress_pct: u32,
    /// Number of outstanding requests per device.
    pub streams: usize,
    /// Length of a request; a multiple of 4096.
    pub request_bytes: usize,
    /// Seed of the written data.
    pub seed: u64,
    /// Whether recognised data may be overwritten.
    pub may_destroy: bool,
    /// The state file.
    pub state: Option<PathBuf>,
    /// Overwriting after the passes.
    pub steady: Option<SteadyStateOptions>,
}

/// Random overwriting until the rate is steady. Records and report contain it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SteadyStateOptions {
    /// A multiple of 512.
    pub block_bytes: usize,
    /// Number of outstanding requests per device.
    pub depth: usize,
    /// Length of a round, seconds.
    pub round_s: u64,
    /// Maximum number of rounds.
    pub rounds_max: usize,
    /// The report file, JSON.
    #[serde(skip)]
    pub report: Option<PathBuf>,
}

/// A pass over the whole device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassKind {
    /// Writes zeros.
    Zero,
    /// Writes random data.
    Salt,
}

impl PassKind {
    /// Returns the name in records and in the live progress.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Salt => "salt",
        }
    }

    /// Returns the verb in act_prep's log.
    fn verb(self) -> &'static str {
        match self {
            Self::Zero => "cleaning",
            Self::Salt => "salting",
        }
    }
}
