//! The record that the register binds a device by.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::block::Block;
use crate::drive::Kind;
use crate::error::DeviceError;
use crate::host::Host;
use crate::refusal::{self, Refusal};
use crate::system::System;
use crate::target::{Target, Thing};

/// What a device is, and whether it may be written to; its JSON is `drivecert.identity/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Name and version of this record.
    pub schema: &'static str,
    /// The path as it was named.
    pub path: PathBuf,
    /// What sort of identity the drive has.
    pub kind: Kind,
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
    /// Whether it turns, as far as the kernel knows.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Of a loop device: what it shows.
    pub backing: Option<PathBuf>,
    /// Why it may not be written to; empty when it may.
    pub refusals: Vec<Refusal>,
    /// Where it was seen.
    pub host: Host,
}

/// Tells what a device is and whether it may be written to.
///
/// # Errors
/// When the path leads to nothing, or to neither a block device nor a file, or the kernel does not describe it.
pub fn identify(path: &Path) -> Result<Identity, DeviceError> {
    identify_on(&System::host(), path)
}

pub(crate) fn identify_on(system: &System, path: &Path) -> Result<Identity, DeviceError> {
    let target = Target::find(system, path)?;
    let queue = Queue::of(&target)?;
    let drive = target.drive.clone();
    Ok(Identity {
        schema: "drivecert.identity/1",
        path: path.to_path_buf(),
        kind: drive.kind,
        drive_key: drive.key,
        model: drive.model,
        serial: drive.serial,
        firmware: drive.firmware,
        wwn: drive.wwn,
        size_bytes: size_bytes(&target)?,
        logical_block_bytes: queue.logical_block_bytes,
        minimum_io_bytes: queue.minimum_io_bytes,
        rotational: queue.rotational,
        scheduler: queue.scheduler,
        backing: backing(&target),
        refusals: refusal::of(system, &target)?,
        host: Host::read(system)?,
    })
}

fn size_bytes(target: &Target<'_>) -> Result<u64, DeviceError> {
    match (&target.thing, target.block()) {
        (Thing::File { size_bytes, .. }, _) => Ok(*size_bytes),
        (Thing::Block(_), Some(block)) => block.size_bytes(),
        (Thing::Block(_), None) => Ok(0),
    }
}

fn backing(target: &Target<'_>) -> Option<PathBuf> {
    let whole = target.inventory.whole(target.block()?);
    whole.backing.as_ref().map(|backing| backing.path().clone())
}

/// How the kernel hands requests to a device.
#[derive(Default)]
struct Queue {
    logical_block_bytes: Option<u64>,
    minimum_io_bytes: Option<u64>,
    rotational: Option<bool>,
    scheduler: Option<String>,
}

impl Queue {
    /// Of a file: that of the device its file system lies on or, where there is none, its blocks.
    fn of(target: &Target<'_>) -> Result<Self, DeviceError> {
        let below = match &target.thing {
            Thing::Block(_) => target.block(),
            Thing::File { id, .. } => target.inventory.numbered(id.device_number()),
        };
        match (below, &target.thing) {
            (Some(block), _) => Self::read(target.inventory.whole(block)),
            (None, Thing::File { block_bytes, .. }) => Ok(Self {
                logical_block_bytes: Some(*block_bytes),
                minimum_io_bytes: Some(*block_bytes),
                ..Self::default()
            }),
            (None, Thing::Block(_)) => Ok(Self::default()),
        }
    }

    fn read(whole: &Block) -> Result<Self, DeviceError> {
        let number = |attribute: &str| crate::system::number(&whole.directory.join("queue").join(attribute));
        Ok(Self {
            logical_block_bytes: number("logical_block_size")?,
            minimum_io_bytes: number("minimum_io_size")?,
            rotational: number("rotational")?.map(|rotational| rotational == 1),
            scheduler: whole.text("queue/scheduler")?.map(|offered| chosen(&offered)),
        })
    }
}

/// The kernel lists all schedulers and puts the one in use into brackets.
fn chosen(offered: &str) -> String {
    let bracketed = offered.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(offered, |(chosen, _)| chosen).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }
}
