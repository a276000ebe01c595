//! The record that the register binds a device by.

pub(crate) mod drive;
pub(crate) mod hardware;
pub(crate) mod host;
pub(crate) mod locate;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::DeviceError;
use crate::gate::warnings::{self, Warning};
use crate::gate::{self, Refusal};
use crate::identity::drive::DriveKind;
use crate::identity::hardware::{Hardware, Pcie};
use crate::identity::host::Host;
use crate::state::activity::Activity;
use crate::state::health::Health;
use crate::state::mounts;
use crate::state::queue::Queue;
use crate::state::trim_counters::TrimCounters;
use crate::system::System;
use crate::topology::block::{Backing, Block};
use crate::topology::resolve::{Medium, ResolvedDevice};

/// What a device is, and whether it may be written to; its JSON is `drivecert.identity/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Name and version of this record.
    pub schema: &'static str,
    /// The path as it was named.
    pub path: PathBuf,
    /// What sort of identity the drive has.
    pub kind: DriveKind,
    /// Names the physical drive, the same for every path to it.
    pub drive_key: String,
    /// As the drive tells it; a drive that is not SATA with its vendor first.
    pub model: Option<String>,
    /// As the drive tells it.
    pub serial: Option<String>,
    /// As the drive tells it.
    pub firmware: Option<String>,
    /// The kernel's world-wide id: NAA, EUI-64, NGUID, or vendor, model and serial where the drive has none.
    pub wwn: Option<String>,
    /// Of the device that was named: a partition's own size.
    pub size_bytes: u64,
    /// The smallest unit of direct I/O.
    pub logical_block_bytes: Option<u64>,
    /// The smallest unit that costs no read before a write.
    pub minimum_io_bytes: Option<u64>,
    /// The drive's own unit, of which it may show smaller ones.
    pub physical_block_bytes: Option<u64>,
    /// The largest request that the drive says suits it.
    pub optimal_io_bytes: Option<u64>,
    /// Whether it turns, as far as the kernel knows.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// How many requests the kernel keeps for it.
    pub nr_requests: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Of an NVMe drive on PCI Express.
    pub pcie: Option<Pcie>,
    /// The memory it is near to; None also on hosts that have one.
    pub numa_node: Option<u64>,
    /// Now.
    pub temperature_c: Option<i64>,
    /// Above this the drive itself warns.
    pub temperature_limit_c: Option<i64>,
    /// Of its life, as the drive tells it; of eMMC the upper end of its step.
    pub wear_pct: Option<i64>,
    /// Of an NVMe drive that we may ask.
    pub health: Option<Health>,
    /// What was discarded on the whole device since the host started; None of a file.
    pub discards: Option<TrimCounters>,
    /// Of a loop device: what it shows.
    pub backing: Option<PathBuf>,
    /// Other block devices on the same physical drive, its own partitions among them.
    pub same_drive: Vec<PathBuf>,
    /// What is mounted on the drive, or on what stands upon it.
    pub mounts: Vec<MountPoint>,
    /// What stands upon the drive: volumes, arrays, loop devices.
    pub holders: Vec<PathBuf>,
    /// What was recognised of somebody's data; None also while it is in use, when nothing is read from it.
    pub signature: Option<&'static str>,
    /// Why nobody knows whether there is any: the device could not be read. None where it was, or is in use.
    pub signature_error: Option<String>,
    /// Why it may not be written to; empty when it may.
    pub refusals: Vec<Refusal>,
    /// What would make a measurement doubtful.
    pub warnings: Vec<Warning>,
    /// Where it was seen.
    pub host: Host,
}

/// Where a file system is mounted, in whatever mount namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountPoint {
    /// The block device.
    pub device: PathBuf,
    /// The directory.
    pub point: PathBuf,
}

/// Refusals that say that somebody uses the drive.
const IN_USE: [&str; 8] = [
    "mounted",
    "boot",
    "held",
    "swap",
    "claimed",
    "no-access",
    "open",
    "busy",
];

/// Tells what a device is and whether it may be written to. A device that nobody is found to use is watched for a second.
///
/// # Errors
/// When the path leads to nothing, or to neither a block device nor a file, or the kernel does not describe it.
pub fn identify(path: &Path) -> Result<Identity, DeviceError> {
    identify_on(&System::host(), path)
}

/// Tells of several devices what [`identify`] tells of one; they are watched together.
pub fn identify_all(paths: &[&Path]) -> Vec<Result<Identity, DeviceError>> {
    let system = System::host();
    let activity = Activity::of(&system);
    paths.iter().map(|path| asked(&system, path, &activity)).collect()
}

/// Tells what a device is to whom it belongs for now: without asking what speaks against writing, and without reading it.
///
/// # Errors
/// As [`identify`].
pub fn identify_in_use(path: &Path) -> Result<Identity, DeviceError> {
    let system = System::host();
    told(&system, &ResolvedDevice::find(&system, path)?)
}

pub(crate) fn identify_on(system: &System, path: &Path) -> Result<Identity, DeviceError> {
    asked(system, path, &Activity::of(system))
}

fn asked(system: &System, path: &Path, activity: &Activity<'_>) -> Result<Identity, DeviceError> {
    let device = ResolvedDevice::find(system, path)?;
    let refusals = gate::of(system, &device, activity)?;
    let identity = told(system, &device)?;
    let is_in_use = refusals.iter().any(|refusal| IN_USE.contains(&refusal.id));
    let read = if is_in_use {
        Ok(None)
    } else {
        system.probe.signature(path, identity.size_bytes)
    };
    Ok(Identity {
        refusals,
        signature_error: read.as_ref().err().map(ToString::to_string),
        signature: read.ok().flatten(),
        ..identity
    })
}

fn told(system: &System, device: &ResolvedDevice<'_>) -> Result<Identity, DeviceError> {
    let queue = Queue::of(device)?;
    let whole = device.block().map(|block| device.inventory.whole(block));
    let hardware = whole.map(|whole| Hardware::of(system, whole)).unwrap_or_default();
    let asked = whole.filter(|whole| whole.name.starts_with("nvme"));
    let page = asked.and_then(|whole| system.probe.health_page(&whole.node()));
    let health = page.as_ref().map(Health::parse);
    let drive = device.drive.clone();
    let mut identity = Identity {
        schema: "drivecert.identity/1",
        path: device.path.to_path_buf(),
        kind: drive.kind,
        drive_key: drive.key,
        model: drive.model,
        serial: drive.serial,
        firmware: drive.firmware,
        wwn: drive.wwn,
        size_bytes: size_bytes(device)?,
        logical_block_bytes: queue.logical_block_bytes,
        minimum_io_bytes: queue.minimum_io_bytes,
        physical_block_bytes: queue.physical_block_bytes,
        optimal_io_bytes: queue.optimal_io_bytes,
        rotational: queue.rotational,
        scheduler: queue.scheduler,
        nr_requests: queue.nr_requests,
        write_cache: queue.write_cache,
        pcie: hardware.pcie,
        numa_node: hardware.numa_node,
        temperature_c: hardware.temperature_c,
        temperature_limit_c: hardware.temperature_limit_c,
        wear_pct: hardware
            .wear_pct
            .or(health.as_ref().map(|told| i64::from(told.used_pct))),
        health,
        discards: whole
            .map(|whole| TrimCounters::read(system, whole))
            .transpose()?
            .flatten(),
        backing: backing(device),
        same_drive: same_drive(device),
        mounts: mount_points(system, device)?,
        holders: holders(device),
        signature: None,
        signature_error: None,
        refusals: Vec::new(),
        warnings: Vec::new(),
        host: Host::read(system)?,
    };
    identity.warnings = warnings::warnings(std::slice::from_ref(&identity), None);
    Ok(identity)
}

/// Tells whether a device is made of others, and so is not the drive itself.
fn is_stacked(block: &Block) -> bool {
    !block.slaves.is_empty() || matches!(block.backing, Some(Backing::Block { .. }))
}

fn same_drive(device: &ResolvedDevice<'_>) -> Vec<PathBuf> {
    let others = device.affected().filter(|block| !is_stacked(block));
    let others = others.filter(|block| device.block().is_none_or(|named| named.name != block.name));
    others.map(Block::node).collect()
}

fn holders(device: &ResolvedDevice<'_>) -> Vec<PathBuf> {
    let upon = device.affected().filter(|block| is_stacked(block));
    let upon = upon.filter(|block| device.block().is_none_or(|named| named.name != block.name));
    upon.map(Block::node).collect()
}

fn mount_points(system: &System, device: &ResolvedDevice<'_>) -> Result<Vec<MountPoint>, DeviceError> {
    let mounts = mounts::mounts(system)?.into_iter();
    let ours = mounts.filter_map(|mount| {
        let device = device.affected_numbered(mount.number)?.node();
        Some(MountPoint {
            device,
            point: mount.point,
        })
    });
    Ok(ours.collect())
}

fn size_bytes(device: &ResolvedDevice<'_>) -> Result<u64, DeviceError> {
    match (&device.medium, device.block()) {
        (Medium::File { size_bytes, .. }, _) => Ok(*size_bytes),
        (Medium::Block(_), Some(block)) => block.size_bytes(),
        (Medium::Block(_), None) => Ok(0),
    }
}

fn backing(device: &ResolvedDevice<'_>) -> Option<PathBuf> {
    let whole = device.inventory.whole(device.block()?);
    whole.backing.as_ref().map(|backing| backing.path().clone())
}

#[cfg(test)]
mod tests;
