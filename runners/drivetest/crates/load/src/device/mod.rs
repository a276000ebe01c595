//! The devices under load: opened for direct I/O, or refused with a reason.

mod holes;
mod open;
mod refusal;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub use open::{Guard, Wishes, open};
pub(crate) use open::{found_data, kind, lock_file, minimum_io};
pub use refusal::Refusal;
pub(crate) use refusal::strerror;

use crate::config::Config;
use crate::draws::Draws;

/// A device or plain file, open and measured.
#[derive(Debug)]
pub struct Device {
    /// As named in the configuration.
    pub name: String,
    pub(crate) file: File,
    /// Size, bytes.
    pub size_bytes: u64,
    /// The least that can be read directly: 512 to 4096.
    pub minimum_io_bytes: u32,
    /// Where requests go.
    pub places: Places,
}

/// The sites of a device that records and large blocks are read from and written to.
/// Source: src/storage/act_storage.c, discover_device() and discover_read_pattern().
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Whole large blocks.
    pub large_blocks_count: u64,
    large_block_bytes: u32,
    minimum_io_bytes: u32,
    least_read_bytes: u32,
    read_sizes_count: u64,
    read_sites_count: u64,
}

/// A piece of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// From the device's beginning.
    pub offset: u64,
    /// How long, bytes.
    pub length: usize,
}

impl Places {
    /// None when the device is too small for one large block and one record.
    pub fn new(config: &Config, size_bytes: u64, minimum_io_bytes: u32) -> Option<Self> {
        let large_block_bytes = config.large_block_kib * 1024;
        let large_blocks_count = size_bytes / u64::from(large_block_bytes);
        let (least, most) = config.derived.record_stored_bytes;
        let (least, most) = (least.div_ceil(minimum_io_bytes), most.div_ceil(minimum_io_bytes));
        // A fraction of a large block at the end is not used.
        let units = large_blocks_count * u64::from(large_block_bytes) / u64::from(minimum_io_bytes);
        let read_sites_count = (units + 1)
            .checked_sub(u64::from(most))
            .filter(|count| *count > 0)?;
        Some(Self {
            large_blocks_count,
            large_block_bytes,
            minimum_io_bytes,
            least_read_bytes: least * minimum_io_bytes,
            read_sizes_count: u64::from(most - least) + 1,
            read_sites_count,
        })
    }

    /// A record's place, all equally likely.
    pub fn record(&self, draws: &mut Draws) -> Extent {
        let offset = draws.below(self.read_sites_count) * u64::from(self.minimum_io_bytes);
        let more = draws.below(self.read_sizes_count) * u64::from(self.minimum_io_bytes);
        Extent {
            offset,
            length: self.least_read_bytes as usize + more as usize,
        }
    }

    /// A large block's place, all equally likely.
    pub fn large_block(&self, draws: &mut Draws) -> Extent {
        let offset = draws.below(self.large_blocks_count) * u64::from(self.large_block_bytes);
        Extent {
            offset,
            length: self.large_block_bytes as usize,
        }
    }

    /// The longest record read, bytes.
    pub fn longest_record_bytes(&self) -> usize {
        self.least_read_bytes as usize + (self.read_sizes_count - 1) as usize * self.minimum_io_bytes as usize
    }
}

impl Device {
    /// Reads a whole extent into the beginning of `buffer`.
    ///
    /// # Errors
    /// The device's error, or UnexpectedEof when it ends early.
    pub fn read(&self, extent: Extent, buffer: &mut [u8]) -> io::Result<()> {
        self.file
            .read_exact_at(&mut buffer[..extent.length], extent.offset)
    }

    /// Writes the beginning of `buffer` to a whole extent.
    ///
    /// # Errors
    /// The device's error, or WriteZero when it takes no more.
    pub fn write(&self, extent: Extent, buffer: &[u8]) -> io::Result<()> {
        self.file.write_all_at(&buffer[..extent.length], extent.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(more: &str, size_bytes: u64, minimum_io_bytes: u32) -> Option<Places> {
        let text = format!("device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: 1\n{more}");
        Places::new(&Config::read(&text, 1).unwrap().0, size_bytes, minimum_io_bytes)
    }

    fn extents(places: &Places) -> Vec<Extent> {
        (0..5_000)
            .map(|k| places.record(&mut Draws::new(7, 0, k)))
            .collect()
    }

    #[test]
    fn records_are_rounded_up_to_what_the_device_reads() {
        let sizes = |minimum| extents(&places("", 1 << 20, minimum).unwrap())[0].length;
        assert_eq!([sizes(512), sizes(1_024), sizes(4_096)], [1_536, 2_048, 4_096]);
    }

    #[test]
    fn records_stay_inside_and_reach_both_ends() {
        let all = extents(&places("", 131_072 + 1_000, 512).unwrap());
        assert!(all.iter().all(|extent| extent.offset % 512 == 0));
        assert_eq!(all.iter().map(|extent| extent.offset).min(), Some(0));
        assert_eq!(
            all.iter()
                .map(|extent| extent.offset + extent.length as u64)
                .max(),
            Some(131_072)
        );
    }

    #[test]
    fn a_range_of_sizes_has_both_its_ends() {
        let ranged = places("record-bytes-range-max: 4096", 1 << 20, 512).unwrap();
        let lengths: std::collections::BTreeSet<_> =
            extents(&ranged).iter().map(|extent| extent.length).collect();
        assert_eq!(
            lengths.into_iter().collect::<Vec<_>>(),
            [1_536, 2_048, 2_560, 3_072, 3_584, 4_096]
        );
        assert_eq!(ranged.longest_record_bytes(), 4_096);
    }

    #[test]
    fn a_device_must_hold_a_large_block_and_a_record() {
        assert!(places("", 131_072, 512).is_some());
        assert!(places("", 131_071, 512).is_none());
        assert!(places("record-bytes: 131072", 131_072, 512).is_some());
        assert!(places("record-bytes: 131073", 131_072, 512).is_none());
    }

    #[test]
    fn large_blocks_lie_side_by_side() {
        let two = places("", 300_000, 512).unwrap();
        let offsets: std::collections::BTreeSet<_> = (0..100)
            .map(|k| two.large_block(&mut Draws::new(1, 1, k)).offset)
            .collect();
        assert_eq!(offsets.into_iter().collect::<Vec<_>>(), [0, 131_072]);
    }
}
