//! Every correct table of the original scripts is equal. Each wrong one has an entry with the message of drivetest.

use std::fs;

use super::case::{Case, cases};

/// Tables that are wrong or have no figures, and the message of drivetest.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "1.x/queue-full.latency",
        "1.x: the thresholds are twice those that upstream prints",
    ),
    (
        "1.x/single.latency",
        "1.x: the thresholds are twice those that upstream prints",
    ),
    (
        "1.x/two-int5.latency",
        "1.x: the thresholds are twice those that upstream prints",
    ),
    ("2.0/crlf.latency", LOST),
    ("2.0/single-us.latency", LOST),
    ("3.0-first/single-us.latency", LOST),
    ("3.1/rf2-upd50-us.latency", LOST),
    ("3.1-ctd/range-tomb-rf2-upd50-us.latency", LOST),
    ("4.0/single-us.latency", LOST),
    ("6.6/no-header.latency", "no header: not read"),
    ("6.6/record8M-crash.latency", "empty: not read"),
    ("6.6/truncated-header.latency", "cut in its header: not read"),
    ("6.6/utf16le.latency", "upstream dies of UTF-16"),
    ("6.6/hole.latency", HOLE),
    ("6.6/hole.latency-all", HOLE),
    ("6.6/two-runs-appended.latency", SECOND),
    ("6.6/two-runs-appended.latency-all", SECOND),
    (
        "6.6/two-same-device.latency-all",
        "upstream sums two histograms of one name; each has its own figures",
    ),
    (
        "6.6/four-commit-us.latency-all",
        "upstream loses the buckets behind an ERROR line inside a block; they are counted",
    ),
];

const LOST: &str = "upstream leaves out bucket 17 and above; they are counted";
const HOLE: &str = "upstream stops at the first missing block; later slices can be read";
const SECOND: &str = "upstream prints the first run only; the second follows it";

fn is_exception(case: &Case) -> bool {
    EXCEPTIONS.iter().any(|(exception, _)| *exception == case.name)
}

#[test]
fn every_table_that_upstream_prints_rightly_is_equal_byte_for_byte() {
    let rightly: Vec<_> = cases().into_iter().filter(|case| !is_exception(case)).collect();
    assert!(rightly.len() >= 260, "{} tables", rightly.len());
    for case in rightly {
        assert_eq!(case.printed().0, case.upstream(), "{}", case.name);
    }
}

#[test]
fn every_exception_is_one() {
    for (name, why) in EXCEPTIONS {
        let case = Case::of(name);
        assert_ne!(case.printed().0, case.upstream(), "{name}: {why}");
    }
}

/// Returns the name and the figures of a line.
fn cells(line: &str) -> Vec<&str> {
    let figures = line.split('[').next().unwrap();
    figures.split_whitespace().collect()
}

/// Returns the counts of a tag in a block of 1.x to 4.0: all, and those of bucket 17 and above.
fn block_counts(log: &str, label_s: u64, tag: &str) -> (u64, u64) {
    let begin = log.find(&format!("After {label_s} sec:")).unwrap();
    let after_tag = &log[begin + log[begin..].find(&format!("\n{tag} ")).unwrap() + 1..];
    let lines = after_tag
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with(" ("));
    let (mut all, mut lost) = (0, 0);
    for part in lines.flat_map(|line| line.split('(').skip(1)) {
        let (bucket, count) = part.trim_end().trim_end_matches(')').split_once(": ").unwrap();
        let count: u64 = count.parse().unwrap();
        all += count;
        lost += if bucket.parse::<u32>().unwrap() > 16 {
            count
        } else {
            0
        };
    }
    (all, lost)
}

#[test]
fn drivetest_adds_exactly_what_the_scripts_before_5_0_omit() {
    for (name, _) in EXCEPTIONS.iter().filter(|(_, why)| *why == LOST) {
        let case = Case::of(name);
        let log = fs::read_to_string(case.table.with_file_name(case.log())).unwrap();
        let (ours, theirs) = (case.printed().0, case.upstream());
        let slices = |text: &str| -> Vec<String> {
            let rows = text.lines().filter(|line| line.contains('['));
            rows.map(str::to_owned).collect()
        };
        for (at, (our_row, their_row)) in (0..).zip(slices(&ours).iter().zip(&slices(&theirs))) {
            assert_eq!(
                our_row.split('[').nth(1),
                their_row.split('[').nth(1),
                "{name}: rates"
            );
            for (half, tag) in ["READS", "RAW READS"].into_iter().enumerate() {
                let (all, lost) = grown(&log, at, tag);
                let lost_pct = lost as f64 * 100.0 / all as f64;
                for column in 1 + half * 17..1 + (half + 1) * 17 {
                    let figure = |row: &str| cells(row)[column].parse::<f64>().unwrap();
                    let added = figure(our_row) - figure(their_row);
                    assert!(
                        (added - lost_pct).abs() < 0.0101,
                        "{name}: {our_row} {their_row} {lost_pct}"
                    );
                }
            }
        }
        assert_eq!(slices(&ours).len(), slices(&theirs).len(), "{name}");
        assert!(case.printed().1.contains("omits buckets"), "{name}");
    }
}

/// Returns the counts of the slice of 10 s after this many slices.
fn grown(log: &str, slices_before: u64, tag: &str) -> (u64, u64) {
    let now = block_counts(log, (slices_before + 1) * 10, tag);
    let before = match slices_before {
        0 => (0, 0),
        _ => block_counts(log, slices_before * 10, tag),
    };
    (now.0 - before.0, now.1 - before.1)
}

#[test]
fn thresholds_of_1_x_have_their_true_values() {
    for (name, _) in EXCEPTIONS.iter().filter(|(name, _)| name.starts_with("1.x/")) {
        let case = Case::of(name);
        let doubled = |line: &str| -> String {
            let labels = line.trim_start_matches("slice").split_whitespace();
            let doubled: Vec<u64> = labels.map(|label| label.parse::<u64>().unwrap() * 2).collect();
            let half = |labels: &[u64]| {
                labels
                    .iter()
                    .map(|label| format!("{label:>7}"))
                    .collect::<String>()
            };
            format!("slice  {}  {}", half(&doubled[..17]), half(&doubled[17..]))
        };
        let expected: String = case
            .upstream()
            .lines()
            .map(|line| {
                let line = if line.starts_with("slice") {
                    doubled(line)
                } else {
                    line.to_owned()
                };
                line + "\n"
            })
            .collect();
        let (ours, messages, _) = case.printed();
        assert_eq!(ours, expected, "{name}");
        assert!(
            messages.contains("1.x prints half of each threshold"),
            "{name}: {messages}"
        );
    }
}
