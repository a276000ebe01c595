//! Checks of a run's header and figures: each on both sides of its edge, on one real log with one text replaced.

use drivetest_log::reader::{LogReader, Options};

const FOUR_US: &str = include_str!("../../../../../../tests/data/act/6.6/four-us.log");
const INDEX: &str = include_str!("../../../../../../tests/data/act/6.6/index-single-us.log");

fn ids(log: &str, slice_s: u64) -> Vec<&'static str> {
    let mut reader = LogReader::new(Options { slice_s });
    reader.push(log.as_bytes());
    let reading = reader.finish();
    let of_runs = reading.runs.iter().flat_map(|run| &run.findings);
    // The logs of the collection are of memory and say so by the names of their devices.
    let of_drives = of_runs.filter(|finding| finding.id != "device-virtual");
    of_drives.map(|finding| finding.id).collect()
}

fn edited(from: &str, to: &str) -> Vec<&'static str> {
    assert!(FOUR_US.contains(from), "{from}");
    ids(&FOUR_US.replacen(from, to, 1), 10)
}

/// A text of the log, what fires in its place, what does not, and the rule.
const EDGES: &[(&str, &str, &str, &str)] = &[
    (
        "defrag-lwm-pct: 50",
        "defrag-lwm-pct: 51",
        "defrag-lwm-pct: 50",
        "defrag-changed",
    ),
    (
        "defrag-lwm-pct: 50",
        "defrag-lwm-pct: 49",
        "defrag-lwm-pct: 51",
        "lighter-load",
    ),
    (
        "commit-to-device: no",
        "commit-to-device: yes",
        "commit-to-device: no",
        "commit-to-device",
    ),
    (
        "tomb-raider: no",
        "tomb-raider: yes",
        "tomb-raider: no",
        "tomb-raider",
    ),
    (
        "replication-factor: 1",
        "replication-factor: 2",
        "replication-factor: 1",
        "replication-changed",
    ),
    ("update-pct: 0", "update-pct: 1", "update-pct: 0", "updates-read"),
    // Four devices: 40 threads are ten to each.
    (
        "service-threads: 10",
        "service-threads: 41",
        "service-threads: 40",
        "lockstep-bursts",
    ),
    (
        "test-duration-sec: 60",
        "test-duration-sec: 59",
        "test-duration-sec: 60",
        "longer-than-asked",
    ),
    (
        "num-devices: 4",
        "num-devices: 5",
        "num-devices: 4",
        "header-differs",
    ),
    (
        "large-block-reads-per-sec: 94.12",
        "large-block-reads-per-sec: 95.08",
        "large-block-reads-per-sec: 95.06",
        "header-differs",
    ),
    (
        "internal-read-reqs-per-sec: 8000",
        "internal-read-reqs-per-sec: 7999",
        "internal-read-reqs-per-sec: 8000",
        "header-differs",
    ),
    (
        "read-reqs-per-sec: 8000",
        "read-reqs-per-sec: 8001",
        "read-reqs-per-sec: 8000",
        "nx-not-whole",
    ),
    (
        "/dev/zram1 /dev/zram2",
        "/dev/sda1 /dev/sda2",
        "/dev/sda1 /dev/sdb2",
        "devices-alike",
    ),
];

#[test]
fn each_check_fires_on_one_side_of_its_edge_only() {
    for (text, fires, silent, rule) in EDGES {
        assert!(edited(text, fires).contains(rule), "{rule}: {fires}");
        assert!(!edited(text, silent).contains(rule), "{rule}: {silent}");
    }
}

#[test]
fn a_slice_that_intervals_fill_is_neither_longer_nor_partial() {
    assert!(ids(FOUR_US, 20).is_empty());
    assert_eq!(ids(FOUR_US, 50), ["trailing-partial"], "10 s are left of 60");
    assert_eq!(
        edited("report-interval-sec: 1", "report-interval-sec: 7")[0],
        "slice-lengthened"
    );
}

#[test]
fn the_cache_load_of_one_device_is_whole() {
    assert!(!ids(INDEX, 10).contains(&"cache-load-divided"));
    let two = INDEX.replacen("num-devices: 1", "num-devices: 2", 1);
    assert!(ids(&two, 10).contains(&"cache-load-divided"));
}

/// The log of a minute whose `reads` hold so many in each bucket after so many seconds.
fn reads_of(counts: impl Fn(u64) -> Vec<(u64, u64)>) -> Vec<&'static str> {
    let block = |at: u64| {
        let counts = counts(at);
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        let buckets: String = counts
            .iter()
            .map(|(bucket, count)| format!(" ({bucket:02}: {count:010})"))
            .collect();
        format!("after {at} sec:\nreads ({total} total)\n{buckets}\n\n")
    };
    let header = FOUR_US.split("HISTOGRAM NAMES").next().unwrap();
    let blocks: String = (1..=60).map(block).collect();
    ids(&format!("{header}HISTOGRAM NAMES\nreads\n\n{blocks}"), 10)
}

#[test]
fn no_operation_takes_longer_than_the_run_and_a_minute() {
    // Bucket 27 begins at 67 s, bucket 28 at 134 s; the run has 60 s, with a tenth and a minute 126 s.
    assert!(reads_of(|at| vec![(5, at * 8000), (28, 1)]).contains(&"latency-beyond-run"));
    assert!(!reads_of(|at| vec![(5, at * 8000), (27, 1)]).contains(&"latency-beyond-run"));
}

#[test]
fn operations_take_no_more_time_than_their_threads_have() {
    // Ten threads have at most 10 x 126 s. Bucket 20 begins at 0.524288 s: 2403 take 1259.9 s, 2404 take 1260.4 s.
    let slow = |count: u64| reads_of(move |at| vec![(0, at * 8000), (20, count)]);
    assert!(slow(2404).contains(&"busy-beyond-threads"));
    assert!(!slow(2403).contains(&"busy-beyond-threads"));
}
