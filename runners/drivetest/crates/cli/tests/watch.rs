//! `drivetest watch`: telemetry while an allowed program runs, alone, and until the drive is idle.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::text;
use tempfile::TempDir;

/// Long enough for a busy host.
const PATIENCE: Duration = Duration::from_secs(120);

/// A directory with a file that serves as a drive, and the list of allowed programs.
fn host() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let programs = r#"{"schema": "drivecert.programs/1", "programs": {
        "say": {"argv": ["/bin/sh", "-c", "echo text; echo $0 > made; sleep 0.3"], "lines": [["{device}"]]},
        "fail": {"argv": ["/bin/sh", "-c", "exit 7"], "lines": [[]]},
        "wait": {"argv": ["/bin/sh", "-c", "sleep 600 & : > begun; wait"], "lines": [[]]},
        "gone": {"argv": ["/no/such/program"], "lines": [[]]}}}"#;
    fs::write(folder.path().join("programs.json"), programs).unwrap();
    fs::write(folder.path().join("drive.img"), vec![0; 1 << 20]).unwrap();
    folder
}

fn command(folder: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    let own = [
        "watch",
        "--side-file",
        "side.jsonl",
        "--programs",
        "programs.json",
    ];
    command.current_dir(folder.path()).args(own).args(args);
    command
}

fn watch(folder: &TempDir, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn records(folder: &TempDir) -> Vec<Value> {
    let side = fs::read_to_string(folder.path().join("side.jsonl")).unwrap();
    side.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the records of a side file, also of one that is incomplete or missing.
fn intervals_count(folder: &TempDir) -> usize {
    let side = fs::read_to_string(folder.path().join("side.jsonl")).unwrap_or_default();
    side.matches(r#""record":"interval""#).count()
}

fn wait_for(is_so: impl Fn() -> bool) {
    let patience = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(
            Instant::now() < patience,
            "did not come about within {PATIENCE:?}"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_program_runs_while_telemetry_is_recorded() {
    let folder = host();
    let output = watch(&folder, &["drive.img", "--", "say", "{device}"]);
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(0), "text\n")
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("out/made")).unwrap(),
        "drive.img\n"
    );
    let records = records(&folder);
    let kinds: Vec<&str> = records
        .iter()
        .map(|record| record["record"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["start", "interval", "end"]);
    assert_eq!(records[0]["watch"]["argv"][3], "drive.img");
    assert!(
        records[0]["devices"][0]["drive_key"]
            .as_str()
            .unwrap()
            .starts_with("file:")
    );
    assert!(records[1]["telemetry"]["cpu"]["busy_pct"].is_string());
    assert!(records[1]["memory"]["available_bytes"].as_u64().unwrap() > 0);
    assert_eq!(
        (&records[2]["reason"], &records[2]["program_status"]),
        (&"finished".into(), &0.into())
    );
}

#[test]
fn a_failed_program_is_recorded_with_its_exit_status() {
    let folder = host();
    let output = watch(&folder, &["--", "fail"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "drivetest: fail ended with status 7\n");
    assert_eq!(records(&folder).last().unwrap()["program_status"], 7);
}

#[test]
fn a_program_that_is_not_allowed_is_refused_before_anything_runs() {
    for args in [
        &["--", "sh"][..],
        &["drive.img", "--", "say", "/etc/passwd"],
        &["--", "fail", "-x"],
    ] {
        let folder = host();
        let output = watch(&folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!folder.path().join("out").exists(), "{args:?}");
    }
}

#[test]
fn another_drive_than_the_expected_one_is_refused() {
    let folder = host();
    let output = watch(
        &folder,
        &["drive.img", "--expect-drive", "nvme:X:1", "--", "say", "{device}"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("expected drive nvme:X:1, found file:"));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let output = watch(&host(), &["--", "gone"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("/no/such/program: cannot be run"));
}

#[test]
fn a_signal_ends_the_program_and_what_it_started() {
    let folder = host();
    let mut process = command(&folder, &["--", "wait"]).spawn().unwrap();
    wait_for(|| folder.path().join("out/begun").exists());
    kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(5));
    let end = records(&folder).pop().unwrap();
    assert_eq!(end["reason"], "interrupted");
    // Signal 9 would mean that it was killed.
    assert_eq!(
        end["text"],
        "stopped by signal TERM; the program was ended by signal 15"
    );
}

#[test]
fn a_recording_without_a_program_ends_with_a_signal() {
    let folder = host();
    let mut process = command(&folder, &["drive.img", "--interval-sec", "1"])
        .spawn()
        .unwrap();
    wait_for(|| intervals_count(&folder) >= 2);
    let before = intervals_count(&folder);
    kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(0));
    // The interval up to the signal is recorded, too.
    assert!(intervals_count(&folder) > before, "{before} before it was asked");
    assert_eq!(records(&folder).last().unwrap()["reason"], "finished");
}

#[test]
fn a_second_run_never_overwrites_the_first() {
    let folder = host();
    watch(&folder, &["--", "fail"]);
    let output = watch(&folder, &["--", "fail"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(text(&output.stderr).contains("never overwritten"));
}
