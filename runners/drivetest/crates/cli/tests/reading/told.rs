//! What people are told by `read`, `check` and `latency` beside the figures: which log, what is missing, what to do.

use std::fs;
use std::process::Output;

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

/// Two folders, each with a real log of one name.
fn alike() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (folder, case) in [("one", FOUR), ("two", "6.6/index-single-us.log")] {
        fs::create_dir(directory.path().join(folder)).unwrap();
        fs::write(directory.path().join(folder).join("run.log"), log(case)).unwrap();
    }
    directory
}

#[test]
fn two_logs_of_one_name_are_told_apart_by_their_paths() {
    let directory = alike();
    for command in [&["read"][..], &["check", CHECK[0], CHECK[1]]] {
        let output = drivetest_in(
            directory.path(),
            &[command, &["one/run.log", "two/run.log"]].concat(),
        );
        let told = text(&output.stdout);
        assert!(
            told.contains("one/run.log: ") && told.contains("two/run.log: "),
            "{told}"
        );
    }
}

#[test]
fn a_run_of_an_archive_bears_the_name_of_its_file() {
    let (four, index) = (log(FOUR), log("6.6/index-single-us.log"));
    let archive = tar(&[("a/run.log", four.as_bytes()), ("b/run.log", index.as_bytes())]);
    let archive = Scratch::new("told.tar", &archive);
    for command in [&["read"][..], &["check", CHECK[0], CHECK[1]]] {
        let told = text(&drivetest(&[command, &[archive.arg()]].concat()).stdout);
        for member in ["a/run.log", "b/run.log"] {
            assert!(told.contains(&format!("{}!{member}", archive.arg())), "{told}");
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
    let archive = Scratch::new("told-finding.tar", &archive);
    let told = text(&drivetest(&["read", archive.arg()]).stdout);
    assert!(told.contains("byte-order-mark b/run.log line 1: "), "{told}");
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
fn an_export_directory_that_cannot_be_made_is_told() {
    let file = Scratch::new("told-file", b"");
    let output = drivetest(&["read", FOUR, "--export", file.arg(), "--format", "csv"]);
    assert_eq!(status(&output), 3);
    let told = text(&output.stderr);
    assert!(
        told.contains("cannot create the directory for the tables"),
        "{told}"
    );
}

#[test]
fn check_judges_an_output_of_ycsb_without_a_profile() {
    let output = drivetest(&["check", &ycsb("ycsb-0.18.0-SNAPSHOT/status-merged.log")]);
    assert_eq!(status(&output), 0);
    assert!(!text(&output.stdout).contains("does not apply"));
}

#[test]
fn check_says_that_a_profile_does_not_apply_to_ycsb() {
    let case = ycsb("ycsb-0.18.0-SNAPSHOT/status-merged.log");
    let output = drivetest(&["check", &case, CHECK[0], CHECK[1]]);
    let told = text(&output.stdout);
    assert_eq!(status(&output), 0);
    assert!(
        told.contains("profile operational-database: does not apply"),
        "{told}"
    );
}

#[test]
fn check_of_a_log_of_act_asks_for_a_profile() {
    let output = drivetest(&["check", FOUR]);
    let told = text(&output.stdout);
    assert_eq!(status(&output), 64);
    assert!(
        told.contains("not judged: a run of act_storage needs a profile"),
        "{told}"
    );
}

#[test]
fn latency_takes_its_log_as_its_siblings_do() {
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
fn latency_hints_at_shorter_slices_where_none_is_whole() {
    let told = text(&drivetest(&["latency", FOUR]).stderr);
    assert!(
        told.contains("the run has 60 s, a slice 3600 s; choose shorter slices, such as -t 60"),
        "{told}"
    );
    let told = text(&drivetest(&["latency", FOUR, "-t", "10"]).stderr);
    assert!(!told.contains("shorter slices"), "{told}");
}

#[test]
fn one_is_told_in_the_singular_and_what_is_unknown_not_at_all() {
    let told = text(&drivetest(&["read", "6.6/single-us.log"]).stdout);
    assert!(told.contains(" requested on 1 device\n"), "{told}");
    let without = log(FOUR).replace("write-reqs-per-sec: ", "written: ");
    let told = text(&drivetest(&["read", Scratch::new("told-one.log", without.as_bytes()).arg()]).stdout);
    assert!(
        !told.contains('?') && told.contains("reads/s requested on 4 devices"),
        "{told}"
    );
}

#[test]
fn a_run_without_a_slice_has_none_of_nought_seconds() {
    let told = text(&drivetest(&["check", "6.6/nodev.log", CHECK[0], CHECK[1]]).stdout);
    assert!(
        told.contains(", no slices") && !told.contains("0 slices"),
        "{told}"
    );
}

#[test]
fn an_archive_beside_a_log_is_refused() {
    let archive = Scratch::new("told-with.tar", &tar(&[("a.conf", b"a: b\n")]));
    let (document, status) = read(FOUR, &["--with", archive.arg()]);
    assert_eq!(
        (document["error"]["id"].as_str(), status),
        (Some("companion-archive"), 3)
    );
}

#[test]
fn a_file_beside_an_archive_of_logs_is_refused() {
    let log = log(FOUR);
    let archive = Scratch::new("told-archive.tar", &tar(&[("a.log", log.as_bytes())]));
    assert_eq!(read(archive.arg(), &[]).1, 0);
    let beside = Scratch::new("told-archive.conf", b"a: b\n");
    let (document, status) = read(archive.arg(), &["--with", beside.arg()]);
    assert_eq!(
        (document["error"]["id"].as_str(), status),
        (Some("companion-archive"), 3)
    );
}

#[test]
fn one_interval_off_the_rate_is_one() {
    let told = text(&drivetest(&["read", "4.0/queue-full.log"]).stdout);
    assert!(told.contains(": of 1 interval, 1 reached less"), "{told}");
}

#[test]
fn what_an_output_of_ycsb_does_not_tell_is_left_out() {
    let rows = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 1.0\n[READ], Operations, 1\n";
    let told = text(&drivetest(&["read", Scratch::new("told-rows.log", rows.as_bytes()).arg()]).stdout);
    assert!(
        told.contains(": ycsb\n  finished: 1 operation in 1000 ms, 1.0 ops/s; "),
        "{told}"
    );
    assert!(!told.contains('?'), "{told}");
}
