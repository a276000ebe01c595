//! The devices of a load: opening for direct I/O, and offsets of requests.

mod error_lines;
mod offsets;
mod open;
mod preallocate;

use std::fs::File;

use drivetest_device::opening::{OpenRefusal, Reason};
use rustix::io::Errno;

pub(crate) use error_lines::{errno_name, strerror, upstream_line};
pub use offsets::Offsets;
pub use open::{OpenRequest, open};

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
