//! Every rule of docs/reference/findings.md fires: for each id, a real log, an edited one or a synthetic one.
//!
//! crates/logs/tests/reading/clean_logs.rs shows that no rule fires for a clean log.

#[path = "../../../logs/tests/reading/edited.rs"]
mod edited;

use std::collections::BTreeSet;

use crate::support::{Scratch, gzip, log, logs, read, tar, tar_entry};
use drivetest_logs::finding::RULES;
use edited::without_slow_reads;
use serde_json::Value;

/// The log in which a rule fires.
enum Seen {
    /// A log of the collection, with slices of 10 s and the compiled-in profile.
    Real(&'static str),
    /// One of these logs with one text replaced.
    Edited(&'static str, &'static str, &'static str),
    /// Synthetic bytes.
    Made(fn() -> Vec<u8>),
    /// Synthetic bytes with their own profile.
    Under(&'static str, fn() -> Vec<u8>),
}

use Seen::{Edited, Made, Real, Under};

const FOUR: &str = "6.6/four-us.log";

/// Returns a side file of a run whose reads waited before submission.
const LATE_END: &str = r#"{"record": "end", "reads_count": 480006, "over": {}, "operations": {"reads": {"count": 480006, "asked_per_s": "8000", "service_over": {"64000": 0}, "response_over": {"64000": 12000}, "response": {"max_ns": 6000000000}}}}"#;

/// Returns an end record with one operation.
fn sound_end(operation: &str) -> String {
    format!(r#"{{"record": "end", "reads_count": 480006, "over": {{}}, "operations": {{{operation}}}}}"#)
        .replace('\n', " ")
}

/// Returns a side file whose only interval has this telemetry.
fn telling(telemetry: &str) -> String {
    let interval = format!(r#"{{"record": "interval", "telemetry": {{{telemetry}}}}}"#).replace('\n', " ");
    format!("{interval}\n{}", sound_end(""))
}

/// A limit that the synthetic logs meet or miss by less than the rounding or a bucket edge.
const LIMIT_3: &str = r#"{"name": "short", "rule_version": 1, "reads_pct": "67", "writes_pct": "33",
    "ratio_tolerance_points": "1", "object_bytes": 1536, "duration_s": 60, "slice_length_s": 10,
    "limits": [{"threshold_us": 1000, "limit_pct": "3"}]}"#;

/// A threshold that is not an edge of any millisecond log.
const BETWEEN: &str = r#"{"name": "between", "rule_version": 1, "reads_pct": "67", "writes_pct": "33",
    "ratio_tolerance_points": "1", "object_bytes": 1536, "duration_s": 60, "slice_length_s": 10,
    "limits": [{"threshold_us": 3000, "limit_pct": "3"}]}"#;

const CASES: &[(&str, Seen)] = &[
    ("cut", Real("6.6/truncated-midline.log")),
    ("short", Real("6.6/sigterm.log")),
    (
        "interrupted",
        Made(|| ending("drivetest: stopped by signal TERM\n")),
    ),
    ("crashed", Real("6.6/sigsegv.log")),
    ("not-started", Real("6.6/nodev.log")),
    ("cannot-keep-up", Real("6.6/lag-default10.log")),
    ("io-errors", Real("6.6/io-errors-writes.log")),
    (
        "counts-fall",
        Edited(
            FOUR,
            "reads (8010 total)\n (01: 0000006269)",
            "reads (9008010 total)\n (01: 0009006269)",
        ),
    ),
    ("blocks-conflict", Edited(FOUR, "after 26 sec:", "after 25 sec:")),
    (
        "blocks-out-of-order",
        Edited(FOUR, "after 26 sec:", "after 24 sec:"),
    ),
    ("old-buckets", Real("1.x/single.log")),
    ("slice-missing", Real("6.6/hole.log")),
    ("too-many-slices", Made(many_slices)),
    (
        "lines-flood",
        Made(|| [log(FOUR).as_bytes(), &b"\n".repeat(5_000_000)[..]].concat()),
    ),
    (
        "compression-damaged",
        Made(|| gzip(log(FOUR).as_bytes())[..6000].to_vec()),
    ),
    ("blocks-missing", Real("6.6/hole.log")),
    ("block-repeated", Made(repeated_block)),
    (
        "label-off-interval",
        Edited(FOUR, "report-interval-sec: 1", "report-interval-sec: 2"),
    ),
    (
        "total-differs",
        Edited(FOUR, "reads (8010 total)", "reads (8011 total)"),
    ),
    (
        "histogram-missing",
        Edited(
            "6.6/two-same-device.log",
            "/dev/zram7-reads (6094 total)",
            "[9.1] nvme0: timeout",
        ),
    ),
    (
        "histogram-repeated",
        Edited(FOUR, "/dev/zram1-reads (", "reads ("),
    ),
    (
        "histogram-unlisted",
        Edited(FOUR, "HISTOGRAM NAMES\nreads\n", "HISTOGRAM NAMES\n"),
    ),
    ("too-many-histograms", Made(many_histograms)),
    (
        "unreadable-line",
        Edited(FOUR, " (01: 0000006269)", " (01; 0000006269)"),
    ),
    ("nul-bytes", Real("6.6/nul-tail.log")),
    ("stall", Real("6.6/pause6.log")),
    ("rate-below-asked", Real("6.6/burst-cmp-disk-t64.log")),
    (
        "rate-above-asked",
        Edited(
            FOUR,
            "internal-read-reqs-per-sec: 8000",
            "internal-read-reqs-per-sec: 7900",
        ),
    ),
    ("intervals-off-rate", Real("6.6/slow-disk-ms.log")),
    ("device-sums-differ", Made(devices_apart)),
    (
        "intervals-alike",
        Made(|| {
            reads_of(|at| {
                (3..10)
                    .zip([7001, 303, 203, 191, 107, 97, 99])
                    .map(|(bucket, ops)| (bucket, at * ops))
                    .collect()
            })
        }),
    ),
    (
        "counts-round",
        Made(|| reads_of(|at| vec![(5, at * 7701), (6, at * 100), (7, at * 200)])),
    ),
    (
        "latency-beyond-run",
        Made(|| reads_of(|at| vec![(5, at * 7999), (30, at)])),
    ),
    (
        "busy-beyond-threads",
        Made(|| reads_of(|at| vec![(5, at * 7900), (24, at * 100)])),
    ),
    (
        "longer-than-asked",
        Edited(FOUR, "test-duration-sec: 60", "test-duration-sec: 59"),
    ),
    (
        "header-differs",
        Edited(
            FOUR,
            "internal-read-reqs-per-sec: 8000",
            "internal-read-reqs-per-sec: 8001",
        ),
    ),
    ("lockstep-bursts", Real("6.6/burst-cmp-disk-t64.log")),
    ("cache-load-divided", Real("6.6/index-four-ms-int5.log")),
    (
        "devices-alike",
        Edited(FOUR, "names: /dev/zram1 /dev/zram2", "names: /dev/sda1 /dev/sda2"),
    ),
    (
        "defrag-changed",
        Edited(FOUR, "defrag-lwm-pct: 50", "defrag-lwm-pct: 51"),
    ),
    ("commit-to-device", Real("6.0/commit-us.log")),
    ("tomb-raider", Real("6.6/tomb-us.log")),
    ("replication-changed", Real("6.0/range-tomb-rf2-upd50-us.log")),
    ("updates-read", Real("6.6/update50-us.log")),
    ("error-line", Made(|| ending("ERROR: couldn't do a thing\n"))),
    ("lighter-load", Real("6.6/odsync-off-us.log")),
    ("lag-unlimited", Real("6.6/lag0-overload.log")),
    ("commit-writes-meaningless", Real("6.6/commit-us.log")),
    ("device-named-twice", Real("6.6/two-same-device.log")),
    (
        "version-unknown",
        Edited(FOUR, "ACT version 6.6", "ACT version 6.9"),
    ),
    (
        "setting-unreadable",
        Edited(FOUR, "service-threads: 10", "service-threads: ten"),
    ),
    (
        "other-program",
        Made(|| [log(FOUR).as_bytes(), b"[OVERALL], RunTime(ms), 1101\n"].concat()),
    ),
    ("several-runs", Real("6.6/two-runs-appended.log")),
    (
        "run-not-read",
        Made(|| [log(FOUR).as_bytes(), b"\nACT version 6.6\n"].concat()),
    ),
    ("too-many-runs", Made(|| log(FOUR).as_bytes()[..2000].repeat(100))),
    (
        "trailing-bytes",
        Made(|| [gzip(log(FOUR).as_bytes()), b"more".to_vec()].concat()),
    ),
    ("profile-workload", Real("6.6/index-single-us.log")),
    ("profile-reads", Real("6.6/writeonly-us.log")),
    (
        "profile-edges",
        Under(BETWEEN, || log("6.6/single-ms.log").into_bytes()),
    ),
    ("profile-duration", Real(FOUR)),
    ("profile-ratio", Real("6.6/readonly-us.log")),
    ("profile-objects", Real("6.6/range-us.log")),
    ("profile-settings", Real("6.6/odsync-off-us.log")),
    (
        "profile-writes",
        Edited(FOUR, "writes-per-sec: 94.12", "writes-per-sec: 93.17"),
    ),
    (
        "utf-16",
        Made(|| log(FOUR).encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ),
    ("byte-order-mark", Real("6.6/bom-utf8.log")),
    ("carriage-returns", Real("6.6/crlf.log")),
    (
        "escape-sequences",
        Edited(FOUR, "after 1 sec:", "\u{1b}[1mafter 1 sec:\u{1b}[0m"),
    ),
    (
        "non-breaking-spaces",
        Edited(FOUR, "after 1 sec:", "after\u{a0}1 sec:"),
    ),
    ("quoted", Made(|| before_each_line("> "))),
    ("indented", Made(|| before_each_line("    "))),
    (
        "line-prefix",
        Made(|| before_each_line("Nov 21 02:56:23 bench01 act[123]: ")),
    ),
    (
        "lines-without-prefix",
        Made(|| {
            let quoted = String::from_utf8(before_each_line("> ")).unwrap();
            quoted.replacen("> after 2 sec:", "after 2 sec:", 1).into_bytes()
        }),
    ),
    (
        "archive-damaged",
        Made(|| {
            let mut whole = tar(&[("four.log", log(FOUR).as_bytes())]);
            whole.truncate(20_000);
            whole
        }),
    ),
    (
        "member-damaged",
        Made(|| with_four(&[("four.conf.gz", &gzip(b"a: b\n")[..12])])),
    ),
    (
        "side-file-differs",
        Made(|| {
            with_four(&[(
                "four.jsonl",
                br#"{"record": "end", "reads_count": 9, "over": {}}"#,
            )])
        }),
    ),
    ("response-above-service", Made(|| ours_with(LATE_END))),
    (
        "generator-late",
        Made(|| {
            ours_with(&sound_end(
                r#""reads": {"count": 480006, "generator_lateness": {"p99_ns": 1000000}}"#,
            ))
        }),
    ),
    (
        "host-busy",
        Made(|| ours_with(&telling(r#""cpu": {"busy_pct": "97.0", "steal_pct": "0.0"}"#))),
    ),
    (
        "host-stolen",
        Made(|| ours_with(&telling(r#""cpu": {"busy_pct": "9.0", "steal_pct": "4.0"}"#))),
    ),
    (
        "drive-hot",
        Made(|| {
            ours_with(&telling(
                r#""disks": [{"disk": "nvme0n1", "devices": [],
        "temperature": {"celsius": "84.0", "limit_celsius": "82.0"}}]"#,
            ))
        }),
    ),
    ("device-virtual", Real(FOUR)),
    (
        "devices-over-limit",
        Made(|| without_slow_reads(&log("6.6/slow-disk-ms.log")).into_bytes()),
    ),
    ("member-name", Made(|| with_four(&[("../four.conf", b"a: b\n")]))),
    (
        "member-not-read",
        Made(|| with_four(&[("letter.log", b"Dear sir\n")])),
    ),
    (
        "member-passed-over",
        Made(|| [tar_entry(b"link.log", b'2', b""), with_four(&[])].concat()),
    ),
    (
        "member-repeated",
        Made(|| with_four(&[("a.conf", b"a: b\n"), ("a.conf", b"a: b\n")])),
    ),
    (
        "nested-archive",
        Made(|| with_four(&[("inner.tar", &tar(&[("a.log", b"a\n")]))])),
    ),
    (
        "too-many-members",
        Made(|| with_four(&[("a.conf", &b"a"[..]); 1100])),
    ),
    (
        "rounding-decides",
        Under(LIMIT_3, || {
            reads_of(|at| vec![(5, at * 8000 - at / 10 * 2404), (11, at / 10 * 2404)])
        }),
    ),
    (
        "edge-decides",
        Under(LIMIT_3, || reads_of(|at| vec![(5, at * 7000), (10, at * 1000)])),
    ),
    ("noise", Real("6.6/sudo-noise.log")),
    ("noise-inside-block", Real("6.6/four-commit-us.log")),
    ("histogram-never-appears", Real("6.0/single-us.log")),
    ("rate-truncated", Real("6.6/rate-truncation.log")),
    ("compressible-data", Real("6.6/compress50-us.log")),
    ("scheduler-not-set", Real("6.0/single-us.log")),
    ("series-too-large", Made(long_run)),
    ("trailing-partial", Real("6.6/sigterm.log")),
    (
        "slice-lengthened",
        Edited(FOUR, "report-interval-sec: 1", "report-interval-sec: 3"),
    ),
    ("duration-off-interval", Real("6.6/duration-not-multiple.log")),
    ("nx-not-whole", Real("6.6/slow-disk-ms.log")),
];

fn header() -> String {
    let log = log(FOUR);
    log[..log.find("after 1 sec:").unwrap()].to_owned()
}

/// Returns the first 55 of the 60 s of a log, and some text.
fn ending(words: &str) -> Vec<u8> {
    let log = log(FOUR);
    (log[..log.find("after 56 sec:").unwrap()].to_owned() + words).into_bytes()
}

/// Returns the log of a run of 60 s whose only histogram, `reads`, has these counts per bucket at these seconds.
fn reads_of(counts: fn(u64) -> Vec<(u64, u64)>) -> Vec<u8> {
    let block = |at: u64| {
        let counts = counts(at);
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        let buckets: String = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(bucket, count)| format!(" ({bucket:02}: {count:010})"))
            .collect();
        format!("after {at} sec:\nreads ({total} total)\n{buckets}\n\n")
    };
    let header = header();
    let before_names = &header[..header.find("HISTOGRAM NAMES").unwrap()];
    let text =
        before_names.to_owned() + "HISTOGRAM NAMES\nreads\n\n" + &(1..=60).map(block).collect::<String>();
    text.into_bytes()
}

/// Returns a run whose only block comes after more seconds than a series can have.
fn long_run() -> Vec<u8> {
    let header = header();
    let before_names = header.split("HISTOGRAM NAMES").next().unwrap();
    format!(
        "{before_names}HISTOGRAM NAMES\nreads\n\nafter 10000001 sec:\nreads (1 total)\n (00: 0000000001)\n\n"
    )
    .into_bytes()
}

/// Returns two devices with half of the total count.
fn devices_apart() -> Vec<u8> {
    let block = |at: u64| {
        let one = |name: &str, ops: u64| format!("{name} ({ops} total)\n (05: {ops:010})\n");
        let total = one("reads", at * 8000);
        let devices = one("/dev/zram1-reads", at * 2000) + &one("/dev/zram2-reads", at * 2000);
        format!("after {at} sec:\n{total}{devices}\n")
    };
    (header() + &(1..=60).map(block).collect::<String>()).into_bytes()
}

fn repeated_block() -> Vec<u8> {
    let log = log(FOUR);
    let begin = log.find("after 25 sec:").unwrap();
    let end = log.find("after 26 sec:").unwrap();
    [&log[..end], &log[begin..]].concat().into_bytes()
}

fn many_histograms() -> Vec<u8> {
    let many: String = (0..2000).map(|number| format!("h{number} (0 total)\n")).collect();
    format!("{}after 1 sec:\n{many}\nafter 2 sec:\n{many}\n", header()).into_bytes()
}

/// Returns more slices of a thousand histograms than fit into 64 MiB of counts.
fn many_slices() -> Vec<u8> {
    let many: String = (0..1000).map(|number| format!("h{number} (0 total)\n")).collect();
    let block = |at: u64| format!("after {at}0 sec:\n{many}\n");
    (header() + &(1..=600).map(block).collect::<String>()).into_bytes()
}

fn replaced(case: &str, from: &str, to: &str) -> Vec<u8> {
    let log = log(case);
    assert!(log.contains(from), "{case} holds no '{from}'");
    log.replacen(from, to, 1).into_bytes()
}

fn before_each_line(prefix: &str) -> Vec<u8> {
    let lines = log(FOUR)
        .lines()
        .map(|line| format!("{prefix}{line}\n"))
        .collect::<Vec<_>>();
    lines.concat().into_bytes()
}

/// Returns a log of drivetest with its side file.
fn ours_with(end: &str) -> Vec<u8> {
    let mark = "Generated by drivetest 0.1.0, arrivals even, engine threads";
    let ours = log(FOUR).replace("Copyright 2020 by Aerospike. All rights reserved.", mark);
    tar(&[("four.log", ours.as_bytes()), ("four.jsonl", end.as_bytes())])
}

/// Returns a tar of a real log and other files.
fn with_four(others: &[(&str, &[u8])]) -> Vec<u8> {
    let four = log(FOUR);
    tar(&[&[("four.log", four.as_bytes())], others].concat())
}

/// Returns the ids of all findings anywhere in a document.
fn ids(document: &Value, found: &mut BTreeSet<String>) {
    match document {
        Value::Array(items) => items.iter().for_each(|item| ids(item, found)),
        Value::Object(fields) => {
            for finding in fields
                .get("findings")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                found.extend(finding["id"].as_str().map(str::to_owned));
            }
            fields.values().for_each(|value| ids(value, found));
        }
        _ => {}
    }
}

fn found_in(id: &str, seen: &Seen) -> BTreeSet<String> {
    let bytes = match seen {
        Real(case) => std::fs::read(logs().join(case)).unwrap(),
        Edited(case, from, to) => replaced(case, from, to),
        Made(make) | Under(_, make) => make(),
    };
    let profile = Scratch::new(
        &format!("fires-{id}.json"),
        match seen {
            Under(profile, _) => profile.as_bytes(),
            _ => b"",
        },
    );
    let judged_by = if matches!(seen, Under(..)) {
        profile.arg()
    } else {
        "operational-database"
    };
    let made = Scratch::new(&format!("fires-{id}.log"), &bytes);
    let (document, _) = read(
        made.arg(),
        &["--slice-sec", "10", "--series-sec", "1", "--profile", judged_by],
    );
    let mut found = BTreeSet::new();
    ids(&document, &mut found);
    found
}

#[test]
fn every_rule_fires() {
    for (id, seen) in CASES {
        let found = found_in(id, seen);
        assert!(found.contains(*id), "{id}: only {found:?} fire");
    }
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    let rules: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
    let cases: BTreeSet<_> = CASES.iter().map(|(id, _)| *id).collect();
    let without: Vec<_> = rules.symmetric_difference(&cases).collect();
    assert!(
        without.is_empty(),
        "a rule without a case here, or a case without a rule: {without:?}"
    );
    assert_eq!(cases.len(), CASES.len(), "one case for each rule");
}
