//! Opening a device of a load. All checks are before the first write. A plain file is preallocated, so that its reads reach
//! the disk.

use std::fs::{File, Metadata};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use drivetest_device::Guard;
use drivetest_device::opening::{
    self, OpenRefusal, Reason, claim, is_read_only, kind, minimum_io, refuse_data,
};
use rustix::fs::{OFlags, SeekFrom, seek};
use rustix::io::Errno;

use crate::config::{Config, Model};
use crate::device::{Device, Offsets};
use crate::engine::buffer::Payload;
use crate::schedule::rng::RequestRng;

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
/// [`OpenRefusal`]; then nothing was written to the device.
pub fn open(request: &OpenRequest<'_>, ordinal: usize, name: &str) -> Result<Device, OpenRefusal> {
    let file = match std::fs::metadata(name) {
        Ok(found) if found.file_type().is_block_device() => {
            let file = open_block_device(request.config, name, &found).map_err(|reason| reason.of(name))?;
            request.guard.check_opened(ordinal, &file)?;
            file
        }
        Ok(found) if found.is_file() => open_file(request, ordinal, name, true)?,
        Ok(found) => return Err(Reason::WrongKind(kind(&found)).of(name)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => open_file(request, ordinal, name, false)?,
        Err(error) => return Err(Reason::Open(error).of(name)),
    };
    measure(request, name, file)
}

/// Opens a device or file for the load, which writes without O_DSYNC only on request.
fn try_open(config: &Config, name: &str, more: OFlags) -> io::Result<File> {
    let sync = match config.has_writes() && !config.is_odsync_disabled {
        true => OFlags::DSYNC,
        false => OFlags::empty(),
    };
    opening::open(name, config.has_writes(), OFlags::DIRECT | sync | more)
}

/// Opens a device exclusively. This fails if the kernel uses it: mounted, swap, RAID, or another test.
fn open_block_device(config: &Config, name: &str, found: &Metadata) -> Result<File, Reason> {
    if config.file_size_mib != 0 {
        return Err(Reason::DeviceWithFileSize);
    }
    if config.has_writes() && is_read_only(found) {
        return Err(Reason::ReadOnly);
    }
    try_open(config, name, OFlags::EXCL).map_err(Reason::of_open_error)
}

fn open_file(
    request: &OpenRequest<'_>,
    ordinal: usize,
    name: &str,
    is_there: bool,
) -> Result<File, OpenRefusal> {
    let wanted_bytes = u64::from(request.config.file_size_mib) << 20;
    if wanted_bytes == 0 {
        return Err(match is_there {
            true => Reason::FileWithoutSize.of(name),
            false => Reason::Missing.of(name),
        });
    }
    let open_error = |error| Reason::Open(error).of(name);
    let allocated_bytes = std::fs::metadata(name).map_or(0, |found| found.blocks() * 512);
    let missing_bytes = wanted_bytes.saturating_sub(allocated_bytes);
    refuse_without_room(name, missing_bytes).map_err(|reason| reason.of(name))?;
    let file = open_to_fill(name, is_there).map_err(open_error)?;
    let file = claim(name, file)?;
    request.guard.check_opened(ordinal, &file)?;
    if !request.may_destroy {
        let found_bytes = file.metadata().map_err(open_error)?.len();
        if found_bytes != wanted_bytes && found_bytes != 0 {
            let reason = Reason::OtherSize {
                found_bytes,
                wanted_bytes,
            };
            return Err(reason.of(name));
        }
        refuse_data(name, &file, found_bytes)?;
    }
    fill(request, name, &file, wanted_bytes)?;
    // By descriptor and not by name, so that the checked file is the file that is loaded.
    let same = format!("/proc/self/fd/{}", file.as_raw_fd());
    let direct = try_open(request.config, &same, OFlags::empty()).map_err(open_error)?;
    drop(file);
    claim(name, direct)
}

/// Refuses a file that would fill its file system, which takes long and stops other programs that write there.
fn refuse_without_room(name: &str, missing_bytes: u64) -> Result<(), Reason> {
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
        false => Err(Reason::NoRoom {
            missing_bytes,
            free_bytes,
        }),
    }
}

/// Opens or creates a plain file without changing its content.
fn open_to_fill(name: &str, is_there: bool) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(!is_there)
        .truncate(false)
        .mode(0o600)
        .open(name)
}

/// Extends a plain file to its size and allocates every block, because reads of a hole do not reach the disk.
fn fill(request: &OpenRequest<'_>, name: &str, file: &File, wanted_bytes: u64) -> Result<(), OpenRefusal> {
    let fill_error = |error| match (request.signal)() {
        Some(signal) => OpenRefusal::Interrupted(signal),
        None => Reason::Fill(wanted_bytes, error).of(name),
    };
    if file.metadata().map_err(fill_error)?.len() != wanted_bytes {
        file.set_len(wanted_bytes).map_err(fill_error)?;
    }
    fill_holes(file, wanted_bytes, || (request.signal)().is_some()).map_err(fill_error)
}

fn measure(request: &OpenRequest<'_>, name: &str, mut file: File) -> Result<Device, OpenRefusal> {
    let size_bytes = file.seek(io::SeekFrom::End(0));
    let size_bytes = size_bytes.map_err(|error| Reason::Open(error).of(name))?;
    let needed = match request.config.model {
        Model::Storage => "one large block and one record need",
        Model::Index => "one page of 4096 bytes needs",
    };
    let too_small = || Reason::TooSmall { size_bytes, needed }.of(name);
    if size_bytes < 4_096 {
        return Err(too_small());
    }
    let minimum_io_bytes = minimum_io(&file).map_err(|error| Reason::Unreadable(error).of(name))?;
    let offsets = Offsets::new(request.config, size_bytes, minimum_io_bytes).ok_or_else(too_small)?;
    if request.config.has_writes() && !request.may_destroy && request.config.file_size_mib == 0 {
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

/// Bytes per write.
const PIECE_BYTES: u64 = 1024 * 1024;

/// Writes random data into every hole in the first `size_bytes`. Checks `stop` between the writes.
fn fill_holes(file: &File, size_bytes: u64, mut stop: impl FnMut() -> bool) -> io::Result<()> {
    let mut payload = Payload::new(PIECE_BYTES as usize, 100, RequestRng::new(0, u64::MAX, 0));
    let mut at = 0;
    while let Some((begin, end)) = next_hole(file, at, size_bytes)? {
        at = begin;
        while at < end {
            if stop() {
                return Err(io::Error::from(Errno::INTR));
            }
            let length = PIECE_BYTES.min(end - at);
            payload.stamp(RequestRng::new(0, u64::MAX, at));
            file.write_all_at(&payload.bytes()[..length as usize], at)?;
            at += length;
        }
    }
    file.sync_all()
}

/// Returns the next hole at or after `at`, or None.
fn next_hole(file: &File, at: u64, size_bytes: u64) -> io::Result<Option<(u64, u64)>> {
    if at >= size_bytes {
        return Ok(None);
    }
    let begin = seek(file, SeekFrom::Hole(at))?;
    if begin >= size_bytes {
        return Ok(None);
    }
    let end = match seek(file, SeekFrom::Data(begin)) {
        Ok(end) => end.min(size_bytes),
        Err(Errno::NXIO) => size_bytes, // no data after the hole
        Err(error) => return Err(error.into()),
    };
    Ok(Some((begin, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 3 * PIECE_BYTES + 4_096;

    fn sparse() -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        file
    }

    #[test]
    fn a_filled_file_has_all_its_blocks() {
        let file = sparse();
        assert_eq!(file.metadata().unwrap().blocks(), 0);
        fill_holes(&file, SIZE, || false).unwrap();
        assert!(file.metadata().unwrap().blocks() * 512 >= SIZE);
        assert_eq!(file.metadata().unwrap().len(), SIZE);
    }

    #[test]
    fn existing_data_is_not_changed() {
        let file = sparse();
        file.write_all_at(&[7; 4_096], PIECE_BYTES).unwrap();
        fill_holes(&file, SIZE, || false).unwrap();
        let mut content = [0; 4_096];
        file.read_exact_at(&mut content, PIECE_BYTES).unwrap();
        assert_eq!(content, [7; 4_096]);
    }

    #[test]
    fn filling_stops_on_request() {
        let file = sparse();
        let mut calls = 0;
        let stopped = fill_holes(&file, SIZE, || {
            calls += 1;
            calls > 1
        });
        assert_eq!(
            stopped.unwrap_err().raw_os_error(),
            Some(Errno::INTR.raw_os_error())
        );
        assert!(file.metadata().unwrap().blocks() * 512 < SIZE);
    }
}
