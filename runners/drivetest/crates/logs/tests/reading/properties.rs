//! Real logs, cut, doubled and noised at random: nothing panics, no share leaves 0 to 100, no part passes for a whole.

use drivetest_logs::finding::Severity;
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::verdict::Outcome;
use drivetest_logs::reader::{LogReader, Options, Reading};
use proptest::prelude::*;

const FOUR_US: &[u8] = include_bytes!("../../../../../../tests/data/act/6.6/four-us.log");
const SLOW_DISK: &[u8] = include_bytes!("../../../../../../tests/data/act/6.6/slow-disk-ms.log");
const INDEX: &[u8] = include_bytes!("../../../../../../tests/data/act/6.6/index-single-us.log");
const CONSOLE: &[u8] = include_bytes!("../../../../../../tests/data/act/6.6/console-script.log");
const COMMIT_4: &[u8] = include_bytes!("../../../../../../tests/data/act/4.0/commit-us.log");
const COMMIT_5: &[u8] = include_bytes!("../../../../../../tests/data/act/5.2/commit-us.log");
const SINGLE_1: &[u8] = include_bytes!("../../../../../../tests/data/act/1.x/single.log");
const LOGS: [&[u8]; 7] = [FOUR_US, SLOW_DISK, INDEX, CONSOLE, COMMIT_4, COMMIT_5, SINGLE_1];

const FIRST: &[u8] = include_bytes!("../../../../../../tests/data/act/1.x/two-int5.log");
const COMMIT_A: &[u8] = include_bytes!("../../../../../../tests/data/act/4.0/commit-us.log");
const QUEUES: &[u8] = include_bytes!("../../../../../../tests/data/act/5.0/four-us.log");
const CRLF: &[u8] = include_bytes!("../../../../../../tests/data/act/6.6/crlf.log");
const TWO_SAME: &[u8] = include_bytes!("../../../../../../tests/data/act/6.6/two-same-device.log");

/// Logs of every family, and such as are only in part as the program printed them.
const GRAMMARS: [&[u8]; 8] = [
    FOUR_US, SLOW_DISK, CONSOLE, FIRST, COMMIT_A, QUEUES, CRLF, TWO_SAME,
];

const PROFILE: &str = r#"{"name": "short", "rule_version": 1, "reads_pct": "67", "writes_pct": "33",
    "ratio_tolerance_points": "1", "object_bytes": 1536, "duration_s": 60, "slice_length_s": 10,
    "limits": [{"threshold_us": 1000, "limit_pct": "5"}, {"threshold_us": 64000, "limit_pct": "0.1"}]}"#;

fn read_in(chunks: impl Iterator<Item = impl AsRef<[u8]>>) -> Reading {
    let mut reader = LogReader::new(Options { slice_s: 10 });
    chunks.for_each(|chunk| reader.push(chunk.as_ref()));
    let mut reading = reader.finish();
    let profile = Profile::parse(PROFILE.as_bytes()).unwrap();
    reading
        .runs
        .iter_mut()
        .for_each(|run| judge::apply(run, &profile));
    reading
}

fn read(bytes: &[u8]) -> Reading {
    read_in(std::iter::once(bytes))
}

fn assert_sound(reading: &Reading) {
    for run in &reading.runs {
        let of_slices = run
            .slices
            .iter()
            .flat_map(|slice| &slice.histograms)
            .map(|part| &part.tally);
        for tally in of_slices.chain(run.histograms.iter().map(|histogram| &histogram.tally)) {
            assert_eq!(tally.counts().iter().sum::<u64>(), tally.ops_count());
        }
        for share in &run.verdict.as_ref().unwrap().shares {
            let pct: f64 = share.share_pct.parse().unwrap();
            assert!((0.0..=100.0).contains(&pct), "{pct}");
            assert!(
                share.over_count <= share.over_at_most_count && share.over_at_most_count <= share.ops_count
            );
        }
    }
    assert_eq!(reading.error.is_some(), reading.runs.is_empty());
}

fn passes(reading: &Reading) -> bool {
    reading.runs.iter().any(|run| {
        run.verdict
            .as_ref()
            .is_some_and(|verdict| verdict.outcome == Outcome::Pass)
    })
}

fn line_ends(log: &[u8]) -> Vec<usize> {
    log.iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect()
}

#[test]
fn the_whole_log_passes() {
    assert!(passes(&read(FOUR_US)));
}

/// Noise that no line of a log looks like.
const NOISE: [&str; 5] = [
    "[12345.6] nvme0: I/O timeout",
    "",
    "root@bench01:~# ",
    "Message from syslogd@node07 ...",
    "(12) (34: x)",
];

/// Small damage at a place of a log.
const CHANGES: [fn(&mut Vec<u8>, usize); 8] = [
    |log, at| log[at] = b' ',
    |log, at| log[at] = b'9',
    |log, at| log[at] = b'\n',
    |log, at| log[at] = 0,
    |log, at| log.insert(at, b'\r'),
    |log, at| log.insert(at, b' '),
    |log, at| _ = log.remove(at),
    |log, at| {
        let end = (at + 400).min(log.len());
        log.extend_from_within(at..end);
        log[at..].rotate_right(end - at);
    },
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_cut_log_passes(cut in 0..FOUR_US.len() - 2) {
        let reading = read(&FOUR_US[..cut]);
        assert_sound(&reading);
        prop_assert!(!passes(&reading));
        let whole = read(FOUR_US);
        if let Some(run) = reading.runs.first() {
            prop_assert_eq!(&run.slices[..], &whole.runs[0].slices[..run.slices.len()]);
        }
    }

    #[test]
    fn chunks_of_any_size_give_one_reading(which in 0..LOGS.len(), size in 1_usize..5000) {
        let (whole, chunked) = (read(LOGS[which]), read_in(LOGS[which].chunks(size)));
        prop_assert_eq!(whole.runs, chunked.runs);
        prop_assert_eq!(whole.findings, chunked.findings);
    }

    #[test]
    fn a_repeated_part_is_reported(which in 0..LOGS.len(), begin in 0.0..1.0, length in 1_usize..3000) {
        let log = LOGS[which];
        let begin = (begin * log.len() as f64) as usize;
        let end = (begin + length).min(log.len());
        assert_sound(&read(&[&log[..end], &log[begin..]].concat()));
    }

    #[test]
    fn noise_between_lines_changes_no_slice(place in 0.0..1.0, which in 0..NOISE.len()) {
        let ends = line_ends(FOUR_US);
        let at = ends[(place * ends.len() as f64) as usize];
        let blocks = FOUR_US.windows(11).position(|window| window == b"after 1 sec").unwrap();
        prop_assume!(at >= blocks);
        let noised = read(&[&FOUR_US[..at], NOISE[which].as_bytes(), b"\n", &FOUR_US[at..]].concat());
        let whole = read(FOUR_US);
        let counts = |reading: &Reading| -> Vec<_> {
            reading.runs[0].slices.iter().map(|slice| slice.histograms.clone()).collect()
        };
        prop_assert_eq!(counts(&noised), counts(&whole));
        prop_assert!(passes(&noised));
    }

    #[test]
    fn a_changed_digit_of_a_count_is_reported(place in 0.0..1.0, shift in 1_u8..10) {
        let blocks = FOUR_US.windows(11).position(|window| window == b"after 1 sec").unwrap();
        let counts: Vec<usize> = (blocks..FOUR_US.len() - 2)
            .filter(|&at| FOUR_US[at].is_ascii_digit() && FOUR_US[..at].ends_with(b"00"))
            .filter(|&at| FOUR_US[at + 1] == b')' || FOUR_US[at + 1].is_ascii_digit())
            .collect();
        let at = counts[(place * counts.len() as f64) as usize];
        let mut changed = FOUR_US.to_vec();
        changed[at] = b'0' + (changed[at] - b'0' + shift) % 10;
        let reading = read(&changed);
        assert_sound(&reading);
        let reported = reading.runs[0].findings.iter().any(|finding| finding.severity != Severity::Note);
        prop_assert!(reported, "byte {}", at);
    }

    #[test]
    fn a_stretch_of_any_bytes_breaks_nothing(which in 0..LOGS.len(), place in 0.0..1.0, bytes: Vec<u8>) {
        let log = LOGS[which];
        let at = (place * log.len() as f64) as usize;
        let end = (at + bytes.len()).min(log.len());
        assert_sound(&read(&[&log[..at], &bytes, &log[end..]].concat()));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
        assert_sound(&read(&bytes));
        assert_sound(&read(&[b"ACT version 6.6\nACT-STORAGE CONFIGURATION\nreport-interval-sec: 1\n\nafter 1 sec:\n", &bytes[..]].concat()));
    }
}

proptest! {
    // Single bytes are slow: a third of the cases.
    #![proptest_config(ProptestConfig { cases: 70, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn clean_lines_are_read_as_the_general_way_reads_them(
        which in 0..GRAMMARS.len(), changes in prop::collection::vec((0.0..1.0, 0..CHANGES.len()), 0..20)
    ) {
        let mut log = GRAMMARS[which].to_vec();
        for (place, change) in changes {
            let at = (place * log.len() as f64) as usize;
            CHANGES[change](&mut log, at);
        }
        // A line in pieces is never clean: single bytes go the general way.
        let (clean, general) = (read(&log), read_in(log.chunks(1)));
        prop_assert_eq!(clean.runs, general.runs);
        prop_assert_eq!(clean.findings, general.findings);
        prop_assert_eq!(clean.lines_count, general.lines_count);
    }
}
