//! Devices that differ from the total of a log: edited logs are reported, real logs are not.

use std::path::{Path, PathBuf};

use drivetest_logs::act::run::Run;
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::verdict::Outcome;
use drivetest_logs::reader::{LogReader, Options};

use super::edited::without_slow_reads;

const SLOW_DISK: &str = include_str!("../../../../../../tests/data/act/6.6/slow-disk-ms.log");
const FOUR_US: &str = include_str!("../../../../../../tests/data/act/6.6/four-us.log");

/// ACT's limits, for a run that is as long as those of the collection.
const SHORT: &str = r#"{"name": "short", "rule_version": 1, "reads_pct": "67", "writes_pct": "33", "ratio_tolerance_points": "1",
    "object_bytes": 1536, "duration_s": 30, "slice_length_s": 10, "limits": [{"threshold_us": 1000, "limit_pct": "5"},
    {"threshold_us": 8000, "limit_pct": "1"}, {"threshold_us": 64000, "limit_pct": "0.1"}]}"#;

fn read(log: &[u8]) -> Vec<Run> {
    let mut reader = LogReader::new(Options { slice_s: 10 });
    reader.push(log);
    let mut runs = reader.finish().runs;
    let profile = Profile::parse(SHORT.as_bytes()).unwrap();
    runs.iter_mut().for_each(|run| judge::apply(run, &profile));
    runs
}

fn reported(run: &Run, id: &str) -> Vec<String> {
    let found = run.findings.iter().filter(|finding| finding.id == id);
    found.map(|finding| finding.sentence.clone()).collect()
}

#[test]
fn slow_reads_that_only_the_devices_count_are_reported_and_prevent_a_pass() {
    let honest = &read(SLOW_DISK.as_bytes())[0];
    assert_eq!(honest.verdict.as_ref().unwrap().outcome, Outcome::Fail);
    assert!(reported(honest, "device-sums-differ").is_empty());
    let edited = &read(without_slow_reads(SLOW_DISK).as_bytes())[0];
    assert_eq!(reported(edited, "device-sums-differ").len(), 1);
    assert_eq!(edited.verdict.as_ref().unwrap().outcome, Outcome::Undecided);
    let sentence = reported(edited, "devices-over-limit").concat();
    assert!(
        sentence.contains(": 0.00 % in the total, ") && sentence.contains("; the limit is "),
        "{sentence}"
    );
}

#[test]
fn one_lowered_bucket_of_one_block_is_reported() {
    let (before, after) = FOUR_US.split_once("after 30 sec:").unwrap();
    let lowered = |text: &str, from: &str, to: &str| {
        let start = text.find(from).unwrap() + from.len();
        let end = start + text[start..].find(to).unwrap();
        let count: u64 = text[start..end].parse().unwrap();
        let width = end - start;
        format!("{}{:0width$}{}", &text[..start], count - 300, &text[end..])
    };
    let block = lowered(&lowered(after, "\nreads (", " total"), "\n (01: ", ")");
    let edited = format!("{before}after 30 sec:{block}");
    let sentence = reported(&read(edited.as_bytes())[0], "device-sums-differ").concat();
    assert!(
        sentence.starts_with("after 30 sec, reads: bucket 01 contains"),
        "{sentence}"
    );
}

fn logs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            logs(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "log") {
            found.push(path);
        }
    }
}

#[test]
fn no_real_log_is_reported_to_differ() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/act");
    let mut found = Vec::new();
    logs(&folder, &mut found);
    assert!(found.len() > 100, "{}", found.len());
    for path in found {
        let runs = read(&std::fs::read(&path).unwrap());
        let differ = runs.iter().flat_map(|run| reported(run, "device-sums-differ"));
        assert_eq!(
            differ.collect::<Vec<_>>(),
            Vec::<String>::new(),
            "{}",
            path.display()
        );
    }
}
