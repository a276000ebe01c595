//! Probes of a path: its type, write permission, exclusive access, recognised data and health.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{self, Access, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::probe::signature::{self, Signature};
use crate::state::health;

/// The number of a block device, which the kernel uses regardless of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Driver.
    pub major: u32,
    /// Device of the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Parses `major:minor`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// Splits a device number of the system.
    pub(crate) fn of(raw: u64) -> Self {
        Self {
            major: fs::major(raw),
            minor: fs::minor(raw),
        }
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{}:{}", self.major, self.minor)
    }
}

/// Identifies a file under all its names: device of its file system, and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    /// As a single number, like in `stat`.
    pub device: u64,
    pub inode: u64,
}

impl FileId {
    /// Returns the number of the device that contains the file.
    pub fn device_number(self) -> DeviceNumber {
        DeviceNumber::of(self.device)
    }
}

/// The target of a path, with links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Block(DeviceNumber),
    File {
        id: FileId,
        size_bytes: u64,
        block_bytes: u64,
    },
    Other(&'static str),
}

/// Result of an exclusive opening.
#[derive(Debug)]
pub(crate) enum Exclusive {
    Free,
    /// In use by a file system, a stacked device or another program.
    Claimed,
    Denied(io::Error),
}

/// Access to the file system. Tests use a fake.
pub(crate) trait PathProbe {
    /// Returns the target of a path.
    fn resolve(&self, path: &Path) -> io::Result<Node>;
    /// Returns an error if this process has no write permission.
    fn check_writable(&self, path: &Path) -> io::Result<()>;
    /// Opens a block device exclusively for a moment. It opens for reading only, because closing a descriptor for
    /// writing would make udev probe the device again.
    fn open_exclusive(&self, path: &Path) -> Exclusive;
    /// Returns the data that is recognised on a device or file of that size.
    fn signature(&self, path: &Path, size_bytes: u64) -> io::Result<Option<Signature>>;
    /// Returns the health page of an NVMe drive; None if the drive has none or refuses the command.
    fn health_page(&self, path: &Path) -> Option<health::Page>;
}

/// The file system of this host.
pub(crate) struct HostProbe;

impl PathProbe for HostProbe {
    fn resolve(&self, path: &Path) -> io::Result<Node> {
        Ok(node(&fs::stat(path)?))
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        Ok(fs::access(path, Access::WRITE_OK)?)
    }

    fn open_exclusive(&self, path: &Path) -> Exclusive {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match fs::open(path, flags, Mode::empty()) {
            Ok(_) => Exclusive::Free,
            Err(Errno::BUSY) => Exclusive::Claimed,
            Err(error) => Exclusive::Denied(error.into()),
        }
    }

    fn signature(&self, path: &Path, size_bytes: u64) -> io::Result<Option<Signature>> {
        let file = File::open(path)?;
        let read_at = |length: usize, offset| {
            let mut bytes = vec![0; length];
            file.read_exact_at(&mut bytes, offset).map(|()| bytes)
        };
        signature::found(size_bytes, read_at)
    }

    fn health_page(&self, path: &Path) -> Option<health::Page> {
        health::page(path)
    }
}

fn node(stat: &Stat) -> Node {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Node::Block(DeviceNumber::of(stat.st_rdev)),
        FileType::RegularFile => Node::File {
            id: FileId {
                device: stat.st_dev,
                inode: stat.st_ino,
            },
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            block_bytes: u64::try_from(stat.st_blksize).unwrap_or(0),
        },
        FileType::Directory => Node::Other("a directory"),
        FileType::CharacterDevice => Node::Other("a character device"),
        FileType::Fifo => Node::Other("a named pipe"),
        FileType::Socket => Node::Other("a socket"),
        _ => Node::Other("a file of unknown type"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_is_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let (name, link) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&name, "data").unwrap();
        std::fs::hard_link(&name, &link).unwrap();
        assert_eq!(
            HostProbe.resolve(&name).unwrap(),
            HostProbe.resolve(&link).unwrap()
        );
    }

    #[test]
    fn directories_and_character_devices_are_distinguished() {
        assert_eq!(
            HostProbe.resolve(Path::new("/")).unwrap(),
            Node::Other("a directory")
        );
        assert_eq!(
            HostProbe.resolve(Path::new("/dev/null")).unwrap(),
            Node::Other("a character device")
        );
    }

    #[test]
    fn a_number_is_parsed_in_the_form_of_sysfs() {
        assert_eq!(
            DeviceNumber::parse("259:3\n"),
            Some(DeviceNumber { major: 259, minor: 3 })
        );
        assert_eq!(DeviceNumber::parse("259"), None);
    }
}
