//! Invalid configurations: a sentence, exit code 64, and no files created.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output};

use super::bench::Bench;

const GOOD: &str = "device-names: HERE\ntest-duration-sec: 1\nread-reqs-per-sec: 10\nfile-size-mbytes: 1\n";

fn run(load: &str, bench: &Bench, bytes: &[u8]) -> Output {
    let config = bench.path("config");
    fs::write(&config, bytes).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command.arg(load).arg(&config).arg("--log").arg(bench.path("log"));
    command.output().unwrap()
}

/// Returns the bytes of a valid configuration and one more line.
fn with(bench: &Bench, more: &[u8]) -> Vec<u8> {
    let good = GOOD.replace("HERE", &bench.device);
    [good.as_bytes(), more].concat()
}

fn assert_refused_with(load: &str, more: &[u8], sentence: &str) {
    let bench = Bench::new();
    let output = run(load, &bench, &with(&bench, more));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(sentence), "{load}: {said}");
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(said.len() < 600, "a sentence, not {} bytes", said.len());
    assert!(
        !fs::exists(&bench.device).unwrap() && !fs::exists(bench.path("log")).unwrap(),
        "{said}"
    );
}

#[test]
fn a_file_that_is_not_text_is_refused() {
    for load in ["storage", "index"] {
        assert_refused_with(load, b"max-lag-sec: 1\0\n", "line 5: expected text in UTF-8");
        assert_refused_with(load, b"\xff\xfe\x80: 1\n", "line 5: expected text in UTF-8");
    }
}

#[test]
fn long_lines_and_long_files_are_refused() {
    let line = vec![b'x'; 1_000_000];
    assert_refused_with(
        "storage",
        &line,
        "line 5: expected at most 65536 bytes, got 1000000",
    );
    assert_refused_with(
        "storage",
        &vec![b'\n'; 2 << 20],
        "expected at most 1048576 bytes, got more",
    );
}

#[test]
fn absurd_numbers_are_refused() {
    for (line, sentence) in [
        (
            "replication-factor: 4294967295",
            "replication-factor: expected 1 to 256",
        ),
        (
            "service-threads: 100000000",
            "service-threads: expected 1 to 16384",
        ),
        (
            "write-reqs-per-sec: 99999999999999",
            "expected a whole number from 0 to 4294967295",
        ),
        (
            "report-interval-sec: 0",
            "report-interval-sec: expected 1 to 4294967295, got 0",
        ),
        (
            "read-reqs-per-sec: 0",
            "read-reqs-per-sec: expected more than 0 here or in write-reqs-per-sec",
        ),
    ] {
        assert_refused_with("storage", line.as_bytes(), sentence);
        assert_refused_with("index", line.as_bytes(), sentence);
    }
}

#[test]
fn a_device_is_refused_as_a_configuration() {
    let output = Command::new(env!("CARGO_BIN_EXE_drivetest"))
        .args(["storage", "/dev/zero"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("expected at most 1048576 bytes"),
        "{output:?}"
    );
}

#[test]
fn a_missing_configuration_is_an_error() {
    let bench = Bench::new();
    for path in [bench.path("nothing"), bench.path("")] {
        let output = Command::new(env!("CARGO_BIN_EXE_drivetest"))
            .arg("index")
            .arg(&path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(64), "{output:?}");
        assert!(
            output.stderr.windows(15).any(|words| words == b"cannot be read:"),
            "{output:?}"
        );
        assert!(
            output.stderr.starts_with(b"drivetest: ")
                || output.stderr.starts_with(path.as_os_str().as_bytes())
        );
    }
}

#[test]
fn a_comment_in_another_encoding_is_accepted() {
    let bench = Bench::new();
    let output = run(
        "storage",
        &bench,
        &with(&bench, b"max-lag-sec: 10 # Gr\xf6\xdfe\nscheduler-mode: noop\n"),
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("line 6: scheduler-mode: no I/O scheduler is set"),
        "{said}"
    );
    assert_ne!(output.status.code(), Some(64), "{said}");
}
