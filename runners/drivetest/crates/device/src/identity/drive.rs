//! The drive of a device: its kind, its reported identity, and the key that all its paths share.

use serde::Serialize;

use crate::error::DeviceError;
use crate::probe::path::{FileId, Node};
use crate::system::{self, MACHINE_HASH_DIGITS, MACHINE_HASH_SEPARATOR, System, is_lower_hex};
use crate::topology::block::Block;
use crate::topology::inventory::Inventory;

/// Stacks are a few layers deep; a longer chain is a cycle.
const DEEPEST_STACK: usize = 16;
/// Vital product data page 0x80: the serial number follows a header of 4 bytes. The last two bytes of the header are
/// its length.
/// Source: SPC-4, 7.8.15.
const SERIAL_PAGE_HEADER_BYTES: usize = 4;

/// The kind of a drive's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DriveKind {
    /// Identified by model and serial, or by its NQN.
    Nvme,
    /// SCSI, SAS or SATA; identified by its WWN, or by model and serial.
    Scsi,
    /// Loop, zram, file, and other devices without an own identity; they never certify.
    Virtual,
}

/// The identity that a drive reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Drive {
    pub kind: DriveKind,
    /// Key of the physical drive, the same for all its paths.
    pub key: String,
    /// Whether the register can recognise the drive in another host or slot.
    pub is_named: bool,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    pub wwn: Option<String>,
}

/// Returns the drive of a plain file, which is also that of every loop device over it. Cloned machines have files
/// with equal numbers, so the key also has the host's name and a hash of its machine id.
pub(crate) fn of_file(system: &System, id: FileId) -> Result<Drive, DeviceError> {
    let key = format!("file:{}:{}:{}", system.machine_label()?, id.device, id.inode);
    Ok(virtual_drive(key, None))
}

/// Returns whether the current key of a drive matches the key that it was bound by. Keys of earlier versions remain
/// valid: those without the machine hash (`file:HOST:DEVICE:INODE`), and those of files without the host
/// (`file:DEVICE:INODE`).
/// docs/reference/formats.md has the grammar. The register's implementation is runners/hosts/drive_keys.py;
/// tests/data/drive_keys.tsv tests both.
pub fn is_same_drive(bound: &str, now: &str) -> bool {
    bound == now
        || without_machine(now).as_deref() == Some(bound)
        || file_id(now).is_some_and(|id| bound.strip_prefix("file:") == Some(id))
}

/// Prefixes of keys that contain a machine.
const PLACED: [&str; 4] = ["file:", "loop:", "zram:", "block:"];

/// Returns whether a key contains the machine of the drive: host name and hash.
pub(crate) fn contains_machine(key: &str) -> bool {
    PLACED.iter().any(|kind| key.starts_with(kind))
}

/// Returns a key without the machine hash, or None if it has none.
fn without_machine(key: &str) -> Option<String> {
    if !contains_machine(key) {
        return None;
    }
    let (before, after) = key.split_once(MACHINE_HASH_SEPARATOR)?;
    let (mark, rest) = after.split_once(':')?;
    let is_mark = mark.len() == MACHINE_HASH_DIGITS && is_lower_hex(mark);
    is_mark.then(|| format!("{before}:{rest}"))
}

/// Returns the file numbers in a key that also contains a host.
fn file_id(key: &str) -> Option<&str> {
    let named = key.strip_prefix("file:")?;
    let (before, inode) = named.rsplit_once(':')?;
    let (host, device) = before.rsplit_once(':')?;
    let is_key = !host.is_empty() && [device, inode].into_iter().all(is_number);
    named.get(host.len() + 1..).filter(|_| is_key)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the drive that a block device belongs to.
pub(crate) fn of_block(system: &System, inventory: &Inventory, block: &Block) -> Result<Drive, DeviceError> {
    let mut block = inventory.whole(block);
    for _ in 0..DEEPEST_STACK {
        let Some(below) = inventory.lower_devices(block).next() else {
            break;
        };
        block = inventory.whole(below);
    }
    if let Some(Node::File { id, .. }) = block.backing_node {
        return of_file(system, id);
    }
    match bus(block).as_deref() {
        _ if block.name.starts_with("loop") => {
            let key = format!("loop:{}:{}", system.machine_label()?, block.name);
            Ok(virtual_drive(key, None))
        }
        _ if block.name.starts_with("zram") => {
            let (machine, number) = (system.machine_label()?, block.name.trim_start_matches("zram"));
            let key = format!("zram:{machine}:{number}:{}", block.size_bytes()?);
            Ok(virtual_drive(key, None))
        }
        Some("nvme" | "nvme-subsystem") => nvme(system, block),
        Some("scsi") => scsi(system, block),
        // A disk of a virtual machine, or of a bus that the register does not certify.
        _ => Ok(virtual_drive(place(system, block)?, block.text("serial")?)),
    }
}

/// Returns the bus or class of the device behind a block device.
fn bus(block: &Block) -> Option<String> {
    let subsystem = std::fs::canonicalize(block.directory.join("device/subsystem")).ok()?;
    Some(subsystem.file_name()?.to_string_lossy().into_owned())
}

fn virtual_drive(key: String, serial: Option<String>) -> Drive {
    Drive {
        kind: DriveKind::Virtual,
        key,
        is_named: true,
        model: None,
        serial,
        firmware: None,
        wwn: None,
    }
}

/// Returns an NVMe drive. All its namespaces and paths report the same model and serial.
fn nvme(system: &System, block: &Block) -> Result<Drive, DeviceError> {
    let (model, serial) = (block.text("device/model")?, block.text("device/serial")?);
    let key = match (&serial, block.text("device/subsysnqn")?) {
        (Some(serial), _) => Some(format!("nvme:{}:{serial}", model.as_deref().unwrap_or_default())),
        (None, nqn) => nqn.map(|nqn| format!("nvme:{nqn}")),
    };
    let named = named(system, block, key)?;
    Ok(Drive {
        kind: DriveKind::Nvme,
        model,
        serial,
        firmware: block.text("device/firmware_rev")?,
        wwn: block.text("wwid")?,
        ..named
    })
}

fn scsi(system: &System, block: &Block) -> Result<Drive, DeviceError> {
    let vendor = block.text("device/vendor")?.filter(|vendor| vendor != "ATA");
    let model: Vec<_> = vendor.into_iter().chain(block.text("device/model")?).collect();
    let model = (!model.is_empty()).then(|| model.join(" "));
    let serial = serial_page(block)?;
    let wwn = block.text("device/wwid")?;
    let key = match (&wwn, &serial) {
        (Some(wwn), _) => Some(format!("scsi:{wwn}")),
        (None, Some(serial)) => Some(format!("scsi:{}:{serial}", model.as_deref().unwrap_or_default())),
        (None, None) => None,
    };
    let named = named(system, block, key)?;
    Ok(Drive {
        kind: DriveKind::Scsi,
        model,
        serial,
        firmware: block.text("device/rev")?,
        wwn,
        ..named
    })
}

fn serial_page(block: &Block) -> Result<Option<String>, DeviceError> {
    let page = system::bytes(&block.directory.join("device/vpd_pg80"))?.unwrap_or_default();
    let Some(&[_, _, high, low]) = page.get(..SERIAL_PAGE_HEADER_BYTES) else {
        return Ok(None);
    };
    let end = SERIAL_PAGE_HEADER_BYTES + usize::from(u16::from_be_bytes([high, low]));
    let serial = page
        .get(SERIAL_PAGE_HEADER_BYTES..end.min(page.len()))
        .unwrap_or_default();
    let serial = String::from_utf8_lossy(serial)
        .trim_matches(|letter: char| letter.is_whitespace() || letter == '\0')
        .to_owned();
    Ok((!serial.is_empty()).then_some(serial))
}

/// Returns the drive with its own key. Without one, the key is its location, which suffices to lock the drive but not
/// to recognise it.
fn named(system: &System, block: &Block, key: Option<String>) -> Result<Drive, DeviceError> {
    let is_named = key.is_some();
    let key = match key {
        Some(key) => key.split_whitespace().collect::<Vec<_>>().join("_"),
        None => place(system, block)?,
    };
    Ok(Drive {
        is_named,
        ..virtual_drive(key, None)
    })
}

fn place(system: &System, block: &Block) -> Result<String, DeviceError> {
    let root = std::fs::canonicalize(system.sys.join("devices")).unwrap_or_default();
    let place = block.directory.strip_prefix(root).unwrap_or(&block.directory);
    Ok(format!("block:{}:{}", system.machine_label()?, place.display()))
}

#[cfg(test)]
mod tests;
