//! Exit statuses of commands whose standard output has no reader.

use std::fs;
use std::process::{Command, Output};

use super::detached::lab::{Lab, drivetest};
use super::storage::bench::{Bench, takes_direct_io};
use crate::closed_output::with_closed_output;

const WRITES: &str = "file-size-mbytes: 1\ntest-duration-sec: 1\nwrite-reqs-per-sec: 100\n";

/// Runs a load whose log goes to the closed pipe.
fn load(bench: &Bench, lines: &str) -> Output {
    bench.command(lines);
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command.env("DRIVETEST_GATE_SAMPLE_MS", "50");
    with_closed_output(command.arg("storage").arg(bench.path("config")))
}

#[track_caller]
fn assert_ended(output: &Output, status: i32, sentence: &str) {
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{printed}");
    let last = printed.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("drivetest: ") && last.contains(sentence),
        "{printed}"
    );
}

#[test]
fn a_refused_load_exits_with_2_if_its_log_cannot_be_written() {
    let mut bench = Bench::new();
    bench.device = "/dev/nothing-of-that-name".to_owned();
    let reads = "test-duration-sec: 1\nread-reqs-per-sec: 10\n";
    assert_ended(&load(&bench, reads), 2, "nothing-of-that-name: does not exist");
}

#[test]
fn a_refused_load_whose_log_cannot_be_written_has_its_refusal_in_the_side_file() {
    let mut bench = Bench::new();
    bench.device = "/dev/nothing-of-that-name".to_owned();
    bench.command("test-duration-sec: 1\nread-reqs-per-sec: 10\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command.arg("storage").arg(bench.path("config"));
    let output = with_closed_output(command.arg("--side-file").arg(bench.path("side.jsonl")));
    assert_ended(&output, 2, "nothing-of-that-name: does not exist");
    let records: Vec<_> = bench.side();
    assert_eq!((records.len(), &records[0]["record"]), (2, &"start".into()));
    assert_eq!(records[1]["reason"], "refused");
    let text = records[1]["text"].as_str().unwrap();
    assert!(text.contains("nothing-of-that-name: does not exist"), "{text}");
}

#[test]
fn a_load_on_an_image_exits_with_2_and_one_that_could_start_with_5() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let mut image = vec![0; 1 << 20];
    image[..6].copy_from_slice(b"XFSB\0\0");
    fs::write(&bench.device, &image).unwrap();
    assert_ended(&load(&bench, WRITES), 2, "contains an XFS file system");
    fs::remove_file(&bench.device).unwrap();
    assert_ended(&load(&bench, WRITES), 5, "the log or side file cannot be written");
    assert!(
        !std::path::Path::new(&bench.device).exists(),
        "created without a log"
    );
}

#[test]
fn a_refused_preparation_exits_with_2_and_one_that_could_start_with_5() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let prep = |device: &str| with_closed_output(drivetest().args(["prep", device]));
    assert_eq!(prep("/dev/nothing-of-that-name").status.code(), Some(2));
    fs::write(&bench.device, vec![7; 4_096]).unwrap();
    assert_ended(&prep(&bench.device), 5, "Broken pipe");
    assert_eq!(fs::read(&bench.device).unwrap(), vec![7; 4_096]);
}

#[test]
fn a_load_that_could_start_leaves_its_side_file_empty_if_its_log_cannot_be_written() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.command(WRITES);
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command.env("DRIVETEST_GATE_SAMPLE_MS", "50");
    command.arg("storage").arg(bench.path("config"));
    let output = with_closed_output(command.arg("--side-file").arg(bench.path("side.jsonl")));
    assert_ended(&output, 5, "the log or side file cannot be written");
    assert_eq!(fs::read_to_string(bench.path("side.jsonl")).unwrap(), "");
}

#[test]
fn the_side_file_has_the_end_of_a_preparation_whose_log_cannot_be_written() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    fs::write(&bench.device, vec![7; 4_096]).unwrap();
    let can_start = bench.device.as_str();
    for (device, status, reason) in [
        ("/dev/nothing-of-that-name", 2, "refused"),
        (can_start, 5, "interrupted"),
    ] {
        let side_file = bench.path("side.jsonl");
        let mut command = drivetest();
        let output = with_closed_output(command.args(["prep", device, "--side-file"]).arg(&side_file));
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let end = bench.side().pop().unwrap();
        assert_eq!((&end["record"], &end["reason"]), (&"end".into(), &reason.into()));
        fs::remove_file(side_file).unwrap();
    }
}

#[test]
fn a_refused_start_exits_with_2() {
    let lab = Lab::new();
    lab.run_dir("a");
    lab.run_dir("b");
    assert_eq!(lab.start("a", 1).code, Some(0));
    let refused = with_closed_output(drivetest().args(lab.starting("b", 2)));
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn status_exits_with_0() {
    let lab = Lab::new();
    let mut status = drivetest();
    status.args(["status", "--run-dir"]).arg(lab.path("a"));
    assert_eq!(with_closed_output(&mut status).status.code(), Some(0));
}
