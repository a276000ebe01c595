//! All block devices of a host, and how they are stacked.

use std::collections::BTreeSet;

use crate::error::DeviceError;
use crate::probe::path::{DeviceNumber, Node};
use crate::system::{self, System};
use crate::topology::block::Block;

/// The block devices of a host at one time.
pub(crate) struct Inventory {
    blocks: Vec<Block>,
}

impl Inventory {
    /// Reads all block devices.
    pub fn read(system: &System) -> Result<Self, DeviceError> {
        let mut blocks = Vec::new();
        for name in system::names(&system.sys.join("class/block"))? {
            blocks.extend(Block::read(system, &name)?);
        }
        Ok(Self { blocks })
    }

    /// Returns them, sorted by name.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Finds a device by the kernel's name.
    pub fn named(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Finds a device by its number.
    pub fn numbered(&self, number: DeviceNumber) -> Option<&Block> {
        self.blocks.iter().find(|block| block.number == number)
    }

    /// Returns the whole device of a partition; other devices are returned as they are.
    pub fn whole<'a>(&'a self, block: &'a Block) -> &'a Block {
        block
            .whole
            .as_deref()
            .and_then(|whole| self.named(whole))
            .unwrap_or(block)
    }

    /// Returns the partitions of a device.
    pub fn partitions<'a>(&'a self, whole: &'a Block) -> impl Iterator<Item = &'a Block> {
        self.blocks
            .iter()
            .filter(|block| block.whole.as_deref() == Some(&whole.name))
    }

    /// Returns the devices directly below a device.
    pub fn lower_devices<'a>(&'a self, block: &'a Block) -> impl Iterator<Item = &'a Block> {
        let names = block.slaves.iter().chain(&block.whole);
        let shown = match block.backing_node {
            Some(Node::Block(number)) => self.numbered(number),
            _ => None,
        };
        names.filter_map(|name| self.named(name)).chain(shown)
    }

    /// Adds to `names` every device that is stacked on one of them, directly or indirectly.
    pub fn with_stacked(&self, mut names: BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let is_stacked =
                |block: &&Block| self.lower_devices(block).any(|below| names.contains(&below.name));
            let above = self.blocks.iter().filter(is_stacked);
            let above: Vec<_> = above.map(|block| block.name.clone()).collect();
            let known = names.len();
            names.extend(above);
            if names.len() == known {
                return names;
            }
        }
    }
}
