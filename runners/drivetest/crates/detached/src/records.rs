//! Records in the files `pid` and `exit` and in the lock file of a drive.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::DetachError;

/// `pid`: the process that executes the program. It writes the file once, before the load begins.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct PidRecord {
    /// The process id.
    pub pid: i32,
    /// Clock ticks from boot to its start.
    pub start_ticks: u64,
    /// The generation of the start on its drive.
    pub generation: u64,
    /// The boot of the host.
    pub boot_id: String,
}

/// `exit`: how the program ended, written by the monitor, or that the run was stopped before its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExitRecord {
    /// The exit status, if the program exited.
    pub exit_status: Option<i32>,
    /// The signal, if one ended the program.
    pub signal: Option<i32>,
    /// An explanation, or empty.
    pub reason: String,
}

/// The content of a drive's lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DriveRecord {
    /// The newest generation that got the drive.
    pub generation: u64,
    /// The run directory of that generation.
    pub run_dir: PathBuf,
}

/// Reads a record. Returns None if the file does not exist.
pub(crate) fn read<Record: DeserializeOwned>(path: &Path) -> Result<Option<Record>, DetachError> {
    let bytes = DetachError::unless_missing(fs::read(path), path, "read")?;
    bytes.map(|bytes| parse(path, &bytes)).transpose()
}

/// Parses the bytes of the record at `path`.
pub(crate) fn parse<Record: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<Record, DetachError> {
    serde_json::from_slice(bytes).map_err(|_| DetachError::Record {
        path: path.to_path_buf(),
        got: String::from_utf8_lossy(bytes).chars().take(60).collect(),
    })
}

/// Waits until the name of a file is on disk, or its removal.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}
