//! The configuration against its ranges, and its echo against the headers of ACT's own logs.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const LEAST: &str = "device-names: /dev/a\ntest-duration-sec: 10\nread-reqs-per-sec: 2000\n";

fn read(more: &str) -> Result<Config, ConfigError> {
    Config::read(&format!("{LEAST}{more}"), 2).map(|(config, _)| config)
}

fn sentence(more: &str) -> String {
    read(more)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn defaults_are_those_of_act_6_6() {
    let config = read("").unwrap();
    assert_eq!(
        (config.service_threads, config.report_interval_s, config.max_lag_s),
        (10, 1, 10)
    );
    assert_eq!(
        (
            config.record_bytes,
            config.large_block_kib,
            config.replication_factor
        ),
        (1536, 128, 1)
    );
    assert_eq!(
        (config.defrag_lwm_pct, config.compress_pct, config.update_pct),
        (50, 100, 0)
    );
    assert!(!config.is_microseconds && !config.is_odsync_disabled && !config.has_no_defrag_reads);
}

#[test]
fn what_must_be_given_is_asked_for() {
    let missing = |text: &str| Config::read(text, 2).unwrap_err().to_string();
    assert_eq!(
        missing("test-duration-sec: 1"),
        "device-names: expected 1 to 128, got 0"
    );
    assert_eq!(
        missing("device-names: a"),
        "test-duration-sec: expected 1 to 4294967295, got 0"
    );
    assert!(
        missing("device-names: a\ntest-duration-sec: 1")
            .starts_with("read-reqs-per-sec: expected more than 0")
    );
}

/// Key, values at the edges inside, values just outside.
const EDGES: &[(&str, &[&str], &[&str])] = &[
    ("service-threads", &["1", "16384"], &["16385"]),
    ("report-interval-sec", &["1", "4294967295"], &["0"]),
    ("record-bytes", &["1", "8388608"], &["0", "8388609"]),
    (
        "record-bytes-range-max",
        &["0", "1537", "8388608"],
        &["1", "1536", "8388609"],
    ),
    ("large-block-op-kbytes", &["1", "2", "8192"], &["0", "3", "16384"]),
    ("replication-factor", &["1", "256"], &["0", "257"]),
    ("update-pct", &["0", "100"], &["101"]),
    ("defrag-lwm-pct", &["0", "99"], &["100"]),
    ("compress-pct", &["0", "100"], &["101"]),
    ("max-lag-sec", &["0", "4294967295"], &["4294967296"]),
    ("file-size-mbytes", &["0", "4294967295"], &["4294967296"]),
    ("write-reqs-per-sec", &["0", "4294967295"], &["4294967296"]),
    ("tomb-raider-sleep-usec", &["0", "4294967295"], &["4294967296"]),
];

#[test]
fn every_number_is_held_to_its_range_on_both_sides() {
    for (key, inside, outside) in EDGES {
        for value in *inside {
            assert_eq!(sentence(&format!("{key}: {value}")), "", "{key}: {value}");
        }
        for value in *outside {
            assert!(
                sentence(&format!("{key}: {value}")).contains(key),
                "{key}: {value}"
            );
        }
    }
}

#[test]
fn a_block_must_hold_a_record_once_there_are_writes() {
    let small = "record-bytes: 2048\nlarge-block-op-kbytes: 1\n";
    assert_eq!(sentence(small), "");
    assert!(
        sentence(&format!("{small}write-reqs-per-sec: 1"))
            .starts_with("large-block-op-kbytes: expected blocks")
    );
}

#[test]
fn records_are_stored_in_multiples_of_sixteen_bytes() {
    let stored = |more: &str| read(more).unwrap().derived.record_stored_bytes;
    assert_eq!(stored("record-bytes: 1520"), (1_520, 1_520));
    assert_eq!(stored("record-bytes: 1521"), (1_536, 1_536));
    assert_eq!(stored("record-bytes: 1\nrecord-bytes-range-max: 17"), (16, 32));
}

#[test]
fn large_blocks_carry_replicas_and_what_defragmentation_moves() {
    let per_s = |more: &str| {
        let derived = read(&format!("write-reqs-per-sec: 850\n{more}")).unwrap().derived;
        [derived.large_block_reads, derived.large_block_writes]
            .map(|rate| rate.map(crate::schedule::Rate::per_s))
    };
    // 85 records of 1536 bytes to a block of 128 KiB: 10 blocks a second, doubled at 50 %.
    assert_eq!(per_s(""), [Some(20.0), Some(20.0)]);
    assert_eq!(per_s("replication-factor: 2"), [Some(40.0), Some(40.0)]);
    assert_eq!(per_s("defrag-lwm-pct: 75"), [Some(40.0), Some(40.0)]);
    assert_eq!(per_s("no-defrag-reads: yes"), [None, Some(20.0)]);
    assert_eq!(per_s("commit-to-device: yes"), [Some(20.0), Some(10.0)]);
}

#[test]
fn what_is_not_built_is_refused_and_not_run_otherwise() {
    for line in [
        "commit-to-device: yes",
        "tomb-raider: yes",
        "arrivals: lockstep",
        "engine: io_uring",
    ] {
        let refused = read(line).unwrap().check_supported().unwrap_err().to_string();
        assert!(refused.contains("not built yet"), "{line}: {refused}");
    }
    assert!(
        read("arrivals: even\nengine: threads\ntomb-raider: no")
            .unwrap()
            .check_supported()
            .is_ok()
    );
}

#[test]
fn names_that_would_confuse_the_log_are_refused() {
    let supported = |more: &str| read(more).unwrap().check_supported().is_ok();
    assert!(supported("device-names: /dev/b /srv/reads.img"));
    assert!(!supported("device-names: reads.img"));
    assert!(!supported("device-names: /dev/a"), "named twice");
}

fn act_logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/act")
}

/// Configurations of act_storage in the collection, with the header that it printed on two CPUs.
fn storage_cases() -> Vec<(String, String, Vec<String>)> {
    let mut cases = Vec::new();
    for version in ["6.0", "6.2", "6.4", "6.5", "6.6"] {
        for entry in fs::read_dir(act_logs().join(version)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "conf") {
                let log = fs::read(path.with_extension("log")).unwrap();
                let header = header(&String::from_utf8_lossy(&log));
                if !header.is_empty() {
                    let name = format!("{version}/{}", path.file_stem().unwrap().display());
                    cases.push((name, fs::read_to_string(&path).unwrap(), header));
                }
            }
        }
    }
    cases
}

/// The lines of both configuration sections; empty when the log holds no whole ones.
fn header(log: &str) -> Vec<String> {
    let mut lines = log.lines().map(|line| line.trim_end().to_owned());
    let mut found: Vec<String> = lines
        .by_ref()
        .skip_while(|line| line != "ACT-STORAGE CONFIGURATION")
        .take_while(|line| !line.is_empty())
        .collect();
    let derived = lines
        .skip_while(|line| line != "DERIVED CONFIGURATION")
        .take_while(|line| !line.is_empty());
    found.extend(derived);
    let is_whole = found
        .last()
        .is_some_and(|line| line.starts_with("large-block-writes-per-sec"));
    if is_whole { found } else { Vec::new() }
}

/// Keys that came or went between 6.0 and 6.6; everything else must be equal in every version.
fn is_in_every_6_x(line: &str) -> bool {
    !["commit-min-bytes", "scheduler-mode", "no-defrag-reads"]
        .iter()
        .any(|key| line.starts_with(key))
}

#[test]
fn the_echo_equals_the_header_of_every_act_6_log() {
    let cases = storage_cases();
    assert!(cases.len() > 60, "{} cases found", cases.len());
    for (name, text, theirs) in cases {
        let (config, _) = Config::read(&text, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ours: Vec<String> = header(&echo(&config));
        if name.starts_with("6.6") {
            assert_eq!(ours, theirs, "{name}");
        }
        let (ours, theirs) = (
            ours.iter().filter(|line| is_in_every_6_x(line)),
            theirs.iter().filter(|line| is_in_every_6_x(line)),
        );
        assert!(ours.eq(theirs), "{name}");
    }
}
