//! Opening a device to write to it: the checks of the opened file, the refusals, aligned memory for direct I/O, and the
//! handoff of a checked device to a foreign program, by descriptor.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::{Errno, FdFlags};

use crate::gate::guard::Guard;
use crate::probe::path::DeviceNumber;
use crate::probe::signature;
use crate::size;

/// A device that is refused. Nothing was written to it.
#[derive(Debug, thiserror::Error)]
pub enum OpenRefusal {
    /// The device, or its content, does not suit.
    #[error("{name}: {reason}")]
    Device {
        /// The device.
        name: String,
        /// Finding and remedy.
        reason: Reason,
    },
    /// A check of the drive's use or identity refused the device.
    #[error("{0}")]
    Unsafe(String),
    /// A signal arrived while files were being filled.
    #[error("stopped by signal {0} while files were being filled")]
    Interrupted(&'static str),
}

/// Why a device is refused when it is opened.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// Opening failed for another reason.
    #[error("cannot be opened for direct I/O: {0}")]
    Open(io::Error),
    /// The path does not exist.
    #[error("does not exist; check device-names")]
    Missing,
    /// The path of a device to prepare does not exist.
    #[error("does not exist; check the name (plain files must already have their size)")]
    MissingToPrepare,
    /// Another user has exclusive access.
    #[error(
        "in use (by a file system, swap, RAID, LVM, or another test); release it or choose another device"
    )]
    InUse,
    /// The load writes to a read-only device.
    #[error("is read-only and the load writes; make it writable or set write-reqs-per-sec to 0")]
    ReadOnly,
    /// Neither a block device nor a plain file, but this type of file.
    #[error("is {0}; name a block device, or a plain file with file-size-mbytes")]
    WrongKind(&'static str),
    /// Like [`Reason::WrongKind`], of a device to prepare.
    #[error("is {0}; name a block device, or a plain file that already has its size")]
    WrongKindToPrepare(&'static str),
    /// A plain file without a configured size.
    #[error("is a plain file; set its size with file-size-mbytes")]
    FileWithoutSize,
    /// A block device with a configured file size.
    #[error("is a block device; remove file-size-mbytes")]
    DeviceWithFileSize,
    /// An existing file with another size than the configured one.
    #[error(
        "has {}, but file-size-mbytes requires {}; choose a new file, or allow it to be destroyed",
        exact(.found_bytes), exact(.wanted_bytes)
    )]
    OtherSize {
        /// Its size.
        found_bytes: u64,
        /// The configured size.
        wanted_bytes: u64,
    },
    /// A file to prepare whose size is 0 or not a multiple of the unit.
    #[error("is a file of {0} bytes, but needs a multiple of 4096; set its size first (truncate --size)")]
    FileSize(u64),
    /// Too little space for the plain file.
    #[error(
        "needs {} more, but its file system has only {} free; reduce file-size-mbytes, or free space",
        with_bytes(.missing_bytes), with_bytes(.free_bytes)
    )]
    NoRoom {
        /// The additional space.
        missing_bytes: u64,
        /// The free space.
        free_bytes: u64,
    },
    /// Filling the plain file up to this size failed.
    #[error("cannot be filled with {size}: {1}", size = exact(.0))]
    Fill(u64, io::Error),
    /// The device is too small for one large block and one record, or for one index page.
    #[error("has {}, less than {needed}; choose a larger device", exact(.size_bytes))]
    TooSmall {
        /// Its size.
        size_bytes: u64,
        /// The minimum.
        needed: &'static str,
    },
    /// The blocks of the steady-state test are smaller than the device's units.
    #[error("requires requests of at least {least_bytes} bytes, got --steady-block-bytes {block_bytes}")]
    SmallBlocks {
        /// The device's minimum.
        least_bytes: u32,
        /// The requested block size.
        block_bytes: usize,
    },
    /// The blocks of the steady-state test are larger than the device.
    #[error(
        "has {}, less than one block of --steady-block-bytes {block_bytes}; use smaller blocks",
        exact(.size_bytes)
    )]
    LargeBlocks {
        /// Its size.
        size_bytes: u64,
        /// The requested block size.
        block_bytes: usize,
    },
    /// Direct reads of all sizes failed, the last with this error.
    #[error("direct reads of 512 to 4096 bytes all fail: {0}")]
    Unreadable(io::Error),
    /// The device contains data that was recognised.
    #[error("contains {0}, which the load would overwrite; wipe it, or allow it to be destroyed")]
    HoldsData(&'static str),
    /// Like [`Reason::HoldsData`], of a device to prepare.
    #[error("contains {0}, which would be overwritten; wipe it, or give --i-know-this-destroys-data")]
    HoldsDataToPrepare(&'static str),
}

/// Returns a size in a message. The message passes its fields by reference.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "thiserror passes references")]
fn exact(bytes: &u64) -> String {
    size::exact_text(*bytes)
}

/// Returns a size in a message that compares sizes, so that two different sizes never have the same text.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "thiserror passes references")]
fn with_bytes(bytes: &u64) -> String {
    size::text_with_bytes(*bytes)
}

impl Reason {
    /// Returns the refusal of a device for this reason.
    pub fn of(self, name: &str) -> OpenRefusal {
        OpenRefusal::Device {
            name: name.to_owned(),
            reason: self,
        }
    }

    /// Returns the reason for an error of opening.
    pub fn of_open_error(error: io::Error) -> Self {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::BUSY) => Self::InUse,
            _ => Self::Open(error),
        }
    }
}

/// Opens a device for reading, and for writing if the load writes, so that a load that only reads cannot destroy data.
/// `O_EXCL` fails if the kernel uses a block device: mounted, swap, RAID, or another test.
///
/// # Errors
/// The system's error.
pub fn open(name: &str, writes: bool, flags: OFlags) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(writes);
    options.custom_flags(flags.bits() as i32).open(name)
}

/// Locks a plain file, which `O_EXCL` does not, so that two tests cannot use it.
///
/// # Errors
/// [`Reason::InUse`] if another test uses the file.
pub fn claim(name: &str, file: File) -> Result<File, OpenRefusal> {
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(Reason::InUse.of(name)),
        Err(error) => Err(Reason::Open(error.into()).of(name)),
    }
}

/// Describes a file that is neither a block device nor a plain file.
pub fn kind(found: &Metadata) -> &'static str {
    let of = found.file_type();
    match () {
        () if of.is_dir() => "a directory",
        () if of.is_char_device() => "a character device",
        () if of.is_fifo() => "a pipe",
        () if of.is_socket() => "a socket",
        () => "neither a block device nor a plain file",
    }
}

/// Returns whether a block device is read-only. The kernel opens it for writing and then fails each write (seen on 6.18).
pub fn is_read_only(found: &Metadata) -> bool {
    let path = format!("/sys/dev/block/{}/ro", DeviceNumber::of(found.rdev()));
    std::fs::read_to_string(path).is_ok_and(|text| text.trim() == "1")
}

/// Returns the smallest direct read, bytes. Source: src/storage/act_storage.c, discover_min_op_bytes().
///
/// # Errors
/// The error of the last read, if the reads of all sizes fail.
pub fn minimum_io(file: &File) -> io::Result<u32> {
    let mut buffer = Buffer::new(4_096);
    let mut failed = Ok(());
    for size in [512, 1_024, 2_048, 4_096] {
        failed = file.read_exact_at(&mut buffer.bytes()[..size], 0);
        if failed.is_ok() {
            return Ok(size as u32);
        }
    }
    failed.map(|()| 0)
}

/// Refuses a device or file with recognised data.
///
/// # Errors
/// [`Reason::HoldsData`], or [`Reason::Unreadable`].
pub fn refuse_data(name: &str, file: &File, size_bytes: u64) -> Result<(), OpenRefusal> {
    match found_data(file, size_bytes) {
        Ok(None) => Ok(()),
        Ok(Some(what)) => Err(Reason::HoldsData(what).of(name)),
        Err(error) => Err(Reason::Unreadable(error).of(name)),
    }
}

/// Returns the public name of the data that is recognised on a device or file that was opened for direct I/O.
///
/// # Errors
/// The system's error.
pub fn found_data(file: &File, size_bytes: u64) -> io::Result<Option<&'static str>> {
    let found = signature::found(size_bytes, |length, offset| {
        let mut buffer = Buffer::new(length);
        file.read_exact_at(buffer.bytes(), offset)?;
        Ok(buffer.bytes().to_vec())
    })?;
    Ok(found.map(|signature| signature.name))
}

/// Direct I/O requires memory that is aligned to the device's block size; ACT's largest is 4096.
const ALIGNMENT_BYTES: usize = 4096;

/// A buffer that is aligned to 4096 bytes.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    offset: usize,
    size: usize,
}

impl Buffer {
    /// Creates a buffer of zeros.
    pub fn new(size: usize) -> Self {
        let memory = vec![0; size + ALIGNMENT_BYTES];
        let offset = memory.as_ptr().align_offset(ALIGNMENT_BYTES);
        Self { memory, offset, size }
    }

    /// Returns the bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.offset..self.offset + self.size]
    }
}

/// An open device that passed all checks. Its path may change at any time; the open descriptor cannot.
#[derive(Debug)]
pub struct HandedOffDevice(File);

impl HandedOffDevice {
    /// Returns a path for a child process that inherits the descriptor. It always names the checked device.
    pub fn path(&self) -> String {
        descriptor(&self.0)
    }
}

/// Checks the guard's first device, opens it and writes nothing.
///
/// The device does not stay open exclusively, because programs that overwrite a whole device open it so themselves.
///
/// # Errors
/// [`OpenRefusal`], also for recognised data unless `may_destroy` is set.
pub fn open_for_handoff(
    guard: &dyn Guard,
    name: &str,
    may_destroy: bool,
) -> Result<HandedOffDevice, OpenRefusal> {
    guard.check(0)?;
    let mut file = open_alone(name)?;
    guard.check_opened(0, &file)?;
    let failed = |error| Reason::Open(error).of(name);
    if !may_destroy {
        let size_bytes = file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        refuse_data(name, &file, size_bytes)?;
    }
    inheritable(&file).map(HandedOffDevice).map_err(failed)
}

/// Opens for reading only. Closing a descriptor for writing would make udev probe the drive again.
fn open_alone(name: &str) -> Result<File, OpenRefusal> {
    let failed = |error| Reason::of_open_error(error).of(name);
    let found = std::fs::metadata(name).map_err(failed)?;
    match found.file_type() {
        of if of.is_block_device() => {
            open(name, false, OFlags::EXCL | OFlags::DIRECT | OFlags::NONBLOCK).map_err(failed)
        }
        of if of.is_file() => claim(name, open(name, false, OFlags::NONBLOCK).map_err(failed)?),
        _ => Err(Reason::WrongKind(kind(&found)).of(name)),
    }
}

/// Opens the same device again. While it is open, the kernel assigns its number to no other device.
fn inheritable(file: &File) -> io::Result<File> {
    let handle = open(&descriptor(file), false, OFlags::NONBLOCK)?;
    rustix::io::fcntl_setfd(&handle, FdFlags::empty())?;
    Ok(handle)
}

fn descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_for_direct_io() {
        for size in [512, 1_536, 131_072] {
            let mut buffer = Buffer::new(size);
            assert_eq!(buffer.bytes().as_ptr() as usize % ALIGNMENT_BYTES, 0);
            assert_eq!(buffer.bytes().len(), size);
        }
    }
}
