//! Where a drive is found now, told from sysfs alone: no device is opened, and no drive is asked anything.

use std::path::{Path, PathBuf};

use crate::block::Block;
use crate::drive;
use crate::error::DeviceError;
use crate::inventory::Inventory;
use crate::node::Node;
use crate::system::System;

/// Returns the paths of the block devices of that size on a drive: the drive itself, or its partitions of the size.
///
/// # Errors
/// When the kernel does not describe its block devices.
pub fn find(drive_key: &str, size_bytes: u64) -> Result<Vec<PathBuf>, DeviceError> {
    find_among(&System::host(), nodes()?, drive_key, size_bytes)
}

/// Returns what stands in `/dev`.
pub(crate) fn nodes() -> Result<impl Iterator<Item = PathBuf>, DeviceError> {
    let folder = Path::new("/dev");
    let entries = folder
        .read_dir()
        .map_err(|source| DeviceError::unreadable(folder, source))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())))
}

/// A node may have another name than the kernel's: what counts is the device that it leads to.
fn find_among(
    system: &System,
    nodes: impl Iterator<Item = PathBuf>,
    drive_key: &str,
    size_bytes: u64,
) -> Result<Vec<PathBuf>, DeviceError> {
    let inventory = Inventory::read(system)?;
    // A device that goes away while it is looked at is not there.
    let is_it = |node: &PathBuf| {
        let block = block(system, &inventory, node);
        block.is_some_and(|block| {
            block.size_bytes().is_ok_and(|size| size == size_bytes)
                && key(system, &inventory, block).is_some_and(|key| drive::is_same_drive(drive_key, &key))
        })
    };
    let mut found: Vec<_> = nodes.filter(is_it).collect();
    found.sort();
    Ok(found)
}

fn key(system: &System, inventory: &Inventory, block: &Block) -> Option<String> {
    Some(drive::of_block(system, inventory, block).ok()?.key)
}

/// Returns the block device that a node leads to; links lead to what is found without them.
pub(crate) fn block<'a>(system: &System, inventory: &'a Inventory, node: &Path) -> Option<&'a Block> {
    match system.nodes.look(node) {
        Ok(Node::Block(number)) if !node.is_symlink() => inventory.numbered(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invented::InventedHost;

    const DISK_BYTES: u64 = 1 << 30;

    fn found(host: &InventedHost, key: &str, size_bytes: u64) -> Vec<PathBuf> {
        let nodes = ["nvme0n1", "nvme1n1", "nvme1n1p1", "nvme9n1"].map(|name| Path::new("/dev").join(name));
        find_among(&host.system(), nodes.into_iter(), key, size_bytes).unwrap()
    }

    #[test]
    fn a_drive_is_found_by_its_key_and_size_or_its_partition_is() {
        let mut host = InventedHost::new();
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

    /// A log page is a command to the drive, and a load that is being measured would wait for it.
    #[test]
    fn no_drive_is_asked_or_opened_to_find_one() {
        let mut host = InventedHost::new();
        host.health = || panic!("a drive was asked for its health");
        host.exclusive = |path| panic!("{} was opened", path.display());
        let drive = host.nvme("nvme0n1", "S1");
        assert_eq!(found(&host, "nvme:PM_9A3:S1", DISK_BYTES), [drive]);
    }
}
