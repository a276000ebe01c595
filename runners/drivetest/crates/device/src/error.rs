//! What can keep a device from being identified.

use std::io;
use std::path::{Path, PathBuf};

use crate::open::path_probe::DeviceNumber;

/// Why nothing can be said about a device.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The path, or a file that describes the device, cannot be read.
    #[error("{path}: cannot be looked at: {source}")]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// What is named after its machine has no name while the machine has none.
    #[error(
        "{path}: cannot be read: {source}; expected a file that everybody may read, with 32 hexadecimal digits: it is part of \
         the key of every device without a name of its own; `chmod 0444 {path}` as root"
    )]
    MachineUnknown {
        /// `/etc/machine-id`.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The path leads to something that holds no data of its own.
    #[error("{path}: expected a block device or a regular file, got {got}; name the drive itself")]
    NotADrive {
        /// The path.
        path: PathBuf,
        /// What it is.
        got: &'static str,
    },
    /// The kernel does not describe the device.
    #[error(
        "{path}: block device {number} is not in {sysfs}; look from the host itself, not from a container"
    )]
    Undescribed {
        /// The path.
        path: PathBuf,
        /// Its number.
        number: DeviceNumber,
        /// Where it was looked for.
        sysfs: PathBuf,
    },
    /// A file of the kernel holds something unexpected.
    #[error("{path}: expected {expected}, got {got:?}")]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
        /// What it holds.
        got: String,
    },
}

impl DeviceError {
    pub(crate) fn unreadable(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Unreadable {
            path: path.to_path_buf(),
            source: source.into(),
        }
    }

    pub(crate) fn unexpected(path: &Path, expected: &'static str, got: &str) -> Self {
        Self::Unexpected {
            path: path.to_path_buf(),
            expected,
            got: got.to_owned(),
        }
    }
}
