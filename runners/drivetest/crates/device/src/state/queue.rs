//! The kernel's request queue of a device: units and limits of requests.

use serde::Serialize;

use crate::error::DeviceError;
use crate::probe::path::Node;
use crate::topology::block::Block;
use crate::topology::resolve::ResolvedDevice;

/// Queue attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// Smallest unit of direct I/O.
    pub logical_block_bytes: Option<u64>,
    /// Smallest unit that needs no read before a write.
    pub minimum_io_bytes: Option<u64>,
    /// Internal unit of the drive, which may be larger than the logical one.
    pub physical_block_bytes: Option<u64>,
    /// Largest request size that the drive recommends.
    pub optimal_io_bytes: Option<u64>,
    /// Whether it is rotational, according to the kernel.
    pub rotational: Option<bool>,
    /// Current I/O scheduler.
    pub scheduler: Option<String>,
    /// Number of requests in the kernel's queue.
    pub nr_requests: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
}

impl Queue {
    /// Reads the queue. For a file, it is that of the underlying device or, without one, the file system's block
    /// size.
    pub(crate) fn of(device: &ResolvedDevice<'_>) -> Result<Self, DeviceError> {
        let below = match device.node {
            Node::File { id, .. } => device.inventory.numbered(id.device_number()),
            _ => device.block(),
        };
        match (below, device.node) {
            (Some(block), _) => Self::read(device.inventory.whole(block)),
            (None, Node::File { block_bytes, .. }) => Ok(Self {
                logical_block_bytes: Some(block_bytes),
                minimum_io_bytes: Some(block_bytes),
                ..Self::default()
            }),
            (None, _) => Ok(Self::default()),
        }
    }

    fn read(whole: &Block) -> Result<Self, DeviceError> {
        let number = |attribute: &str| crate::system::number(&whole.directory.join("queue").join(attribute));
        Ok(Self {
            logical_block_bytes: number("logical_block_size")?,
            minimum_io_bytes: number("minimum_io_size")?,
            physical_block_bytes: number("physical_block_size")?,
            // 0 means that it is not reported.
            optimal_io_bytes: number("optimal_io_size")?.filter(|bytes| *bytes > 0),
            nr_requests: number("nr_requests")?,
            write_cache: whole.text("queue/write_cache")?,
            rotational: number("rotational")?.map(|rotational| rotational == 1),
            scheduler: whole.text("queue/scheduler")?.map(|offered| chosen(&offered)),
        })
    }
}

/// Returns the scheduler in use, which the kernel puts in brackets.
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
