//! The two configuration sections of a log, as act_storage 6.6 prints them.

use std::fmt::Write;

use super::Config;

/// Returns both sections and the empty line after them.
pub fn echo(config: &Config) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_configuration(&mut text, config).and_then(|()| write_derived(&mut text, config));
    text
}

fn write_configuration(out: &mut String, config: &Config) -> std::fmt::Result {
    writeln!(out, "ACT-STORAGE CONFIGURATION")?;
    writeln!(out, "device-names: {}", config.device_names.join(" "))?;
    writeln!(out, "num-devices: {}", config.device_names.len())?;
    if config.file_size_mib != 0 {
        writeln!(out, "file-size-mbytes: {}", config.file_size_mib)?;
    }
    writeln!(out, "service-threads: {}", config.service_threads)?;
    writeln!(out, "test-duration-sec: {}", config.duration_s)?;
    writeln!(out, "report-interval-sec: {}", config.report_interval_s)?;
    writeln!(out, "microsecond-histograms: {}", yes_no(config.is_microseconds))?;
    writeln!(out, "read-reqs-per-sec: {}", config.reads_per_s)?;
    writeln!(out, "write-reqs-per-sec: {}", config.writes_per_s)?;
    writeln!(out, "record-bytes: {}", config.record_bytes)?;
    writeln!(out, "record-bytes-range-max: {}", config.record_bytes_range_max)?;
    writeln!(out, "large-block-op-kbytes: {}", config.large_block_kib)?;
    writeln!(out, "replication-factor: {}", config.replication_factor)?;
    writeln!(out, "update-pct: {}", config.update_pct)?;
    writeln!(out, "defrag-lwm-pct: {}", config.defrag_lwm_pct)?;
    write_modes(out, config)
}

fn write_modes(out: &mut String, config: &Config) -> std::fmt::Result {
    writeln!(out, "no-defrag-reads: {}", yes_no(config.has_no_defrag_reads))?;
    writeln!(out, "compress-pct: {}", config.compress_pct)?;
    writeln!(out, "disable-odsync: {}", yes_no(config.is_odsync_disabled))?;
    writeln!(out, "commit-to-device: {}", yes_no(config.is_commit_to_device))?;
    writeln!(out, "tomb-raider: {}", yes_no(config.has_tomb_raider))?;
    writeln!(out, "tomb-raider-sleep-usec: {}", config.tomb_raider_sleep_us)?;
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

fn yes_no(is_yes: bool) -> &'static str {
    if is_yes { "yes" } else { "no" }
}
