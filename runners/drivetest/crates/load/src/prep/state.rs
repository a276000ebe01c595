//! The state file: the progress of each device, from which an interrupted preparation resumes.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{PassKind, PrepOptions};
use crate::folder;

const SCHEMA: &str = "drivecert.prep-state/1";

/// The identity of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveIdentity {
    /// Key of the physical drive.
    pub drive_key: String,
    /// Distinguishes the namespaces of a drive.
    pub wwn: Option<String>,
    /// Distinguishes partitions.
    pub partition: Option<u32>,
    /// Size of the named device.
    pub size_bytes: u64,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// As named by the user; for information only.
    pub path: String,
    /// What identifies it.
    #[serde(flatten)]
    pub place: DriveIdentity,
    /// Bytes from the start of the device, in the current pass.
    pub done_bytes: u64,
}

/// Content of the file; `drivecert.prep-state/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    schema: String,
    /// Seed of the written data.
    pub seed: u64,
    /// As in the options.
    pub compress_pct: u32,
    /// As in the options.
    pub request_bytes: usize,
    /// All passes, in order.
    pub passes: Vec<PassKind>,
    /// Number of completed passes.
    pub passes_done: usize,
    /// In the order of the command line.
    pub devices: Vec<Device>,
}

/// A state file from which a preparation cannot resume.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct StateError {
    path: PathBuf,
    /// What is wrong.
    pub(super) problem: StateProblem,
}

/// What is wrong with a state file.
#[derive(Debug, thiserror::Error)]
pub(super) enum StateProblem {
    /// Reading or writing failed.
    #[error("the state file cannot be read or written: {0}")]
    File(io::Error),
    /// The file is no valid state, for this reason.
    #[error("expected {SCHEMA}, got something else ({0}); choose another file")]
    Form(String),
    /// The options differ in this one.
    #[error(
        "was started with {0}, got another value; use the same options, or remove the file to start again"
    )]
    Settings(String),
    /// The drives differ.
    #[error(
        "was started on {expected}, got {got}; nothing was written; name the same drives in the same order, or remove \
         the file to start again"
    )]
    Drive {
        /// The drives in the file.
        expected: String,
        /// The named drives.
        got: String,
    },
}

impl StateProblem {
    fn of(self, path: &Path) -> StateError {
        StateError {
            path: path.to_path_buf(),
            problem: self,
        }
    }
}

impl State {
    /// Reads the file. None if it does not exist or is empty.
    ///
    /// # Errors
    /// If the file cannot be read or is no state.
    pub fn read(path: &Path) -> Result<Option<Self>, StateError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StateProblem::File(error).of(path)),
        };
        if text.is_empty() {
            return Ok(None);
        }
        let form = |why: String| StateProblem::Form(why).of(path);
        let state: Self = serde_json::from_str(&text).map_err(|error| form(error.to_string()))?;
        if state.schema != SCHEMA {
            return Err(form(format!("its schema is {}", state.schema)));
        }
        state
            .impossible_progress()
            .map_or(Ok(Some(state)), |why| Err(form(why)))
    }

    /// Returns what is impossible in the state, if anything. An invalid state could mark a drive as finished that was
    /// never written.
    fn impossible_progress(&self) -> Option<String> {
        let (done, all) = (self.passes_done, self.passes.len());
        if done > all {
            return Some(format!("{done} of {all} passes are done"));
        }
        let beyond = |device: &&Device| device.done_bytes > device.place.size_bytes;
        self.devices.iter().find(beyond).map(|device| {
            let (done_bytes, size_bytes) = (device.done_bytes, device.place.size_bytes);
            format!("{done_bytes} of {size_bytes} bytes of {} are done", device.path)
        })
    }

    /// Creates the state before the first write.
    pub(super) fn new(options: &PrepOptions, devices: Vec<Device>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            seed: options.seed,
            compress_pct: options.compress_pct,
            request_bytes: options.request_bytes,
            passes: options.passes.clone(),
            passes_done: 0,
            devices,
        }
    }

    /// Refuses a state with other options, which would mix two different contents on the drives.
    ///
    /// # Errors
    /// [`StateError`] with the first difference.
    pub fn check_settings(&self, path: &Path, options: &PrepOptions) -> Result<(), StateError> {
        let expected = Self::new(options, Vec::new()).settings();
        let mut pairs = self.settings().into_iter().zip(expected);
        match pairs.find(|(started, expected)| started != expected) {
            Some((started, _)) => Err(StateProblem::Settings(started).of(path)),
            None => Ok(()),
        }
    }

    /// Describes the options that determine the content of the drives.
    fn settings(&self) -> [String; 4] {
        let passes: Vec<_> = self.passes.iter().map(|pass| pass.name()).collect();
        [
            format!("seed {}", self.seed),
            format!("--compress-pct {}", self.compress_pct),
            format!("requests of {} bytes", self.request_bytes),
            format!("passes {}", passes.join(" and ")),
        ]
    }

    /// Refuses other drives.
    pub(super) fn check_drives(&self, path: &Path, there: &[Device]) -> Result<(), StateError> {
        let places = self.devices.iter().map(|device| &device.place);
        if places.eq(there.iter().map(|device| &device.place)) {
            return Ok(());
        }
        let described = |devices: &[Device]| devices.iter().map(describe).collect::<Vec<_>>().join(", ");
        let problem = StateProblem::Drive {
            expected: described(&self.devices),
            got: described(there),
        };
        Err(problem.of(path))
    }

    /// Writes a new file and renames it, so that a crash leaves either the old or the new one.
    pub(super) fn save(&self, path: &Path) -> Result<(), StateError> {
        let new_path = PathBuf::from(format!("{}.new", path.display()));
        let write = || -> io::Result<()> {
            let mut file = File::create(&new_path)?;
            serde_json::to_writer(&file, self)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            std::fs::rename(&new_path, path)?;
            File::open(folder(path))?.sync_all()
        };
        write().map_err(|error| StateProblem::File(error).of(path))
    }
}

fn describe(device: &Device) -> String {
    let place = &device.place;
    let partition = place
        .partition
        .map(|number| format!(" partition {number}"))
        .unwrap_or_default();
    format!(
        "{} ({}{partition}, {} bytes)",
        device.path, place.drive_key, place.size_bytes
    )
}
