//! What the drive holds: a file in memory, so that reads and writes of several threads need no lock of ours.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};

/// Bytes in memory; what was never written takes none and reads as zeros.
#[derive(Debug)]
pub struct Memory(File);

impl Memory {
    /// That many zeros.
    ///
    /// # Errors
    /// When the system gives no file in memory, or not of that size.
    pub fn new(size_bytes: u64) -> io::Result<Self> {
        let file = File::from(memfd_create("testdrive", MemfdFlags::CLOEXEC)?);
        file.set_len(size_bytes)?;
        Ok(Self(file))
    }

    /// The bytes at `offset`, fewer where the drive ends.
    ///
    /// # Errors
    /// As the system tells them.
    pub fn read<'a>(&self, offset: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let length = self.0.read_at(buffer, offset)?;
        Ok(&buffer[..length])
    }

    /// Puts bytes at `offset`.
    ///
    /// # Errors
    /// As the system tells them, above all that memory is short.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
}
