//! What a path names, and everything on the host that a write there would touch.

use std::collections::BTreeSet;
use std::path::Path;

use crate::block::{Backing, Block};
use crate::drive::{self, Drive};
use crate::error::DeviceError;
use crate::inventory::Inventory;
use crate::node::{DeviceNumber, FileId, Node};
use crate::system::System;

/// A device or file that was named, within its host.
pub(crate) struct Target<'a> {
    pub path: &'a Path,
    pub inventory: Inventory,
    pub drive: Drive,
    pub thing: Thing,
    /// The names of all block devices on the drive, and of all that stand upon them.
    touched: BTreeSet<String>,
    /// The files that are the drive, or are shown by a loop device on it.
    files: Vec<FileId>,
}

/// What the path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thing {
    /// A block device, by the kernel's name.
    Block(String),
    File {
        id: FileId,
        size_bytes: u64,
        block_bytes: u64,
    },
}

impl<'a> Target<'a> {
    /// Finds what a path names.
    pub fn find(system: &System, path: &'a Path) -> Result<Self, DeviceError> {
        let node = system
            .nodes
            .look(path)
            .map_err(|source| DeviceError::unreadable(path, source))?;
        let inventory = Inventory::read(system)?;
        let (thing, drive) = match node {
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
                Thing::File {
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
                    Thing::Block(block.name.clone()),
                    drive::of_block(system, &inventory, block)?,
                )
            }
        };
        let touched = touched(system, &inventory, &thing, &drive)?;
        let files = files(&inventory, &thing, &touched);
        Ok(Self {
            path,
            inventory,
            drive,
            thing,
            touched,
            files,
        })
    }

    /// Returns the block device that was named; None for a file.
    pub fn block(&self) -> Option<&Block> {
        match &self.thing {
            Thing::Block(name) => self.inventory.named(name),
            Thing::File { .. } => None,
        }
    }

    /// Returns every block device that a write here would touch.
    pub fn touched(&self) -> impl Iterator<Item = &Block> {
        self.touched.iter().filter_map(|name| self.inventory.named(name))
    }

    /// Finds a touched block device by its number.
    pub fn touched_numbered(&self, number: DeviceNumber) -> Option<&Block> {
        self.touched().find(|block| block.number == number)
    }

    /// Tells whether a node is the drive under any name, or stands upon it.
    pub fn touches(&self, node: &Node) -> bool {
        match node {
            Node::Block(number) => self.touched_numbered(*number).is_some(),
            Node::File { id, .. } => self.files.contains(id),
            Node::Other(_) => false,
        }
    }
}

fn touched(
    system: &System,
    inventory: &Inventory,
    thing: &Thing,
    drive: &Drive,
) -> Result<BTreeSet<String>, DeviceError> {
    let mut names = BTreeSet::new();
    if let Thing::Block(name) = thing {
        names.insert(name.clone());
    }
    for block in inventory.blocks() {
        if is_of(system, inventory, block, drive)? {
            names.insert(block.name.clone());
        }
    }
    Ok(inventory.with_all_above(names))
}

/// A drive with a name of its own is none of those that are named after their machine: where that cannot be told, it still can
/// be loaded.
fn is_of(system: &System, inventory: &Inventory, block: &Block, drive: &Drive) -> Result<bool, DeviceError> {
    match drive::of_block(system, inventory, block) {
        Err(DeviceError::MachineUnknown { .. }) if !drive::names_machine(&drive.key) => Ok(false),
        found => Ok(found?.key == drive.key),
    }
}

fn files(inventory: &Inventory, thing: &Thing, touched: &BTreeSet<String>) -> Vec<FileId> {
    let named = match thing {
        Thing::File { id, .. } => Some(*id),
        Thing::Block(_) => None,
    };
    let shown = touched
        .iter()
        .filter_map(|name| match inventory.named(name)?.backing {
            Some(Backing::File { id, .. }) => Some(id),
            _ => None,
        });
    named.into_iter().chain(shown).collect()
}
