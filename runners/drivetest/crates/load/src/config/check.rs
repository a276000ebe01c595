//! The range of every key, and what keys mean together.

use super::error::{range, within};
use super::{Config, ConfigError, ConfigWarning, EngineChoice, Model};
use crate::schedule::stream::ActHistogram;

/// ACT's largest record and largest block: the server's write block. Source: src/storage/cfg_storage.c, `WBLOCK_SIZE`.
const LARGEST_BYTES: u32 = 8 * 1024 * 1024;

/// ACT's limit since 5.2 for storage loads; its index loads stop at 16, ours do not.
const MOST_DEVICES: usize = 128;

/// ACT's limit since 6.0: the name and its end in 128 bytes.
const LONGEST_NAME_BYTES: usize = 127;

/// More threads than this is a slip of the pen; 5 for each CPU is the default.
const MOST_THREADS: u32 = 16_384;

/// Above this a replication factor is a slip of the pen; rates stay exact in 128 bits below it.
const LARGEST_REPLICATION_FACTOR: u32 = 256;

/// One ring on each of 64 CPUs drives more devices than a host has.
const MOST_WORKERS: u32 = 64;

/// Hotter than any drive's own limit, degrees Celsius.
const HIGHEST_TEMPERATURE_C: u32 = 150;

pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    names(config)?;
    times(config)?;
    load(config)?;
    sizes(config)?;
    ours(config)
}

fn times(config: &Config) -> Result<(), ConfigError> {
    within("service-threads", config.service_threads, 1..=MOST_THREADS)?;
    within("cache-threads", config.cache_threads, 1..=MOST_THREADS)?;
    within("test-duration-sec", config.duration_s, 1..=u32::MAX)?;
    within("report-interval-sec", config.report_interval_s, 1..=u32::MAX)
}

fn load(config: &Config) -> Result<(), ConfigError> {
    within(
        "replication-factor",
        config.replication_factor,
        1..=LARGEST_REPLICATION_FACTOR,
    )?;
    within("update-pct", config.update_pct, 0..=100)?;
    within("defrag-lwm-pct", config.defrag_lwm_pct, 0..=99)?;
    within("compress-pct", config.compress_pct, 0..=100)?;
    if config.reads_per_s == 0 && config.writes_per_s == 0 {
        let expected = "more than 0 here or in write-reqs-per-sec";
        return Err(range("read-reqs-per-sec", expected, 0));
    }
    Ok(())
}

fn sizes(config: &Config) -> Result<(), ConfigError> {
    within("record-bytes", config.record_bytes, 1..=LARGEST_BYTES)?;
    if config.record_bytes_range_max != 0 {
        let wanted = config.record_bytes + 1..=LARGEST_BYTES;
        within("record-bytes-range-max", config.record_bytes_range_max, wanted)?;
    }
    let kib = config.large_block_kib;
    if !kib.is_power_of_two() || kib > LARGEST_BYTES / 1024 {
        let expected = "a power of two from 1 to 8192";
        return Err(range("large-block-op-kbytes", expected, kib));
    }
    commits(config)
}

fn commits(config: &Config) -> Result<(), ConfigError> {
    let least = config.commit_min_bytes;
    if least != 0 && (!least.is_power_of_two() || least > config.large_block_kib * 1024) {
        // Source: ACT 6.3, src/storage/cfg_storage.c, check_configuration().
        let expected = "0 or a power of two up to a large block";
        return Err(range("commit-min-bytes", expected, least));
    }
    if config.is_odsync_disabled && config.is_commit_to_device {
        return Err(range(
            "disable-odsync",
            "no together with commit-to-device",
            "yes",
        ));
    }
    Ok(())
}

fn ours(config: &Config) -> Result<(), ConfigError> {
    within("workers", config.workers, 0..=MOST_WORKERS)?;
    within(
        "temperature-limit-c",
        config.temperature_limit_c,
        0..=HIGHEST_TEMPERATURE_C,
    )
}

fn names(config: &Config) -> Result<(), ConfigError> {
    within("device-names", config.device_names.len(), 1..=MOST_DEVICES)?;
    for name in &config.device_names {
        let length = "device-names (bytes in a name)";
        within(length, name.len(), 1..=LONGEST_NAME_BYTES)?;
        // act_latency.py looks for histograms by the beginning of a line: reads.img would pass for "reads".
        if is_like_a_histogram(name) {
            let expected = "names that do not begin like a histogram's";
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

/// What is run otherwise than it may seem.
pub(super) fn doubts(config: &Config) -> Vec<ConfigWarning> {
    let mut doubts = Vec::new();
    if has_a_name_twice(&config.device_names) {
        let told = "a device stands in it twice: it takes two shares of the requests, and its histograms have one name";
        doubts.push(doubt("device-names", told));
    }
    if config.commit_min_bytes != 0 {
        doubts.push(doubt(
            "commit-min-bytes",
            "ACT 6.4 dropped it; held to here, as in ACT 6.0 to 6.3",
        ));
    }
    if config.workers != 0 && config.engine == EngineChoice::Threads {
        doubts.push(doubt(
            "workers",
            "only the io_uring engine has workers; service-threads sets the threads",
        ));
    }
    if config.model == Model::Index && config.has_writes() && config.device_names.len() > 1 {
        let told = "act_index divides the rate of its cache reads and writes by the number of devices, against its header; \
                    here they come at that rate";
        doubts.push(doubt("device-names", told));
    }
    doubts
}

fn has_a_name_twice(names: &[String]) -> bool {
    names
        .iter()
        .enumerate()
        .any(|(index, name)| names[..index].contains(name))
}

fn doubt(key: &'static str, told: &str) -> ConfigWarning {
    ConfigWarning {
        line: None,
        key,
        told: told.to_owned(),
    }
}
