//! Errors of the identification of a device.

use std::io;
use std::path::{Path, PathBuf};

use crate::probe::path::DeviceNumber;

/// A device that cannot be identified.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The path, or a file that describes the device, cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The machine id cannot be read, but it is part of the device's key.
    #[error(
        "{path}: cannot be read: {source}; expected a file with 32 hexadecimal digits that all users may read, because it is part of \
         the key of every device without an own identity; `chmod 0444 {path}` as root"
    )]
    MachineUnknown {
        /// `/etc/machine-id`.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path is neither a block device nor a regular file.
    #[error("{path}: expected a block device or a regular file, got {got}; name the drive itself")]
    NotADrive {
        /// The path.
        path: PathBuf,
        /// The type of the file.
        got: &'static str,
    },
    /// The kernel does not describe the device.
    #[error(
        "{path}: block device {number} is not in {sysfs}; run this on the host itself, not in a container"
    )]
    Undescribed {
        /// The path.
        path: PathBuf,
        /// Its number.
        number: DeviceNumber,
        /// Where it was searched.
        sysfs: PathBuf,
    },
    /// A file of the kernel has an unexpected content.
    #[error("{path}: expected {expected}, got {got:?}")]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The actual content.
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
