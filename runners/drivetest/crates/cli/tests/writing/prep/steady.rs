//! Overwrites until the rate is steady.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::bench::{Bench, ended, of_kind};

const STEADY: [&str; 8] = [
    "--steady-state",
    "--steady-round-sec",
    "1",
    "--steady-rounds-max",
    "6",
    "--steady-depth",
    "2",
    "--salt-only",
];

/// SNIA's criterion on the last five rates, with the slope as the difference of weighted sums.
fn is_steady(rates: &[f64]) -> bool {
    let [a, b, c, d, e] = rates[rates.len() - 5..] else {
        return false;
    };
    let average = (a + b + c + d + e) / 5.0;
    let range = [a, b, c, d, e].iter().fold(f64::MIN, |x, y| x.max(*y))
        - [a, b, c, d, e].iter().fold(f64::MAX, |x, y| x.min(*y));
    let rise = 4.0 * (2.0 * e + d - b - 2.0 * a) / 10.0;
    range <= 0.2 * average && rise.abs() <= 0.1 * average
}

#[test]
fn the_report_and_the_exit_status_follow_from_the_rounds() {
    let Some(bench) = Bench::new(16 << 20) else { return };
    let (report, side) = (bench.path("report"), bench.path("side"));
    let output = bench.run(&[&STEADY[..], &["--report", &report, "--side-file", &side]].concat());
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!(report["schema"], "drivecert.steady-state/1");
    let rounds = report["devices"][0]["rounds"].as_array().unwrap();
    let rates: Vec<_> = rounds
        .iter()
        .map(|round| round["bytes_per_s"].as_f64().unwrap())
        .collect();
    // A disk that other programs also use may stall for a round.
    assert!(
        rates.iter().any(|rate| *rate > 0.0) && (5..=6).contains(&rates.len()),
        "{report}"
    );
    // It ends at the first steady window, or after the last round.
    assert_eq!(report["is_steady"], is_steady(&rates));
    assert!(rates.len() == 6 || is_steady(&rates));
    ended(&output, i32::from(!is_steady(&rates)), "");
    assert_eq!(of_kind(&bench.records("side"), "round").len(), rates.len());
    let log = String::from_utf8(output.stdout).unwrap();
    assert!(log.contains(" round      MB/s   writes/s\n     1 "), "{log}");
}

#[test]
fn a_signal_ends_a_round_and_the_table_is_still_printed() {
    let Some(bench) = Bench::new(16 << 20) else { return };
    let log = bench.path("log");
    let options = [
        "--steady-state",
        "--steady-round-sec",
        "1",
        "--steady-rounds-max",
        "9999",
        "--salt-only",
        "--log",
        &log,
    ];
    let mut running = bench
        .command(&options)
        .args(["--side-file", &bench.path("side")])
        .spawn()
        .unwrap();
    while of_kind(&bench.records("side"), "round").is_empty() {
        assert!(running.try_wait().unwrap().is_none(), "ended before a round");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&running), Signal::TERM).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(5));
    let log = fs::read_to_string(log).unwrap();
    assert!(
        log.contains("not steady: fewer than five rounds") && log.contains("stopped by signal TERM"),
        "{log}"
    );
}

#[test]
fn blocks_smaller_than_the_sectors_of_the_drive_are_refused() {
    let Some(drive) = crate::drive::Drive::attach() else {
        return;
    };
    if !drive.set_up(&["losetup", "--sector-size", "4096", &drive.device]) {
        return;
    }
    let options = ["--steady-state", "--steady-block-bytes", "512"];
    let output = crate::drive::drivetest(&[&["prep", &drive.device][..], &options].concat());
    ended(
        &output,
        2,
        "requires requests of at least 4096 bytes, got --steady-block-bytes 512",
    );
    assert!(drive.is_untouched());
}

#[test]
fn blocks_larger_than_the_drive_are_refused_and_the_size_of_a_file_does_not_change() {
    let Some(bench) = Bench::new(512 << 10) else {
        return;
    };
    let of = |bytes| bench.run(&[&STEADY[..], &["--steady-block-bytes", bytes]].concat());
    ended(
        &of("1048576"),
        2,
        "has 512KiB, less than one block of --steady-block-bytes 1048576; use smaller blocks",
    );
    assert!(of("524288").status.code().is_some_and(|code| code < 2));
    assert_eq!(bench.content().len(), 512 << 10);
}
