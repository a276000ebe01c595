//! The two configuration sections of a log, as act_storage and act_index 6.6 print them.

use std::fmt::Write;

use super::{Config, Model};

/// Returns both sections and the empty line after them.
pub fn echo(config: &Config) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = match config.model {
        Model::Storage => write_storage(&mut text, config).and_then(|()| write_derived(&mut text, config)),
        Model::Index => write_index(&mut text, config).and_then(|()| write_derived_index(&mut text, config)),
    };
    text
}

fn write_storage(out: &mut String, config: &Config) -> std::fmt::Result {
    writeln!(out, "ACT-STORAGE CONFIGURATION")?;
    write_devices(out, config)?;
    writeln!(out, "service-threads: {}", config.service_threads)?;
    write_rates(out, config)?;
    writeln!(out, "record-bytes: {}", config.record_bytes)?;
    writeln!(out, "record-bytes-range-max: {}", config.record_bytes_range_max)?;
    writeln!(out, "large-block-op-kbytes: {}", config.large_block_kib)?;
    writeln!(out, "replication-factor: {}", config.replication_factor)?;
    writeln!(out, "update-pct: {}", config.update_pct)?;
    writeln!(out, "defrag-lwm-pct: {}", config.defrag_lwm_pct)?;
    write_modes(out, config)
}

fn write_devices(out: &mut String, config: &Config) -> std::fmt::Result {
    writeln!(out, "device-names: {}", config.device_names.join(" "))?;
    writeln!(out, "num-devices: {}", config.device_names.len())?;
    match config.file_size_mib {
        0 => Ok(()),
        mib => writeln!(out, "file-size-mbytes: {mib}"),
    }
}

fn write_rates(out: &mut String, config: &Config) -> std::fmt::Result {
    writeln!(out, "test-duration-sec: {}", config.duration_s)?;
    writeln!(out, "report-interval-sec: {}", config.report_interval_s)?;
    writeln!(out, "microsecond-histograms: {}", yes_no(config.is_microseconds))?;
    writeln!(out, "read-reqs-per-sec: {}", config.reads_per_s)?;
    writeln!(out, "write-reqs-per-sec: {}", config.writes_per_s)
}

fn write_modes(out: &mut String, config: &Config) -> std::fmt::Result {
    writeln!(out, "no-defrag-reads: {}", yes_no(config.has_no_defrag_reads))?;
    writeln!(out, "compress-pct: {}", config.compress_pct)?;
    writeln!(out, "disable-odsync: {}", yes_no(config.is_odsync_disabled))?;
    writeln!(out, "commit-to-device: {}", yes_no(config.is_commit_to_device))?;
    if config.commit_min_bytes != 0 {
        // ACT 6.0 to 6.3 print it here; 6.6 has no such key.
        writeln!(out, "commit-min-bytes: {}", config.commit_min_bytes)?;
    }
    writeln!(out, "tomb-raider: {}", yes_no(config.has_tomb_raider))?;
    writeln!(out, "tomb-raider-sleep-usec: {}", config.tomb_raider_sleep_us)?;
    writeln!(out, "max-lag-sec: {}\n", config.max_lag_s)
}

fn write_index(out: &mut String, config: &Config) -> std::fmt::Result {
    writeln!(out, "ACT-INDEX CONFIGURATION")?;
    write_devices(out, config)?;
    writeln!(out, "service-threads: {}", config.service_threads)?;
    writeln!(out, "cache-threads: {}", config.cache_threads)?;
    write_rates(out, config)?;
    writeln!(out, "replication-factor: {}", config.replication_factor)?;
    writeln!(out, "defrag-lwm-pct: {}", config.defrag_lwm_pct)?;
    writeln!(out, "disable-odsync: {}", yes_no(config.is_odsync_disabled))?;
    writeln!(out, "max-lag-sec: {}\n", config.max_lag_s)
}

fn write_derived(out: &mut String, config: &Config) -> std::fmt::Result {
    let derived = &config.derived;
    let (least, most) = derived.record_stored_bytes;
    let (large_reads, large_writes) = derived.large_blocks_as_printed(config);
    writeln!(out, "DERIVED CONFIGURATION")?;
    writeln!(out, "record-stored-bytes: {least} ... {most}")?;
    writeln!(
        out,
        "internal-read-reqs-per-sec: {}",
        derived.internal_reads_per_s
    )?;
    writeln!(
        out,
        "internal-write-reqs-per-sec: {}",
        derived.internal_writes_per_s
    )?;
    writeln!(out, "large-block-reads-per-sec: {large_reads:.2}")?;
    writeln!(out, "large-block-writes-per-sec: {large_writes:.2}\n")
}

fn write_derived_index(out: &mut String, config: &Config) -> std::fmt::Result {
    let derived = &config.derived;
    writeln!(out, "DERIVED CONFIGURATION")?;
    writeln!(
        out,
        "service-thread-reads-per-sec: {}",
        derived.service_reads_per_s
    )?;
    writeln!(
        out,
        "cache-thread-reads-and-writes-per-sec: {}\n",
        derived.cache_per_s
    )
}

fn yes_no(is_yes: bool) -> &'static str {
    if is_yes { "yes" } else { "no" }
}
