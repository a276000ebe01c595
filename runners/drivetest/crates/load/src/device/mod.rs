//! The devices under load: opened for direct I/O, or refused with a reason.

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
pub(crate) use open::{found_data, kind, lock_file, minimum_io};
pub use refusal::Refusal;
pub(crate) use refusal::{errno_name, strerror};

/// A device or plain file, open and measured.
#[derive(Debug)]
pub struct Device {
    /// As named in the configuration.
    pub name: String,
    pub(crate) file: File,
    /// Size, bytes.
    pub size_bytes: u64,
    /// The least that can be read directly: 512 to 4096.
    pub minimum_io_bytes: u32,
    /// Where requests go.
    pub offsets: Offsets,
}

/// A piece of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// From the device's beginning.
    pub offset: u64,
    /// How long, bytes.
    pub length: usize,
}

impl Device {
    /// The same device once more, for a name that stands twice in the configuration.
    ///
    /// # Errors
    /// [`Refusal::Open`] where the process may have no further descriptor.
    pub fn again(&self) -> Result<Self, Refusal> {
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

    /// Reads an extent into the beginning of `buffer`; returns how many bytes came.
    ///
    /// # Errors
    /// The device's error.
    pub fn read(&self, extent: Extent, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::pread(&self.file, &mut buffer[..extent.length], extent.offset)
    }

    /// Writes the beginning of `buffer` to an extent; returns how many bytes went.
    ///
    /// # Errors
    /// The device's error.
    pub fn write(&self, extent: Extent, buffer: &[u8]) -> Result<usize, Errno> {
        rustix::io::pwrite(&self.file, &buffer[..extent.length], extent.offset)
    }
}
