//! Refusals of devices, with messages that name the device and the remedy.

use std::io;

/// A device that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Opening failed for another reason.
    #[error("{name}: cannot be opened for direct I/O: {source}")]
    Open {
        /// The device.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// The path does not exist.
    #[error("{name}: does not exist; check device-names")]
    Missing {
        /// The device.
        name: String,
    },
    /// Another user has exclusive access.
    #[error(
        "{name}: in use (by a file system, swap, RAID, LVM, or another test); release it or choose another device"
    )]
    InUse {
        /// The device.
        name: String,
    },
    /// The load writes to a read-only device.
    #[error("{name}: is read-only and the load writes; make it writable or set write-reqs-per-sec to 0")]
    ReadOnly {
        /// The device.
        name: String,
    },
    /// Not a block device or plain file.
    #[error("{name}: is {kind}; name a block device, or a plain file with file-size-mbytes")]
    WrongKind {
        /// The device.
        name: String,
        /// The type of the file.
        kind: &'static str,
    },
    /// A plain file without a configured size.
    #[error("{name}: is a plain file; set its size with file-size-mbytes")]
    FileWithoutSize {
        /// The file.
        name: String,
    },
    /// A block device with a configured file size.
    #[error("{name}: is a block device; remove file-size-mbytes")]
    DeviceWithFileSize {
        /// The device.
        name: String,
    },
    /// An existing file with another size than the configured one.
    #[error(
        "{name}: has {found_bytes} bytes, but file-size-mbytes requires {wanted_bytes}; choose a new file, or allow it to be destroyed"
    )]
    OtherSize {
        /// The file.
        name: String,
        /// Its size.
        found_bytes: u64,
        /// The configured size.
        wanted_bytes: u64,
    },
    /// Too little space for the plain file.
    #[error(
        "{name}: needs {missing_bytes} more bytes, but its file system has only {free_bytes} free; reduce file-size-mbytes, or free space"
    )]
    NoRoom {
        /// The file.
        name: String,
        /// The additional space.
        missing_bytes: u64,
        /// The free space.
        free_bytes: u64,
    },
    /// Filling the plain file failed.
    #[error("{name}: cannot be filled with {wanted_bytes} bytes: {source}")]
    Fill {
        /// The file.
        name: String,
        /// The configured size.
        wanted_bytes: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The device is too small for one large block and one record, or for one index page.
    #[error("{name}: has {size_bytes} bytes, less than {needed}; choose a larger device")]
    TooSmall {
        /// The device.
        name: String,
        /// Its size.
        size_bytes: u64,
        /// The minimum.
        needed: &'static str,
    },
    /// Direct reads of all sizes failed.
    #[error("{name}: direct reads of 512 to 4096 bytes all fail: {source}")]
    Unreadable {
        /// The device.
        name: String,
        /// The error of the last read.
        source: io::Error,
    },
    /// The device contains data.
    #[error("{name}: contains {what}, which the load would overwrite; wipe it, or allow it to be destroyed")]
    HoldsData {
        /// The device.
        name: String,
        /// The recognised data.
        what: &'static str,
    },
    /// The check before opening refused the device.
    #[error("{0}")]
    Unsafe(String),
    /// A signal arrived while files were being filled.
    #[error("stopped by signal {0} while files were being filled")]
    Interrupted(&'static str),
}

impl Refusal {
    /// Returns the error line of act_storage, if it has one.
    pub fn upstream_line(&self) -> Option<String> {
        match self {
            Self::Open { name, source } => Some(open_error(name, source)),
            Self::Missing { name } => Some(open_error(name, &errno(rustix::io::Errno::NOENT))),
            Self::InUse { name } => Some(open_error(name, &errno(rustix::io::Errno::BUSY))),
            Self::TooSmall { name, .. } => Some(format!("ERROR: {name} ioctl to discover size")),
            Self::Unreadable { name, .. } => Some(format!(
                "ERROR: {name} read failed at all sizes from 512 to 4096 bytes"
            )),
            _ => None,
        }
    }
}

fn errno(number: rustix::io::Errno) -> io::Error {
    io::Error::from(number)
}

fn open_error(name: &str, source: &io::Error) -> String {
    let number = source.raw_os_error().unwrap_or_default();
    format!("ERROR: open device {name} errno {number} '{}'", strerror(number))
}

/// Returns the C library's message for an error number.
pub(crate) fn strerror(number: i32) -> String {
    let text = io::Error::from_raw_os_error(number).to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Returns the name of an error number, such as EIO.
pub(crate) fn errno_name(number: i32) -> String {
    match nix::errno::Errno::from_raw(number) {
        nix::errno::Errno::UnknownErrno => format!("errno {number}"),
        errno => format!("{errno:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_device_has_the_error_line_of_act() {
        // As in tests/data/act/6.6/nodev.log.
        let line = Refusal::Missing {
            name: "/dev/zram77".to_owned(),
        }
        .upstream_line();
        assert_eq!(
            line.as_deref(),
            Some("ERROR: open device /dev/zram77 errno 2 'No such file or directory'")
        );
    }

    #[test]
    fn error_numbers_have_the_messages_of_the_c_library() {
        assert_eq!(strerror(5), "Input/output error");
        assert_eq!(strerror(28), "No space left on device");
        assert_eq!(
            (errno_name(5), errno_name(28), errno_name(9_999)),
            ("EIO".into(), "ENOSPC".into(), "errno 9999".into())
        );
    }
}
