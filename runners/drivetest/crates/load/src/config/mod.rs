//! The configuration of a load: the keys of ACT 6.6's two programs with their defaults and ranges, and keys of our own.
//!
//! Two stages: `parsed` holds what was parsed, [`Config`] what the program needs.

mod check;
mod derived;
mod enums;
mod error;
mod key_docs;
mod keys;
mod lexer;
mod log_echo;
mod parse;

pub use derived::Derived;
pub use enums::{Arrivals, EngineChoice, Model};
pub use error::{ConfigError, ConfigWarning};
pub use key_docs::{KEY_DOCS, KeyDoc};
pub use lexer::{MOST_BYTES, text};
pub use log_echo::echo;

use enums::KeywordEnum;
use parse::ParsedKeys;

use crate::schedule::Rate;
use crate::schedule::stream::Operation;

/// A checked configuration, everything filled in. Rates are for all devices together.
#[derive(Debug, Clone)]
pub struct Config {
    /// Which of ACT's two programs is meant; the keys of the other one have their defaults.
    pub model: Model,
    /// As named; at least one.
    pub device_names: Vec<String>,
    /// 0 for devices; otherwise the size of the plain files that stand for them.
    pub file_size_mib: u32,
    /// Threads that carry out the reads; 1 to 16384, where 0 was read as the default.
    pub service_threads: u32,
    /// Threads of an index load that write pages and read those that defragmentation needs; 1 to 16384.
    pub cache_threads: u32,
    /// Whether `service_threads` comes from the number of CPUs.
    pub is_service_threads_default: bool,
    /// At least 1.
    pub duration_s: u32,
    /// At least 1.
    pub report_interval_s: u32,
    /// Buckets in microseconds; otherwise milliseconds.
    pub is_microseconds: bool,
    /// Reads that clients ask for.
    pub reads_per_s: u32,
    /// Writes that clients ask for; carried out as large blocks.
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
    /// Defragmentation reads from memory.
    pub has_no_defrag_reads: bool,
    /// 0 to 100: how much of what is written is random.
    pub compress_pct: u32,
    /// Writes without O_DSYNC.
    pub is_odsync_disabled: bool,
    /// Records are written one by one.
    pub is_commit_to_device: bool,
    /// Records are written in multiples of this; 0, or a power of two up to a large block. A key of ACT 6.0 to 6.3.
    pub commit_min_bytes: u32,
    /// A thread for each device reads it from end to end.
    pub has_tomb_raider: bool,
    /// Pause of the tomb raider.
    pub tomb_raider_sleep_us: u32,
    /// A request later than this stops the run; 0 never does.
    pub max_lag_s: u32,
    /// What follows from the above.
    pub derived: Derived,
    /// How requests are spread over time.
    pub arrivals: Arrivals,
    /// What carries the requests out.
    pub engine: EngineChoice,
    /// Workers of the io_uring engine; 0 leaves their number to the program, at most 64.
    pub workers: u32,
    /// Failed requests that end the run; 0 never does.
    pub max_errors: u32,
    /// Temperature that is told as too hot, degrees Celsius; 0 for the drive's own limit.
    pub temperature_limit_c: u32,
}

impl Config {
    /// Reads the text of a storage load's configuration file for a host with that many CPUs.
    ///
    /// # Errors
    /// [`ConfigError`] names the line or the key, what was expected, and what was got.
    pub fn read(text: &str, cpus_count: u32) -> Result<(Self, Vec<ConfigWarning>), ConfigError> {
        Self::read_of(Model::Storage, text, cpus_count)
    }

    /// Reads the text of a configuration file of either model.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn read_of(
        model: Model,
        text: &str,
        cpus_count: u32,
    ) -> Result<(Self, Vec<ConfigWarning>), ConfigError> {
        let mut parsed = ParsedKeys::read(model, text)?;
        let mut warnings = std::mem::take(&mut parsed.warnings);
        let mut config = Self::filled_in(model, parsed, cpus_count);
        check::check(&config)?;
        config.derived = Derived::of(&config)?;
        warnings.extend(check::doubts(&config));
        Ok((config, warnings))
    }

    fn filled_in(model: Model, parsed: ParsedKeys, cpus_count: u32) -> Self {
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

    /// Whether anything is written to the devices.
    pub fn has_writes(&self) -> bool {
        self.writes_per_s > 0
    }

    /// What is asked of all devices together, in the order of the streams. The tomb raider has no rate.
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
        let asked = |(operation, rate): (Operation, Option<Rate>)| Some((operation, rate?));
        rates.into_iter().filter_map(asked).collect()
    }
}

#[cfg(test)]
mod tests;
