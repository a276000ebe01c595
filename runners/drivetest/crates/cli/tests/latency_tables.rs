//! `latency` against upstream's own tables of the same real logs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{drivetest_in, logs, text};

/// Logs of which upstream prints no table or a wrong one, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "6.0/writeonly-us",
        "no block: the program refused its configuration",
    ),
    (
        "6.6/cfg-both-zero",
        "no block: the program refused its configuration",
    ),
    (
        "6.6/cfg-load-small",
        "no block: the program refused its configuration",
    ),
    (
        "6.6/cfg-unknown-key",
        "no block: the program refused its configuration",
    ),
    (
        "6.6/cfg-zero-duration",
        "no block: the program refused its configuration",
    ),
    ("6.6/nodev", "no block: the device was not there"),
    ("6.6/notblk", "no block: the device was none"),
    ("6.6/no-header", "no header"),
    ("6.6/record8M-crash", "empty"),
    ("6.6/truncated-header", "cut in its header"),
    ("6.6/utf16le", "upstream dies of UTF-16"),
    (
        "6.6/hole",
        "upstream stops at the first missing block; slices 4 to 6 can be read",
    ),
    ("6.6/two-runs-appended", "upstream prints the first run only"),
];

fn cases() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for version in fs::read_dir(logs()).unwrap().map(|entry| entry.unwrap().path()) {
        let name = version.file_name().unwrap().to_str().unwrap().to_owned();
        for table in fs::read_dir(&version)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
        {
            let case = table
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .strip_suffix(".latency.txt")
                .map(str::to_owned);
            found.extend(
                case.filter(|_| name.starts_with("6."))
                    .map(|case| (format!("{name}/{case}"), table)),
            );
        }
    }
    found
}

/// What `latency -t 10 -n 17 -x` prints of a log, and its status.
fn printed(table: &Path) -> (String, i32) {
    let case = table
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .replace(".latency.txt", ".log");
    let args = ["latency", "-l", &case, "-t", "10", "-n", "17", "-x"];
    let output = drivetest_in(table.parent().unwrap(), &args);
    (text(&output.stdout), output.status.code().unwrap())
}

fn expected(table: &Path) -> String {
    fs::read_to_string(table).unwrap()
}

#[test]
fn every_table_that_upstream_prints_rightly_is_equal_byte_for_byte() {
    let is_exception = |name: &str| EXCEPTIONS.iter().any(|(exception, _)| *exception == name);
    let rightly: Vec<_> = cases()
        .into_iter()
        .filter(|(name, _)| !is_exception(name))
        .collect();
    assert!(rightly.len() >= 60, "{} tables", rightly.len());
    for (name, table) in rightly {
        assert_eq!(printed(&table).0, expected(&table), "{name}");
    }
}

#[test]
fn every_exception_is_one() {
    for (name, why) in EXCEPTIONS {
        let table = logs().join(format!("{name}.latency.txt"));
        assert_ne!(printed(&table).0, expected(&table), "{name}: {why}");
    }
}

#[test]
fn a_missing_block_costs_its_two_slices_and_no_more() {
    let table = logs().join("6.6/hole.latency.txt");
    let whole = expected(&logs().join("6.6/four-us.latency.txt"));
    let printed = printed(&table).0;
    let rows = |text: &str| -> Vec<String> {
        let after_heading = text.lines().skip_while(|line| !line.starts_with("-----")).skip(1);
        after_heading
            .take_while(|line| !line.starts_with("-----"))
            .map(str::to_owned)
            .collect()
    };
    let whole = rows(&whole);
    let expected: Vec<String> = [1, 4, 5, 6]
        .iter()
        .map(|number: &usize| whole[number - 1].clone())
        .collect();
    assert_eq!(rows(&printed), expected);
}

#[test]
fn a_second_run_is_printed_after_the_first() {
    let (printed, status) = printed(&logs().join("6.6/two-runs-appended.latency.txt"));
    assert!(printed.starts_with(&expected(&logs().join("6.6/two-runs-appended.latency.txt"))));
    assert_eq!(printed.matches("is ACT version 6.6").count(), 2);
    assert_eq!(status, 0);
}

#[test]
fn a_log_without_a_whole_slice_has_status_3() {
    let table = logs().join("6.6/lag-service.latency.txt");
    assert_eq!(printed(&table), (expected(&table), 3));
}

#[test]
fn what_upstream_gets_wrong_is_told_on_the_error_stream() {
    let tell = |case: &str| {
        let output = drivetest_in(&logs(), &["latency", "-l", case, "-t", "5"]);
        text(&output.stderr)
    };
    assert!(tell("6.6/hole.log").contains("act_latency.py stops at the first slice"));
    assert!(tell("6.6/two-runs-appended.log").contains("act_latency.py prints the first run only"));
    assert!(tell("6.6/four-commit-us.log").contains("act_latency.py may lose buckets"));
    assert!(tell("6.6/truncated-midline.log").contains("act_latency.py takes a block that was cut as whole"));
    assert_eq!(tell("6.6/four-us.log"), "");
}

#[test]
fn two_histograms_of_one_name_are_told_apart() {
    let args = [
        "latency",
        "-l",
        "6.6/two-same-device.log",
        "-t",
        "10",
        "-x",
        "-n",
        "1",
    ];
    let reads = ["-h", "/dev/zram7-reads", "-h", "/dev/zram7-reads"];
    let output = drivetest_in(&logs(), &[&args[..], &reads[..]].concat());
    let table = text(&output.stdout);
    let row = table.lines().find(|line| line.starts_with("    1")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[1..], ["100.00", "504.4", "100.00", "496.1"]);
}

#[test]
fn help_is_long_only_and_wrong_arguments_have_status_64() {
    let status = |args: &[&str]| drivetest_in(&logs(), args).status.code().unwrap();
    assert_eq!(status(&["latency", "--help"]), 0);
    assert_eq!(status(&["latency", "-h"]), 64);
    assert_eq!(status(&["latency", "-l", "6.6/four-us.log", "-t", "0"]), 64);
    assert_eq!(status(&["latency", "-l", "6.6/four-us.log", "-s", "17"]), 64);
    assert_eq!(
        status(&["latency", "-l", "6.6/four-us.log", "-s", "16", "-t", "10"]),
        0
    );
    assert_eq!(status(&["latency", "-l", "6.6/no-such.log"]), 3);
}
