//! A block device in sysfs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::DeviceError;
use crate::probe::path::{DeviceNumber, Node};
use crate::system::{self, System};

/// sysfs counts sizes in units of 512 bytes, regardless of the drive's blocks. Source: Linux, block/genhd.c.
const SYSFS_SECTOR_BYTES: u64 = 512;
const DELETED: &str = " (deleted)";

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
    /// The backing path, if it is a loop device in use.
    pub backing: Option<PathBuf>,
    /// The backing file or block device. None if it was removed, or its path is not valid here.
    pub backing_node: Option<Node>,
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
        let (backing, backing_node) = backing(system, &directory)?;
        Ok(Some(Self {
            name: name.to_owned(),
            number,
            whole: whole.map(|whole| whole.to_string_lossy().into_owned()),
            slaves: system::names(&directory.join("slaves"))?,
            backing,
            backing_node,
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

    /// Returns the path of a backing that does not exist.
    pub fn missing_backing(&self) -> Option<&PathBuf> {
        self.backing.as_ref().filter(|_| self.backing_node.is_none())
    }

    /// Returns an attribute of the device, or None.
    pub fn text(&self, attribute: &str) -> Result<Option<String>, DeviceError> {
        system::text(&self.directory.join(attribute))
    }
}

/// Returns the backing of a loop device: its path, and what it is.
fn backing(system: &System, directory: &Path) -> Result<(Option<PathBuf>, Option<Node>), DeviceError> {
    let Some(path) = system::text(&directory.join("loop/backing_file"))? else {
        return Ok((None, None));
    };
    if let Some(path) = path.strip_suffix(DELETED) {
        return Ok((Some(path.into()), None));
    }
    let node = system.probe.resolve(Path::new(&path)).ok();
    let node = node.filter(|node| !matches!(node, Node::Other(_)));
    Ok((Some(path.into()), node))
}
