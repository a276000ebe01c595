//! The gate: the reasons for which a device must not be written to.

pub(crate) mod fd_handoff;
pub(crate) mod guard;
pub mod opening;
pub(crate) mod warnings;

use std::path::Path;
use std::thread;

use serde::Serialize;

use crate::error::DeviceError;
use crate::open::path_probe::{Exclusive, Node};
use crate::state::io_counters::Activity;
use crate::state::mounts;
use crate::state::open_files::{self, OpeningProcess};
use crate::system::System;
use crate::topology::block::{Backing, Block};
use crate::topology::resolve::{Medium, ResolvedDevice};

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
///
/// # Errors
/// If the path does not exist, is neither a block device nor a file, or the kernel does not describe it.
pub fn refusals(path: &Path) -> Result<Vec<Refusal>, DeviceError> {
    refusals_on(&System::host(), path)
}

pub(crate) fn refusals_on(system: &System, path: &Path) -> Result<Vec<Refusal>, DeviceError> {
    of(
        system,
        &ResolvedDevice::find(system, path)?,
        &Activity::of(system),
    )
}

pub(crate) fn of(
    system: &System,
    device: &ResolvedDevice<'_>,
    activity: &Activity<'_>,
) -> Result<Vec<Refusal>, DeviceError> {
    let mut found = without_watching(system, device)?;
    // A known user of the device would be the source of its I/O.
    if found.is_empty() {
        found.extend(busy(device, activity)?);
    }
    Ok(found)
}

fn without_watching(system: &System, device: &ResolvedDevice<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let mut found = mounted(system, device)?;
    found.extend(used_by_stack(device));
    found.extend(swapped_to(system, device)?);
    found.extend(open(system, device)?);
    // A device without a known user may still be in exclusive use: by ZFS, a second btrfs member, or a program in
    // another container.
    if found.is_empty() {
        found.extend(claimed(system, device));
    }
    found.extend(stacked(device));
    found.extend(partitioned(device));
    found.extend(backing_gone(device));
    found.extend(unnamed(device));
    found.extend(too_small(device)?);
    found.extend(read_only(system, device)?);
    Ok(found)
}

fn refusal(id: &'static str, device: &ResolvedDevice<'_>, what: &str) -> Refusal {
    Refusal {
        id,
        sentence: format!("{}: {what}", device.path.display()),
    }
}

/// Names a device unless it is the one in question.
fn subject(device: &ResolvedDevice<'_>, block: &Block) -> String {
    match &device.medium {
        Medium::Block(name) if *name == block.name => String::new(),
        _ => format!("/dev/{}, on the same drive, is ", block.name),
    }
}

fn mounted(system: &System, device: &ResolvedDevice<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let mut found = Vec::new();
    for mount in mounts::mounts(system)? {
        let Some(block) = device.affected_numbered(mount.number) else {
            continue;
        };
        let (subject, point) = (subject(device, block), mount.point.display());
        found.push(match mount.is_of_the_system() {
            true => refusal(
                "boot",
                device,
                &format!("{subject}mounted at {point} by the running system; choose another device"),
            ),
            false => refusal(
                "mounted",
                device,
                &format!("{subject}mounted at {point}; unmount it or choose another device"),
            ),
        });
    }
    Ok(found)
}

fn used_by_stack(device: &ResolvedDevice<'_>) -> Vec<Refusal> {
    let is_other = |block: &&Block| device.block().is_none_or(|named| named.name != block.name);
    let stacks = device
        .affected()
        .filter(is_other)
        .filter(|block| !block.slaves.is_empty());
    let sentence = |block: &Block| {
        format!(
            "used by /dev/{} (built on {}); remove that or choose another device",
            block.name,
            block.slaves.join(", ")
        )
    };
    stacks
        .map(|block| refusal("held", device, &sentence(block)))
        .collect()
}

fn swapped_to(system: &System, device: &ResolvedDevice<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let swaps = mounts::swaps(system)?.into_iter();
    let ours = swaps.filter(|path| system.probe.resolve(path).is_ok_and(|node| device.affects(&node)));
    let sentence = |path: &Path| {
        format!(
            "the host swaps to {0}; run swapoff {0} or choose another device",
            path.display()
        )
    };
    Ok(ours
        .map(|path| refusal("swap", device, &sentence(&path)))
        .collect())
}

fn claimed(system: &System, device: &ResolvedDevice<'_>) -> Option<Refusal> {
    let named = device.block()?;
    let claimed = |block: &Block| {
        let subject = subject(device, block);
        refusal(
            "claimed",
            device,
            &format!(
                "{subject}in exclusive use; look for ZFS, a volume manager or another load, and stop it \
                 or choose another device"
            ),
        )
    };
    match exclusive(system, device.path) {
        Exclusive::Free => claimed_on_same_drive(system, device).map(claimed),
        Exclusive::Claimed => Some(claimed(named)),
        Exclusive::Denied(error) => Some(refusal(
            "no-access",
            device,
            &format!("cannot be opened: {error}; check the medium and your permissions"),
        )),
    }
}

/// Tries again after a while, because another check opens the device exclusively for a moment as well.
fn exclusive(system: &System, path: &Path) -> Exclusive {
    match system.probe.open_exclusive(path) {
        Exclusive::Claimed => {
            thread::sleep(system.udev_grace);
            system.probe.open_exclusive(path)
        }
        answer => answer,
    }
}

/// Returns another device of the drive that is in exclusive use. The kernel refuses a whole drive if one of its
/// partitions is in use, so the partitions are checked instead.
fn claimed_on_same_drive<'t>(system: &System, device: &'t ResolvedDevice<'_>) -> Option<&'t Block> {
    let is_claimed = |block: &&Block| {
        let is_whole_of_others = device.inventory.partitions(block).next().is_some();
        !is_whole_of_others && matches!(exclusive(system, &block.node()), Exclusive::Claimed)
    };
    device.affected().find(is_claimed)
}

fn stacked(device: &ResolvedDevice<'_>) -> Option<Refusal> {
    let slaves = &device.block()?.slaves;
    let sentence = || {
        format!(
            "built on {}, which a load would measure together; name a single drive",
            slaves.join(", ")
        )
    };
    (!slaves.is_empty()).then(|| refusal("stacked", device, &sentence()))
}

/// Refuses a partitioned device. For a file, these are the partitions of the loop devices over it.
fn partitioned(device: &ResolvedDevice<'_>) -> Option<Refusal> {
    let wholes: Vec<&Block> = match &device.medium {
        Medium::Block(name) => device.inventory.named(name).into_iter().collect(),
        Medium::File { .. } => device.affected().collect(),
    };
    let parts = wholes
        .into_iter()
        .flat_map(|whole| device.inventory.partitions(whole));
    let parts: Vec<_> = parts.map(|part| part.name.as_str()).collect();
    let sentence = || {
        format!(
            "has partitions ({}); name one of them, or remove them first",
            parts.join(", ")
        )
    };
    (!parts.is_empty()).then(|| refusal("partitioned", device, &sentence()))
}

fn open(system: &System, device: &ResolvedDevice<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let openers = open_files::lasting(system, &|node| device.affects(node))?;
    let sentence = |opener: &OpeningProcess| {
        let OpeningProcess { number, name, node } = opener;
        let block = match node {
            Node::Block(number) => device.affected_numbered(*number),
            _ => None,
        };
        let subject = block.map(|block| subject(device, block)).unwrap_or_default();
        format!("{subject}open in process {number} ({name}); stop it or choose another device")
    };
    Ok(openers
        .iter()
        .map(|opener| refusal("open", device, &sentence(opener)))
        .collect())
}

fn busy(device: &ResolvedDevice<'_>, activity: &Activity<'_>) -> Result<Option<Refusal>, DeviceError> {
    let names: Vec<_> = device.affected().map(|block| block.name.as_str()).collect();
    let sentence = |name: &str| {
        format!(
            "/dev/{name} receives I/O from an unknown source; look for a virtual machine, a container, \
             another host on the same drive, or an export, and stop it or choose another device"
        )
    };
    let seen = activity.lasting(&names)?;
    Ok(seen.map(|name| refusal("busy", device, &sentence(name))))
}

fn backing_gone(device: &ResolvedDevice<'_>) -> Option<Refusal> {
    let whole = device.inventory.whole(device.block()?);
    let Some(Backing::Gone { path }) = &whole.backing else {
        return None;
    };
    let sentence = format!(
        "the backing file {} no longer exists, so the drive is unknown; attach it again",
        path.display()
    );
    Some(refusal("backing-gone", device, &sentence))
}

fn unnamed(device: &ResolvedDevice<'_>) -> Option<Refusal> {
    let sentence = "reports neither serial number nor world-wide name, so the register could not recognise it; choose another drive";
    (!device.drive.is_named).then(|| refusal("no-identity", device, sentence))
}

/// Refuses a small block device. A plain file is extended to the configured size.
fn too_small(device: &ResolvedDevice<'_>) -> Result<Option<Refusal>, DeviceError> {
    let Some(block) = device.block() else {
        return Ok(None);
    };
    let size_bytes = block.size_bytes()?;
    let sentence = || {
        format!(
            "has {size_bytes} bytes, but needs at least {SMALLEST_BYTES}; attach or resize it, or choose another device"
        )
    };
    Ok((size_bytes < SMALLEST_BYTES).then(|| refusal("too-small", device, &sentence())))
}

fn read_only(system: &System, device: &ResolvedDevice<'_>) -> Result<Option<Refusal>, DeviceError> {
    if device.block().map(Block::is_read_only).transpose()? == Some(true) {
        return Ok(Some(refusal(
            "read-only",
            device,
            "is read-only; make it writable or choose another device",
        )));
    }
    let denied = system.probe.check_writable(device.path).err();
    let sentence =
        |error| format!("cannot be written to: {error}; get write permission or choose another device");
    Ok(denied.map(|error| refusal("read-only", device, &sentence(error))))
}

#[cfg(test)]
mod tests;
