//! The small records that launcher, monitor, program and lock file leave for whoever asks later.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::DetachError;

/// `pid`: which process became the program. Written once, by that process, before the load begins.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct PidRecord {
    /// The process number.
    pub pid: i32,
    /// Clock ticks from boot to its start.
    pub start_ticks: u64,
    /// Which start for the drive it was.
    pub generation: u64,
    /// The boot it belongs to.
    pub boot_id: String,
}

/// `exit`: how the program ended, as the monitor saw it, or that it was stopped before its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExitRecord {
    /// The exit status, when the program exited.
    pub exit_status: Option<i32>,
    /// The signal, when one ended it.
    pub signal: Option<i32>,
    /// A sentence; empty when there is nothing to add.
    pub reason: String,
}

/// The content of a drive's lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DriveRecord {
    /// The newest generation that was let in.
    pub generation: u64,
    /// The run directory it was given to.
    pub run_dir: PathBuf,
}

/// Reads a record; None when the file does not exist.
pub(crate) fn read<Record: DeserializeOwned>(path: &Path) -> Result<Option<Record>, DetachError> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DetachError::file(path, "read", source)),
        Ok(bytes) => parse(path, &bytes).map(Some),
    }
}

/// Parses the bytes of the record at `path`.
pub(crate) fn parse<Record: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<Record, DetachError> {
    serde_json::from_slice(bytes).map_err(|_| DetachError::Record {
        path: path.to_path_buf(),
        got: String::from_utf8_lossy(bytes).chars().take(60).collect(),
    })
}
