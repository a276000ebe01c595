//! The configuration of a load: the keys of ACT 6.6's two programs with their defaults and ranges, and additional
//! keys.
//!
//! `parse` returns the keys of a file. [`Config`] has every value that the program needs.

mod check;
mod derived;
mod enums;
mod error;
mod keys;
mod lexer;
mod log_echo;
mod parse;

pub use derived::Derived;
pub use enums::{Arrivals, EngineChoice, Model};
pub use error::{ConfigError, ConfigWarning};
pub use keys::{KEYS, Key};
pub use lexer::{MOST_BYTES, text};
pub use log_echo::echo;

use enums::KeywordEnum;
use parse::ParsedKeys;

use crate::schedule::Rate;
use crate::schedule::stream::Operation;

/// A checked configuration with all defaults. Rates are for all devices together.
#[derive(Debug, Clone)]
pub struct Config {
    /// The ACT program that is reproduced. Keys of the other program have their defaults.
    pub model: Model,
    /// As typed; at least one.
    pub device_names: Vec<String>,
    /// 0 for devices, otherwise the size of the plain files that are used as devices.
    pub file_size_mib: u32,
    /// Threads for reads, 1 to 16384.
    pub service_threads: u32,
    /// Threads of an index load that write pages and read pages for defragmentation, 1 to 16384.
    pub cache_threads: u32,
    /// Whether `service_threads` is derived from the number of CPUs.
    pub is_service_threads_default: bool,
    /// At least 1.
    pub duration_s: u32,
    /// At least 1.
    pub report_interval_s: u32,
    /// Whether buckets are in microseconds instead of milliseconds.
    pub is_microseconds: bool,
    /// Client reads per second.
    pub reads_per_s: u32,
    /// Client writes per second. They reach the devices in large blocks.
    pub writes_per_s: u32,
    /// 1 to 8 MiB.
    pub record_bytes: u32,
    /// 0, or more than `record_bytes` up to 8 MiB.
    pub record_bytes_range_max: u32,
    /// A power of two, 1 to 8192.
    pub large_block_kib: u32,
    /// At least 1.
    pub replication_factor: u32,
    /// 0 to 100.
    pub update_pct: u32,
    /// 0 to 99.
    pub defrag_lwm_pct: u32,
    /// Whether defragmentation reads from memory.
    pub has_no_defrag_reads: bool,
    /// 0 to 100: percentage of the written data that is random.
    pub compress_pct: u32,
    /// Whether writes have no O_DSYNC.
    pub is_odsync_disabled: bool,
    /// Whether records are written individually.
    pub is_commit_to_device: bool,
    /// Unit of record writes: 0, or a power of two up to a large block. A key of ACT 6.0 to 6.3.
    pub commit_min_bytes: u32,
    /// Whether a thread for each device reads it repeatedly from start to end.
    pub has_tomb_raider: bool,
    /// Pause of the tomb raider.
    pub tomb_raider_sleep_us: u32,
    /// The run stops if a request is later than this; 0 for no limit.
    pub max_lag_s: u32,
    /// Values derived from the above.
    pub derived: Derived,
    /// Distribution of requests over time.
    pub arrivals: Arrivals,
    /// The requested engine.
    pub engine: EngineChoice,
    /// Rings of the io_uring engine, at most 64; 0 for an automatic number.
    pub workers: u32,
    /// The run ends after this many failed requests; 0 for no limit.
    pub max_errors: u32,
    /// Temperature limit for warnings, degrees Celsius; 0 for the drive's own limit.
    pub temperature_limit_c: u32,
}

impl Config {
    /// Parses the configuration of a storage load for a host with `cpus_count` CPUs.
    ///
    /// # Errors
    /// [`ConfigError`] with the line or key, the expected and the given value.
    pub fn read(text: &str, cpus_count: u32) -> Result<(Self, Vec<ConfigWarning>), ConfigError> {
        Self::read_of(Model::Storage, text, cpus_count)
    }

    /// Parses the configuration of either model.
    ///
    /// # Errors
    /// Like [`Config::read`].
    pub fn read_of(
        model: Model,
        text: &str,
        cpus_count: u32,
    ) -> Result<(Self, Vec<ConfigWarning>), ConfigError> {
        let mut parsed = ParsedKeys::read(model, text)?;
        let mut warnings = std::mem::take(&mut parsed.warnings);
        let mut config = Self::with_defaults(model, parsed, cpus_count);
        check::check(&config)?;
        config.derived = Derived::of(&config)?;
        warnings.extend(check::warnings(&config));
        Ok((config, warnings))
    }

    fn with_defaults(model: Model, parsed: ParsedKeys, cpus_count: u32) -> Self {
        let service_threads = parsed.number("service-threads", 0);
        Self {
            model,
            file_size_mib: parsed.number("file-size-mbytes", 0),
            // Source: src/storage/cfg_storage.c, check_configuration().
            service_threads: if service_threads == 0 {
                cpus_count.saturating_mul(5)
            } else {
                service_threads
            },
            is_service_threads_default: service_threads == 0,
            cache_threads: parsed.number("cache-threads", 8),
            duration_s: parsed.number("test-duration-sec", 0),
            report_interval_s: parsed.number("report-interval-sec", 1),
            is_microseconds: parsed.switch("microsecond-histograms"),
            reads_per_s: parsed.number("read-reqs-per-sec", 0),
            writes_per_s: parsed.number("write-reqs-per-sec", 0),
            record_bytes: parsed.number("record-bytes", 1536),
            record_bytes_range_max: parsed.number("record-bytes-range-max", 0),
            large_block_kib: parsed.number("large-block-op-kbytes", 128),
            replication_factor: parsed.number("replication-factor", 1),
            update_pct: parsed.number("update-pct", 0),
            defrag_lwm_pct: parsed.number("defrag-lwm-pct", 50),
            has_no_defrag_reads: parsed.switch("no-defrag-reads"),
            compress_pct: parsed.number("compress-pct", 100),
            is_odsync_disabled: parsed.switch("disable-odsync"),
            is_commit_to_device: parsed.switch("commit-to-device"),
            commit_min_bytes: parsed.number("commit-min-bytes", 0),
            has_tomb_raider: parsed.switch("tomb-raider"),
            tomb_raider_sleep_us: parsed.number("tomb-raider-sleep-usec", 0),
            max_lag_s: parsed.number("max-lag-sec", 10),
            derived: Derived::default(),
            arrivals: Arrivals::of(parsed.keyword("arrivals")),
            engine: EngineChoice::of(parsed.keyword("engine")),
            workers: parsed.number("workers", 0),
            max_errors: parsed.number("max-errors", 1),
            temperature_limit_c: parsed.number("temperature-limit-c", 0),
            device_names: parsed.device_names,
        }
    }

    /// Returns whether the load writes to the devices.
    pub fn has_writes(&self) -> bool {
        self.writes_per_s > 0
    }

    /// Returns the rates of all devices together, in the order of the streams. The tomb raider has no rate.
    pub fn rates(&self) -> Vec<(Operation, Rate)> {
        let derived = &self.derived;
        let per_s = |count| Rate::new(count, 1);
        let rates = match self.model {
            Model::Storage => vec![
                (
                    Operation::ReadRecord,
                    per_s(u64::from(derived.internal_reads_per_s)),
                ),
                (Operation::ReadBlock, derived.large_block_reads),
                (Operation::WriteBlock, derived.large_block_writes),
                (
                    Operation::WriteRecord,
                    per_s(u64::from(derived.internal_writes_per_s)),
                ),
            ],
            Model::Index => vec![
                (Operation::ReadIndex, per_s(derived.service_reads_per_s)),
                (Operation::ReadCache, per_s(derived.cache_per_s)),
                (Operation::WriteCache, per_s(derived.cache_per_s)),
            ],
        };
        let existing = |(operation, rate): (Operation, Option<Rate>)| Some((operation, rate?));
        rates.into_iter().filter_map(existing).collect()
    }
}

#[cfg(test)]
mod tests;
