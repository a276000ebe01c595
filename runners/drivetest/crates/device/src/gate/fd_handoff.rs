//! Handoff of a device to a foreign program that overwrites it: checked like a device of a load, then passed by
//! descriptor.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

use rustix::fs::OFlags;
use rustix::io::FdFlags;

use super::guard::Guard;
use super::opening::{OpenRefusal, Reason, claim, kind, open, refuse_data};

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
