//! The devices of a load: opening for direct I/O, inspection without a change, offsets of requests, and the error lines
//! of act_storage.

mod offsets;
mod open;
mod preallocation;

pub use offsets::Offsets;
pub use open::{OpenRequest, inspect, open};

use std::fs::File;
use std::io;

use drivetest_device::opening::{OpenRefusal, Reason};
use rustix::io::Errno;

/// An open device or plain file.
#[derive(Debug)]
pub struct Device {
    /// As in the configuration.
    pub name: String,
    pub(crate) file: File,
    /// Size, bytes.
    pub size_bytes: u64,
    /// Smallest direct read: 512 to 4096 bytes.
    pub minimum_io_bytes: u32,
    /// Offsets of requests.
    pub offsets: Offsets,
}

/// A range of bytes of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Start on the device.
    pub offset: u64,
    /// Length, bytes.
    pub length: usize,
}

impl Device {
    /// Returns a second handle of the device, for a name that is listed twice in the configuration.
    ///
    /// # Errors
    /// [`Reason::Open`] if the process has no further descriptor.
    pub fn duplicate(&self) -> Result<Self, OpenRefusal> {
        let file = self.file.try_clone();
        let file = file.map_err(|error| Reason::Open(error).of(&self.name))?;
        Ok(Self {
            name: self.name.clone(),
            file,
            ..*self
        })
    }

    /// Reads an extent into the start of `buffer` and returns the number of bytes.
    ///
    /// # Errors
    /// The device's error.
    pub fn read(&self, extent: Extent, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::pread(&self.file, &mut buffer[..extent.length], extent.offset)
    }

    /// Writes the start of `buffer` to an extent and returns the number of bytes.
    ///
    /// # Errors
    /// The device's error.
    pub fn write(&self, extent: Extent, buffer: &[u8]) -> Result<usize, Errno> {
        rustix::io::pwrite(&self.file, &buffer[..extent.length], extent.offset)
    }
}

/// Returns act_storage's error line for a refusal, if it has one.
pub(crate) fn upstream_line(refusal: &OpenRefusal) -> Option<String> {
    let OpenRefusal::Device { name, reason } = refusal else {
        return None;
    };
    match reason {
        Reason::Open(error) => Some(open_error(name, error)),
        Reason::Missing => Some(open_error(name, &Errno::NOENT.into())),
        Reason::InUse => Some(open_error(name, &Errno::BUSY.into())),
        Reason::TooSmall { .. } => Some(format!("ERROR: {name} ioctl to discover size")),
        Reason::Unreadable(_) => Some(format!(
            "ERROR: {name} read failed at all sizes from 512 to 4096 bytes"
        )),
        _ => None,
    }
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
        let line = upstream_line(&Reason::Missing.of("/dev/zram77"));
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
