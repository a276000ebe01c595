//! What a path leads to, and whether it can be had for writing: the questions that go to the file system itself.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{self, Access, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::open::signature;
use crate::state::health;

/// The number of a block device, by which the kernel knows it under every name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver's part.
    pub major: u32,
    /// The device's part.
    pub minor: u32,
}

impl DeviceNumber {
    /// Reads `major:minor`; None when the text is something else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    fn of(raw: u64) -> Self {
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

/// A file under every name: the device of its file system and its inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    /// As one number, as `stat` gives it.
    pub device: u64,
    pub inode: u64,
}

impl FileId {
    /// Returns the number of the device that the file lies on.
    pub fn device_number(self) -> DeviceNumber {
        DeviceNumber::of(self.device)
    }
}

/// What a path leads to, links followed.
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

/// Whether a node can be had by one user alone.
#[derive(Debug)]
pub(crate) enum Exclusive {
    Free,
    /// The kernel has given it to a file system, a stacked device or another program.
    Claimed,
    Denied(io::Error),
}

/// The file system's answers; tests invent their own.
pub(crate) trait PathProbe {
    /// Tells what a path leads to.
    fn resolve(&self, path: &Path) -> io::Result<Node>;
    /// Tells whether this process may write there.
    fn check_writable(&self, path: &Path) -> io::Result<()>;
    /// Asks the kernel for a block device alone, for a moment and for reading only: closing one that was open for
    /// writing makes udev look at it again.
    fn open_exclusive(&self, path: &Path) -> Exclusive;
    /// Tells what is recognised on a device or file of that size.
    fn signature(&self, path: &Path, size_bytes: u64) -> io::Result<Option<&'static str>>;
    /// Returns the page in which an NVMe drive tells its health; None where there is none, or we may not ask.
    fn health_page(&self, path: &Path) -> Option<health::Page>;
}

/// The running host's file system.
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

    fn signature(&self, path: &Path, size_bytes: u64) -> io::Result<Option<&'static str>> {
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
    fn a_file_is_one_file_under_two_names() {
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
    fn directories_and_character_devices_are_told_apart() {
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
    fn a_number_is_read_as_sysfs_writes_it() {
        assert_eq!(
            DeviceNumber::parse("259:3\n"),
            Some(DeviceNumber { major: 259, minor: 3 })
        );
        assert_eq!(DeviceNumber::parse("259"), None);
    }
}
