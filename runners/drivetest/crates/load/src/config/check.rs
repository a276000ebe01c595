//! Ranges of the keys, and checks of keys that depend on each other.

use super::error::{range, within};
use super::{Config, ConfigError, ConfigWarning, EngineChoice, Model};
use crate::schedule::stream::ActHistogram;

/// ACT's largest record and block: the write block of the server. Source: src/storage/cfg_storage.c, `WBLOCK_SIZE`.
const LARGEST_BYTES: u32 = 8 * 1024 * 1024;

/// ACT's limit for storage loads since 5.2. Its index loads accept only 16 devices; ours accept the same number.
const MOST_DEVICES: usize = 128;

/// ACT's limit since 6.0: 128 bytes with the terminating zero.
const LONGEST_NAME_BYTES: usize = 127;

/// A larger number of threads is a typing error; the default is 5 for each CPU.
const MOST_THREADS: u32 = 16_384;

/// A larger replication factor is a typing error. Below it, rates are exact in 128 bits.
const LARGEST_REPLICATION_FACTOR: u32 = 256;

/// One ring on each of 64 CPUs serves more devices than a host has.
const MOST_WORKERS: u32 = 64;

/// Above it, coalesced requests would exceed the shortest limit of a profile by their delay alone.
const LONGEST_COALESCING_US: u32 = 1_000;

/// Above the limit of any drive, degrees Celsius.
const HIGHEST_TEMPERATURE_C: u32 = 150;

pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    names(config)?;
    within("service-threads", config.service_threads, 1..=MOST_THREADS)?;
    within("cache-threads", config.cache_threads, 1..=MOST_THREADS)?;
    within("test-duration-sec", config.duration_s, 1..=u32::MAX)?;
    within("report-interval-sec", config.report_interval_s, 1..=u32::MAX)?;
    let factors = 1..=LARGEST_REPLICATION_FACTOR;
    within("replication-factor", config.replication_factor, factors)?;
    within("update-pct", config.update_pct, 0..=100)?;
    within("defrag-lwm-pct", config.defrag_lwm_pct, 0..=99)?;
    within("compress-pct", config.compress_pct, 0..=100)?;
    if config.reads_per_s == 0 && config.writes_per_s == 0 {
        let expected = "more than 0 here or in write-reqs-per-sec";
        return Err(range("read-reqs-per-sec", expected, 0));
    }
    within("record-bytes", config.record_bytes, 1..=LARGEST_BYTES)?;
    if config.record_bytes_range_max != 0 {
        let wanted = config.record_bytes + 1..=LARGEST_BYTES;
        within("record-bytes-range-max", config.record_bytes_range_max, wanted)?;
    }
    let kib = config.large_block_kib;
    if !kib.is_power_of_two() || kib > LARGEST_BYTES / 1024 {
        return Err(range(
            "large-block-op-kbytes",
            "a power of two from 1 to 8192",
            kib,
        ));
    }
    let least = config.commit_min_bytes;
    if least != 0 && (!least.is_power_of_two() || least > kib * 1024) {
        // Source: ACT 6.3, src/storage/cfg_storage.c, check_configuration().
        let expected = "0 or a power of two up to a large block";
        return Err(range("commit-min-bytes", expected, least));
    }
    if config.is_odsync_disabled && config.is_commit_to_device {
        let expected = "no together with commit-to-device";
        return Err(range("disable-odsync", expected, "yes"));
    }
    within("coalesce-us", config.coalesce_us, 0..=LONGEST_COALESCING_US)?;
    within("workers", config.workers, 0..=MOST_WORKERS)?;
    let degrees = 0..=HIGHEST_TEMPERATURE_C;
    within("temperature-limit-c", config.temperature_limit_c, degrees)
}

fn names(config: &Config) -> Result<(), ConfigError> {
    within("device-names", config.device_names.len(), 1..=MOST_DEVICES)?;
    for name in &config.device_names {
        let length = "device-names (bytes in a name)";
        within(length, name.len(), 1..=LONGEST_NAME_BYTES)?;
        // act_latency.py finds histograms by the start of a line, so it would take reads.img for "reads".
        if is_like_a_histogram(name) {
            let expected = "names that do not begin like the name of a histogram";
            return Err(range("device-names", expected, name));
        }
    }
    Ok(())
}

fn is_like_a_histogram(name: &str) -> bool {
    let lines = ["after ", "device-", "large-block-"].into_iter();
    lines
        .chain(ActHistogram::ALL.map(ActHistogram::name))
        .any(|word| name.starts_with(word))
}

/// Returns warnings about keys that have an unexpected effect.
pub(super) fn warnings(config: &Config) -> Vec<ConfigWarning> {
    let mut warnings = Vec::new();
    if has_a_name_twice(&config.device_names) {
        let message = "a device is listed twice: it gets two shares of the requests, and its histograms have the same name";
        warnings.push(warning("device-names", message));
    }
    if config.commit_min_bytes != 0 {
        warnings.push(warning(
            "commit-min-bytes",
            "ACT 6.4 removed this key; it has the effect of ACT 6.0 to 6.3 here",
        ));
    }
    if config.workers != 0 && config.engine == EngineChoice::Threads {
        warnings.push(warning(
            "workers",
            "has no effect with engine: threads; set service-threads instead",
        ));
    }
    if config.model == Model::Index && config.has_writes() && config.device_names.len() > 1 {
        let message = "act_index divides the rate of cache reads and writes by the number of devices, contrary to its log header; \
                       this program uses the undivided rate";
        warnings.push(warning("device-names", message));
    }
    warnings
}

fn has_a_name_twice(names: &[String]) -> bool {
    names
        .iter()
        .enumerate()
        .any(|(index, name)| names[..index].contains(name))
}

fn warning(key: &'static str, message: &str) -> ConfigWarning {
    ConfigWarning {
        line: None,
        key,
        message: message.to_owned(),
    }
}
