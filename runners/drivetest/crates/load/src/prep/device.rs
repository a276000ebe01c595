//! A device to prepare: opened for writing, or refused before the first write.

use std::fs::{File, Metadata};
use std::io::{self, Seek};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use drivetest_device::opening::{
    OpenRefusal, Reason, claim, found_data, kind, minimum_io, open as open_device,
};
use drivetest_device::{Guard, Identity};
use rustix::fs::{OFlags, major, minor};

use super::PrepOptions;
use super::state::DriveIdentity;

/// Unit of plain files, which every file system accepts for direct I/O.
const FILE_UNIT_BYTES: u64 = 4_096;

/// A device that is open for writing.
#[derive(Debug)]
pub(super) struct PrepDevice {
    pub name: String,
    pub file: File,
    pub size_bytes: u64,
    /// Its identity in the state file.
    pub place: DriveIdentity,
    /// Its `drivecert.identity/1`.
    pub identity: Option<Identity>,
}

/// Checks and opens a device. Nothing is written.
pub(super) fn open(
    guard: &dyn Guard,
    ordinal: usize,
    name: &str,
    options: &PrepOptions,
) -> Result<PrepDevice, OpenRefusal> {
    guard.check(ordinal)?;
    let failed = |error| open_error(error).of(name);
    let found = std::fs::metadata(name).map_err(failed)?;
    let mut file = match found.file_type() {
        of if of.is_block_device() => {
            open_device(name, true, OFlags::DIRECT | OFlags::EXCL).map_err(failed)?
        }
        of if of.is_file() => open_file(name, found.len())?,
        _ => return Err(Reason::WrongKindToPrepare(kind(&found)).of(name)),
    };
    guard.check_opened(ordinal, &file)?;
    let size_bytes = file.seek(io::SeekFrom::End(0)).map_err(failed)?;
    check_content(&file, size_bytes, options).map_err(|reason| reason.of(name))?;
    let identity = guard.identity(ordinal, &file);
    Ok(PrepDevice {
        place: place(identity.as_ref(), size_bytes, &found),
        name: name.to_owned(),
        file,
        size_bytes,
        identity,
    })
}

fn open_error(error: io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::NotFound => Reason::MissingToPrepare,
        _ => Reason::of_open_error(error),
    }
}

fn open_file(name: &str, size_bytes: u64) -> Result<File, OpenRefusal> {
    if size_bytes == 0 || !size_bytes.is_multiple_of(FILE_UNIT_BYTES) {
        return Err(Reason::FileSize(size_bytes).of(name));
    }
    let file = open_device(name, true, OFlags::DIRECT).map_err(|error| open_error(error).of(name))?;
    claim(name, file)
}

fn check_content(file: &File, size_bytes: u64, options: &PrepOptions) -> Result<(), Reason> {
    let least_bytes = minimum_io(file).map_err(open_error)?;
    if let Some(steady) = &options.steady {
        check_blocks(steady.block_bytes, size_bytes, least_bytes)?;
    }
    if options.may_destroy {
        return Ok(());
    }
    let data = found_data(file, size_bytes).map_err(open_error)?;
    data.map_or(Ok(()), |what| Err(Reason::HoldsDataToPrepare(what)))
}

/// Checks the block size of the steady-state test. A write beyond the end of a plain file would extend it.
fn check_blocks(block_bytes: usize, size_bytes: u64, least_bytes: u32) -> Result<(), Reason> {
    match () {
        () if !block_bytes.is_multiple_of(least_bytes as usize) => Err(Reason::SmallBlocks {
            least_bytes,
            block_bytes,
        }),
        () if block_bytes as u64 > size_bytes => Err(Reason::LargeBlocks {
            size_bytes,
            block_bytes,
        }),
        () => Ok(()),
    }
}

/// Returns the identity of a device. Partitions and namespaces share their drive's key; namespaces have a world-wide
/// name of their own.
fn place(identity: Option<&Identity>, size_bytes: u64, found: &Metadata) -> DriveIdentity {
    let number = format!("{}:{}", major(found.rdev()), minor(found.rdev()));
    let partition = std::fs::read_to_string(format!("/sys/dev/block/{number}/partition"));
    DriveIdentity {
        drive_key: identity
            .map(|identity| identity.drive_key.clone())
            .unwrap_or_default(),
        wwn: identity.and_then(|identity| identity.wwn.clone()),
        partition: partition.ok().and_then(|text| text.trim().parse().ok()),
        size_bytes,
    }
}
