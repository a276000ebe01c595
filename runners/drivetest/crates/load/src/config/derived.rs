//! Values derived from a configuration: internal rates, stored sizes, rates of large blocks.

use std::ops::RangeInclusive;

use super::error::{range, within};
use super::{Config, ConfigError, Model};
use crate::schedule::Rate;

/// The server's record rounding since 5.0. Source: src/storage/cfg_storage.c, `RBLOCK_SIZE`.
const RECORD_ROUNDING_BYTES: u32 = 16;

/// Rates that ACT can store.
const RATES: RangeInclusive<u64> = 0..=u32::MAX as u64;

/// The derived values, for all devices together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Derived {
    /// Smallest and largest stored record.
    pub record_stored_bytes: (u32, u32),
    /// Reads for clients and updates.
    pub internal_reads_per_s: u64,
    /// Single-record writes; 0 without commit-to-device.
    pub internal_writes_per_s: u64,
    /// None if there are no such reads.
    pub large_block_reads: Option<Rate>,
    /// None if there are no such writes.
    pub large_block_writes: Option<Rate>,
    /// Page reads of an index load for clients and replicas; 0 in a storage load.
    pub service_reads_per_s: u64,
    /// Page reads of an index load for defragmentation, which are as many as its page writes; 0 in a storage load.
    pub cache_per_s: u64,
    /// Record writes per second, including replicas.
    replica_writes_per_s: u64,
    records_per_block: u32,
}

impl Derived {
    /// Derives the values. Rates stay fractions, so that no request is lost to rounding. Source:
    /// src/storage/cfg_storage.c, `derive_configuration()`.
    pub(super) fn of(config: &Config) -> Result<Self, ConfigError> {
        match config.model {
            Model::Storage => Self::of_storage(config),
            Model::Index => Self::of_index(config),
        }
    }

    /// Derives the values of an index load in ACT's own steps, so that the whole numbers of its header result.
    /// Source: src/index/cfg_index.c, `derive_configuration()`.
    fn of_index(config: &Config) -> Result<Self, ConfigError> {
        let writes = u64::from(config.replication_factor) * u64::from(config.writes_per_s);
        let service_reads_per_s = u64::from(config.reads_per_s) + writes;
        let key = "read-reqs-per-sec including the reads of writes";
        within(key, service_reads_per_s, RATES)?;
        let per_write = 100.0 / f64::from(100 - config.defrag_lwm_pct);
        Ok(Self {
            service_reads_per_s,
            cache_per_s: (writes as f64 * per_write) as u64,
            replica_writes_per_s: writes,
            ..Self::default()
        })
    }

    fn of_storage(config: &Config) -> Result<Self, ConfigError> {
        let stored = stored_bytes(config);
        let average = (stored.0 + stored.1) / 2;
        let writes = u64::from(config.replication_factor) * u64::from(config.writes_per_s);
        let updates = u64::from(config.writes_per_s) * u64::from(config.update_pct) / 100;
        let reads = u64::from(config.reads_per_s) + updates;
        within("read-reqs-per-sec including the reads of updates", reads, RATES)?;
        if config.is_commit_to_device {
            within("write-reqs-per-sec including replicas", writes, RATES)?;
        }
        let mut derived = Self {
            record_stored_bytes: stored,
            internal_reads_per_s: reads,
            internal_writes_per_s: if config.is_commit_to_device { writes } else { 0 },
            replica_writes_per_s: writes,
            records_per_block: config.large_block_kib * 1024 / average,
            ..Self::default()
        };
        if writes > 0 {
            derived.add_large_blocks(config, average)?;
        }
        Ok(derived)
    }

    fn add_large_blocks(&mut self, config: &Config, average: u32) -> Result<(), ConfigError> {
        if self.records_per_block == 0 {
            let expected = format!("blocks with space for a record of {average} bytes");
            return Err(range("large-block-op-kbytes", expected, config.large_block_kib));
        }
        let seconds = u64::from(self.records_per_block) * u64::from(100 - config.defrag_lwm_pct);
        let all = Rate::new(self.replica_writes_per_s * 100, seconds);
        self.large_block_reads = if config.has_no_defrag_reads { None } else { all };
        self.large_block_writes = match config.is_commit_to_device {
            // Only what defragmentation moves: amplification - 1 = lwm / (100 - lwm).
            true => Rate::new(
                self.replica_writes_per_s * u64::from(config.defrag_lwm_pct),
                seconds,
            ),
            false => all,
        };
        Ok(())
    }

    /// Returns large-block reads and writes per second as ACT prints them, with its order of floating-point
    /// operations.
    pub(super) fn large_blocks_as_printed(&self, config: &Config) -> (f64, f64) {
        if self.replica_writes_per_s == 0 {
            return (0.0, 0.0);
        }
        let original = self.replica_writes_per_s as f64 / f64::from(self.records_per_block);
        let amplification = 100.0 / f64::from(100 - config.defrag_lwm_pct);
        let all = original * amplification;
        let reads = if config.has_no_defrag_reads { 0.0 } else { all };
        let writes = if config.is_commit_to_device {
            original * (amplification - 1.0)
        } else {
            all
        };
        (reads, writes)
    }
}

fn stored_bytes(config: &Config) -> (u32, u32) {
    let least = config.record_bytes.next_multiple_of(RECORD_ROUNDING_BYTES);
    match config.record_bytes_range_max {
        0 => (least, least),
        most => (least, most.next_multiple_of(RECORD_ROUNDING_BYTES)),
    }
}
