//! Texts of `read`, `check` and `latency` apart from the figures: the log, what is missing, remedies.

use std::fs;
use std::process::{Command, Output};

use crate::support::closed_output::with_closed_output;
use crate::support::{Scratch, drivetest, drivetest_in, log, logs, read, tar, text};
use tempfile::TempDir;

const FOUR: &str = "6.6/four-us.log";
const CHECK: [&str; 2] = ["--profile", "operational-database"];

fn ycsb(case: &str) -> String {
    logs().join("../ycsb").join(case).to_str().unwrap().to_owned()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Two folders with real logs of the same name.
fn alike() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (folder, case) in [("one", FOUR), ("two", "6.6/index-single-us.log")] {
        fs::create_dir(directory.path().join(folder)).unwrap();
        fs::write(directory.path().join(folder).join("run.log"), log(case)).unwrap();
    }
    directory
}

#[test]
fn two_logs_with_the_same_name_are_distinguished_by_their_paths() {
    let directory = alike();
    for command in [&["read"][..], &["check", CHECK[0], CHECK[1]]] {
        let output = drivetest_in(
            directory.path(),
            &[command, &["one/run.log", "two/run.log"]].concat(),
        );
        let printed = text(&output.stdout);
        assert!(
            printed.contains("one/run.log: ") && printed.contains("two/run.log: "),
            "{printed}"
        );
    }
}

#[test]
fn a_run_of_an_archive_has_the_name_of_its_file() {
    let (four, index) = (log(FOUR), log("6.6/index-single-us.log"));
    let archive = tar(&[("a/run.log", four.as_bytes()), ("b/run.log", index.as_bytes())]);
    let archive = Scratch::new("messages.tar", &archive);
    for command in [&["read"][..], &["check", CHECK[0], CHECK[1]]] {
        let printed = text(&drivetest(&[command, &[archive.arg()]].concat()).stdout);
        for member in ["a/run.log", "b/run.log"] {
            assert!(
                printed.contains(&format!("{}!{member}", archive.arg())),
                "{printed}"
            );
        }
    }
}

#[test]
fn a_finding_on_a_file_of_an_archive_names_it() {
    let marked = format!("\u{feff}{}", log(FOUR));
    let archive = tar(&[
        ("a/run.log", log(FOUR).as_bytes()),
        ("b/run.log", marked.as_bytes()),
    ]);
    let archive = Scratch::new("messages-finding.tar", &archive);
    let printed = text(&drivetest(&["read", archive.arg()]).stdout);
    assert!(
        printed.contains("byte-order-mark b/run.log line 1: "),
        "{printed}"
    );
}

#[test]
fn logs_of_one_name_are_not_exported_into_one_directory() {
    let directory = alike();
    let export = |logs: &[&str]| {
        let args = [&["read"][..], logs, &["--export", "made/here", "--format", "csv"]].concat();
        drivetest_in(directory.path(), &args)
    };
    let refused = export(&["one/run.log", "two/run.log"]);
    assert_eq!(status(&refused), 64);
    assert!(text(&refused.stderr).contains("one/run.log and two/run.log"));
    assert!(
        !directory.path().join("made").exists(),
        "refused before anything is made"
    );
    assert_eq!(status(&export(&["one/run.log"])), 0);
    assert!(directory.path().join("made/here/run.log.slices.csv").exists());
}

#[test]
fn an_export_directory_that_cannot_be_created_is_an_error() {
    let file = Scratch::new("messages-file", b"");
    let output = drivetest(&["read", FOUR, "--export", file.arg(), "--format", "csv"]);
    assert_eq!(status(&output), 3);
    let printed = text(&output.stderr);
    assert!(
        printed.contains("cannot create the directory for the tables"),
        "{printed}"
    );
}

#[test]
fn check_judges_an_output_of_ycsb_without_a_profile() {
    let output = drivetest(&["check", &ycsb("ycsb-0.18.0-SNAPSHOT/status-merged.log")]);
    assert_eq!(status(&output), 0);
    assert!(!text(&output.stdout).contains("is not used"));
}

#[test]
fn check_reports_that_a_profile_does_not_apply_to_ycsb() {
    let case = ycsb("ycsb-0.18.0-SNAPSHOT/status-merged.log");
    let output = drivetest(&["check", &case, CHECK[0], CHECK[1]]);
    let printed = text(&output.stdout);
    assert_eq!(status(&output), 0);
    assert!(
        printed.contains("profile operational-database is not used"),
        "{printed}"
    );
}

#[test]
fn check_without_a_profile_uses_the_default_and_names_it() {
    let output = drivetest(&["check", FOUR]);
    let printed = text(&output.stdout);
    assert_eq!(status(&output), 2);
    let named = "  default profile operational-database, rule version 1: its limits apply";
    assert!(printed.lines().nth(1).unwrap().starts_with(named), "{printed}");
    let requested = drivetest(&["check", FOUR, CHECK[0], CHECK[1]]);
    let as_requested = printed
        .replace("default profile", "profile")
        .replace("; --profile chooses another profile", "");
    assert_eq!(
        (as_requested, status(&output)),
        (text(&requested.stdout), status(&requested))
    );
}

#[test]
fn check_does_not_call_a_requested_profile_the_default() {
    let printed = text(&drivetest(&["check", FOUR, CHECK[0], CHECK[1]]).stdout);
    assert!(
        printed.contains("\n  profile operational-database, rule version 1")
            && !printed.contains("--profile"),
        "{printed}"
    );
}

#[test]
fn a_closed_pipe_does_not_change_the_exit_status() {
    let file = Scratch::new("messages-identify", b"");
    for (args, status) in [
        (&["--help"][..], 0),
        (&["storage", "--help"], 0),
        (&["--version"], 0),
        (&["keys"], 0),
        (&["identify", file.arg()], 0),
        (&["read", FOUR], 0),
        (
            &[
                "check",
                "6.6/slow-disk-ms.log",
                "--slice-sec",
                "10",
                CHECK[0],
                CHECK[1],
            ],
            1,
        ),
        (&["check", FOUR, CHECK[0], CHECK[1]], 2),
        (&["check", "6.6/no-header.log", CHECK[0], CHECK[1]], 3),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
        let output = with_closed_output(command.current_dir(logs()).args(args));
        assert_eq!(output.status.code(), Some(status), "{args:?}");
    }
}

#[test]
fn the_slices_of_a_check_without_a_profile_are_those_of_the_default() {
    let printed = text(&drivetest(&["check", FOUR, "--slice-sec", "10"]).stdout);
    assert!(
        printed.contains("judged in 6 slices of 10 s; --profile"),
        "{printed}"
    );
    let printed = text(&drivetest(&["check", FOUR]).stdout);
    assert!(printed.contains("no complete slice of 3600 s"), "{printed}");
}

#[test]
fn latency_accepts_its_log_like_the_other_commands() {
    let (by_name, by_option) = (
        drivetest(&["latency", FOUR, "-t", "10"]),
        drivetest(&["latency", "-l", FOUR, "-t", "10"]),
    );
    let below_echo = |output: &Output| text(&output.stdout).split_once('\n').unwrap().1.to_owned();
    assert_eq!((status(&by_name), status(&by_option)), (0, 0));
    assert_eq!(below_echo(&by_name), below_echo(&by_option));
    assert_eq!(status(&drivetest(&["latency"])), 64);
    assert_eq!(status(&drivetest(&["latency", FOUR, "-l", FOUR])), 64);
}

#[test]
fn latency_suggests_shorter_slices_if_none_is_complete() {
    let printed = text(&drivetest(&["latency", FOUR]).stderr);
    assert!(
        printed.contains("the run has 60 s, a slice 3600 s; choose shorter slices, such as -t 60"),
        "{printed}"
    );
    let printed = text(&drivetest(&["latency", FOUR, "-t", "10"]).stderr);
    assert!(!printed.contains("shorter slices"), "{printed}");
}

#[test]
fn the_summary_uses_the_singular_and_omits_unknown_values() {
    let printed = text(&drivetest(&["read", "6.6/single-us.log"]).stdout);
    assert!(printed.contains(" requested on 1 device\n"), "{printed}");
    let without = log(FOUR).replace("write-reqs-per-sec: ", "written: ");
    let printed =
        text(&drivetest(&["read", Scratch::new("messages-one.log", without.as_bytes()).arg()]).stdout);
    assert!(
        !printed.contains('?') && printed.contains("reads/s requested on 4 devices"),
        "{printed}"
    );
}

#[test]
fn a_run_without_a_slice_has_no_slice_of_zero_seconds() {
    let printed = text(&drivetest(&["check", "6.6/nodev.log", CHECK[0], CHECK[1]]).stdout);
    assert!(
        printed.contains("which is not judged, because the log has no slices\n")
            && !printed.contains("slices of 0 s"),
        "{printed}"
    );
}

#[test]
fn an_archive_as_an_attachment_is_refused() {
    let archive = Scratch::new("messages-with.tar", &tar(&[("a.conf", b"a: b\n")]));
    let (document, status) = read(FOUR, &["--with", archive.arg()]);
    assert_eq!(
        (document["error"]["id"].as_str(), status),
        (Some("companion-archive"), 3)
    );
}

#[test]
fn an_attachment_of_an_archive_is_refused() {
    let log = log(FOUR);
    let archive = Scratch::new("messages-archive.tar", &tar(&[("a.log", log.as_bytes())]));
    assert_eq!(read(archive.arg(), &[]).1, 0);
    let beside = Scratch::new("messages-archive.conf", b"a: b\n");
    let (document, status) = read(archive.arg(), &["--with", beside.arg()]);
    assert_eq!(
        (document["error"]["id"].as_str(), status),
        (Some("companion-archive"), 3)
    );
}

#[test]
fn one_interval_off_the_rate_is_one() {
    let printed = text(&drivetest(&["read", "4.0/queue-full.log"]).stdout);
    assert!(printed.contains(": of 1 interval, 1 reached less"), "{printed}");
}

#[test]
fn the_summary_omits_what_a_ycsb_output_does_not_state() {
    let rows = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 1.0\n[READ], Operations, 1\n";
    let printed =
        text(&drivetest(&["read", Scratch::new("messages-rows.log", rows.as_bytes()).arg()]).stdout);
    assert!(
        printed.contains(": ycsb\n  finished: 1 operation in 1000 ms, 1.0 ops/s; "),
        "{printed}"
    );
    assert!(!printed.contains('?'), "{printed}");
}
