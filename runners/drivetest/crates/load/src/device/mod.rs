//! The devices of a load: opening for direct I/O, offsets of requests, and refusals.

mod fd_handoff;
mod offsets;
mod open;
mod preallocate;
mod refusal;

use std::fs::File;

use rustix::io::Errno;

pub use fd_handoff::{HandedOffDevice, open_for_handoff};
pub use offsets::Offsets;
pub use open::{Guard, OpenRequest, open};
pub(crate) use open::{
    block_device_refusal, check_before_opening, check_opened, claim, found_data, kind, minimum_io,
};
pub use refusal::Refusal;
pub(crate) use refusal::{errno_name, strerror};

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
    /// [`Refusal::Open`] if the process has no further descriptor.
    pub fn duplicate(&self) -> Result<Self, Refusal> {
        let file = self.file.try_clone().map_err(|source| Refusal::Open {
            name: self.name.clone(),
            source,
        })?;
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
