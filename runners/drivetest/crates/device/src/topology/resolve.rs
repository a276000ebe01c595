//! Resolution of a path: its device or file, the drive, and all devices that a write would affect.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::DeviceError;
use crate::identity::drive::{self, Drive};
use crate::open::path_probe::{DeviceNumber, FileId, Node};
use crate::system::System;
use crate::topology::block::{Backing, Block};
use crate::topology::inventory::Inventory;

/// A resolved path.
pub(crate) struct ResolvedDevice<'a> {
    pub path: &'a Path,
    pub inventory: Inventory,
    pub drive: Drive,
    pub medium: Medium,
    /// The names of all block devices of the drive, and of all devices that are stacked on them.
    affected: BTreeSet<String>,
    /// The file itself, or the backing files of loop devices on the drive.
    files: Vec<FileId>,
}

/// The target of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Medium {
    /// A block device, by the kernel's name.
    Block(String),
    File {
        id: FileId,
        size_bytes: u64,
        block_bytes: u64,
    },
}

impl<'a> ResolvedDevice<'a> {
    /// Resolves a path.
    pub fn find(system: &System, path: &'a Path) -> Result<Self, DeviceError> {
        let node = system
            .probe
            .resolve(path)
            .map_err(|source| DeviceError::unreadable(path, source))?;
        let inventory = Inventory::read(system)?;
        let (medium, drive) = match node {
            Node::Other(got) => {
                return Err(DeviceError::NotADrive {
                    path: path.to_path_buf(),
                    got,
                });
            }
            Node::File {
                id,
                size_bytes,
                block_bytes,
            } => (
                Medium::File {
                    id,
                    size_bytes,
                    block_bytes,
                },
                drive::of_file(system, id)?,
            ),
            Node::Block(number) => {
                let sysfs = || system.sys.join("class/block");
                let undescribed = || DeviceError::Undescribed {
                    path: path.to_path_buf(),
                    number,
                    sysfs: sysfs(),
                };
                let block = inventory.numbered(number).ok_or_else(undescribed)?;
                (
                    Medium::Block(block.name.clone()),
                    drive::of_block(system, &inventory, block)?,
                )
            }
        };
        let affected = affected(system, &inventory, &medium, &drive)?;
        let files = files(&inventory, &medium, &affected);
        Ok(Self {
            path,
            inventory,
            drive,
            medium,
            affected,
            files,
        })
    }

    /// Returns the named block device; None for a file.
    pub fn block(&self) -> Option<&Block> {
        match &self.medium {
            Medium::Block(name) => self.inventory.named(name),
            Medium::File { .. } => None,
        }
    }

    /// Returns every block device that a write would affect.
    pub fn affected(&self) -> impl Iterator<Item = &Block> {
        self.affected.iter().filter_map(|name| self.inventory.named(name))
    }

    /// Finds an affected block device by its number.
    pub fn affected_numbered(&self, number: DeviceNumber) -> Option<&Block> {
        self.affected().find(|block| block.number == number)
    }

    /// Returns whether a node is the drive under any name, or is stacked on it.
    pub fn affects(&self, node: &Node) -> bool {
        match node {
            Node::Block(number) => self.affected_numbered(*number).is_some(),
            Node::File { id, .. } => self.files.contains(id),
            Node::Other(_) => false,
        }
    }
}

fn affected(
    system: &System,
    inventory: &Inventory,
    medium: &Medium,
    drive: &Drive,
) -> Result<BTreeSet<String>, DeviceError> {
    let mut names = BTreeSet::new();
    if let Medium::Block(name) = medium {
        names.insert(name.clone());
    }
    for block in inventory.blocks() {
        if is_of(system, inventory, block, drive)? {
            names.insert(block.name.clone());
        }
    }
    Ok(inventory.with_stacked(names))
}

/// Returns whether a block device belongs to a drive. Keys with a machine are never those of drives with an own
/// identity, so these do not need the machine id.
fn is_of(system: &System, inventory: &Inventory, block: &Block, drive: &Drive) -> Result<bool, DeviceError> {
    match drive::of_block(system, inventory, block) {
        Err(DeviceError::MachineUnknown { .. }) if !drive::contains_machine(&drive.key) => Ok(false),
        found => Ok(found?.key == drive.key),
    }
}

fn files(inventory: &Inventory, medium: &Medium, affected: &BTreeSet<String>) -> Vec<FileId> {
    let named = match medium {
        Medium::File { id, .. } => Some(*id),
        Medium::Block(_) => None,
    };
    let shown = affected
        .iter()
        .filter_map(|name| match inventory.named(name)?.backing {
            Some(Backing::File { id, .. }) => Some(id),
            _ => None,
        });
    named.into_iter().chain(shown).collect()
}
