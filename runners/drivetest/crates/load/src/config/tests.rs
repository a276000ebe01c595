//! The ranges of the configuration, and its echo compared with the headers of ACT's own logs.

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
fn mandatory_keys_are_required() {
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
    ("workers", &["0", "64"], &["65"]),
    ("max-errors", &["0", "4294967295"], &["4294967296"]),
    ("temperature-limit-c", &["0", "150"], &["151"]),
];

#[test]
fn every_number_is_checked_at_both_ends_of_its_range() {
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
fn a_block_must_have_space_for_a_record_if_there_are_writes() {
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
fn additional_keys_have_their_defaults_and_names() {
    let config = read("").unwrap();
    assert_eq!(
        (config.arrivals, config.engine),
        (Arrivals::Even, EngineChoice::Auto)
    );
    assert_eq!(
        (config.workers, config.max_errors, config.temperature_limit_c),
        (0, 1, 0)
    );
    let coalesce_us = |more| read(more).map(|config| config.coalesce_us).ok();
    let all = ["", "coalesce-us: 1000", "coalesce-us: 1001"].map(coalesce_us);
    assert_eq!(all, [Some(0), Some(1_000), None]);
    for (name, arrivals) in [("poisson", Arrivals::Poisson), ("lockstep", Arrivals::Lockstep)] {
        let config = read(&format!("arrivals: {name}")).unwrap();
        assert_eq!((config.arrivals, config.arrivals.name()), (arrivals, name));
    }
    for (name, engine) in [
        ("io_uring", EngineChoice::IoUring),
        ("threads", EngineChoice::Threads),
    ] {
        let config = read(&format!("engine: {name}")).unwrap();
        assert_eq!((config.engine, config.engine.name()), (engine, name));
    }
}

#[test]
fn names_that_would_confuse_the_log_are_refused() {
    let error = |more: &str| sentence(&format!("device-names: {more}"));
    assert_eq!(error("/dev/b /srv/reads.img"), "");
    for name in ["reads.img", "writes", "large-block-reads", "device-1"] {
        assert!(
            error(name).contains("do not begin like the name of a histogram"),
            "{name}"
        );
    }
}

#[test]
fn a_device_may_be_listed_twice_with_a_warning() {
    let (config, warnings) = Config::read(&format!("{LEAST}device-names: /dev/a"), 1).unwrap();
    assert_eq!(config.device_names, ["/dev/a", "/dev/a"]);
    assert!(
        warnings[0]
            .to_string()
            .starts_with("device-names: a device is listed twice")
    );
}

#[test]
fn names_have_the_limits_of_upstream() {
    let names = |count: usize, length: usize| {
        let all: Vec<String> = (0..count).map(|n| format!("{n:0>length$}")).collect();
        let text = format!(
            "device-names: {}\ntest-duration-sec: 1\nread-reqs-per-sec: 1",
            all.join(" ")
        );
        Config::read(&text, 1).is_ok()
    };
    assert!(names(128, 127) && !names(129, 127) && !names(128, 128));
}

#[test]
fn a_minimum_commit_size_is_a_power_of_two_up_to_a_block_with_a_warning() {
    let with = |bytes: u32| format!("commit-to-device: yes\ncommit-min-bytes: {bytes}");
    for bytes in [0, 1, 512, 131_072] {
        assert_eq!(sentence(&with(bytes)), "", "{bytes}");
    }
    for bytes in [3, 1_536, 262_144] {
        assert!(
            sentence(&with(bytes)).starts_with("commit-min-bytes: expected"),
            "{bytes}"
        );
    }
    let (_, warnings) = Config::read(&format!("{LEAST}{}", with(4_096)), 1).unwrap();
    assert!(
        warnings[0]
            .to_string()
            .starts_with("commit-min-bytes: ACT 6.4 removed this key")
    );
}

fn read_index(more: &str) -> Config {
    Config::read_of(Model::Index, &format!("{LEAST}{more}"), 2)
        .unwrap()
        .0
}

#[test]
fn an_index_load_reads_for_every_request_and_writes_what_defragmentation_moves() {
    // 2000 reads, 1000 writes: 3000 lookups, and at 50 % every write moves another page.
    let rates = |more: &str| -> Vec<f64> {
        let rates = read_index(more).rates();
        rates.into_iter().map(|(_, rate)| rate.per_s()).collect()
    };
    assert_eq!(rates(""), [2_000.0]);
    assert_eq!(rates("write-reqs-per-sec: 1000"), [3_000.0, 2_000.0, 2_000.0]);
    let more = "write-reqs-per-sec: 1000\nreplication-factor: 2\ndefrag-lwm-pct: 40";
    assert_eq!(rates(more), [4_000.0, 3_333.0, 3_333.0]);
}

#[test]
fn cache_reads_of_several_devices_are_a_warning() {
    let warnings = |more: &str| {
        let text = format!("{LEAST}write-reqs-per-sec: 1\n{more}");
        Config::read_of(Model::Index, &text, 2).unwrap().1.len()
    };
    assert_eq!((warnings(""), warnings("device-names: /dev/b")), (0, 1));
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../docs/reference/configuration.md");
    fs::read_to_string(path).unwrap()
}

/// Returns the cells of the table row that starts with a key.
fn row(page: &str, key: &str) -> Vec<String> {
    let begin = format!("| `{key}` |");
    let row = page.lines().find(|line| line.starts_with(&begin));
    let row = row.unwrap_or_else(|| panic!("docs/reference/configuration.md has no row of {key}"));
    row.trim_matches('|')
        .split(" | ")
        .map(|cell| cell.trim().to_owned())
        .collect()
}

#[test]
fn the_page_has_every_key_with_its_load_and_default() {
    let page = page();
    let storage = echo(&read("service-threads: 1").unwrap()) + &echo(&read_index("service-threads: 1"));
    for key in keys::KEYS {
        let cells = row(&page, key.name);
        assert_eq!(cells[1], key.model.map_or("both", Model::name), "{}", key.name);
        let echoed = storage
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{}: ", key.name)));
        let is_typed = [
            "device-names",
            "test-duration-sec",
            "read-reqs-per-sec",
            "service-threads",
        ]
        .contains(&key.name);
        if let Some(default) = echoed.filter(|_| !is_typed) {
            assert_eq!(cells[3], default, "{}", key.name);
        }
    }
}

#[test]
fn the_page_has_the_reason_of_every_retired_key() {
    for (key, reason) in keys::RETIRED {
        assert_eq!(row(&page(), key)[1], *reason, "{key}");
    }
}

#[test]
fn the_page_has_no_unknown_key() {
    let rows = page();
    let documented = rows
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let is_known = |key: &&str| {
        keys::KEYS.iter().any(|known| known.name == *key)
            || keys::RETIRED.iter().any(|(known, _)| known == key)
    };
    let unknown: Vec<&str> = documented.filter(|key| !is_known(key)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

fn act_logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/act")
}

/// Returns configurations of a program in the collection, with the header that it printed on two CPUs.
fn cases(model: Model) -> Vec<(String, String, Vec<String>)> {
    let mut cases = Vec::new();
    for version in ["6.0", "6.2", "6.4", "6.5", "6.6"] {
        for entry in fs::read_dir(act_logs().join(version)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "conf") {
                let log = fs::read(path.with_extension("log")).unwrap();
                let header = header(model, &String::from_utf8_lossy(&log));
                if !header.is_empty() {
                    let name = format!("{version}/{}", path.file_stem().unwrap().display());
                    cases.push((name, fs::read_to_string(&path).unwrap(), header));
                }
            }
        }
    }
    cases
}

/// Returns the lines of both configuration sections, or nothing if they are not complete.
fn header(model: Model, log: &str) -> Vec<String> {
    let (title, last) = match model {
        Model::Storage => ("ACT-STORAGE CONFIGURATION", "large-block-writes-per-sec"),
        Model::Index => ("ACT-INDEX CONFIGURATION", "cache-thread-reads-and-writes-per-sec"),
    };
    let mut lines = log.lines().map(|line| line.trim_end().to_owned());
    let mut found: Vec<String> = lines
        .by_ref()
        .skip_while(|line| line != title)
        .take_while(|line| !line.is_empty())
        .collect();
    let derived = lines
        .skip_while(|line| line != "DERIVED CONFIGURATION")
        .take_while(|line| !line.is_empty());
    found.extend(derived);
    let is_whole = found.last().is_some_and(|line| line.starts_with(last));
    if is_whole { found } else { Vec::new() }
}

/// Returns whether a key exists in all versions 6.0 to 6.6. Such lines must be equal in every version.
fn is_in_every_6_x(line: &str) -> bool {
    !["commit-min-bytes", "scheduler-mode", "no-defrag-reads"]
        .iter()
        .any(|key| line.starts_with(key))
}

fn assert_echoes(model: Model, least_count: usize) {
    let cases = cases(model);
    assert!(cases.len() >= least_count, "{} cases found", cases.len());
    for (name, text, theirs) in cases {
        let (config, _) = Config::read_of(model, &text, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ours: Vec<String> = header(model, &echo(&config));
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

#[test]
fn the_echo_equals_the_header_of_every_act_storage_6_log() {
    assert_echoes(Model::Storage, 61);
}

#[test]
fn the_echo_equals_the_header_of_every_act_index_6_log() {
    assert_echoes(Model::Index, 12);
}

/// Returns the configuration section of a log's header as a configuration, without derived values.
fn echoed(config: &Config) -> String {
    let text = echo(config);
    let (configuration, _) = text.split_once("\n\n").unwrap();
    let lines = configuration
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with("num-devices"));
    lines.collect::<Vec<_>>().join("\n")
}

fn random_config() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let least = |max: u32| prop_oneof![Just(1), Just(max), 1..=max];
    let rates = (
        least(5_000_000),
        least(5_000_000),
        1_u32..4,
        0_u32..=100,
        0_u32..=99,
    );
    let sizes = (
        1_u32..=65_536,
        6_u32..=13,
        0_u32..=100,
        1_u32..1_000_000,
        1_u32..7_000,
    );
    let switches = proptest::collection::vec(proptest::bool::ANY, 5);
    (rates, sizes, switches).prop_map(|(rates, sizes, on)| {
        let yes = |index: usize| if on[index] { "yes" } else { "no" };
        format!(
            "device-names: /dev/a,/dev/b\nread-reqs-per-sec: {}\nwrite-reqs-per-sec: {}\nreplication-factor: {}\n\
             update-pct: {}\ndefrag-lwm-pct: {}\nrecord-bytes: {}\nlarge-block-op-kbytes: {}\ncompress-pct: {}\n\
             test-duration-sec: {}\nreport-interval-sec: {}\nmicrosecond-histograms: {}\ncommit-to-device: {}\n\
             tomb-raider: {}\nno-defrag-reads: {}\nmax-lag-sec: {}\n",
            rates.0, rates.1, rates.2, rates.3, rates.4, sizes.0, 1 << sizes.1, sizes.2, sizes.3, sizes.4,
            yes(0), yes(1), yes(2), yes(3), if on[4] { 0 } else { sizes.3 },
        )
    })
}

proptest::proptest! {
    #[test]
    fn the_echo_read_again_is_the_same_configuration(text in random_config()) {
        let first = Config::read(&text, 3).unwrap().0;
        let second = Config::read(&echoed(&first), 64).unwrap().0;
        proptest::prop_assert_eq!(echo(&first), echo(&second));
        proptest::prop_assert_eq!(first.rates(), second.rates());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        if let Ok(text) = super::text(&bytes) {
            let _ = Config::read_of(Model::Index, &text, 2);
        }
    }

    #[test]
    fn any_numbers_are_read_or_refused(which in proptest::collection::vec(("[a-z-]{4,24}", 0u32..=u32::MAX), 1..5)) {
        let lines: Vec<String> = which.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let _ = read(&lines.join("\n"));
    }

    #[test]
    fn known_numbers_of_any_size_are_read_or_refused(
        values in proptest::collection::vec(proptest::num::u32::ANY, 8)) {
        let keys = ["read-reqs-per-sec", "write-reqs-per-sec", "replication-factor", "record-bytes",
                    "large-block-op-kbytes", "defrag-lwm-pct", "update-pct", "service-threads"];
        for model in [Model::Storage, Model::Index] {
            for mask in 0..64 {
                let chosen = keys.iter().zip(&values).enumerate().filter(|(index, _)| mask >> index & 1 == 1);
                let lines: Vec<String> = chosen.map(|(_, (key, value))| format!("{key}: {value}")).collect();
                let text = format!("device-names: a\ntest-duration-sec: 1\n{}", lines.join("\n"));
                let _ = Config::read_of(model, &text, u32::MAX);
            }
        }
    }
}
