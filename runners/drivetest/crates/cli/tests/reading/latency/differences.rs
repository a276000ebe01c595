//! Output of `latency` where the original script prints something else or nothing.

use super::case::Case;
use crate::support::{drivetest_in, logs, text};

#[test]
fn a_missing_block_removes_only_its_two_slices() {
    let whole = Case::of("6.6/four-us.latency").upstream();
    let printed = Case::of("6.6/hole.latency").printed().0;
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
    let case = Case::of("6.6/two-runs-appended.latency");
    let (printed, _, status) = case.printed();
    assert!(printed.starts_with(&case.upstream()));
    assert_eq!(printed.matches("is ACT version 6.6").count(), 2);
    assert_eq!(status, 0);
}

#[test]
fn a_log_without_a_complete_slice_has_exit_code_3() {
    let case = Case::of("6.6/lag-service.latency");
    let (printed, _, status) = case.printed();
    assert_eq!((printed, status), (case.upstream(), 3));
}

#[test]
fn differences_from_the_script_are_printed_on_standard_error() {
    let messages = |case: &str| {
        let output = drivetest_in(&logs(), &["latency", "-l", case, "-t", "5"]);
        text(&output.stderr)
    };
    assert!(messages("6.6/hole.log").contains("act_latency.py stops at the first slice"));
    assert!(messages("6.6/two-runs-appended.log").contains("act_latency.py prints only the first run"));
    assert!(messages("6.6/four-commit-us.log").contains("act_latency.py may lose buckets"));
    assert!(
        messages("6.6/truncated-midline.log").contains("act_latency.py treats a truncated block as complete")
    );
    assert_eq!(messages("6.6/four-us.log"), "");
    assert_eq!(messages("5.0/four-us.log"), "");
}

#[test]
fn option_w_shows_writes_instead_of_reads() {
    let of = |case: &str, option: &str| {
        let args = ["latency", "-l", case, "-t", "10", option];
        let output = drivetest_in(&logs(), &args);
        (text(&output.stdout), output.status.code().unwrap())
    };
    let named = |names: [&str; 2]| {
        let args = [
            "latency",
            "-l",
            "5.2/commit-us.log",
            "-t",
            "10",
            "-h",
            names[0],
            "-h",
            names[1],
        ];
        text(&drivetest_in(&logs(), &args).stdout)
    };
    let without_echo = |text: String| text.split_once('\n').unwrap().1.to_owned();
    let (writes, status) = of("5.2/commit-us.log", "-w");
    assert_eq!(status, 0);
    assert_eq!(
        without_echo(writes),
        without_echo(named(["writes", "device-writes"]))
    );
    assert_eq!(of("4.0/single-us.log", "-w").1, 3, "commit-to-device is not set");
}

#[test]
fn histograms_of_4_0_can_be_requested_by_name() {
    let args = [
        "latency",
        "-l",
        "4.0/commit-us.log",
        "-t",
        "10",
        "-n",
        "1",
        "-h",
        "RAW READS",
        "-h",
        "/dev/zram4-reads",
    ];
    let table = text(&drivetest_in(&logs(), &args).stdout);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("    "))
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| row[0] == "1")
        .collect();
    assert_eq!(
        rows[0][1], rows[0][2],
        "one device's reads are all reads: {table}"
    );
}

#[test]
fn two_histograms_with_the_same_name_are_distinguished() {
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
