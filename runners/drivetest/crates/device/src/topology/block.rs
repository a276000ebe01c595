//! A block device as sysfs describes it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::DeviceError;
use crate::open::path_probe::{DeviceNumber, FileId, Node};
use crate::system::{self, System};

/// sysfs counts sizes in units of 512 bytes, whatever the drive's own blocks are. Source: Linux, block/genhd.c.
const SYSFS_SECTOR_BYTES: u64 = 512;
const DELETED: &str = " (deleted)";

/// What a loop device shows.
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
    /// The file has no name any more, or none that can be followed from here.
    Gone {
        path: PathBuf,
    },
}

impl Backing {
    /// Returns the path by which the kernel names it.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::File { path, .. } | Self::Block { path, .. } | Self::Gone { path } => path,
        }
    }
}

/// A block device: a whole one, a partition, or one that is stacked upon others.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The kernel's name, as under `/dev`.
    pub name: String,
    pub number: DeviceNumber,
    /// The directory that describes it, links followed.
    pub directory: PathBuf,
    /// Of a partition: the name of the device it is a part of.
    pub whole: Option<String>,
    /// The names of the devices it is made of.
    pub slaves: Vec<String>,
    /// Of a loop device in use.
    pub backing: Option<Backing>,
}

impl Block {
    /// Reads a device by its name; None when it has no number, as a hidden path of an NVMe drive, or has gone meanwhile.
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

    /// Tells whether the drive or the kernel refuses writes.
    pub fn is_read_only(&self) -> Result<bool, DeviceError> {
        Ok(system::number(&self.directory.join("ro"))? == Some(1))
    }

    /// Returns an attribute of the device; None when it has none of that name.
    pub fn text(&self, attribute: &str) -> Result<Option<String>, DeviceError> {
        system::text(&self.directory.join(attribute))
    }
}

fn backing(system: &System, directory: &std::path::Path) -> Result<Option<Backing>, DeviceError> {
    let Some(told) = system::text(&directory.join("loop/backing_file"))? else {
        return Ok(None);
    };
    if let Some(path) = told.strip_suffix(DELETED) {
        return Ok(Some(Backing::Gone { path: path.into() }));
    }
    let path = PathBuf::from(told);
    Ok(Some(match system.probe.resolve(&path) {
        Ok(Node::File { id, .. }) => Backing::File { path, id },
        Ok(Node::Block(number)) => Backing::Block { path, number },
        Ok(Node::Other(_)) | Err(_) => Backing::Gone { path },
    }))
}
