//! Which whole drives a host has, told from sysfs alone: no device is opened, and no drive is asked anything.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::block::Block;
use crate::drive::{self, Kind};
use crate::error::DeviceError;
use crate::finding;
use crate::inventory::Inventory;
use crate::system::System;

/// All whole drives of a host; its JSON is `drivecert.drives/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drives {
    /// Name and version of this record.
    pub schema: &'static str,
    /// In the order of their paths.
    pub drives: Vec<Listed>,
}

/// A whole drive as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Under `/dev`.
    pub path: PathBuf,
    /// What sort of identity the drive has.
    pub kind: Kind,
    /// Names the physical drive, the same for every path to it.
    pub drive_key: String,
    /// As the drive tells it.
    pub model: Option<String>,
    /// As the drive tells it.
    pub serial: Option<String>,
    /// The whole of it.
    pub size_bytes: u64,
}

/// Lists the drives of this host, by their paths. What stands upon other drives, and what has no size, is none.
///
/// # Errors
/// When the kernel does not describe its block devices.
pub fn list() -> Result<Drives, DeviceError> {
    let drives = list_among(&System::host(), finding::nodes()?)?;
    Ok(Drives {
        schema: "drivecert.drives/1",
        drives,
    })
}

fn list_among(system: &System, nodes: impl Iterator<Item = PathBuf>) -> Result<Vec<Listed>, DeviceError> {
    let inventory = Inventory::read(system)?;
    let mut seen = BTreeSet::new();
    let nodes: BTreeSet<_> = nodes.collect();
    let listed = nodes.into_iter().filter_map(|path| {
        let block = finding::block(system, &inventory, &path)?;
        // Two nodes may lead to one device.
        let is_new = seen.insert(block.name.clone());
        (is_new && block.whole.is_none() && block.slaves.is_empty())
            .then(|| listed(system, &inventory, block, path))?
    });
    Ok(listed.collect())
}

/// A device that goes away while it is looked at is not there.
fn listed(system: &System, inventory: &Inventory, block: &Block, path: PathBuf) -> Option<Listed> {
    let size_bytes = block.size_bytes().ok().filter(|&size_bytes| size_bytes > 0)?;
    let drive = drive::of_block(system, inventory, block).ok()?;
    Some(Listed {
        path,
        kind: drive.kind,
        drive_key: drive.key,
        model: drive.model,
        serial: drive.serial,
        size_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invented::InventedHost;
    use std::path::Path;

    fn listed(host: &InventedHost) -> Vec<Listed> {
        let names = ["nvme1n1p1", "dm-0", "nvme1n1", "loop0", "nvme0n1", "gone"];
        let nodes = names.map(|name| Path::new("/dev").join(name));
        list_among(&host.system(), nodes.into_iter()).unwrap()
    }

    #[test]
    fn whole_drives_are_listed_by_path_with_what_names_them() {
        let mut host = InventedHost::new();
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
    fn a_device_without_a_size_is_no_drive() {
        let mut host = InventedHost::new();
        host.disk("loop0", "none", &[("size", "0")]);
        assert_eq!(listed(&host), []);
    }

    /// A log page is a command to the drive, and a load that is being measured would wait for it.
    #[test]
    fn no_drive_is_asked_or_opened_to_be_listed() {
        let mut host = InventedHost::new();
        host.health = || panic!("a drive was asked for its health");
        host.exclusive = |path| panic!("{} was opened", path.display());
        host.nvme("nvme0n1", "S1");
        assert_eq!(listed(&host).len(), 1);
    }
}
