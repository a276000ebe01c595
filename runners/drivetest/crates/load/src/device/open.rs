//! Opening a device of a load, and inspecting it without a change. All checks are before the first write. A plain file
//! is preallocated, so that its reads reach the disk.

use std::fs::{File, Metadata};
use std::io::{self, Seek};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use drivetest_device::Guard;
use drivetest_device::opening::{
    self, OpenRefusal, Reason, claim, is_read_only, kind, minimum_io, refuse_data,
};
use rustix::fs::{Access, Mode, OFlags, access};
use rustix::io::Errno;

use super::preallocation;
use crate::clock::Instant;
use crate::config::{Config, Model};
use crate::device::{Device, Offsets};
use crate::folder;
use crate::prep::{Meter, MeterSample};

/// Smallest direct read. That of a plain file is measured when the file has its size.
const SMALLEST_IO_BYTES: u32 = 512;

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
    /// Receives the progress while a file is being filled.
    pub progress: &'a dyn Fn(MeterSample),
}

/// The object that a name in the configuration leads to.
enum Found {
    BlockDevice(Metadata),
    File,
    Nothing,
}

fn find(name: &str) -> Result<Found, OpenRefusal> {
    match std::fs::metadata(name) {
        Ok(found) if found.file_type().is_block_device() => Ok(Found::BlockDevice(found)),
        Ok(found) if found.is_file() => Ok(Found::File),
        Ok(found) => Err(Reason::WrongKind(kind(&found)).of(name)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(Reason::Open(error).of(name)),
    }
}

/// Opens and measures a device that the guard accepts.
///
/// # Errors
/// [`OpenRefusal`]; then nothing was written to the device.
pub fn open(request: &OpenRequest<'_>, ordinal: usize, name: &str) -> Result<Device, OpenRefusal> {
    let file = match find(name)? {
        Found::BlockDevice(found) => {
            check_block_device(request.config, name, &found)?;
            let opened = try_open(request.config, name, OFlags::EXCL);
            accept_block_device(request, ordinal, name, opened)?
        }
        Found::File => open_and_fill(request, ordinal, name, true)?,
        Found::Nothing => open_and_fill(request, ordinal, name, false)?,
    };
    measure(request, name, file)
}

/// Checks a device like [`open`], but creates, fills and changes nothing. Returns None for a plain file that the load
/// would create or resize.
///
/// # Errors
/// The refusal that the load would get.
pub fn inspect(request: &OpenRequest<'_>, ordinal: usize, name: &str) -> Result<Option<Device>, OpenRefusal> {
    match find(name)? {
        Found::BlockDevice(found) => {
            check_block_device(request.config, name, &found)?;
            check_access(request.config, name)?;
            // Opened for reading only: closing a descriptor for writing would make udev probe the drive again.
            let opened = opening::open(name, false, OFlags::DIRECT | OFlags::EXCL);
            let file = accept_block_device(request, ordinal, name, opened)?;
            measure(request, name, file).map(Some)
        }
        Found::File => inspect_file(request, ordinal, name),
        Found::Nothing => {
            check_file(request.config, name, false)?;
            let directory = folder(name.as_ref());
            let created = access(directory, Access::WRITE_OK | Access::EXEC_OK);
            created.map_err(|error| Reason::Open(error.into()).of(name))?;
            refuse_without_direct_io(name, open_unnamed(directory))?;
            Ok(None)
        }
    }
}

fn inspect_file(
    request: &OpenRequest<'_>,
    ordinal: usize,
    name: &str,
) -> Result<Option<Device>, OpenRefusal> {
    let wanted_bytes = check_file(request.config, name, true)?;
    let file = open_checked(request, ordinal, name, (true, wanted_bytes))?;
    let open_error = |error| Reason::Open(error).of(name);
    // The load needs direct I/O also on a file that it resizes.
    let direct = opening::open(&descriptor(&file), false, OFlags::DIRECT).map_err(open_error)?;
    if file.metadata().map_err(open_error)?.len() != wanted_bytes {
        return Ok(None);
    }
    measure(request, name, direct).map(Some)
}

/// Opens a file without a name for direct I/O. The file system removes it when it is closed.
fn open_unnamed(directory: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)
}

/// Refuses a file to create if its file system has no direct I/O. Other errors do not tell: some file systems have
/// direct I/O, but no files without a name.
fn refuse_without_direct_io<Opened>(
    name: &str,
    unnamed: rustix::io::Result<Opened>,
) -> Result<(), OpenRefusal> {
    match unnamed {
        Err(error @ Errno::INVAL) => Err(Reason::Open(error.into()).of(name)),
        _ => Ok(()),
    }
}

/// Opens a device or file for the load, which writes without O_DSYNC only on request.
fn try_open(config: &Config, name: &str, more: OFlags) -> io::Result<File> {
    let sync = match config.has_writes() && !config.is_odsync_disabled {
        true => OFlags::DSYNC,
        false => OFlags::empty(),
    };
    opening::open(name, config.has_writes(), OFlags::DIRECT | sync | more)
}

fn check_block_device(config: &Config, name: &str, found: &Metadata) -> Result<(), OpenRefusal> {
    if config.file_size_mib != 0 {
        return Err(Reason::DeviceWithFileSize.of(name));
    }
    if config.has_writes() && is_read_only(found) {
        return Err(Reason::ReadOnly.of(name));
    }
    Ok(())
}

/// Refuses a device that this user cannot open as the load would.
fn check_access(config: &Config, name: &str) -> Result<(), OpenRefusal> {
    let wanted = match config.has_writes() {
        true => Access::READ_OK | Access::WRITE_OK,
        false => Access::READ_OK,
    };
    access(name, wanted).map_err(|error| Reason::Open(error.into()).of(name))
}

/// Accepts a device that was opened exclusively, which fails if the kernel uses it: mounted, swap, RAID, or another
/// test.
fn accept_block_device(
    request: &OpenRequest<'_>,
    ordinal: usize,
    name: &str,
    opened: io::Result<File>,
) -> Result<File, OpenRefusal> {
    let file = opened.map_err(|error| Reason::of_open_error(error).of(name))?;
    request.guard.check_opened(ordinal, &file)?;
    Ok(file)
}

/// Returns the configured size of a plain file, which is large enough for the load and fits into its file system.
fn check_file(config: &Config, name: &str, is_there: bool) -> Result<u64, OpenRefusal> {
    let wanted_bytes = u64::from(config.file_size_mib) << 20;
    if wanted_bytes == 0 {
        return Err(match is_there {
            true => Reason::FileWithoutSize.of(name),
            false => Reason::Missing.of(name),
        });
    }
    offsets(config, wanted_bytes, SMALLEST_IO_BYTES).map_err(|reason| reason.of(name))?;
    let allocated_bytes = std::fs::metadata(name).map_or(0, |found| found.blocks() * 512);
    let missing_bytes = wanted_bytes.saturating_sub(allocated_bytes);
    refuse_without_room(name, missing_bytes).map_err(|reason| reason.of(name))?;
    Ok(wanted_bytes)
}

/// Refuses a file that would fill its file system, which takes long and stops other programs that write there.
fn refuse_without_room(name: &str, missing_bytes: u64) -> Result<(), Reason> {
    // If the file system cannot be queried, the following open reports the problem.
    let Ok(stat) = rustix::fs::statvfs(folder(name.as_ref())) else {
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

fn open_and_fill(
    request: &OpenRequest<'_>,
    ordinal: usize,
    name: &str,
    is_there: bool,
) -> Result<File, OpenRefusal> {
    let wanted_bytes = check_file(request.config, name, is_there)?;
    let file = open_checked(request, ordinal, name, (is_there, wanted_bytes))?;
    let mut meter = None;
    let filled = preallocation::fill(&file, wanted_bytes, |done_bytes| {
        let (now, is_first) = (Instant::now(), meter.is_none());
        let meter = meter.get_or_insert_with(|| Meter::new(now, done_bytes, Some(wanted_bytes)));
        if is_first || meter.is_due(now) {
            (request.progress)(meter.read(now, done_bytes));
        }
        (request.signal)().is_some()
    });
    filled.map_err(|error| match (request.signal)() {
        Some(signal) => OpenRefusal::Interrupted(signal),
        None => Reason::Fill(wanted_bytes, error).of(name),
    })?;
    let direct = try_open(request.config, &descriptor(&file), OFlags::empty());
    let direct = direct.map_err(|error| Reason::Open(error).of(name))?;
    drop(file);
    claim(name, direct)
}

/// Opens or creates a plain file and checks its identity and its content, which stays unchanged.
fn open_checked(
    request: &OpenRequest<'_>,
    ordinal: usize,
    name: &str,
    (is_there, wanted_bytes): (bool, u64),
) -> Result<File, OpenRefusal> {
    let open_error = |error| Reason::Open(error).of(name);
    let mut options = File::options();
    options
        .read(true)
        .write(true)
        .create(!is_there)
        .truncate(false)
        .mode(0o600);
    let file = claim(name, options.open(name).map_err(open_error)?)?;
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
    Ok(file)
}

/// Returns a path by descriptor and not by name, so that the checked file is the file that is loaded.
fn descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

fn measure(request: &OpenRequest<'_>, name: &str, mut file: File) -> Result<Device, OpenRefusal> {
    let size_bytes = file.seek(io::SeekFrom::End(0));
    let size_bytes = size_bytes.map_err(|error| Reason::Open(error).of(name))?;
    if size_bytes < 4_096 {
        return Err(too_small(request.config, size_bytes).of(name));
    }
    let minimum_io_bytes = minimum_io(&file).map_err(|error| Reason::Unreadable(error).of(name))?;
    let offsets = offsets(request.config, size_bytes, minimum_io_bytes).map_err(|reason| reason.of(name))?;
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

fn offsets(config: &Config, size_bytes: u64, minimum_io_bytes: u32) -> Result<Offsets, Reason> {
    Offsets::new(config, size_bytes, minimum_io_bytes).ok_or_else(|| too_small(config, size_bytes))
}

fn too_small(config: &Config, size_bytes: u64) -> Reason {
    let needed = match config.model {
        Model::Storage => "one large block and one record need",
        Model::Index => "one page of 4096 bytes needs",
    };
    Reason::TooSmall { size_bytes, needed }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Write;
    use std::os::unix::fs::FileExt;
    use std::path::PathBuf;

    use drivetest_device::Identity;
    use tempfile::TempDir;

    use super::*;

    /// A guard that accepts every device.
    struct AcceptAll;

    impl Guard for AcceptAll {
        fn check(&self, _: usize) -> Result<(), OpenRefusal> {
            Ok(())
        }

        fn check_opened(&self, _: usize, _: &File) -> Result<(), OpenRefusal> {
            Ok(())
        }

        fn identity(&self, _: usize, _: &File) -> Option<Identity> {
            None
        }
    }

    const ONE_MIB: &str = "file-size-mbytes: 1\n";

    fn config(lines: &str) -> Config {
        let text = format!("device-names: /drive\ntest-duration-sec: 1\nwrite-reqs-per-sec: 10\n{lines}");
        Config::read_of(Model::Storage, &text, 2).unwrap().0
    }

    fn request(config: &Config) -> OpenRequest<'_> {
        OpenRequest {
            config,
            may_destroy: false,
            guard: &AcceptAll,
            signal: &|| None,
            progress: &|_| (),
        }
    }

    /// Creates a file of zeros without blocks. None, with a message, if plain files have no direct I/O here.
    fn folder_with_file(bytes: u64) -> Option<(TempDir, PathBuf)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.img");
        File::create(&path).unwrap().set_len(bytes).unwrap();
        if opening::open(path.to_str().unwrap(), false, OFlags::DIRECT).is_err() {
            io::stderr().write_all(b"SKIPPED: no direct I/O here\n").unwrap();
            return None;
        }
        Some((folder, path))
    }

    #[test]
    fn inspecting_a_missing_file_creates_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.img");
        let config = config(ONE_MIB);
        let found = inspect(&request(&config), 0, path.to_str().unwrap()).unwrap();
        assert!(found.is_none() && !path.exists());
    }

    #[test]
    fn a_missing_file_is_refused_only_if_its_file_system_has_no_direct_io() {
        let refused = refuse_without_direct_io::<()>("drive.img", Err(Errno::INVAL));
        assert_eq!(
            refused.unwrap_err().to_string(),
            "drive.img: cannot be opened for direct I/O: Invalid argument (os error 22)"
        );
        for unknown in [Errno::OPNOTSUPP, Errno::ISDIR, Errno::NOENT, Errno::NOSPC] {
            assert!(refuse_without_direct_io::<()>("drive.img", Err(unknown)).is_ok());
        }
        assert!(refuse_without_direct_io("drive.img", Ok(())).is_ok());
    }

    #[test]
    fn a_file_without_a_name_has_direct_io_if_a_file_with_a_name_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let unnamed = open_unnamed(folder.path());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let path = folder.path().join("drive.img");
        File::create(&path).unwrap();
        let named = opening::open(path.to_str().unwrap(), false, OFlags::DIRECT);
        match unnamed {
            Ok(_) => assert!(named.is_ok()),
            Err(Errno::INVAL) => assert!(named.is_err()),
            Err(_) => {}
        }
    }

    #[test]
    fn inspecting_refuses_a_file_to_resize_without_direct_io() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.img");
        // A plain file of 0 bytes in a file system without direct I/O.
        std::os::unix::fs::symlink("/proc/self/comm", &path).unwrap();
        let config = config(ONE_MIB);
        let refusal = inspect(&request(&config), 0, path.to_str().unwrap()).unwrap_err();
        let sentence = "drive.img: cannot be opened for direct I/O: Invalid argument";
        assert!(refusal.to_string().contains(sentence), "{refusal}");
    }

    #[test]
    fn inspecting_a_file_keeps_its_bytes_and_its_times() {
        let Some((_folder, path)) = folder_with_file(1 << 20) else {
            return;
        };
        let before = path.metadata().unwrap();
        let config = config(ONE_MIB);
        let found = inspect(&request(&config), 0, path.to_str().unwrap()).unwrap();
        let after = path.metadata().unwrap();
        assert_eq!(found.map(|device| device.size_bytes), Some(1 << 20));
        assert_eq!(after.blocks(), 0, "the holes were filled");
        assert_eq!(
            (before.mtime(), before.mtime_nsec(), before.len()),
            (after.mtime(), after.mtime_nsec(), after.len())
        );
    }

    #[test]
    fn inspecting_an_empty_file_does_not_extend_it() {
        let Some((_folder, path)) = folder_with_file(0) else {
            return;
        };
        let config = config(ONE_MIB);
        let found = inspect(&request(&config), 0, path.to_str().unwrap()).unwrap();
        assert!(found.is_none());
        assert_eq!(path.metadata().unwrap().len(), 0);
    }

    #[test]
    fn filling_a_file_shows_its_progress_from_the_start() {
        let Some((_folder, path)) = folder_with_file(0) else {
            return;
        };
        let (config, shown) = (config(ONE_MIB), RefCell::new(Vec::new()));
        let request = OpenRequest {
            progress: &|sample| shown.borrow_mut().push((sample.done_bytes, sample.total_bytes)),
            ..request(&config)
        };
        let name = path.to_str().unwrap();
        drop(open(&request, 0, name).unwrap());
        assert_eq!(shown.borrow()[..], [(0, Some(1 << 20))]);
        // A full file shows nothing.
        drop(open(&request, 0, name).unwrap());
        assert_eq!(shown.borrow().len(), 1);
    }

    #[test]
    fn inspecting_refuses_what_opening_refuses() {
        let Some((folder, image)) = folder_with_file(1 << 20) else {
            return;
        };
        let content = File::options().write(true).open(&image).unwrap();
        content.write_all_at(b"XFSB\0\0", 0).unwrap();
        let small = folder.path().join("small");
        File::create(&small).unwrap().set_len(4_096).unwrap();
        let plain = folder.path().join("plain");
        File::create(&plain).unwrap().set_len(1 << 20).unwrap();
        let large_blocks = format!("{ONE_MIB}large-block-op-kbytes: 2048\n");
        let missing = folder.path().join("missing");
        for (path, lines, sentence) in [
            (image.as_path(), ONE_MIB, "contains an XFS file system"),
            (&small, ONE_MIB, "has 4KiB, but file-size-mbytes requires 1MiB"),
            (
                &plain,
                &large_blocks,
                "less than one large block and one record need",
            ),
            (
                &missing,
                &large_blocks,
                "less than one large block and one record need",
            ),
            (&plain, "", "is a plain file; set its size with file-size-mbytes"),
            (&missing, "", "does not exist; check device-names"),
            (
                &folder.path().join("none/drive"),
                ONE_MIB,
                "cannot be opened for direct I/O: No such file",
            ),
            (folder.path(), ONE_MIB, "is a directory"),
        ] {
            let (config, name) = (config(lines), path.to_str().unwrap());
            let of_inspect = inspect(&request(&config), 0, name).unwrap_err().to_string();
            let of_open = open(&request(&config), 0, name).unwrap_err().to_string();
            assert_eq!(of_inspect, of_open);
            assert!(of_inspect.contains(sentence), "{of_inspect}");
        }
        assert!(!missing.exists());
    }
}
