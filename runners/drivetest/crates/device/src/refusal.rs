//! Why a device may not be written to.

use std::path::Path;
use std::thread;

use serde::Serialize;

use crate::activity::Activity;
use crate::block::{Backing, Block};
use crate::error::DeviceError;
use crate::mounts;
use crate::node::{Exclusive, Node};
use crate::openers::{self, Opener};
use crate::swaps;
use crate::system::System;
use crate::target::{Target, Thing};

/// A large block of the load is 128 KiB; a device that holds not even a few of them is no drive, or has no medium.
const SMALLEST_BYTES: u64 = 1 << 20;

/// One reason against writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Which reason, for programs.
    pub id: &'static str,
    /// What, why and what to do, for people.
    pub sentence: String,
}

/// Returns why a device may not be written to; empty when it may.
///
/// The answer holds for this moment. Open a block device with `O_EXCL` afterwards: then the kernel keeps others away.
///
/// # Errors
/// When the path leads to nothing, or to neither a block device nor a file, or the kernel does not describe it.
pub fn refusals(path: &Path) -> Result<Vec<Refusal>, DeviceError> {
    refusals_on(&System::host(), path)
}

pub(crate) fn refusals_on(system: &System, path: &Path) -> Result<Vec<Refusal>, DeviceError> {
    of(system, &Target::find(system, path)?, &Activity::of(system))
}

pub(crate) fn of(
    system: &System,
    target: &Target<'_>,
    activity: &Activity<'_>,
) -> Result<Vec<Refusal>, DeviceError> {
    let mut found = without_watching(system, target)?;
    // Whoever was found is the one whose I/O would be seen.
    if found.is_empty() {
        found.extend(busy(target, activity)?);
    }
    Ok(found)
}

fn without_watching(system: &System, target: &Target<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let mut found = mounted(system, target)?;
    found.extend(held(target));
    found.extend(swapped_to(system, target)?);
    found.extend(open(system, target)?);
    // What nobody has been seen to use may still be claimed: by ZFS, a second btrfs member, a program of another container.
    if found.is_empty() {
        found.extend(claimed(system, target));
    }
    found.extend(stacked(target));
    found.extend(partitioned(target));
    found.extend(backing_gone(target));
    found.extend(unnamed(target));
    found.extend(too_small(target)?);
    found.extend(read_only(system, target)?);
    Ok(found)
}

fn refusal(id: &'static str, target: &Target<'_>, what: &str) -> Refusal {
    Refusal {
        id,
        sentence: format!("{}: {what}", target.path.display()),
    }
}

/// Names a device where it is not the one that was asked about.
fn subject(target: &Target<'_>, block: &Block) -> String {
    match &target.thing {
        Thing::Block(name) if *name == block.name => String::new(),
        _ => format!("/dev/{}, on the same drive, is ", block.name),
    }
}

fn mounted(system: &System, target: &Target<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let mut found = Vec::new();
    for mount in mounts::read(system)? {
        let Some(block) = target.touched_numbered(mount.number) else {
            continue;
        };
        let (subject, point) = (subject(target, block), mount.point.display());
        found.push(match mount.is_of_the_system() {
            true => refusal(
                "boot",
                target,
                &format!("{subject}mounted at {point}, where the running system lies; choose another device"),
            ),
            false => refusal(
                "mounted",
                target,
                &format!("{subject}mounted at {point}; unmount it or choose another device"),
            ),
        });
    }
    Ok(found)
}

fn held(target: &Target<'_>) -> Vec<Refusal> {
    let is_other = |block: &&Block| target.block().is_none_or(|named| named.name != block.name);
    let stacks = target
        .touched()
        .filter(is_other)
        .filter(|block| !block.slaves.is_empty());
    let sentence = |block: &Block| {
        format!(
            "held by /dev/{} (made of {}); take that apart or choose another device",
            block.name,
            block.slaves.join(", ")
        )
    };
    stacks
        .map(|block| refusal("held", target, &sentence(block)))
        .collect()
}

fn swapped_to(system: &System, target: &Target<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let swaps = swaps::read(system)?.into_iter();
    let ours = swaps.filter(|path| system.nodes.look(path).is_ok_and(|node| target.touches(&node)));
    let sentence = |path: &Path| {
        format!(
            "the host swaps to {0}; run swapoff {0} or choose another device",
            path.display()
        )
    };
    Ok(ours
        .map(|path| refusal("swap", target, &sentence(&path)))
        .collect())
}

fn claimed(system: &System, target: &Target<'_>) -> Option<Refusal> {
    let named = target.block()?;
    let claimed = |block: &Block| {
        let subject = subject(target, block);
        refusal(
            "claimed",
            target,
            &format!(
                "{subject}given to another user by the kernel; look for ZFS, a volume manager or another load, and end that \
                 or choose another device"
            ),
        )
    };
    match exclusive(system, target.path) {
        Exclusive::Free => claimed_beside(system, target).map(claimed),
        Exclusive::Claimed => Some(claimed(named)),
        Exclusive::Denied(error) => Some(refusal(
            "no-access",
            target,
            &format!("cannot be opened: {error}; check the medium and your rights"),
        )),
    }
}

/// Asks once more after a while: another who asks this has the device for a moment as well.
fn exclusive(system: &System, path: &Path) -> Exclusive {
    match system.nodes.exclusive(path) {
        Exclusive::Claimed => {
            thread::sleep(system.passing);
            system.nodes.exclusive(path)
        }
        answer => answer,
    }
}

/// Finds another device of the drive that somebody has. The kernel gives away no drive of which it gave a part away: its
/// partitions are asked instead.
fn claimed_beside<'t>(system: &System, target: &'t Target<'_>) -> Option<&'t Block> {
    let is_claimed = |block: &&Block| {
        let is_whole_of_others = target.inventory.partitions(block).next().is_some();
        !is_whole_of_others && matches!(exclusive(system, &block.node()), Exclusive::Claimed)
    };
    target.touched().find(is_claimed)
}

fn stacked(target: &Target<'_>) -> Option<Refusal> {
    let slaves = &target.block()?.slaves;
    let sentence = || {
        format!(
            "made of {}, which a load would measure together; name the drive itself",
            slaves.join(", ")
        )
    };
    (!slaves.is_empty()).then(|| refusal("stacked", target, &sentence()))
}

/// Of a file: the partitions of the loop devices over it.
fn partitioned(target: &Target<'_>) -> Option<Refusal> {
    let wholes: Vec<&Block> = match &target.thing {
        Thing::Block(name) => target.inventory.named(name).into_iter().collect(),
        Thing::File { .. } => target.touched().collect(),
    };
    let parts = wholes
        .into_iter()
        .flat_map(|whole| target.inventory.partitions(whole));
    let parts: Vec<_> = parts.map(|part| part.name.as_str()).collect();
    let sentence = || {
        format!(
            "has partitions ({}); name one of them, or remove them first",
            parts.join(", ")
        )
    };
    (!parts.is_empty()).then(|| refusal("partitioned", target, &sentence()))
}

fn open(system: &System, target: &Target<'_>) -> Result<Vec<Refusal>, DeviceError> {
    let openers = openers::lasting(system, &|node| target.touches(node))?;
    let sentence = |opener: &Opener| {
        let Opener { number, name, node } = opener;
        let block = match node {
            Node::Block(number) => target.touched_numbered(*number),
            _ => None,
        };
        let subject = block.map(|block| subject(target, block)).unwrap_or_default();
        format!("{subject}open in process {number} ({name}); end that or choose another device")
    };
    Ok(openers
        .iter()
        .map(|opener| refusal("open", target, &sentence(opener)))
        .collect())
}

fn busy(target: &Target<'_>, activity: &Activity<'_>) -> Result<Option<Refusal>, DeviceError> {
    let names: Vec<_> = target.touched().map(|block| block.name.as_str()).collect();
    let sentence = |name: &str| {
        format!(
            "/dev/{name} sees I/O, and nobody on this host was found to do it; look for a virtual machine, a container, \
             another host on the same drive, or an export, and end that or choose another device"
        )
    };
    let seen = activity.lasting(&names)?;
    Ok(seen.map(|name| refusal("busy", target, &sentence(name))))
}

fn backing_gone(target: &Target<'_>) -> Option<Refusal> {
    let whole = target.inventory.whole(target.block()?);
    let Some(Backing::Gone { path }) = &whole.backing else {
        return None;
    };
    let sentence = format!(
        "shows {}, which is gone from there, so its drive cannot be told; attach it anew",
        path.display()
    );
    Some(refusal("backing-gone", target, &sentence))
}

fn unnamed(target: &Target<'_>) -> Option<Refusal> {
    let sentence = "tells neither serial nor world-wide name, so the register could not know it again; choose another drive";
    (!target.drive.is_named).then(|| refusal("no-identity", target, sentence))
}

/// A file is made as large as the load asks.
fn too_small(target: &Target<'_>) -> Result<Option<Refusal>, DeviceError> {
    let Some(block) = target.block() else {
        return Ok(None);
    };
    let size_bytes = block.size_bytes()?;
    let sentence = || {
        format!(
            "holds {size_bytes} bytes, {SMALLEST_BYTES} are needed; attach or size it, or choose another device"
        )
    };
    Ok((size_bytes < SMALLEST_BYTES).then(|| refusal("too-small", target, &sentence())))
}

fn read_only(system: &System, target: &Target<'_>) -> Result<Option<Refusal>, DeviceError> {
    if target.block().map(Block::is_read_only).transpose()? == Some(true) {
        return Ok(Some(refusal(
            "read-only",
            target,
            "set read-only; make it writable or choose another device",
        )));
    }
    let denied = system.nodes.check_writable(target.path).err();
    let sentence = |error| format!("cannot be written to: {error}; get the rights or choose another device");
    Ok(denied.map(|error| refusal("read-only", target, &sentence(error))))
}

#[cfg(test)]
mod tests;
