//! Why a device is not put under load: sentences that name the device and what to do.

use std::io;

/// A device that is left alone.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Opening failed for a reason not told apart below.
    #[error("{name}: cannot be opened for direct I/O: {source}")]
    Open {
        /// The device.
        name: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// Nothing there.
    #[error("{name}: does not exist; check device-names")]
    Missing {
        /// The device.
        name: String,
    },
    /// Somebody else holds it for himself.
    #[error(
        "{name}: held by another user (a file system, swap, RAID, LVM, or another test); free it or choose another device"
    )]
    InUse {
        /// The device.
        name: String,
    },
    /// The device cannot be written, the load writes.
    #[error("{name}: is read-only and the load writes; make it writable or set write-reqs-per-sec to 0")]
    ReadOnly {
        /// The device.
        name: String,
    },
    /// Not something a load can run on.
    #[error("{name}: is {kind}; name a block device, or a plain file with file-size-mbytes")]
    WrongKind {
        /// The device.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// A plain file, and no size was given.
    #[error("{name}: is a plain file; open_for_handoff its size as file-size-mbytes")]
    FileWithoutSize {
        /// The file.
        name: String,
    },
    /// A device, and a file's size was given.
    #[error("{name}: is a block device; leave file-size-mbytes out")]
    DeviceWithFileSize {
        /// The device.
        name: String,
    },
    /// A file that was there before and is not of the size that was given.
    #[error(
        "{name}: holds {found_bytes} bytes, file-size-mbytes says {wanted_bytes}; name a new file, or allow it to be destroyed"
    )]
    OtherSize {
        /// The file.
        name: String,
        /// Its size.
        found_bytes: u64,
        /// The size asked for.
        wanted_bytes: u64,
    },
    /// No room for the plain file.
    #[error(
        "{name}: takes {missing_bytes} bytes more, its file system has {free_bytes} free; open_for_handoff a smaller file-size-mbytes, or make room"
    )]
    NoRoom {
        /// The file.
        name: String,
        /// What it would take of what is free.
        missing_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },
    /// Making the plain file failed.
    #[error("{name}: cannot be filled with {wanted_bytes} bytes: {source}")]
    Fill {
        /// The file.
        name: String,
        /// The size asked for.
        wanted_bytes: u64,
        /// What the kernel says.
        source: io::Error,
    },
    /// No room for one large block and one record, or for a page of an index.
    #[error("{name}: holds {size_bytes} bytes, less than {needed}; choose a larger device")]
    TooSmall {
        /// The device.
        name: String,
        /// Its size.
        size_bytes: u64,
        /// What the load needs.
        needed: &'static str,
    },
    /// Direct reads fail whatever their size.
    #[error("{name}: direct reads of 512 to 4096 bytes all fail: {source}")]
    Unreadable {
        /// The device.
        name: String,
        /// What the last one said.
        source: io::Error,
    },
    /// Somebody's data is on it.
    #[error("{name}: holds {what}, which the load would overwrite; wipe it, or allow it to be destroyed")]
    HoldsData {
        /// The device.
        name: String,
        /// What was recognised.
        what: &'static str,
    },
    /// Found unsafe by who looked before it was opened.
    #[error("{0}")]
    Unsafe(String),
    /// A signal came while the files were made.
    #[error("stopped by signal {0} while files were being filled")]
    Interrupted(&'static str),
}

impl Refusal {
    /// The words that act_storage has for this, if any.
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

/// The C library's words for an error number.
pub(crate) fn strerror(number: i32) -> String {
    let text = io::Error::from_raw_os_error(number).to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text[..end].to_owned()
}

/// An error number's name, such as EIO.
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
    fn a_missing_device_is_told_in_acts_words() {
        // As in tests/data/act/6.6/nodev.log.
        let words = Refusal::Missing {
            name: "/dev/zram77".to_owned(),
        }
        .upstream_line();
        assert_eq!(
            words.as_deref(),
            Some("ERROR: open device /dev/zram77 errno 2 'No such file or directory'")
        );
    }

    #[test]
    fn error_numbers_have_the_words_of_the_c_library() {
        assert_eq!(strerror(5), "Input/output error");
        assert_eq!(strerror(28), "No space left on device");
        assert_eq!(
            (errno_name(5), errno_name(28), errno_name(9_999)),
            ("EIO".into(), "ENOSPC".into(), "errno 9999".into())
        );
    }
}
