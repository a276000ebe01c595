//! The configuration of a storage load: ACT 6.6's keys, defaults and ranges, and two keys of our own.
//!
//! Two stages: `typed` holds what was typed, [`Config`] what the program needs.

mod derived;
mod echo;
mod error;
mod lines;
mod typed;

pub use derived::Derived;
pub use echo::echo;
pub use error::{ConfigError, Warning};

use error::{range, unsupported, within};
use typed::Typed;

/// ACT's largest record and largest block: the server's write block. Source: src/storage/cfg_storage.c, `WBLOCK_SIZE`.
const LARGEST_BYTES: u32 = 8 * 1024 * 1024;

/// ACT's limit since 5.2.
const MOST_DEVICES: usize = 128;

/// ACT's limit since 6.0: the name and its end in 128 bytes.
const LONGEST_NAME_BYTES: usize = 127;

/// More service threads than this is a slip of the pen; 5 for each CPU is the default.
const MOST_SERVICE_THREADS: u32 = 16_384;

/// Above this a replication factor is a slip of the pen; rates stay exact in 128 bits below it.
const LARGEST_REPLICATION_FACTOR: u32 = 256;

/// A checked configuration, everything filled in. Rates are for all devices together.
#[derive(Debug, Clone)]
pub struct Config {
    /// As named; at least one.
    pub device_names: Vec<String>,
    /// 0 for devices; otherwise the size of the plain files that stand for them.
    pub file_size_mib: u32,
    /// Threads that carry out the reads; 1 to 16384.
    pub service_threads: u32,
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
    /// A thread for each device reads it from end to end.
    pub has_tomb_raider: bool,
    /// Pause of the tomb raider.
    pub tomb_raider_sleep_us: u32,
    /// A request later than this stops the run; 0 never does.
    pub max_lag_s: u32,
    /// What follows from the above.
    pub derived: Derived,
    arrivals: String,
    engine: String,
}

impl Config {
    /// Reads a configuration file's text for a host with that many CPUs.
    ///
    /// # Errors
    /// [`ConfigError`] names the line or the key, what was expected, and what was got.
    pub fn read(text: &str, cpus_count: u32) -> Result<(Self, Vec<Warning>), ConfigError> {
        let mut typed = Typed::read(text)?;
        let warnings = std::mem::take(&mut typed.warnings);
        let mut config = Self::filled_in(typed, cpus_count);
        config.check_load()?;
        config.check_sizes()?;
        config.derived = Derived::of(&config)?;
        Ok((config, warnings))
    }

    fn filled_in(typed: Typed, cpus_count: u32) -> Self {
        let service_threads = typed.number("service-threads", 0);
        Self {
            file_size_mib: typed.number("file-size-mbytes", 0),
            // Source: src/storage/cfg_storage.c, check_configuration().
            service_threads: if service_threads == 0 {
                5 * cpus_count
            } else {
                service_threads
            },
            is_service_threads_default: service_threads == 0,
            duration_s: typed.number("test-duration-sec", 0),
            report_interval_s: typed.number("report-interval-sec", 1),
            is_microseconds: typed.switch("microsecond-histograms"),
            reads_per_s: typed.number("read-reqs-per-sec", 0),
            writes_per_s: typed.number("write-reqs-per-sec", 0),
            record_bytes: typed.number("record-bytes", 1536),
            record_bytes_range_max: typed.number("record-bytes-range-max", 0),
            large_block_kib: typed.number("large-block-op-kbytes", 128),
            replication_factor: typed.number("replication-factor", 1),
            update_pct: typed.number("update-pct", 0),
            defrag_lwm_pct: typed.number("defrag-lwm-pct", 50),
            has_no_defrag_reads: typed.switch("no-defrag-reads"),
            compress_pct: typed.number("compress-pct", 100),
            is_odsync_disabled: typed.switch("disable-odsync"),
            is_commit_to_device: typed.switch("commit-to-device"),
            has_tomb_raider: typed.switch("tomb-raider"),
            tomb_raider_sleep_us: typed.number("tomb-raider-sleep-usec", 0),
            max_lag_s: typed.number("max-lag-sec", 10),
            derived: Derived::default(),
            arrivals: typed.word("arrivals", "even").to_owned(),
            engine: typed.word("engine", "threads").to_owned(),
            device_names: typed.device_names,
        }
    }

    fn check_load(&self) -> Result<(), ConfigError> {
        within("device-names", self.device_names.len(), 1..=MOST_DEVICES)?;
        within("service-threads", self.service_threads, 1..=MOST_SERVICE_THREADS)?;
        within("test-duration-sec", self.duration_s, 1..=u32::MAX)?;
        within("report-interval-sec", self.report_interval_s, 1..=u32::MAX)?;
        within(
            "replication-factor",
            self.replication_factor,
            1..=LARGEST_REPLICATION_FACTOR,
        )?;
        within("update-pct", self.update_pct, 0..=100)?;
        within("defrag-lwm-pct", self.defrag_lwm_pct, 0..=99)?;
        within("compress-pct", self.compress_pct, 0..=100)?;
        if self.reads_per_s == 0 && self.writes_per_s == 0 {
            return Err(range(
                "read-reqs-per-sec",
                "more than 0 here or in write-reqs-per-sec",
                0,
            ));
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), ConfigError> {
        within("record-bytes", self.record_bytes, 1..=LARGEST_BYTES)?;
        if self.record_bytes_range_max != 0 {
            within(
                "record-bytes-range-max",
                self.record_bytes_range_max,
                self.record_bytes + 1..=LARGEST_BYTES,
            )?;
        }
        let is_power = self.large_block_kib.is_power_of_two() && self.large_block_kib <= LARGEST_BYTES / 1024;
        if !is_power {
            return Err(range(
                "large-block-op-kbytes",
                "a power of two from 1 to 8192",
                self.large_block_kib,
            ));
        }
        if self.is_odsync_disabled && self.is_commit_to_device {
            return Err(range(
                "disable-odsync",
                "no together with commit-to-device",
                "yes",
            ));
        }
        Ok(())
    }

    /// Refuses what this version of the program cannot carry out, instead of running something else.
    ///
    /// # Errors
    /// [`ConfigError::Unsupported`] or [`ConfigError::Range`] with the key.
    pub fn check_supported(&self) -> Result<(), ConfigError> {
        self.check_names()?;
        if self.is_commit_to_device {
            return Err(unsupported(
                "commit-to-device",
                "single-record writes are not built yet",
            ));
        }
        if self.has_tomb_raider {
            return Err(unsupported("tomb-raider", "the tomb raider is not built yet"));
        }
        if self.arrivals != "even" {
            return Err(unsupported(
                "arrivals",
                &format!("'{}' is not built yet, only even", self.arrivals),
            ));
        }
        if self.engine != "threads" {
            return Err(unsupported(
                "engine",
                &format!("'{}' is not built yet, only threads", self.engine),
            ));
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), ConfigError> {
        for (index, name) in self.device_names.iter().enumerate() {
            if self.device_names[..index].contains(name) {
                return Err(range(
                    "device-names",
                    "every device once",
                    format!("{name} twice"),
                ));
            }
            within(
                "device-names (bytes in a name)",
                name.len(),
                1..=LONGEST_NAME_BYTES,
            )?;
            // act_latency.py looks for histograms by the beginning of a line: reads.img would pass for "reads".
            if ["reads", "writes", "large-block-", "after ", "device-"]
                .iter()
                .any(|word| name.starts_with(word))
            {
                return Err(range(
                    "device-names",
                    "names that do not begin like a histogram's",
                    name,
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
