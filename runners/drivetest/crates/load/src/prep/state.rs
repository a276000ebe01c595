//! The state file: how far each device is, so that what a signal or a crash ended can be gone on with.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{PassKind, PrepOptions};

const SCHEMA: &str = "drivecert.prep-state/1";

/// What a device is known again by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveIdentity {
    /// Of the physical drive.
    pub drive_key: String,
    /// Tells namespaces of a drive apart.
    pub wwn: Option<String>,
    /// Tells partitions apart.
    pub partition: Option<u32>,
    /// Of the device named.
    pub size_bytes: u64,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// As it was named; tells people, decides nothing.
    pub path: String,
    /// What decides.
    #[serde(flatten)]
    pub place: DriveIdentity,
    /// From the beginning of the device, in the pass that is under way.
    pub done_bytes: u64,
}

/// The content of the file; `drivecert.prep-state/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    schema: String,
    /// What is written follows from it.
    pub seed: u64,
    /// As asked.
    pub compress_pct: u32,
    /// As asked.
    pub request_bytes: usize,
    /// All of them, in their order.
    pub passes: Vec<PassKind>,
    /// How many of the passes are done.
    pub passes_done: usize,
    /// In the order of the command line.
    pub devices: Vec<Device>,
}

/// A state that cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// MeterSample or writing failed.
    #[error("{path}: the state cannot be read or written: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something else is in it.
    #[error("{path}: expected a {SCHEMA}, got something else ({why}); name another file")]
    Form {
        /// The file.
        path: PathBuf,
        /// What ails it.
        why: String,
    },
    /// Of a preparation that was asked for differently.
    #[error("{path}: was begun with {what}, got another; ask for the same, or remove the file to begin anew")]
    Settings {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// Of other drives.
    #[error(
        "{path}: was begun on {expected}, got {got}; nothing was written; name the same drives in their order, or remove \
         the file to begin anew"
    )]
    Drive {
        /// The file.
        path: PathBuf,
        /// What was begun.
        expected: String,
        /// What is there.
        got: String,
    },
}

impl State {
    /// Reads the file; None when there is none, or nothing in it.
    ///
    /// # Errors
    /// When it cannot be read or is no state.
    pub fn read(path: &Path) -> Result<Option<Self>, StateError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(file_error(path, source)),
        };
        if text.is_empty() {
            return Ok(None);
        }
        let form = |why: String| StateError::Form {
            path: path.to_path_buf(),
            why,
        };
        let state: Self = serde_json::from_str(&text).map_err(|error| form(error.to_string()))?;
        if state.schema != SCHEMA {
            return Err(form(format!("its schema is {}", state.schema)));
        }
        state.impossible().map_or(Ok(Some(state)), |why| Err(form(why)))
    }

    /// What no preparation can have done: who believed it would call a drive finished that was never written.
    fn impossible(&self) -> Option<String> {
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

    /// The state before anything is done.
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

    /// Refuses a state that was begun otherwise: what lies on the drives would follow from two request.
    ///
    /// # Errors
    /// [`StateError::Settings`] names the first thing that differs.
    pub fn check_settings(&self, path: &Path, options: &PrepOptions) -> Result<(), StateError> {
        let words = |passes: &[PassKind]| {
            passes
                .iter()
                .map(|pass| pass.name())
                .collect::<Vec<_>>()
                .join(" and ")
        };
        let differing = [
            (self.seed != options.seed, format!("seed {}", self.seed)),
            (
                self.compress_pct != options.compress_pct,
                format!("--compress-pct {}", self.compress_pct),
            ),
            (
                self.request_bytes != options.request_bytes,
                format!("requests of {} bytes", self.request_bytes),
            ),
            (
                self.passes != options.passes,
                format!("passes {}", words(&self.passes)),
            ),
        ];
        differing
            .into_iter()
            .find(|(differs, _)| *differs)
            .map_or(Ok(()), |(_, what)| {
                Err(StateError::Settings {
                    path: path.to_path_buf(),
                    what,
                })
            })
    }

    /// Refuses other drives.
    pub(super) fn check_drives(&self, path: &Path, there: &[Device]) -> Result<(), StateError> {
        let offsets = |devices: &[Device]| {
            devices
                .iter()
                .map(|device| device.place.clone())
                .collect::<Vec<_>>()
        };
        let told = |devices: &[Device]| devices.iter().map(told).collect::<Vec<_>>().join(", ");
        if offsets(&self.devices) == offsets(there) {
            return Ok(());
        }
        Err(StateError::Drive {
            path: path.to_path_buf(),
            expected: told(&self.devices),
            got: told(there),
        })
    }

    /// Writes the file anew beside the old one and renames it, so that a crash leaves one of the two.
    pub(super) fn save(&self, path: &Path) -> Result<(), StateError> {
        let beside = PathBuf::from(format!("{}.new", path.display()));
        let write = || -> io::Result<()> {
            let mut file = File::create(&beside)?;
            serde_json::to_writer(&file, self)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            std::fs::rename(&beside, path)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(|source| file_error(path, source))
    }
}

fn told(device: &Device) -> String {
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

fn file_error(path: &Path, source: io::Error) -> StateError {
    StateError::File {
        path: path.to_path_buf(),
        source,
    }
}
