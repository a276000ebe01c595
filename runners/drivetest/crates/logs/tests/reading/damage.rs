//! Real logs with one kind of damage each: findings, and the readable rest.

use std::collections::BTreeSet;

use drivetest_logs::finding::Finding;
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::verdict::Outcome;
use drivetest_logs::reader::{LogReader, Options, Reading};

const FOUR_US: &str = include_str!("../../../../../../tests/data/act/6.6/four-us.log");
const TWO_SAME: &str = include_str!("../../../../../../tests/data/act/6.6/two-same-device.log");
const SINGLE_US: &str = include_str!("../../../../../../tests/data/act/6.0/single-us.log");

/// What the 60 s of four-us.log meet, in slices of 10 s.
const PROFILE: &str = r#"{"name": "short", "rule_version": 1, "reads_pct": "67", "writes_pct": "33",
    "ratio_tolerance_points": "1", "object_bytes": 1536, "duration_s": 60, "slice_length_s": 10,
    "limits": [{"threshold_us": 1000, "limit_pct": "5"}]}"#;

fn read(bytes: &[u8]) -> Reading {
    let mut reader = LogReader::new(Options { slice_s: 10 });
    reader.push(bytes);
    let mut reading = reader.finish();
    let profile = Profile::parse(PROFILE.as_bytes()).unwrap();
    reading
        .runs
        .iter_mut()
        .for_each(|run| judge::apply(run, &profile));
    reading
}

/// Return the findings on the log, without those about the profile.
fn ids(reading: &Reading) -> Vec<&'static str> {
    let of_runs = reading.runs.iter().flat_map(|run| &run.findings);
    let of_log = of_runs.chain(&reading.findings).map(|finding| finding.id);
    // The logs of the collection are of memory and say so by the names of their devices.
    of_log
        .filter(|id| !id.starts_with("profile-") && *id != "device-virtual")
        .collect()
}

fn outcome(reading: &Reading) -> Outcome {
    reading.runs[0].verdict.as_ref().unwrap().outcome
}

fn slices(reading: &Reading) -> Vec<u64> {
    reading.runs[0].slices.iter().map(|slice| slice.number).collect()
}

/// Replaces a text that must be there, once.
fn edit(log: &str, from: &str, to: &str) -> String {
    assert!(log.contains(from), "{from}");
    log.replacen(from, to, 1)
}

/// Return the block with a label, including the empty line after it.
fn block(log: &str, label_s: u64) -> &str {
    let begin = log.find(&format!("\nafter {label_s} sec:\n")).unwrap() + 1;
    let end = log[begin..].find("\n\n").unwrap() + begin + 2;
    &log[begin..end]
}

/// The list of histograms with its title.
fn names_of(log: &str) -> &str {
    let begin = log.find("HISTOGRAM NAMES\n").unwrap();
    &log[begin..log.find("after 1 sec:").unwrap()]
}

fn without_block(log: &str, label_s: u64) -> String {
    edit(log, block(log, label_s), "")
}

struct Case {
    name: &'static str,
    log: String,
    ids: &'static [&'static str],
    outcome: Outcome,
    slices: &'static [u64],
}

const ALL: &[u64] = &[1, 2, 3, 4, 5, 6];

fn case(name: &'static str, log: String, ids: &'static [&'static str]) -> Case {
    Case {
        name,
        log,
        ids,
        outcome: Outcome::Pass,
        slices: ALL,
    }
}

impl Case {
    fn void(self) -> Self {
        Self {
            outcome: Outcome::Void,
            ..self
        }
    }

    fn with(self, outcome: Outcome, slices: &'static [u64]) -> Self {
        Self {
            outcome,
            slices,
            ..self
        }
    }
}

fn setting(from: &str, to: &str) -> String {
    edit(FOUR_US, from, to)
}

/// Damage to the counts.
fn damaged_blocks() -> Vec<Case> {
    let block_25 = block(FOUR_US, 25);
    let reads_20 = edit(block(FOUR_US, 20), "large-block-reads (1", "large-block-reads (2");
    vec![
        case(
            "a block between the ends of slices is missing",
            without_block(FOUR_US, 25),
            &["blocks-missing"],
        ),
        case(
            "a repeated block",
            edit(FOUR_US, block_25, &block_25.repeat(2)),
            &["block-repeated"],
        ),
        case(
            "two accounts of one second",
            setting("after 26 sec:", "after 25 sec:"),
            &["blocks-missing", "blocks-conflict"],
        )
        .void(),
        case(
            "a block comes late",
            edit(
                &without_block(FOUR_US, 25),
                block(FOUR_US, 27),
                &(block(FOUR_US, 27).to_owned() + block_25),
            ),
            &["blocks-missing", "blocks-out-of-order"],
        )
        .void(),
        case(
            "the end of a slice is missing",
            without_block(FOUR_US, 20),
            &["blocks-missing", "slice-missing"],
        )
        .with(Outcome::Void, &[1, 4, 5, 6]),
        case(
            "a total of another histogram differs",
            edit(FOUR_US, block(FOUR_US, 20), &reads_20),
            &["total-differs"],
        ),
        case(
            "the reads at the end of a slice differ",
            without_buckets(20),
            &["slice-missing", "total-differs"],
        )
        .void(),
        case(
            "a label is between two intervals",
            setting("report-interval-sec: 1", "report-interval-sec: 2"),
            &["label-off-interval"],
        ),
        case(
            "a line of buckets is torn",
            edit(FOUR_US, block_25, &block_25.replacen(" (01: ", " (01; ", 1)),
            &["unreadable-line"],
        ),
        case(
            "a repeated histogram",
            edit(
                FOUR_US,
                block_25,
                &block_25.replacen("large-block-reads", "reads", 1),
            ),
            &["histogram-missing", "histogram-repeated"],
        ),
        case(
            "a kernel message inside a block",
            edit(
                FOUR_US,
                block_25,
                &block_25.replacen(" total)\n", " total)\n[1.5] usb 1-1: reset\n\n", 1),
            ),
            &["noise-inside-block", "noise"],
        ),
        case(
            "an unlisted histogram",
            edit(FOUR_US, "HISTOGRAM NAMES\nreads\n", "HISTOGRAM NAMES\n"),
            &["histogram-unlisted"],
        ),
        case(
            "no histogram is listed",
            edit(FOUR_US, names_of(FOUR_US), ""),
            &["histogram-unlisted"],
        ),
        case(
            "a listed histogram never appears",
            edit(FOUR_US, "HISTOGRAM NAMES\n", "HISTOGRAM NAMES\ndevice-reads\n"),
            &["histogram-never-appears"],
        ),
    ]
}

/// The log whose reads have lost their buckets in one block.
fn without_buckets(label_s: u64) -> String {
    let whole = block(FOUR_US, label_s);
    let first = whole.find(" (0").unwrap();
    let end = whole.find("/dev/zram1-reads").unwrap();
    edit(FOUR_US, whole, &(whole[..first].to_owned() + &whole[end..]))
}

/// How a run ends.
fn endings() -> Vec<Case> {
    let to_55 = &FOUR_US[..FOUR_US.find("after 56 sec").unwrap()];
    let and = |words: &str| to_55.to_owned() + words;
    let five: &[u64] = &[1, 2, 3, 4, 5];
    vec![
        case("short", and(""), &["short", "trailing-partial"]).with(Outcome::Void, five),
        case("cut in a label", and("after 5"), &["cut", "trailing-partial"]).with(Outcome::Void, five),
        case(
            "cut in a block",
            and("after 56 sec:\nreads (44"),
            &["cut", "trailing-partial"],
        )
        .with(Outcome::Void, five),
        case(
            "interrupted",
            and("drivetest: stopped by signal TERM\n"),
            &["interrupted", "trailing-partial"],
        )
        .with(Outcome::Void, five),
        case(
            "crashed",
            and("SIGSEGV received\nstacktrace: found 1 frames: 0x5\n"),
            &["crashed", "trailing-partial"],
        )
        .with(Outcome::Void, five),
        case(
            "crashed at its end",
            FOUR_US.to_owned() + "SIGSEGV received\n",
            &["crashed"],
        )
        .void(),
        case(
            "stopped",
            and("ERROR: large block reads can't keep up\ndrive(s) can't keep up - test stopped\n"),
            &["cannot-keep-up", "trailing-partial"],
        )
        .with(Outcome::Fail, five),
        case(
            "ended by errors",
            and("ERROR: reading /dev/zram1: 5 'Input/output error'\n"),
            &["io-errors", "short", "trailing-partial"],
        )
        .with(Outcome::Void, five),
        case(
            "errors and went on",
            FOUR_US.to_owned() + "ERROR: writing /dev/zram1: 5 'Input/output error'\n",
            &["io-errors"],
        )
        .void(),
        case(
            "never started",
            FOUR_US[..FOUR_US.find("HISTOGRAM").unwrap()].to_owned()
                + "ERROR: open device /dev/a errno 2 'x'\n",
            &["not-started"],
        )
        .with(Outcome::Void, &[]),
        case(
            "NUL bytes",
            and("\0\0\0\0"),
            &["nul-bytes", "short", "trailing-partial"],
        )
        .with(Outcome::Void, five),
        case(
            "NUL bytes before a block, more than a line may have",
            edit(
                FOUR_US,
                "after 25 sec:",
                &("\0".repeat(100_000) + "after 25 sec:"),
            ),
            &["nul-bytes"],
        ),
        case(
            "an error that ends nothing",
            FOUR_US.to_owned() + "ERROR: couldn't do a thing\n",
            &["error-line"],
        ),
        case(
            "a scheduler that could not be set",
            edit(
                FOUR_US,
                "/dev/zram1 size",
                "ERROR: couldn't open /sys/block/zram1/queue/scheduler errno 13 'Permission denied'\n/dev/zram1 size",
            ),
            &["scheduler-not-set"],
        ),
        case(
            "a shell before",
            "$ sudo act_storage a.conf\n".to_owned() + FOUR_US,
            &["noise"],
        ),
    ]
}

/// Damage of the configuration.
fn settings() -> Vec<Case> {
    vec![
        case(
            "no-defrag-reads",
            setting("no-defrag-reads: no", "no-defrag-reads: yes"),
            &["lighter-load", "header-differs"],
        )
        .with(Outcome::Undecided, ALL),
        case(
            "max-lag-sec 0",
            setting("max-lag-sec: 10", "max-lag-sec: 0"),
            &["lag-unlimited"],
        ),
        case(
            "commit-to-device of 6.6",
            setting("commit-to-device: no", "commit-to-device: yes"),
            &["commit-writes-meaningless", "commit-to-device", "header-differs"],
        )
        .with(Outcome::Undecided, ALL),
        case(
            "version 6.9",
            setting("ACT version 6.6", "ACT version 6.9"),
            &["version-unknown"],
        ),
        case(
            "a number that is none",
            setting("service-threads: 10", "service-threads: ten"),
            &["setting-unreadable"],
        ),
        case(
            "compressible",
            setting("compress-pct: 100", "compress-pct: 50"),
            &["compressible-data"],
        ),
        case(
            "threads that do not divide the rate",
            setting("service-threads: 10", "service-threads: 9"),
            &["rate-truncated"],
        ),
        case(
            "a rate below what was asked",
            setting(
                "internal-read-reqs-per-sec: 8000",
                "internal-read-reqs-per-sec: 9000",
            ),
            &["rate-below-asked", "header-differs", "intervals-off-rate"],
        )
        .with(Outcome::Undecided, ALL),
        case(
            "reads that stalled",
            setting(
                "internal-read-reqs-per-sec: 8000",
                "internal-read-reqs-per-sec: 90000",
            ),
            &["stall", "rate-below-asked", "header-differs"],
        )
        .with(Outcome::Undecided, ALL),
        case("two runs", FOUR_US.repeat(2), &["several-runs"]),
        case(
            "a second run that cannot be read",
            FOUR_US.to_owned() + "\nACT version 6.6\n",
            &["run-not-read"],
        ),
    ]
}

fn cases() -> Vec<Case> {
    [damaged_blocks(), endings(), settings()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn each_damage_is_reported_and_judged_and_the_rest_is_read() {
    for case in cases() {
        let reading = read(case.log.as_bytes());
        let found: BTreeSet<_> = ids(&reading).into_iter().collect();
        assert_eq!(found, case.ids.iter().copied().collect(), "{}", case.name);
        assert_eq!(
            outcome(&reading),
            case.outcome,
            "{}: {:?}",
            case.name,
            reading.runs[0].verdict
        );
        assert_eq!(slices(&reading), case.slices, "{}", case.name);
    }
}

#[test]
fn slices_that_can_be_read_are_those_of_the_whole_log() {
    let whole = read(FOUR_US.as_bytes());
    for case in damaged_blocks() {
        for slice in &read(case.log.as_bytes()).runs[0].slices {
            let of_whole = whole.runs[0]
                .slices
                .iter()
                .find(|other| other.number == slice.number)
                .unwrap();
            for histogram in &slice.histograms {
                let name = (case.name, histogram.ordinal);
                let tally = of_whole.tally(histogram.ordinal);
                assert!(
                    case.name == "an unlisted histogram" || tally == Some(&histogram.tally),
                    "{name:?}"
                );
            }
        }
    }
}

#[test]
fn counts_that_fall_are_void_and_never_negative() {
    let reads = "reads (8010 total)\n (01: 0000006269)";
    let fallen = edit(FOUR_US, reads, "reads (9008010 total)\n (01: 0009006269)");
    let reading = read(fallen.as_bytes());
    assert_eq!(
        (ids(&reading), outcome(&reading)),
        (
            vec!["intervals-off-rate", "device-sums-differ", "counts-fall", "stall"],
            Outcome::Void
        )
    );
    let reported = |finding: &&Finding| finding.id == "counts-fall";
    let fall = reading.runs[0].findings.iter().find(reported).unwrap();
    assert_eq!(
        fall.sentence,
        "reads: the cumulative count of bucket 1 decreased by 8993902"
    );
    assert_eq!(slices(&reading), ALL, "block 1 ends no slice");
}

#[test]
fn a_histogram_missing_in_the_first_block_is_reported_where_it_appears() {
    let log = include_str!("../../../../../../tests/data/act/5.0/single-ms-int5.log");
    let lost =
        " (00: 0000009935) (01: 0000000033) (02: 0000000024) (03: 0000000008)\ndevice-reads (10000 total)\n";
    let reading = read(edit(log, lost, "").as_bytes());
    let reported: Vec<_> = reading.runs[0]
        .findings
        .iter()
        .filter(|finding| finding.id == "histogram-missing")
        .collect();
    let sentence = "device-reads: expected in every block; missing in 1 block before this one";
    assert_eq!((reported.len(), reported[0].sentence.as_str()), (1, sentence));
}

#[test]
fn a_tag_lost_among_namesakes_costs_both_and_no_other() {
    let lost = edit(TWO_SAME, "/dev/zram7-reads (6094 total)", "[9.1] nvme0: timeout");
    let names: Vec<_> = ids(&read(lost.as_bytes()));
    assert!(names.contains(&"histogram-missing"), "{names:?}");
    assert!(names.contains(&"device-named-twice"), "{names:?}");
}

#[test]
fn names_that_6_0_lists_in_vain_are_a_note_only() {
    let reading = read(SINGLE_US.as_bytes());
    assert_eq!(
        ids(&reading),
        ["histogram-never-appears", "nx-not-whole", "scheduler-not-set"]
    );
    assert_eq!(slices(&reading), [1, 2, 3]);
}

#[test]
fn limits_are_enforced_and_reported() {
    let header = &FOUR_US[..FOUR_US.find("after 1 sec").unwrap()];
    let many: String = (0..2000).map(|number| format!("h{number} (0 total)\n")).collect();
    let histograms = read(format!("{header}after 1 sec:\n{many}\nafter 2 sec:\n{many}\n").as_bytes());
    assert!(ids(&histograms).contains(&"too-many-histograms"));
    assert_eq!(histograms.runs[0].histograms.len(), 1024);
    let runs = read(FOUR_US[..2000].repeat(100).as_bytes());
    assert!(ids(&runs).contains(&"too-many-runs"));
    assert!(runs.runs.len() <= 64);
}

#[test]
fn a_deciding_edge_is_reported_with_digits_over_the_limit() {
    for (between_per_s, more, most) in [(1000, 0, "12.50"), (400, 1, "5.001")] {
        let block = |at: u64| {
            let between = at * between_per_s + more;
            let fast = at * 8000 - between;
            format!(
                "after {at} sec:\nreads ({0} total)\n (05: {fast:010}) (10: {between:010})\n\n",
                at * 8000
            )
        };
        let header = &FOUR_US[..FOUR_US.find("HISTOGRAM NAMES").unwrap()];
        let log = header.to_owned() + "HISTOGRAM NAMES\nreads\n\n" + &(1..=60).map(block).collect::<String>();
        let reading = read(log.as_bytes());
        assert_eq!(
            (ids(&reading), outcome(&reading)),
            (vec!["edge-decides"], Outcome::Pass)
        );
        let reported = |finding: &&Finding| finding.id == "edge-decides";
        let sentence = &reading.runs[0].findings.iter().find(reported).unwrap().sentence;
        let range = format!("the share is between 0.00 % and {most} %");
        assert!(sentence.ends_with(&range), "{sentence}");
    }
}
