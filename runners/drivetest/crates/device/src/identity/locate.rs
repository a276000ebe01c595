//! Drives of the host from sysfs alone, or with their use. No command is sent to a drive.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::DeviceError;
use crate::identity::drive::{self, DriveKind};
use crate::identity::usage::{DriveUse, add_use};
use crate::probe::path::Node;
use crate::system::System;
use crate::topology::block::Block;
use crate::topology::inventory::Inventory;

/// Returns the paths of a drive's block devices with that size: the drive itself, or its partitions of that size.
///
/// # Errors
/// If the kernel does not describe its block devices.
pub fn locate(drive_key: &str, size_bytes: u64) -> Result<Vec<PathBuf>, DeviceError> {
    locate_among(&System::host(), nodes()?, drive_key, size_bytes)
}

/// Returns the entries of `/dev`.
pub(crate) fn nodes() -> Result<impl Iterator<Item = PathBuf>, DeviceError> {
    let folder = Path::new("/dev");
    let entries = folder
        .read_dir()
        .map_err(|source| DeviceError::unreadable(folder, source))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())))
}

/// Finds the devices by their number, because a node may have another name than the kernel's.
fn locate_among(
    system: &System,
    nodes: impl Iterator<Item = PathBuf>,
    drive_key: &str,
    size_bytes: u64,
) -> Result<Vec<PathBuf>, DeviceError> {
    let inventory = Inventory::read(system)?;
    // A device that disappears in the meantime does not count.
    let is_it = |node: &PathBuf| {
        let block = block(system, &inventory, node);
        block.is_some_and(|block| {
            block.size_bytes().is_ok_and(|size| size == size_bytes)
                && drive::of_block(system, &inventory, block)
                    .is_ok_and(|drive| drive::is_same_drive(drive_key, &drive.key))
        })
    };
    let mut found: Vec<_> = nodes.filter(is_it).collect();
    found.sort();
    Ok(found)
}

/// Returns the block device of a node. Symbolic links are skipped, because their targets are found as well.
pub(crate) fn block<'a>(system: &System, inventory: &'a Inventory, node: &Path) -> Option<&'a Block> {
    match system.probe.resolve(node) {
        Ok(Node::Block(number)) if !node.is_symlink() => inventory.numbered(number),
        _ => None,
    }
}

/// All whole drives of a host; its JSON is `drivecert.drives/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drives {
    /// Name and version of this record.
    pub schema: &'static str,
    /// Sorted by path.
    pub drives: Vec<ListedDrive>,
}

/// A whole drive as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedDrive {
    /// Path in `/dev`.
    pub path: PathBuf,
    /// Kind of the drive's identity.
    pub kind: DriveKind,
    /// Key of the physical drive, the same for all its paths.
    pub drive_key: String,
    /// As reported by the drive.
    pub model: Option<String>,
    /// As reported by the drive.
    pub serial: Option<String>,
    /// Size of the whole drive.
    pub size_bytes: u64,
    /// Only of [`list_with_use`]; None also if the drive disappeared in the meantime.
    #[serde(flatten)]
    pub usage: Option<DriveUse>,
}

const SCHEMA: &str = "drivecert.drives/1";

/// Lists the drives of this host by path, without stacked devices and devices of size 0. Opens no drive.
///
/// # Errors
/// If the kernel does not describe its block devices.
pub fn list() -> Result<Drives, DeviceError> {
    let drives = list_among(&System::host(), nodes()?)?;
    Ok(Drives {
        schema: SCHEMA,
        drives,
    })
}

/// Lists the drives like [`list`], with their use. Opens a drive only if nothing uses it, and then reads its first and
/// last blocks.
///
/// # Errors
/// If the kernel does not describe its block devices, mounts or processes.
pub fn list_with_use() -> Result<Drives, DeviceError> {
    let system = System::host();
    let mut drives = list_among(&system, nodes()?)?;
    add_use(&system, &mut drives)?;
    Ok(Drives {
        schema: SCHEMA,
        drives,
    })
}

pub(super) fn list_among(
    system: &System,
    nodes: impl Iterator<Item = PathBuf>,
) -> Result<Vec<ListedDrive>, DeviceError> {
    let inventory = Inventory::read(system)?;
    let mut seen = BTreeSet::new();
    let nodes: BTreeSet<_> = nodes.collect();
    let listed = nodes.into_iter().filter_map(|path| {
        let block = block(system, &inventory, &path)?;
        // Two nodes may name one device.
        let is_new = seen.insert(block.name.clone());
        (is_new && block.whole.is_none() && block.slaves.is_empty())
            .then(|| listed(system, &inventory, block, path))?
    });
    Ok(listed.collect())
}

/// Describes a drive, or returns None if it disappears in the meantime.
fn listed(system: &System, inventory: &Inventory, block: &Block, path: PathBuf) -> Option<ListedDrive> {
    let size_bytes = block.size_bytes().ok().filter(|&size_bytes| size_bytes > 0)?;
    let drive = drive::of_block(system, inventory, block).ok()?;
    Some(ListedDrive {
        path,
        kind: drive.kind,
        drive_key: drive.key,
        model: drive.model,
        serial: drive.serial,
        size_bytes,
        usage: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_host::FakeHost;

    const DISK_BYTES: u64 = 1 << 30;

    fn found(host: &FakeHost, key: &str, size_bytes: u64) -> Vec<PathBuf> {
        let nodes = ["nvme0n1", "nvme1n1", "nvme1n1p1", "nvme9n1"].map(|name| Path::new("/dev").join(name));
        locate_among(&host.system(), nodes.into_iter(), key, size_bytes).unwrap()
    }

    #[test]
    fn a_drive_or_partition_is_found_by_key_and_size() {
        let mut host = FakeHost::new();
        let (other, drive) = (host.nvme("nvme0n1", "S1"), host.nvme("nvme1n1", "S2"));
        let part = host.partition("nvme1n1", 1);
        assert_eq!(found(&host, "nvme:PM_9A3:S1", DISK_BYTES), [other]);
        assert_eq!(found(&host, "nvme:PM_9A3:S2", DISK_BYTES), [drive]);
        assert_eq!(found(&host, "nvme:PM_9A3:S2", DISK_BYTES / 4), [part]);
        assert_eq!(
            found(&host, "nvme:PM_9A3:S2", DISK_BYTES / 2),
            Vec::<&Path>::new()
        );
    }

    /// Reading a log page is a command to the drive, which would delay a running measurement.
    #[test]
    fn locating_a_drive_sends_no_command_and_opens_no_device() {
        let mut host = FakeHost::new();
        host.health = || panic!("a command was sent to a drive");
        host.exclusive = |path| panic!("{} was opened", path.display());
        let drive = host.nvme("nvme0n1", "S1");
        assert_eq!(found(&host, "nvme:PM_9A3:S1", DISK_BYTES), [drive]);
    }

    fn listed(host: &FakeHost) -> Vec<ListedDrive> {
        let names = ["nvme1n1p1", "dm-0", "nvme1n1", "loop0", "nvme0n1", "gone"];
        let nodes = names.map(|name| Path::new("/dev").join(name));
        list_among(&host.system(), nodes.into_iter()).unwrap()
    }

    #[test]
    fn whole_drives_are_listed_by_path_with_their_identity() {
        let mut host = FakeHost::new();
        let (first, second) = (host.nvme("nvme0n1", "S1"), host.nvme("nvme1n1", "S2"));
        host.partition("nvme1n1", 1);
        host.stack("dm-0", &["nvme1n1"]);
        let found = listed(&host);
        let paths: Vec<_> = found.iter().map(|drive| &drive.path).collect();
        assert_eq!(paths, [&first, &second]);
        assert_eq!(found[1].drive_key, "nvme:PM_9A3:S2");
        assert_eq!(found[1].serial.as_deref(), Some("S2"));
        assert_eq!(found[1].size_bytes, 1 << 30);
    }

    #[test]
    fn a_device_without_a_size_is_not_listed() {
        let mut host = FakeHost::new();
        host.disk("loop0", "none", &[("size", "0")]);
        assert_eq!(listed(&host), []);
    }

    /// Reading a log page is a command to the drive, which would delay a running measurement.
    #[test]
    fn listing_drives_sends_no_command_and_opens_no_device() {
        let mut host = FakeHost::new();
        host.health = || panic!("a command was sent to a drive");
        host.exclusive = |path| panic!("{} was opened", path.display());
        host.nvme("nvme0n1", "S1");
        assert_eq!(listed(&host).len(), 1);
        assert_eq!(listed(&host)[0].usage, None);
    }
}
