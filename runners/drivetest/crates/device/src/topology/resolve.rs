//! Resolution of a path: its device or file, the drive, and all devices that a write would affect.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::DeviceError;
use crate::identity::drive::{self, Drive};
use crate::probe::path::{DeviceNumber, FileId, Node};
use crate::system::System;
use crate::topology::block::Block;
use crate::topology::inventory::Inventory;

/// A resolved path.
pub(crate) struct ResolvedDevice<'a> {
    pub path: &'a Path,
    pub inventory: Inventory,
    pub drive: Drive,
    /// The target of the path: a block device or a file.
    pub node: Node,
    /// The names of all block devices of the drive, and of all devices that are stacked on them.
    affected: BTreeSet<String>,
    /// The file itself, or the backing files of loop devices on the drive.
    files: Vec<FileId>,
}

impl<'a> ResolvedDevice<'a> {
    /// Resolves a path.
    pub fn find(system: &System, path: &'a Path) -> Result<Self, DeviceError> {
        let node = system
            .probe
            .resolve(path)
            .map_err(|source| DeviceError::unreadable(path, source))?;
        let inventory = Inventory::read(system)?;
        let drive = match node {
            Node::Other(got) => {
                let path = path.to_path_buf();
                return Err(DeviceError::NotADrive { path, got });
            }
            Node::File { id, .. } => drive::of_file(system, id)?,
            Node::Block(number) => {
                let block = inventory.numbered(number);
                let block = block.ok_or_else(|| DeviceError::Undescribed {
                    path: path.to_path_buf(),
                    number,
                    sysfs: system.sys.join("class/block"),
                })?;
                drive::of_block(system, &inventory, block)?
            }
        };
        let affected = affected(system, &inventory, node, &drive)?;
        let blocks = affected.iter().filter_map(|name| inventory.named(name));
        let nodes = blocks.filter_map(|block| block.backing_node).chain([node]);
        let files = nodes.filter_map(|node| match node {
            Node::File { id, .. } => Some(id),
            _ => None,
        });
        Ok(Self {
            path,
            files: files.collect(),
            inventory,
            drive,
            node,
            affected,
        })
    }

    /// Returns the named block device; None for a file.
    pub fn block(&self) -> Option<&Block> {
        match self.node {
            Node::Block(number) => self.inventory.numbered(number),
            _ => None,
        }
    }

    /// Returns every block device that a write would affect.
    pub fn affected(&self) -> impl Iterator<Item = &Block> {
        self.affected.iter().filter_map(|name| self.inventory.named(name))
    }

    /// Returns the affected block devices except the named one.
    pub fn others(&self) -> impl Iterator<Item = &Block> {
        let named = self.block().map(|named| &named.name);
        self.affected().filter(move |block| Some(&block.name) != named)
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

/// Returns the block devices of a drive, and all devices that are stacked on them. The named device is always one of them,
/// also if its key has changed since.
fn affected(
    system: &System,
    inventory: &Inventory,
    named: Node,
    drive: &Drive,
) -> Result<BTreeSet<String>, DeviceError> {
    let mut names = BTreeSet::new();
    for block in inventory.blocks() {
        if named == Node::Block(block.number) || is_of(system, inventory, block, drive)? {
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
