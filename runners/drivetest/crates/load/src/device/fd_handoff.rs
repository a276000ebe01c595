//! A device that a program of somebody else's is to write over: refused as for a load of our own, then given by descriptor.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use rustix::fs::OFlags;
use rustix::io::FdFlags;

use super::open::{block_device_refusal, claim, kind, refuse_data};
use super::{Guard, Refusal};

/// A device that nothing speaks against. Its path may lead elsewhere at any time; what is open here cannot.
#[derive(Debug)]
pub struct HandedOffDevice(File);

impl HandedOffDevice {
    /// A path for a program that inherits our descriptors: it leads to what was asked about, whatever the name means by now.
    pub fn path(&self) -> String {
        descriptor(&self.0)
    }
}

/// Asks everything that may refuse the guard's first device, alone and before anything is run; nothing is written.
///
/// It is not kept alone: programs that write over a whole device ask the kernel for that themselves.
///
/// # Errors
/// [`Refusal`], among them what is recognised on it unless it `may_destroy` that.
pub fn open_for_handoff(
    guard: &dyn Guard,
    name: &str,
    may_destroy: bool,
) -> Result<HandedOffDevice, Refusal> {
    if let Some(sentence) = guard.refusal(0) {
        return Err(Refusal::Unsafe(sentence));
    }
    let mut file = open_alone(name)?;
    if let Some(sentence) = guard.mismatch(0, &file) {
        return Err(Refusal::Unsafe(sentence));
    }
    let failed = |source| Refusal::Open {
        name: name.to_owned(),
        source,
    };
    if !may_destroy {
        let size_bytes = file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        refuse_data(name, &file, size_bytes)?;
    }
    inheritable(&file).map(HandedOffDevice).map_err(failed)
}

fn open_alone(name: &str) -> Result<File, Refusal> {
    let failed = |source| block_device_refusal(name, source);
    let found = std::fs::metadata(name).map_err(failed)?;
    match found.file_type() {
        of if of.is_block_device() => open(name, OFlags::EXCL | OFlags::DIRECT).map_err(failed),
        of if of.is_file() => claim(name, open(name, OFlags::empty()).map_err(failed)?),
        _ => Err(Refusal::WrongKind {
            name: name.to_owned(),
            kind: kind(&found),
        }),
    }
}

/// For reading only: what we keep open is a handle, and closing one for writing makes udev look at the drive again.
fn open(name: &str, more: OFlags) -> io::Result<File> {
    let flags = more | OFlags::NONBLOCK;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(name)
}

/// Opens the same device once more: as long as that is open, the kernel gives its number to no other device.
fn inheritable(file: &File) -> io::Result<File> {
    let context = open(&descriptor(file), OFlags::empty())?;
    rustix::io::fcntl_setfd(&context, FdFlags::empty())?;
    Ok(context)
}

fn descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
