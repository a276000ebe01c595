//! Opening a device of a load. All checks are before the first write.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, major, minor};
use rustix::io::Errno;
use serde_json::Value;

use super::{Device, Offsets, Refusal, preallocate};
use crate::config::{Config, Model};
use crate::engine::buffer::Buffer;
use crate::report::side::HostWarning;

/// Identifies and checks devices by their index in the configuration.
pub trait Guard {
    /// Returns why a device must not be opened, or None.
    fn refusal(&self, ordinal: usize) -> Option<String>;
    /// Returns why the opened file is not the expected device, or None. Called before any write.
    fn mismatch(&self, ordinal: usize, file: &File) -> Option<String>;
    /// Returns the identity for the side file. None leaves path and sizes.
    fn identity(&self, ordinal: usize, file: &File) -> Option<Value>;
    /// Returns problems of devices and host that may distort the measurement but do not forbid it.
    /// `temperature_limit_c` replaces the drives' own limits.
    fn warnings(&self, _temperature_limit_c: Option<u32>) -> Vec<HostWarning> {
        Vec::new()
    }
}

/// A device to open, with the permissions of the load.
pub struct OpenRequest<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Whether recognised data may be overwritten.
    pub may_destroy: bool,
    /// Checks the opened file.
    pub guard: &'a dyn Guard,
    /// Returns a signal that arrived while a file was being filled.
    pub signal: &'a dyn Fn() -> Option<&'static str>,
}

/// Opens and measures a device that the guard accepts.
///
/// # Errors
/// [`Refusal`]; then nothing was written to the device.
pub fn open(request: &OpenRequest<'_>, ordinal: usize, name: &str) -> Result<Device, Refusal> {
    let file = match std::fs::metadata(name) {
        Ok(found) if found.file_type().is_block_device() => {
            let file = open_block_device(request, name, &found)?;
            check_opened(request.guard, ordinal, &file)?;
            file
        }
        Ok(found) if found.is_file() => open_file(request, ordinal, name, true)?,
        Ok(found) => {
            return Err(Refusal::WrongKind {
                name: name.to_owned(),
                kind: kind(&found),
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => open_file(request, ordinal, name, false)?,
        Err(source) => {
            return Err(Refusal::Open {
                name: name.to_owned(),
                source,
            });
        }
    };
    measure(request, name, file)
}

/// Checks a device before any is opened.
pub(crate) fn check_before_opening(guard: &dyn Guard, ordinal: usize) -> Result<(), Refusal> {
    guard
        .refusal(ordinal)
        .map_or(Ok(()), |sentence| Err(Refusal::Unsafe(sentence)))
}

/// Checks what was opened, because the path may name another device by now.
pub(crate) fn check_opened(guard: &dyn Guard, ordinal: usize, file: &File) -> Result<(), Refusal> {
    guard
        .mismatch(ordinal, file)
        .map_or(Ok(()), |sentence| Err(Refusal::Unsafe(sentence)))
}

/// Describes a file that is neither a block device nor a plain file.
pub(crate) fn kind(found: &Metadata) -> &'static str {
    let of = found.file_type();
    match () {
        () if of.is_dir() => "a directory",
        () if of.is_char_device() => "a character device",
        () if of.is_fifo() => "a pipe",
        () if of.is_socket() => "a socket",
        () => "neither a block device nor a plain file",
    }
}

/// Returns whether the load writes. Read-only loads open read-only, so that they cannot destroy data.
fn writes(config: &Config) -> bool {
    config.has_writes()
}

fn flags(config: &Config) -> OFlags {
    let sync = if writes(config) && !config.is_odsync_disabled {
        OFlags::DSYNC
    } else {
        OFlags::empty()
    };
    OFlags::DIRECT | sync
}

fn try_open(config: &Config, name: &str, more: OFlags) -> io::Result<File> {
    let custom = flags(config) | more;
    OpenOptions::new()
        .read(true)
        .write(writes(config))
        .custom_flags(custom.bits() as i32)
        .open(name)
}

/// Opens a device exclusively. This fails if the kernel uses it: mounted, swap, RAID, or another test.
fn open_block_device(request: &OpenRequest<'_>, name: &str, found: &Metadata) -> Result<File, Refusal> {
    if request.config.file_size_mib != 0 {
        return Err(Refusal::DeviceWithFileSize {
            name: name.to_owned(),
        });
    }
    // The kernel opens a read-only device for writing and then fails each write (seen on 6.18).
    if writes(request.config) && is_read_only(found) {
        return Err(Refusal::ReadOnly {
            name: name.to_owned(),
        });
    }
    try_open(request.config, name, OFlags::EXCL).map_err(|source| block_device_refusal(name, source))
}

/// Returns the refusal for an error of opening.
pub(crate) fn block_device_refusal(name: &str, source: io::Error) -> Refusal {
    let name = name.to_owned();
    match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::BUSY) => Refusal::InUse { name },
        _ => Refusal::Open { name, source },
    }
}

fn numbers(found: &Metadata) -> String {
    format!("{}:{}", major(found.rdev()), minor(found.rdev()))
}

fn is_read_only(found: &Metadata) -> bool {
    let path = format!("/sys/dev/block/{}/ro", numbers(found));
    std::fs::read_to_string(path).is_ok_and(|text| text.trim() == "1")
}

fn open_file(request: &OpenRequest<'_>, ordinal: usize, name: &str, is_there: bool) -> Result<File, Refusal> {
    let wanted_bytes = u64::from(request.config.file_size_mib) << 20;
    let name_owned = || name.to_owned();
    if wanted_bytes == 0 {
        return Err(match is_there {
            true => Refusal::FileWithoutSize { name: name_owned() },
            false => Refusal::Missing { name: name_owned() },
        });
    }
    let open_error = |source| Refusal::Open {
        name: name_owned(),
        source,
    };
    let missing_bytes = wanted_bytes.saturating_sub(allocated_bytes(name));
    refuse_without_room(name, missing_bytes)?;
    let file = open_to_fill(name, is_there).map_err(open_error)?;
    let file = claim(name, file)?;
    check_opened(request.guard, ordinal, &file)?;
    if !request.may_destroy {
        let found_bytes = file.metadata().map_err(open_error)?.len();
        refuse_foreign_file(name, &file, found_bytes, wanted_bytes)?;
    }
    fill(request, name, &file, wanted_bytes)?;
    // By descriptor and not by name, so that the checked file is the file that is loaded.
    let same = format!("/proc/self/fd/{}", file.as_raw_fd());
    let direct = try_open(request.config, &same, OFlags::empty()).map_err(open_error)?;
    drop(file);
    claim(name, direct)
}

/// Returns the space that a file occupies; 0 if it does not exist.
fn allocated_bytes(name: &str) -> u64 {
    std::fs::metadata(name).map_or(0, |found| found.blocks() * 512)
}

/// Refuses a file that would fill its file system, which takes long and stops other programs that write there.
fn refuse_without_room(name: &str, missing_bytes: u64) -> Result<(), Refusal> {
    let folder = Path::new(name)
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    // If the file system cannot be queried, the following open reports the problem.
    let Ok(stat) = rustix::fs::statvfs(folder.unwrap_or(Path::new("."))) else {
        return Ok(());
    };
    let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    match missing_bytes <= free_bytes {
        true => Ok(()),
        false => Err(Refusal::NoRoom {
            name: name.to_owned(),
            missing_bytes,
            free_bytes,
        }),
    }
}

/// Opens or creates a plain file without changing its content.
fn open_to_fill(name: &str, is_there: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(!is_there)
        .truncate(false)
        .mode(0o600)
        .open(name)
}

/// Refuses an existing file unless it is empty, or has the configured size and no recognised data.
fn refuse_foreign_file(name: &str, file: &File, found_bytes: u64, wanted_bytes: u64) -> Result<(), Refusal> {
    if found_bytes != wanted_bytes && found_bytes != 0 {
        return Err(Refusal::OtherSize {
            name: name.to_owned(),
            found_bytes,
            wanted_bytes,
        });
    }
    refuse_data(name, file, found_bytes)
}

/// Extends a plain file to its size and allocates every block, because reads of a hole do not reach the disk.
fn fill(request: &OpenRequest<'_>, name: &str, file: &File, wanted_bytes: u64) -> Result<(), Refusal> {
    let fill_error = |source| match (request.signal)() {
        Some(signal) => Refusal::Interrupted(signal),
        None => Refusal::Fill {
            name: name.to_owned(),
            wanted_bytes,
            source,
        },
    };
    if file.metadata().map_err(fill_error)?.len() != wanted_bytes {
        file.set_len(wanted_bytes).map_err(fill_error)?;
    }
    preallocate::fill(file, wanted_bytes, || (request.signal)().is_some()).map_err(fill_error)
}

/// Locks a plain file, which O_EXCL does not, so that two loads cannot use it.
fn lock_file(file: &File) -> Result<(), Errno> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Locks a plain file, or refuses it if another test uses it.
pub(crate) fn claim(name: &str, file: File) -> Result<File, Refusal> {
    match lock_file(&file) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(Refusal::InUse {
            name: name.to_owned(),
        }),
        Err(error) => Err(Refusal::Open {
            name: name.to_owned(),
            source: error.into(),
        }),
    }
}

fn measure(request: &OpenRequest<'_>, name: &str, mut file: File) -> Result<Device, Refusal> {
    let size_bytes = file.seek(io::SeekFrom::End(0)).map_err(|source| Refusal::Open {
        name: name.to_owned(),
        source,
    })?;
    let too_small = || Refusal::TooSmall {
        name: name.to_owned(),
        size_bytes,
        needed: match request.config.model {
            Model::Storage => "one large block and one record need",
            Model::Index => "one page of 4096 bytes needs",
        },
    };
    if size_bytes < 4_096 {
        return Err(too_small());
    }
    let minimum_io_bytes = minimum_io(&file).map_err(|source| Refusal::Unreadable {
        name: name.to_owned(),
        source,
    })?;
    let offsets = Offsets::new(request.config, size_bytes, minimum_io_bytes).ok_or_else(too_small)?;
    if writes(request.config) && !request.may_destroy && request.config.file_size_mib == 0 {
        refuse_data(name, &file, size_bytes)?;
    }
    Ok(Device {
        name: name.to_owned(),
        file,
        size_bytes,
        minimum_io_bytes,
        offsets,
    })
}

/// Returns the smallest direct read, bytes. Source: src/storage/act_storage.c, discover_min_op_bytes().
pub(crate) fn minimum_io(file: &File) -> io::Result<u32> {
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

pub(super) fn refuse_data(name: &str, file: &File, size_bytes: u64) -> Result<(), Refusal> {
    match found_data(file, size_bytes) {
        Ok(None) => Ok(()),
        Ok(Some(what)) => Err(Refusal::HoldsData {
            name: name.to_owned(),
            what,
        }),
        Err(source) => Err(Refusal::Unreadable {
            name: name.to_owned(),
            source,
        }),
    }
}

/// Returns the data that is recognised on a device or file that was opened for direct I/O.
pub(crate) fn found_data(file: &File, size_bytes: u64) -> io::Result<Option<&'static str>> {
    drivetest_device::signature::found(size_bytes, |length, offset| {
        let mut buffer = Buffer::new(length);
        file.read_exact_at(buffer.bytes(), offset)?;
        Ok(buffer.bytes().to_vec())
    })
}
