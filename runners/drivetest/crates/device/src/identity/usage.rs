//! The use of listed drives: mounts, holders, swap, processes that have them open, and recognised data.

use std::path::PathBuf;

use serde::Serialize;

use super::locate::ListedDrive;
use super::{MountPoint, is_stacked, mount_points};
use crate::error::DeviceError;
use crate::probe::path::Node;
use crate::state::{mounts, open_files};
use crate::system::System;
use crate::topology::block::Block;
use crate::topology::resolve::ResolvedDevice;

/// The use of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DriveUse {
    /// Mounts of the drive and of devices stacked on it.
    pub mounts: Vec<MountPoint>,
    /// Devices that are stacked on the drive.
    pub holders: Vec<PathBuf>,
    /// Whether the host swaps to it.
    pub is_swap: bool,
    /// Whether another process has it open.
    pub is_open: bool,
    /// Whether its content was read. The content of a drive in use is never read.
    pub is_content_read: bool,
    /// The public name of the recognised data.
    pub signature: Option<&'static str>,
    /// Why the content of a free drive could not be read.
    pub signature_error: Option<String>,
    /// The exact type of the recognised data, for people.
    #[serde(skip)]
    pub data: Option<&'static str>,
}

impl DriveUse {
    fn has_user(&self) -> bool {
        !self.mounts.is_empty() || !self.holders.is_empty() || self.is_swap || self.is_open
    }
}

/// Adds the use of each drive. Reads the content of free drives. Sends no command to a drive.
///
/// A drive is not opened exclusively, because a load that starts at that moment would fail.
pub(crate) fn add_use(system: &System, drives: &mut [ListedDrive]) -> Result<(), DeviceError> {
    let paths: Vec<_> = drives.iter().map(|drive| drive.path.clone()).collect();
    // A drive that disappeared in the meantime has no use.
    let devices: Vec<_> = paths
        .iter()
        .map(|path| ResolvedDevice::find(system, path).ok())
        .collect();
    let mounts = mounts::mounts(system)?;
    let swaps: Vec<_> = mounts::swaps(system)?
        .iter()
        .filter_map(|path| system.probe.resolve(path).ok())
        .collect();
    let is_ours = |node: &Node| devices.iter().flatten().any(|device| device.affects(node));
    let open: Vec<_> = open_files::lasting(system, &is_ours)?
        .into_iter()
        .flat_map(|process| process.nodes)
        .collect();
    for (drive, device) in drives.iter_mut().zip(&devices) {
        let Some(device) = device else { continue };
        let holders = device.others().filter(is_stacked).map(Block::node);
        let mut usage = DriveUse {
            mounts: mount_points(&mounts, device),
            holders: holders.collect(),
            is_swap: swaps.iter().any(|node| device.affects(node)),
            is_open: open.iter().any(|node| device.affects(node)),
            is_content_read: false,
            signature: None,
            signature_error: None,
            data: None,
        };
        if !usage.has_user() {
            let read = system.probe.signature(&drive.path, drive.size_bytes);
            usage.is_content_read = read.is_ok();
            usage.signature_error = read.as_ref().err().map(ToString::to_string);
            let found = read.ok().flatten();
            usage.signature = found.map(|signature| signature.name);
            usage.data = found.map(|signature| signature.exact);
        }
        drive.usage = Some(usage);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fake_host::FakeHost;
    use crate::identity::locate::list_among;
    use crate::probe::signature::Signature;

    const UNUSED: DriveUse = DriveUse {
        mounts: Vec::new(),
        holders: Vec::new(),
        is_swap: false,
        is_open: false,
        is_content_read: true,
        signature: None,
        signature_error: None,
        data: None,
    };

    /// Returns the use of /dev/nvme0n1. Its content may be read, but a drive gets no command.
    fn use_of_first(host: &mut FakeHost) -> DriveUse {
        host.health = || panic!("a command was sent to a drive");
        host.exclusive = |path| panic!("{} was opened exclusively", path.display());
        let system = host.system();
        let nodes = ["nvme0n1", "nvme0n1p1", "nvme1n1", "dm-0"].map(|name| Path::new("/dev").join(name));
        let mut drives = list_among(&system, nodes.into_iter()).unwrap();
        add_use(&system, &mut drives).unwrap();
        assert_eq!(drives[0].path, Path::new("/dev/nvme0n1"));
        drives.swap_remove(0).usage.unwrap()
    }

    /// Returns a host with a drive, and fails the test if a drive is read.
    fn host() -> (FakeHost, PathBuf) {
        let mut host = FakeHost::new();
        let drive = host.nvme("nvme0n1", "S1");
        host.signature = || panic!("a drive in use was read");
        (host, drive)
    }

    #[test]
    fn a_free_drive_shows_its_data_or_none() {
        let (mut host, _) = host();
        host.signature = || Ok(None);
        assert_eq!(use_of_first(&mut host), UNUSED);
        host.signature = || {
            Ok(Some(Signature {
                name: "an ext2, ext3 or ext4 file system",
                exact: "an ext4 file system",
            }))
        };
        let found = use_of_first(&mut host);
        assert_eq!(
            (found.signature, found.data),
            (
                Some("an ext2, ext3 or ext4 file system"),
                Some("an ext4 file system")
            )
        );
        let document = serde_json::to_value(&found).unwrap();
        assert_eq!(document["signature"], "an ext2, ext3 or ext4 file system");
        assert!(document.get("data").is_none(), "{document}");
    }

    #[test]
    fn a_free_drive_that_cannot_be_read_has_the_error() {
        let (mut host, _) = host();
        host.signature = || Err(std::io::Error::from_raw_os_error(13));
        let found = use_of_first(&mut host);
        assert!(!found.is_content_read);
        assert_eq!(
            found.signature_error.as_deref(),
            Some("Permission denied (os error 13)")
        );
    }

    #[test]
    fn a_mounted_drive_shows_the_mounts_of_its_partitions_and_is_not_read() {
        let (mut host, _) = host();
        let part = host.partition("nvme0n1", 1);
        host.mount(&part, "/mnt");
        let found = use_of_first(&mut host);
        let expected = MountPoint {
            device: part,
            point: "/mnt".into(),
        };
        assert_eq!((found.mounts, found.is_content_read), (vec![expected], false));
    }

    #[test]
    fn a_drive_below_a_volume_shows_the_volume_and_is_not_read() {
        let (mut host, _) = host();
        let volume = host.stack("dm-0", &["nvme0n1"]);
        let found = use_of_first(&mut host);
        assert_eq!((found.holders, found.is_content_read), (vec![volume], false));
    }

    #[test]
    fn a_drive_used_as_swap_is_not_read() {
        let (mut host, drive) = host();
        host.swap_to(&drive);
        let found = use_of_first(&mut host);
        assert_eq!((found.is_swap, found.is_content_read), (true, false));
    }

    #[test]
    fn drives_that_a_process_has_open_are_not_read() {
        let (mut host, drive) = host();
        let other = host.nvme("nvme1n1", "S2");
        host.open(42, &drive);
        host.open(43, &other);
        let found = use_of_first(&mut host);
        assert_eq!((found.is_open, found.is_content_read), (true, false));
    }

    #[test]
    fn the_use_of_another_drive_is_not_shown() {
        let (mut host, _) = host();
        let other = host.nvme("nvme1n1", "S2");
        host.signature = || Ok(None);
        host.open(42, &other);
        host.mount(&other, "/mnt");
        assert_eq!(use_of_first(&mut host), UNUSED);
    }
}
