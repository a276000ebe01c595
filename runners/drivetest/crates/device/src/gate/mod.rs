//! The gate: the reasons for which a device must not be written to.

pub(crate) mod guard;
pub mod opening;
pub(crate) mod warnings;

use std::path::Path;
use std::thread;

use serde::Serialize;

use crate::error::DeviceError;
use crate::probe::path::{Exclusive, Node};
use crate::size;
use crate::state::io_counters::Activity;
use crate::state::mounts;
use crate::state::open_files::{self, OpeningProcess};
use crate::system::System;
use crate::topology::block::Block;
use crate::topology::resolve::ResolvedDevice;

/// A large block is 128 KiB. A device with space for only a few of them is no drive, or has no medium.
const SMALLEST_BYTES: u64 = 1 << 20;

/// A reason for which a device must not be written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Stable identifier.
    pub id: &'static str,
    /// Finding and remedy.
    pub sentence: String,
}

/// Returns the reasons for which a device must not be written to; empty if there are none.
///
/// The result is valid only at this time. Open a block device with `O_EXCL` afterwards, which keeps other users away.
pub(crate) fn of(
    system: &System,
    device: &ResolvedDevice<'_>,
    activity: &Activity<'_>,
) -> Result<Vec<Refusal>, DeviceError> {
    let mut gate = Gate {
        system,
        device,
        found: Vec::new(),
    };
    gate.check_mounts()?;
    gate.check_holders();
    gate.check_swaps()?;
    gate.check_open_files()?;
    // A device without a known user may still be in exclusive use: by ZFS, a second btrfs member, or a program in
    // another container.
    if gate.found.is_empty() {
        gate.check_claims();
    }
    gate.check_layers();
    gate.check_size()?;
    gate.check_writable()?;
    // A known user of the device would be the source of its I/O.
    if gate.found.is_empty() {
        gate.check_activity(activity)?;
    }
    Ok(gate.found)
}

/// The checks of a device, and the reasons that they found.
struct Gate<'d> {
    system: &'d System,
    device: &'d ResolvedDevice<'d>,
    found: Vec<Refusal>,
}

impl Gate<'_> {
    fn refuse(&mut self, id: &'static str, what: &str) {
        let sentence = format!("{}: {what}", self.device.path.display());
        self.found.push(Refusal { id, sentence });
    }

    /// Names a device unless it is the one in question.
    fn subject(&self, block: &Block) -> String {
        match self.device.block() {
            Some(named) if named.name == block.name => String::new(),
            _ => format!("/dev/{}, on the same drive, is ", block.name),
        }
    }

    fn check_mounts(&mut self) -> Result<(), DeviceError> {
        for mount in mounts::mounts(self.system)? {
            let Some(block) = self.device.affected_numbered(mount.number) else {
                continue;
            };
            let mounted = format!("{}mounted at {}", self.subject(block), mount.point.display());
            match mount.is_of_the_system() {
                true => {
                    let what = format!("{mounted} by the running system; choose another device");
                    self.refuse("boot", &what);
                }
                false => self.refuse(
                    "mounted",
                    &format!("{mounted}; unmount it or choose another device"),
                ),
            }
        }
        Ok(())
    }

    fn check_holders(&mut self) {
        for block in self.device.others().filter(|block| !block.slaves.is_empty()) {
            let (name, slaves) = (&block.name, block.slaves.join(", "));
            let what = format!(
                "used by /dev/{name} (built on {slaves}); remove /dev/{name} or choose another device"
            );
            self.refuse("held", &what);
        }
    }

    fn check_swaps(&mut self) -> Result<(), DeviceError> {
        for path in mounts::swaps(self.system)? {
            let node = self.system.probe.resolve(&path);
            if node.is_ok_and(|node| self.device.affects(&node)) {
                let path = path.display();
                let what = format!("the host swaps to {path}; run swapoff {path} or choose another device");
                self.refuse("swap", &what);
            }
        }
        Ok(())
    }

    fn check_open_files(&mut self) -> Result<(), DeviceError> {
        let openers = open_files::lasting(self.system, &|node| self.device.affects(node))?;
        for OpeningProcess { number, name, nodes } in openers {
            let block = match nodes.first() {
                Some(Node::Block(number)) => self.device.affected_numbered(*number),
                _ => None,
            };
            let subject = block.map(|block| self.subject(block)).unwrap_or_default();
            let what =
                format!("{subject}open in process {number} ({name}); stop it or choose another device");
            self.refuse("open", &what);
        }
        Ok(())
    }

    fn check_claims(&mut self) {
        let Some(named) = self.device.block() else { return };
        let claimed = match self.exclusive(self.device.path) {
            Exclusive::Free => self.claimed_on_same_drive(),
            Exclusive::Claimed => Some(named),
            Exclusive::Denied(error) => {
                let what = format!("cannot be opened: {error}; check the medium and your permissions");
                return self.refuse("no-access", &what);
            }
        };
        if let Some(block) = claimed {
            let what = format!(
                "{}in exclusive use; look for ZFS, a volume manager or another load, and stop it or choose another \
                 device",
                self.subject(block)
            );
            self.refuse("claimed", &what);
        }
    }

    /// Tries again after a while, because another check opens the device exclusively for a moment as well.
    fn exclusive(&self, path: &Path) -> Exclusive {
        match self.system.probe.open_exclusive(path) {
            Exclusive::Claimed => {
                thread::sleep(self.system.udev_grace);
                self.system.probe.open_exclusive(path)
            }
            result => result,
        }
    }

    /// Returns another device of the drive that is in exclusive use. The kernel refuses a whole drive if one of its
    /// partitions is in use, so the partitions are checked instead.
    fn claimed_on_same_drive(&self) -> Option<&Block> {
        let is_claimed = |block: &&Block| {
            let is_whole_of_others = self.device.inventory.partitions(block).next().is_some();
            !is_whole_of_others && matches!(self.exclusive(&block.node()), Exclusive::Claimed)
        };
        self.device.affected().find(is_claimed)
    }

    /// Refuses a device that is not a single drive or partition with a known identity.
    fn check_layers(&mut self) {
        let (device, inventory) = (self.device, &self.device.inventory);
        let block = device.block();
        if let Some(block) = block.filter(|block| !block.slaves.is_empty()) {
            let slaves = block.slaves.join(", ");
            let what = format!("built on {slaves}, which a load would measure together; name a single drive");
            self.refuse("stacked", &what);
        }
        // For a file, these are the partitions of the loop devices over it.
        let wholes: Vec<&Block> = block.map_or_else(|| device.affected().collect(), |block| vec![block]);
        let parts = wholes.into_iter().flat_map(|whole| inventory.partitions(whole));
        let parts: Vec<_> = parts.map(|part| part.name.as_str()).collect();
        if !parts.is_empty() {
            let parts = parts.join(", ");
            let what = format!("has partitions ({parts}); name one of them, or remove them first");
            self.refuse("partitioned", &what);
        }
        let whole = block.map(|block| inventory.whole(block));
        if let Some(path) = whole.and_then(Block::missing_backing) {
            let what = format!(
                "the backing file {} no longer exists, so the drive is unknown; attach it again",
                path.display()
            );
            self.refuse("backing-gone", &what);
        }
        if !device.drive.is_named {
            self.refuse(
                "no-identity",
                "reports neither serial number nor world-wide name, so the register could not recognise it; choose another drive",
            );
        }
    }

    /// Refuses a small block device. A plain file is extended to the configured size.
    fn check_size(&mut self) -> Result<(), DeviceError> {
        let size_bytes = self.device.block().map(Block::size_bytes).transpose()?;
        if let Some(size_bytes) = size_bytes.filter(|size_bytes| *size_bytes < SMALLEST_BYTES) {
            let [found, needed] = [size_bytes, SMALLEST_BYTES].map(size::exact_text);
            let what = format!(
                "has {found}, but needs at least {needed}; attach or resize it, or choose another device"
            );
            self.refuse("too-small", &what);
        }
        Ok(())
    }

    fn check_writable(&mut self) -> Result<(), DeviceError> {
        if self.device.block().map(Block::is_read_only).transpose()? == Some(true) {
            self.refuse(
                "read-only",
                "is read-only; make it writable or choose another device",
            );
        } else if let Err(error) = self.system.probe.check_writable(self.device.path) {
            let what =
                format!("cannot be written to: {error}; get write permission or choose another device");
            self.refuse("read-only", &what);
        }
        Ok(())
    }

    fn check_activity(&mut self, activity: &Activity<'_>) -> Result<(), DeviceError> {
        let names: Vec<_> = self.device.affected().map(|block| block.name.as_str()).collect();
        if let Some(name) = activity.lasting(&names)? {
            let what = format!(
                "/dev/{name} receives I/O from an unknown source; look for a virtual machine, a container, \
                 another host on the same drive, or an export, and stop it or choose another device"
            );
            self.refuse("busy", &what);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
