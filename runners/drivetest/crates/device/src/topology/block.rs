//! A block device in sysfs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::DeviceError;
use crate::open::path_probe::{DeviceNumber, FileId, Node};
use crate::system::{self, System};

/// sysfs counts sizes in units of 512 bytes, regardless of the drive's blocks. Source: Linux, block/genhd.c.
const SYSFS_SECTOR_BYTES: u64 = 512;
const DELETED: &str = " (deleted)";

/// The backing of a loop device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backing {
    File {
        path: PathBuf,
        id: FileId,
    },
    Block {
        path: PathBuf,
        number: DeviceNumber,
    },
    /// The file was removed, or its path is not valid here.
    Gone {
        path: PathBuf,
    },
}

impl Backing {
    /// Returns the path that the kernel reports.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::File { path, .. } | Self::Block { path, .. } | Self::Gone { path } => path,
        }
    }
}

/// A block device: whole, partition, or stacked on others.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The kernel's name, as in `/dev`.
    pub name: String,
    pub number: DeviceNumber,
    /// Its directory in sysfs, with links followed.
    pub directory: PathBuf,
    /// The name of the whole device, if it is a partition.
    pub whole: Option<String>,
    /// The names of the devices that it is built on.
    pub slaves: Vec<String>,
    /// The backing, if it is a loop device in use.
    pub backing: Option<Backing>,
}

impl Block {
    /// Reads a device by its name. None if it has no number, like a hidden path of an NVMe drive, or has disappeared.
    pub fn read(system: &System, name: &str) -> Result<Option<Self>, DeviceError> {
        let link = system.sys.join("class/block").join(name);
        let directory = match fs::canonicalize(&link) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(|source| DeviceError::unreadable(&link, source))?,
        };
        let Some(number) = system::text(&directory.join("dev"))? else {
            return Ok(None);
        };
        let number = DeviceNumber::parse(&number)
            .ok_or_else(|| DeviceError::unexpected(&directory.join("dev"), "major:minor", &number))?;
        let is_partition = directory.join("partition").exists();
        let whole = directory
            .parent()
            .filter(|_| is_partition)
            .and_then(|parent| parent.file_name());
        Ok(Some(Self {
            name: name.to_owned(),
            number,
            whole: whole.map(|whole| whole.to_string_lossy().into_owned()),
            slaves: system::names(&directory.join("slaves"))?,
            backing: backing(system, &directory)?,
            directory,
        }))
    }

    /// Returns its path under `/dev`. The kernel writes a slash in a device's name as an exclamation mark.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(self.name.replace('!', "/"))
    }

    /// Returns the size.
    pub fn size_bytes(&self) -> Result<u64, DeviceError> {
        let path = self.directory.join("size");
        let sectors = system::number(&path)?.ok_or_else(|| DeviceError::unexpected(&path, "a size", ""))?;
        Ok(sectors.saturating_mul(SYSFS_SECTOR_BYTES))
    }

    /// Returns whether the drive or the kernel refuses writes.
    pub fn is_read_only(&self) -> Result<bool, DeviceError> {
        Ok(system::number(&self.directory.join("ro"))? == Some(1))
    }

    /// Returns an attribute of the device, or None.
    pub fn text(&self, attribute: &str) -> Result<Option<String>, DeviceError> {
        system::text(&self.directory.join(attribute))
    }
}

fn backing(system: &System, directory: &std::path::Path) -> Result<Option<Backing>, DeviceError> {
    let Some(path_text) = system::text(&directory.join("loop/backing_file"))? else {
        return Ok(None);
    };
    if let Some(path) = path_text.strip_suffix(DELETED) {
        return Ok(Some(Backing::Gone { path: path.into() }));
    }
    let path = PathBuf::from(path_text);
    Ok(Some(match system.probe.resolve(&path) {
        Ok(Node::File { id, .. }) => Backing::File { path, id },
        Ok(Node::Block(number)) => Backing::Block { path, number },
        Ok(Node::Other(_)) | Err(_) => Backing::Gone { path },
    }))
}
