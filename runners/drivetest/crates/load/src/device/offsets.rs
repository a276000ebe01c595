//! Offsets of records, large blocks and pages on a device.

use super::Extent;
use crate::config::{Config, Model};
use crate::schedule::rng::RequestRng;
use crate::schedule::stream::Operation;

/// Length of the reads and writes of an index load. Source: src/index/act_index.c, `IO_SIZE`.
const PAGE_BYTES: u32 = 4_096;

/// Uniformly distributed offsets over the device, with uniformly distributed lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OffsetRange {
    count: u64,
    unit_bytes: u32,
    least_units: u32,
    sizes_count: u64,
}

impl OffsetRange {
    /// Creates offsets for lengths of `least` to `most` bytes, rounded up to units; None if the longest does not fit.
    fn new(bytes: u64, unit_bytes: u32, (least, most): (u32, u32)) -> Option<Self> {
        let (least, most) = (least.div_ceil(unit_bytes), most.div_ceil(unit_bytes));
        // At the last offset there is space for the longest length.
        let count = (bytes / u64::from(unit_bytes) + 1)
            .checked_sub(u64::from(most))
            .filter(|count| *count > 0)?;
        Some(Self {
            count,
            unit_bytes,
            least_units: least,
            sizes_count: u64::from(most - least) + 1,
        })
    }

    fn random_extent(&self, rng: &mut RequestRng) -> Extent {
        let unit_bytes = u64::from(self.unit_bytes);
        let offset = rng.below(self.count) * unit_bytes;
        let units = u64::from(self.least_units) + rng.below(self.sizes_count);
        Extent {
            offset,
            length: (units * unit_bytes) as usize,
        }
    }

    fn longest_bytes(&self) -> usize {
        (u64::from(self.least_units) + self.sizes_count - 1) as usize * self.unit_bytes as usize
    }
}

/// The offsets of one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offsets {
    /// Number of complete large blocks.
    pub large_blocks_count: u64,
    large_block_bytes: u32,
    reads: OffsetRange,
    writes: OffsetRange,
}

impl Offsets {
    /// Creates the offsets. None if the device is too small for one large block and one record, or for one index
    /// page.
    /// Source: src/storage/act_storage.c and src/index/act_index.c, `discover_device()`.
    pub fn new(config: &Config, size_bytes: u64, minimum_io_bytes: u32) -> Option<Self> {
        let large_block_bytes = config.large_block_kib * 1024;
        let large_blocks_count = size_bytes / u64::from(large_block_bytes);
        let (reads, writes) = match config.model {
            Model::Storage => {
                // An incomplete large block at the end is not used.
                let used_bytes = large_blocks_count * u64::from(large_block_bytes);
                record_offsets(config, used_bytes, minimum_io_bytes)?
            }
            Model::Index => {
                let pages = OffsetRange::new(size_bytes, PAGE_BYTES, (PAGE_BYTES, PAGE_BYTES))?;
                (pages, pages)
            }
        };
        Some(Self {
            large_blocks_count,
            large_block_bytes,
            reads,
            writes,
        })
    }

    /// Returns a random extent for an operation.
    pub fn extent(&self, operation: Operation, rng: &mut RequestRng) -> Extent {
        match operation {
            Operation::ReadRecord | Operation::ReadIndex | Operation::ReadCache => {
                self.reads.random_extent(rng)
            }
            Operation::WriteRecord | Operation::WriteCache => self.writes.random_extent(rng),
            Operation::ReadBlock | Operation::WriteBlock | Operation::TombRaider => {
                self.block(rng.below(self.large_blocks_count))
            }
        }
    }

    /// Returns the large block with this number; numbers wrap around.
    pub fn block(&self, number: u64) -> Extent {
        Extent {
            offset: number % self.large_blocks_count.max(1) * u64::from(self.large_block_bytes),
            length: self.large_block_bytes as usize,
        }
    }

    /// Returns the longest extent of an operation, bytes.
    pub fn longest_bytes(&self, operation: Operation) -> usize {
        match operation {
            Operation::ReadRecord | Operation::ReadIndex | Operation::ReadCache => self.reads.longest_bytes(),
            Operation::WriteRecord | Operation::WriteCache => self.writes.longest_bytes(),
            Operation::ReadBlock | Operation::WriteBlock | Operation::TombRaider => {
                self.large_block_bytes as usize
            }
        }
    }
}

/// Returns offsets for record reads and writes. Reads are in units of the device; writes are in the same units or in
/// units of commit-min-bytes.
/// Source: ACT 6.3, src/storage/act_storage.c, `discover_read_pattern()` and `discover_write_pattern()`. Since 6.4
/// the latter does not set its unit, so that every write goes to the start of the device.
fn record_offsets(
    config: &Config,
    used_bytes: u64,
    minimum_io_bytes: u32,
) -> Option<(OffsetRange, OffsetRange)> {
    let stored = config.derived.record_stored_bytes;
    let reads = OffsetRange::new(used_bytes, minimum_io_bytes, stored)?;
    let commit_bytes = minimum_io_bytes.max(config.commit_min_bytes);
    Some((reads, OffsetRange::new(used_bytes, commit_bytes, stored)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn offsets(more: &str, size_bytes: u64, minimum_io_bytes: u32) -> Option<Offsets> {
        let text = format!("device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: 1\n{more}");
        Offsets::new(&Config::read(&text, 1).unwrap().0, size_bytes, minimum_io_bytes)
    }

    fn extents(offsets: &Offsets) -> Vec<Extent> {
        (0..5_000)
            .map(|k| offsets.extent(Operation::ReadRecord, &mut RequestRng::new(7, 0, k)))
            .collect()
    }

    #[test]
    fn records_are_rounded_up_to_the_units_of_the_device() {
        let sizes = |minimum| extents(&offsets("", 1 << 20, minimum).unwrap())[0].length;
        assert_eq!([sizes(512), sizes(1_024), sizes(4_096)], [1_536, 2_048, 4_096]);
    }

    #[test]
    fn records_are_inside_the_device_and_reach_both_ends() {
        let all = extents(&offsets("", 131_072 + 1_000, 512).unwrap());
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
    fn a_range_of_sizes_includes_both_ends() {
        let ranged = offsets("record-bytes-range-max: 4096", 1 << 20, 512).unwrap();
        let lengths: BTreeSet<_> = extents(&ranged).iter().map(|extent| extent.length).collect();
        assert_eq!(
            lengths.into_iter().collect::<Vec<_>>(),
            [1_536, 2_048, 2_560, 3_072, 3_584, 4_096]
        );
        assert_eq!(ranged.longest_bytes(Operation::ReadRecord), 4_096);
    }

    #[test]
    fn a_device_must_have_space_for_a_large_block_and_a_record() {
        assert!(offsets("", 131_072, 512).is_some());
        assert!(offsets("", 131_071, 512).is_none());
        assert!(offsets("record-bytes: 131072", 131_072, 512).is_some());
        assert!(offsets("record-bytes: 131073", 131_072, 512).is_none());
    }

    #[test]
    fn large_blocks_are_contiguous() {
        let two = offsets("", 300_000, 512).unwrap();
        let offsets: BTreeSet<_> = (0..100)
            .map(|k| {
                two.extent(Operation::ReadBlock, &mut RequestRng::new(1, 1, k))
                    .offset
            })
            .collect();
        assert_eq!(offsets.into_iter().collect::<Vec<_>>(), [0, 131_072]);
    }

    fn commits(more: &str, size_bytes: u64, minimum_io_bytes: u32) -> Vec<Extent> {
        let offsets = offsets(
            &format!("commit-to-device: yes\n{more}"),
            size_bytes,
            minimum_io_bytes,
        )
        .unwrap();
        let random_extent = |k| offsets.extent(Operation::WriteRecord, &mut RequestRng::new(3, 3, k));
        (0..8_000).map(random_extent).collect()
    }

    #[test]
    fn records_are_written_all_over_the_device() {
        // 16 MiB in 16 parts: 500 of 8000 in each; six standard deviations are 130. Upstream since 6.4: all in the first.
        let mut in_part = [0_u32; 16];
        for extent in commits("", 16 << 20, 512) {
            in_part[(extent.offset >> 20) as usize] += 1;
        }
        assert!(
            in_part.iter().all(|count| (370..630).contains(count)),
            "{in_part:?}"
        );
    }

    #[test]
    fn records_are_written_in_units_of_the_device_or_of_commit_min_bytes() {
        let of = |more, minimum| {
            let all = commits(more, 1 << 20, minimum);
            let common = all.iter().fold(0, |common, extent| gcd(common, extent.offset));
            (common, all[0].length)
        };
        assert_eq!(of("", 512), (512, 1_536));
        assert_eq!(of("", 4_096), (4_096, 4_096));
        // ACT 6.3: the larger of both.
        assert_eq!(of("commit-min-bytes: 2048", 512), (2_048, 2_048));
        assert_eq!(of("commit-min-bytes: 512", 4_096), (4_096, 4_096));
    }

    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    #[test]
    fn written_records_have_the_sizes_of_their_range_and_are_inside() {
        let all = commits("record-bytes-range-max: 4096", 1 << 20, 512);
        let lengths: BTreeSet<_> = all.iter().map(|extent| extent.length).collect();
        assert_eq!(
            lengths.into_iter().collect::<Vec<_>>(),
            [1_536, 2_048, 2_560, 3_072, 3_584, 4_096]
        );
        assert!(
            all.iter()
                .all(|extent| extent.offset + extent.length as u64 <= 1 << 20)
        );
    }

    fn pages(size_bytes: u64) -> Option<Offsets> {
        let text = "device-names: a\ntest-duration-sec: 1\nwrite-reqs-per-sec: 1";
        Offsets::new(
            &Config::read_of(Model::Index, text, 1).unwrap().0,
            size_bytes,
            512,
        )
    }

    #[test]
    fn index_pages_are_contiguous_up_to_the_end() {
        for operation in [Operation::ReadIndex, Operation::ReadCache, Operation::WriteCache] {
            let three = pages(3 * 4_096 + 4_095).unwrap();
            let random_extent = |k| three.extent(operation, &mut RequestRng::new(1, 1, k));
            let all: BTreeSet<_> = (0..100)
                .map(random_extent)
                .map(|extent| (extent.offset, extent.length))
                .collect();
            assert_eq!(
                all.into_iter().collect::<Vec<_>>(),
                [(0, 4_096), (4_096, 4_096), (8_192, 4_096)]
            );
        }
    }

    #[test]
    fn an_index_needs_one_page() {
        assert!(pages(4_096).is_some() && pages(4_095).is_none());
    }

    #[test]
    fn block_numbers_wrap_around() {
        let two = offsets("", 300_000, 512).unwrap();
        let offsets = [0, 1, 2, 3].map(|number| two.block(number).offset);
        assert_eq!(offsets, [0, 131_072, 0, 131_072]);
    }
}
