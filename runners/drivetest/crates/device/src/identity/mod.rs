//! The identity record, which the register uses to bind a device.

pub(crate) mod drive;
pub(crate) mod hardware;
pub(crate) mod host;
pub(crate) mod locate;
pub(crate) mod usage;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::DeviceError;
use crate::gate::warnings::{self, Warning};
use crate::gate::{self, Refusal};
use crate::identity::drive::DriveKind;
use crate::identity::hardware::Hardware;
use crate::identity::host::Host;
use crate::probe::path::Node;
use crate::state::health::Health;
use crate::state::io_counters::{Activity, TrimCounters};
use crate::state::mounts::{self, Mount};
use crate::state::queue::Queue;
use crate::system::System;
use crate::topology::block::Block;
use crate::topology::resolve::ResolvedDevice;

/// The identity of a device, with refusals and warnings. Its JSON is `drivecert.identity/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Name and version of this record.
    pub schema: &'static str,
    /// As named by the user.
    pub path: PathBuf,
    /// Kind of the drive's identity.
    pub kind: DriveKind,
    /// Key of the physical drive, the same for all its paths.
    pub drive_key: String,
    /// As reported by the drive. Except for SATA, the vendor comes first.
    pub model: Option<String>,
    /// As reported by the drive.
    pub serial: Option<String>,
    /// As reported by the drive.
    pub firmware: Option<String>,
    /// World-wide id from the kernel: NAA, EUI-64, NGUID, or vendor, model and serial if there is none.
    pub wwn: Option<String>,
    /// Size of the named device, which may be a partition.
    pub size_bytes: u64,
    /// The kernel's request queue.
    #[serde(flatten)]
    pub queue: Queue,
    /// The hardware attributes of the drive.
    #[serde(flatten)]
    pub hardware: Hardware,
    /// Only for NVMe drives that accept the command.
    pub health: Option<Health>,
    /// Trims of the whole device since the boot; None for a file.
    pub discards: Option<TrimCounters>,
    /// Backing file of a loop device.
    pub backing: Option<PathBuf>,
    /// Other block devices of the physical drive, including its partitions.
    pub same_drive: Vec<PathBuf>,
    /// Mounts of the drive and of devices stacked on it.
    pub mounts: Vec<MountPoint>,
    /// Devices that are stacked on the drive: volumes, arrays, loop devices.
    pub holders: Vec<PathBuf>,
    /// Recognised data; None also if the device is in use, because nothing is read from it then.
    pub signature: Option<&'static str>,
    /// The exact type of this data, for people.
    #[serde(skip)]
    pub data: Option<&'static str>,
    /// Why the device could not be read; None if it was read or is in use.
    pub signature_error: Option<String>,
    /// Reasons for which it must not be written to; empty if there are none.
    pub refusals: Vec<Refusal>,
    /// Problems that make a measurement doubtful.
    pub warnings: Vec<Warning>,
    /// The host of the device.
    pub host: Host,
}

/// A mount of a file system, in any mount namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountPoint {
    /// The block device.
    pub device: PathBuf,
    /// The directory.
    pub point: PathBuf,
}

/// Refusals of a device that is in use.
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

/// Identifies a device. A device without a known user is monitored for I/O for a second or more.
///
/// # Errors
/// If the path does not exist, is neither a block device nor a file, or the kernel does not describe it.
pub fn identify(path: &Path) -> Result<Identity, DeviceError> {
    identify_on(&System::host(), path)
}

/// Identifies several devices, which are monitored together.
pub fn identify_all(paths: &[&Path]) -> Vec<Result<Identity, DeviceError>> {
    let system = System::host();
    let activity = Activity::of(&system);
    paths
        .iter()
        .map(|path| identify_with_refusals(&system, path, &activity))
        .collect()
}

/// Identifies a device in use by the caller: without refusals, and without reading it.
///
/// # Errors
/// Like [`identify`].
pub fn identify_in_use(path: &Path) -> Result<Identity, DeviceError> {
    let system = System::host();
    describe(&system, &ResolvedDevice::find(&system, path)?)
}

pub(crate) fn identify_on(system: &System, path: &Path) -> Result<Identity, DeviceError> {
    identify_with_refusals(system, path, &Activity::of(system))
}

fn identify_with_refusals(
    system: &System,
    path: &Path,
    activity: &Activity<'_>,
) -> Result<Identity, DeviceError> {
    let device = ResolvedDevice::find(system, path)?;
    let refusals = gate::of(system, &device, activity)?;
    let identity = describe(system, &device)?;
    let is_in_use = refusals.iter().any(|refusal| IN_USE.contains(&refusal.id));
    let read = if is_in_use {
        Ok(None)
    } else {
        system.probe.signature(path, identity.size_bytes)
    };
    let signature_error = read.as_ref().err().map(ToString::to_string);
    let found = read.ok().flatten();
    Ok(Identity {
        refusals,
        signature_error,
        signature: found.map(|signature| signature.name),
        data: found.map(|signature| signature.exact),
        ..identity
    })
}

fn describe(system: &System, device: &ResolvedDevice<'_>) -> Result<Identity, DeviceError> {
    let whole = device.block().map(|block| device.inventory.whole(block));
    let mut hardware = whole.map(|whole| Hardware::of(system, whole)).unwrap_or_default();
    let nvme = whole.filter(|whole| whole.name.starts_with("nvme"));
    let page = nvme.and_then(|whole| system.probe.health_page(&whole.node()));
    let health = page.as_ref().map(Health::parse);
    hardware.wear_pct = hardware
        .wear_pct
        .or(health.as_ref().map(|health| i64::from(health.used_pct)));
    let drive = device.drive.clone();
    let (holders, same_drive): (Vec<_>, Vec<_>) = device.others().partition(is_stacked);
    let paths = |blocks: Vec<&Block>| blocks.into_iter().map(Block::node).collect();
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
        queue: Queue::of(device)?,
        hardware,
        health,
        discards: whole
            .map(|whole| TrimCounters::read(system, whole))
            .transpose()?
            .flatten(),
        backing: whole.and_then(|whole| whole.backing.clone()),
        same_drive: paths(same_drive),
        mounts: mount_points(&mounts::mounts(system)?, device),
        holders: paths(holders),
        signature: None,
        data: None,
        signature_error: None,
        refusals: Vec::new(),
        warnings: Vec::new(),
        host: Host::read(system)?,
    };
    identity.warnings = warnings::warnings(std::slice::from_ref(&identity), None);
    Ok(identity)
}

/// Returns whether a device is stacked on others, and so is not the drive itself.
fn is_stacked(block: &&Block) -> bool {
    !block.slaves.is_empty() || matches!(block.backing_node, Some(Node::Block(_)))
}

/// Returns the mounts of a drive and of the devices that are stacked on it.
fn mount_points(mounts: &BTreeSet<Mount>, device: &ResolvedDevice<'_>) -> Vec<MountPoint> {
    let ours = mounts.iter().filter_map(|mount| {
        let device = device.affected_numbered(mount.number)?.node();
        Some(MountPoint {
            device,
            point: mount.point.clone(),
        })
    });
    ours.collect()
}

fn size_bytes(device: &ResolvedDevice<'_>) -> Result<u64, DeviceError> {
    match (device.node, device.block()) {
        (Node::File { size_bytes, .. }, _) => Ok(size_bytes),
        (_, block) => block.map_or(Ok(0), Block::size_bytes),
    }
}

#[cfg(test)]
mod tests;
