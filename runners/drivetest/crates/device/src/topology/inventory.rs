//! All block devices of a host, and how they stand upon each other.

use std::collections::BTreeSet;

use crate::error::DeviceError;
use crate::open::path_probe::DeviceNumber;
use crate::system::{self, System};
use crate::topology::block::{Backing, Block};

/// The block devices of a host at one moment.
pub(crate) struct Inventory {
    blocks: Vec<Block>,
}

impl Inventory {
    /// Reads all of them.
    pub fn read(system: &System) -> Result<Self, DeviceError> {
        let mut blocks = Vec::new();
        for name in system::names(&system.sys.join("class/block"))? {
            blocks.extend(Block::read(system, &name)?);
        }
        Ok(Self { blocks })
    }

    /// Returns them in the order of their names.
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

    /// Returns what a partition is a part of; of any other device, itself.
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

    /// Returns the names of the devices that a device stands upon.
    pub fn lower_devices(&self, block: &Block) -> Vec<&str> {
        let below = block
            .slaves
            .iter()
            .chain(&block.whole)
            .filter_map(|name| self.named(name));
        let shown = match block.backing {
            Some(Backing::Block { number, .. }) => self.numbered(number),
            _ => None,
        };
        below.chain(shown).map(|found| found.name.as_str()).collect()
    }

    /// Adds to `names` every device that stands upon one of them, directly or through others.
    pub fn with_stacked(&self, mut names: BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let is_stacked = |block: &&Block| {
                self.lower_devices(block)
                    .iter()
                    .any(|&below| names.contains(below))
            };
            let above: Vec<_> = self
                .blocks
                .iter()
                .filter(is_stacked)
                .map(|block| block.name.clone())
                .collect();
            let known = names.len();
            names.extend(above);
            if names.len() == known {
                return names;
            }
        }
    }
}
