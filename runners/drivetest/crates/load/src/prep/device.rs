//! A device to prepare: opened for writing, or refused before the first write.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use rustix::fs::{OFlags, major, minor};
use serde_json::Value;

use super::state::DriveIdentity;
use crate::device::{
    Guard, Refusal, block_device_refusal, check_before_opening, check_opened, claim, found_data, kind,
    minimum_io,
};

/// Unit of plain files, which every file system accepts for direct I/O.
const FILE_UNIT_BYTES: u64 = 4_096;

/// A device that cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepRefusal {
    /// A reason that is the same for a load.
    #[error(transparent)]
    Device(#[from] Refusal),
    /// Not a block device or plain file.
    #[error("{name}: is {kind}; name a block device, or a plain file that already has its size")]
    WrongKind {
        /// The device.
        name: String,
        /// The type of the file.
        kind: &'static str,
    },
    /// The path does not exist.
    #[error("{name}: does not exist; check the name (plain files must already have their size)")]
    Missing {
        /// The device.
        name: String,
    },
    /// A file whose size is 0 or not a multiple of the unit.
    #[error(
        "{name}: is a file of {size_bytes} bytes, but needs a multiple of 4096; set its size first (truncate --size)"
    )]
    FileSize {
        /// The file.
        name: String,
        /// Its size.
        size_bytes: u64,
    },
    /// The device contains data.
    #[error(
        "{name}: contains {what}, which would be overwritten; wipe it, or give --i-know-this-destroys-data"
    )]
    HoldsData {
        /// The device.
        name: String,
        /// The recognised data.
        what: &'static str,
    },
    /// The blocks of the steady-state test are smaller than the device's units.
    #[error(
        "{name}: requires requests of at least {least_bytes} bytes, got --steady-block-bytes {block_bytes}"
    )]
    SmallBlocks {
        /// The device.
        name: String,
        /// The device's minimum.
        least_bytes: u32,
        /// The requested block size.
        block_bytes: usize,
    },
    /// The blocks of the steady-state test are larger than the device.
    #[error(
        "{name}: has {size_bytes} bytes, less than one block of --steady-block-bytes {block_bytes}; use smaller blocks"
    )]
    LargeBlocks {
        /// The device.
        name: String,
        /// Its size.
        size_bytes: u64,
        /// The requested block size.
        block_bytes: usize,
    },
}

/// A device that is open for writing.
#[derive(Debug)]
pub(super) struct PrepDevice {
    pub name: String,
    pub file: File,
    pub size_bytes: u64,
    /// Its identity in the state file.
    pub place: DriveIdentity,
    /// Its `drivecert.identity/1`.
    pub identity: Value,
}

/// Checks and opens a device. Nothing is written.
pub(super) fn open(
    guard: &dyn Guard,
    ordinal: usize,
    name: &str,
    options: &super::PrepOptions,
) -> Result<PrepDevice, PrepRefusal> {
    check_before_opening(guard, ordinal)?;
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
    check_opened(guard, ordinal, &file)?;
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
    match source.kind() {
        io::ErrorKind::NotFound => PrepRefusal::Missing {
            name: name.to_owned(),
        },
        _ => block_device_refusal(name, source).into(),
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
    Ok(claim(name, file)?)
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
    let data = if options.may_destroy {
        None
    } else {
        found_data(file, size_bytes).map_err(failed)?
    };
    data.map_or(Ok(()), |what| {
        Err(PrepRefusal::HoldsData {
            name: name.to_owned(),
            what,
        })
    })
}

/// Checks the block size of the steady-state test. A write beyond the end of a plain file would extend it.
fn check_blocks(
    name: &str,
    block_bytes: usize,
    size_bytes: u64,
    least_bytes: u32,
) -> Result<(), PrepRefusal> {
    let name = name.to_owned();
    match () {
        () if !block_bytes.is_multiple_of(least_bytes as usize) => Err(PrepRefusal::SmallBlocks {
            name,
            least_bytes,
            block_bytes,
        }),
        () if block_bytes as u64 > size_bytes => Err(PrepRefusal::LargeBlocks {
            name,
            size_bytes,
            block_bytes,
        }),
        () => Ok(()),
    }
}

/// Returns the identity of a device. Partitions and namespaces share their drive's key; namespaces have a world-wide
/// name of their own.
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
