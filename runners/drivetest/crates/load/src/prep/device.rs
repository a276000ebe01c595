//! A device that is to be prepared: opened for writing, or refused before anything is written.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use rustix::fs::{OFlags, major, minor};
use rustix::io::Errno;
use serde_json::Value;

use super::state::DriveIdentity;
use crate::device::{Guard, found_data, kind, lock_file, minimum_io};

/// A plain file is prepared in whole units of this size, which direct I/O takes everywhere.
const FILE_UNIT_BYTES: u64 = 4_096;

/// Why a device is not prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepRefusal {
    /// Found unsafe, or unlike what was expected, by who looked.
    #[error("{0}")]
    Unsafe(String),
    /// Not something that holds data of its own.
    #[error("{name}: is {kind}; name a block device, or a plain file that has its size already")]
    WrongKind {
        /// The device.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// Nothing there.
    #[error("{name}: does not exist; check the name, a file must be there with its size")]
    Missing {
        /// The device.
        name: String,
    },
    /// A file without data, or that direct I/O could not fill to its end.
    #[error(
        "{name}: is a file of {size_bytes} bytes, a multiple of 4096 is needed; give it its size first (truncate --size)"
    )]
    FileSize {
        /// The file.
        name: String,
        /// Its size.
        size_bytes: u64,
    },
    /// Somebody else holds it.
    #[error(
        "{name}: held by another user (a file system, swap, RAID, LVM, or another test); free it or choose another device"
    )]
    InUse {
        /// The device.
        name: String,
    },
    /// Opening or sample failed.
    #[error("{name}: cannot be opened for direct I/O: {source}")]
    Open {
        /// The device.
        name: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// Somebody's data is on it.
    #[error("{name}: holds {what}, which would be overwritten; wipe it, or give --i-know-this-destroys-data")]
    HoldsData {
        /// The device.
        name: String,
        /// What was recognised.
        what: &'static str,
    },
    /// SteadyStateOptions state was asked for in smaller blocks than the device takes.
    #[error("{name}: takes requests of {least_bytes} bytes and more, got --steady-block-bytes {asked_bytes}")]
    SmallBlocks {
        /// The device.
        name: String,
        /// The least it takes.
        least_bytes: u32,
        /// What was asked.
        asked_bytes: usize,
    },
    /// SteadyStateOptions state was asked for in blocks of which the device holds none.
    #[error(
        "{name}: holds {size_bytes} bytes, less than one block of --steady-block-bytes {asked_bytes}; ask for smaller blocks"
    )]
    LargeBlocks {
        /// The device.
        name: String,
        /// Its size.
        size_bytes: u64,
        /// What was asked.
        asked_bytes: usize,
    },
}

/// A device open for writing.
#[derive(Debug)]
pub(super) struct PrepDevice {
    pub name: String,
    pub file: File,
    pub size_bytes: u64,
    /// What the state file knows it by.
    pub place: DriveIdentity,
    /// Its `drivecert.identity/1`.
    pub identity: Value,
}

/// Asks everything that may refuse a device; nothing is written.
pub(super) fn open(
    guard: &dyn Guard,
    ordinal: usize,
    name: &str,
    options: &super::PrepOptions,
) -> Result<PrepDevice, PrepRefusal> {
    if let Some(sentence) = guard.refusal(ordinal) {
        return Err(PrepRefusal::Unsafe(sentence));
    }
    let failed = |source| open_error(name, source);
    let found = std::fs::metadata(name).map_err(failed)?;
    let mut file = match found.file_type() {
        of if of.is_block_device() => open_direct(name, OFlags::EXCL).map_err(failed)?,
        of if of.is_file() => open_file(name, &found)?,
        _ => {
            return Err(PrepRefusal::WrongKind {
                name: name.to_owned(),
                kind: kind(&found),
            });
        }
    };
    // The name may lead elsewhere by now: what counts is what was opened.
    if let Some(sentence) = guard.mismatch(ordinal, &file) {
        return Err(PrepRefusal::Unsafe(sentence));
    }
    let size_bytes = file.seek(io::SeekFrom::End(0)).map_err(failed)?;
    check_content(name, &file, size_bytes, options)?;
    let identity = guard.identity(ordinal, &file).unwrap_or_default();
    Ok(PrepDevice {
        place: place(&identity, size_bytes, &found),
        name: name.to_owned(),
        file,
        size_bytes,
        identity,
    })
}

fn open_error(name: &str, source: io::Error) -> PrepRefusal {
    let name = name.to_owned();
    match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::BUSY) => PrepRefusal::InUse { name },
        Some(Errno::NOENT) => PrepRefusal::Missing { name },
        _ => PrepRefusal::Open { name, source },
    }
}

fn open_direct(name: &str, more: OFlags) -> io::Result<File> {
    let flags = OFlags::DIRECT | more;
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags.bits() as i32)
        .open(name)
}

fn open_file(name: &str, found: &Metadata) -> Result<File, PrepRefusal> {
    let size_bytes = found.len();
    if size_bytes == 0 || !size_bytes.is_multiple_of(FILE_UNIT_BYTES) {
        return Err(PrepRefusal::FileSize {
            name: name.to_owned(),
            size_bytes,
        });
    }
    let file = open_direct(name, OFlags::empty()).map_err(|source| open_error(name, source))?;
    match lock_file(&file) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(PrepRefusal::InUse {
            name: name.to_owned(),
        }),
        Err(error) => Err(open_error(name, error.into())),
    }
}

fn check_content(
    name: &str,
    file: &File,
    size_bytes: u64,
    options: &super::PrepOptions,
) -> Result<(), PrepRefusal> {
    let failed = |source| open_error(name, source);
    let least_bytes = minimum_io(file).map_err(failed)?;
    if let Some(steady) = &options.steady {
        check_blocks(name, steady.block_bytes, size_bytes, least_bytes)?;
    }
    let held = if options.may_destroy {
        None
    } else {
        found_data(file, size_bytes).map_err(failed)?
    };
    held.map_or(Ok(()), |what| {
        Err(PrepRefusal::HoldsData {
            name: name.to_owned(),
            what,
        })
    })
}

/// A plain file would grow under a block that it does not hold.
fn check_blocks(
    name: &str,
    asked_bytes: usize,
    size_bytes: u64,
    least_bytes: u32,
) -> Result<(), PrepRefusal> {
    let name = name.to_owned();
    match () {
        () if !asked_bytes.is_multiple_of(least_bytes as usize) => Err(PrepRefusal::SmallBlocks {
            name,
            least_bytes,
            asked_bytes,
        }),
        () if asked_bytes as u64 > size_bytes => Err(PrepRefusal::LargeBlocks {
            name,
            size_bytes,
            asked_bytes,
        }),
        () => Ok(()),
    }
}

/// Partitions share their drive's key, and namespaces too: those have a world-wide name of their own.
fn place(identity: &Value, size_bytes: u64, found: &Metadata) -> DriveIdentity {
    let text = |field: &str| identity[field].as_str().map(str::to_owned);
    let number = format!("{}:{}", major(found.rdev()), minor(found.rdev()));
    let partition = std::fs::read_to_string(format!("/sys/dev/block/{number}/partition"));
    DriveIdentity {
        drive_key: text("drive_key").unwrap_or_default(),
        wwn: text("wwn"),
        partition: partition.ok().and_then(|text| text.trim().parse().ok()),
        size_bytes,
    }
}
