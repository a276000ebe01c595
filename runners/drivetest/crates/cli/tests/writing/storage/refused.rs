//! Devices and files that a load refuses, and its messages.

use std::fs;
use std::process::Output;

use super::bench::{Bench, Run, takes_direct_io};

const READS: &str = "test-duration-sec: 1\nread-reqs-per-sec: 10\n";
const WRITES: &str = "file-size-mbytes: 1\ntest-duration-sec: 1\nwrite-reqs-per-sec: 100\n";

fn on(device: &str, lines: &str) -> (Bench, Output) {
    let mut bench = Bench::new();
    bench.device = device.replace("HERE", &bench.path("").display().to_string());
    let output = bench.run(lines);
    (bench, output)
}

fn assert_refused(bench: &Bench, output: &Output, sentence: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(sentence), "{said}");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(bench.log().contains("\ndrivetest: refused: "), "{}", bench.log());
    assert_eq!(bench.end()["reason"], "refused");
}

#[test]
fn a_missing_device_is_refused_in_acts_words_too() {
    let (bench, output) = on("/dev/nothing-of-that-name", READS);
    assert_refused(
        &bench,
        &output,
        "/dev/nothing-of-that-name: does not exist; check device-names",
    );
    let words = "ERROR: open device /dev/nothing-of-that-name errno 2 'No such file or directory'\n";
    assert!(bench.log().contains(words), "{}", bench.log());
}

#[test]
fn the_exit_code_is_correct_without_standard_streams() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (lines, status) in [(READS, 2), ("read-req-per-sec: 10\n", 64)] {
        let mut bench = Bench::new();
        bench.device = "/dev/nothing-of-that-name".to_owned();
        let ended = bench.command(lines).stderr(full()).status().unwrap();
        assert_eq!(ended.code(), Some(status), "{lines}");
    }
}

/// Returns the drive key from `identify`.
fn drive_key(path: &str) -> String {
    let mut identify = std::process::Command::new(env!("CARGO_BIN_EXE_drivetest"));
    let output = identify.args(["identify", path, "--json"]).output().unwrap();
    let identity: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    identity["drive_key"].as_str().unwrap().to_owned()
}

#[test]
fn only_the_expected_drive_is_loaded() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let old = format!("{}.old", bench.device);
    fs::write(&bench.device, "").unwrap();
    let expected = drive_key(&bench.device);
    fs::rename(&bench.device, &old).unwrap();
    fs::write(&bench.device, "").unwrap();
    let got = drive_key(&bench.device);
    let expecting = || {
        let mut command = bench.command(WRITES);
        command.args(["--expect-drive", &expected]);
        command
    };
    assert_refused(
        &bench,
        &expecting().output().unwrap(),
        &format!(
            "{}: expected drive {expected}, got {got}; nothing was written",
            bench.device
        ),
    );
    assert_eq!(fs::metadata(&bench.device).unwrap().len(), 0);
    fs::rename(&old, &bench.device).unwrap();
    fs::remove_file(bench.path("log")).unwrap();
    fs::remove_file(bench.path("side.jsonl")).unwrap();
    assert_eq!(expecting().status().unwrap().code(), Some(0));
}

#[test]
fn a_missing_expected_drive_is_not_created() {
    let bench = Bench::new();
    let mut command = bench.command(WRITES);
    let output = command.args(["--expect-drive", "file:1:2"]).output().unwrap();
    assert_refused(&bench, &output, "expected drive file:1:2, got no drive");
    assert!(!std::path::Path::new(&bench.device).exists());
}

#[test]
fn expect_drive_is_given_for_every_device_or_for_none() {
    let bench = Bench::new();
    let mut command = bench.command(WRITES);
    let output = command
        .args(["--expect-drive", "a", "--expect-drive", "b"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(64));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("expected one per device (1), got 2"), "{said}");
}

#[test]
fn a_path_that_is_no_drive_is_refused_with_its_type() {
    for (device, kind) in [
        ("HERE", "is a directory; name a block device"),
        ("/dev/null", "is a character device"),
    ] {
        let (bench, output) = on(device, READS);
        assert_refused(&bench, &output, kind);
    }
}

#[test]
fn a_plain_file_needs_its_size() {
    let (bench, output) = on("HERE/config", READS);
    assert_refused(
        &bench,
        &output,
        "is a plain file; set its size with file-size-mbytes",
    );
}

#[test]
fn a_file_of_another_size_is_not_changed() {
    let (bench, output) = on("HERE/config", WRITES);
    assert_refused(
        &bench,
        &output,
        "file-size-mbytes requires 1MiB; choose a new file",
    );
    assert!(
        fs::read_to_string(bench.path("config"))
            .unwrap()
            .contains("write-reqs-per-sec: 100")
    );
}

#[test]
fn a_file_too_small_for_a_block_is_refused() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let output = bench.run(&format!("{WRITES}large-block-op-kbytes: 2048\n"));
    assert_refused(
        &bench,
        &output,
        "has 1MiB, less than one large block and one record need",
    );
}

#[test]
fn a_file_larger_than_its_file_system_is_refused() {
    let bench = Bench::new();
    // 4 PiB less one MiB: more than any file system has free.
    let output = bench.run(&WRITES.replace("mbytes: 1", "mbytes: 4294967295"));
    assert_refused(
        &bench,
        &output,
        "needs 4096TiB (4503599626321920 bytes) more, but its file system has only ",
    );
    assert!(!std::path::Path::new(&bench.device).exists());
}

#[test]
fn no_file_is_filled_if_another_device_is_refused() {
    let mut bench = Bench::new();
    let first = bench.device.clone();
    bench.device = format!("{first},{}", bench.path("link").display());
    fs::write(&first, "").unwrap();
    std::os::unix::fs::symlink(&first, bench.path("link")).unwrap();
    assert_refused(&bench, &bench.run(WRITES), "link: is the same device as ");
    assert_eq!(fs::metadata(&first).unwrap().len(), 0, "filled");
}

#[test]
fn a_device_named_twice_needs_its_expected_drive_twice() {
    let mut bench = Bench::new();
    fs::write(&bench.device, "").unwrap();
    let key = drive_key(&bench.device);
    bench.device = format!("{0},{0}", bench.device);
    let mut command = bench.command(WRITES);
    command.args(["--expect-drive", &key, "--expect-drive", "file:1:2"]);
    assert_refused(
        &bench,
        &command.output().unwrap(),
        "expected drive file:1:2, got file:",
    );
}

#[test]
fn a_file_system_image_is_overwritten_only_with_the_flag() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let mut image = vec![0; 1 << 20];
    image[..6].copy_from_slice(b"XFSB\0\0");
    fs::write(&bench.device, &image).unwrap();
    assert_refused(
        &bench,
        &bench.run(WRITES),
        "contains an XFS file system, which the load would overwrite",
    );
    assert!(fs::read(&bench.device).unwrap() == image, "the image was changed");
    fs::remove_file(bench.path("log")).unwrap();
    fs::remove_file(bench.path("side.jsonl")).unwrap();
    assert!(
        bench
            .command(WRITES)
            .arg("--i-know-this-destroys-data")
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn data_at_the_end_of_an_image_is_detected() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    // RAID metadata 0.90, in the last 64 KiB.
    let mut image = vec![0; 1 << 20];
    image[(1 << 20) - 65_536..][..12].copy_from_slice(b"\xfc\x4e\x2b\xa9\0\0\0\0\x5a\0\0\0");
    fs::write(&bench.device, &image).unwrap();
    assert_refused(&bench, &bench.run(WRITES), "contains a member of a RAID");
    assert!(fs::read(&bench.device).unwrap() == image, "the image was changed");
}

#[test]
fn two_loads_never_share_a_file() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let text = "file-size-mbytes: 1\ntest-duration-sec: 600\nread-reqs-per-sec: 10\n";
    let mut first = Run::of(bench.command(text));
    bench.wait_for(&mut first, "HISTOGRAM NAMES");
    let (other, output) = on(&bench.device, WRITES);
    assert_refused(&other, &output, &format!("open in process {}", first.id()));
}

#[test]
fn a_configuration_that_cannot_be_read_is_a_matter_of_usage() {
    let (bench, output) = on("/dev/null", "test-duration-sec: 1\nread-req-per-sec: 10\n");
    assert_eq!(output.status.code(), Some(64));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("config: line 3: unknown key 'read-req-per-sec'; did you mean 'read-reqs-per-sec'?"),
        "{said}"
    );
    assert!(!bench.path("log").exists(), "nothing was run, so there is no log");
}

#[test]
fn an_index_load_needs_no_space_for_a_large_block() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    // No block is needed: one MiB is 256 pages, even with the key of the other load.
    let lines = "file-size-mbytes: 1\ntest-duration-sec: 1\nwrite-reqs-per-sec: 10\n";
    let output = bench.command_of("index", lines).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_log_with_a_run_is_not_overwritten() {
    let bench = Bench::new();
    fs::write(bench.path("log"), "after 1 sec:\n").unwrap();
    let output = bench.run(READS);
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&output.stderr).contains("contains 13 bytes; choose another file"));
    assert_eq!(bench.log(), "after 1 sec:\n");
}

#[test]
fn keys_of_older_versions_are_warned_about() {
    let (_, output) = on("/dev/null", &format!("{READS}scheduler-mode: noop\n"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("line 4: scheduler-mode: no I/O scheduler is set, as in ACT since 6.5"),
        "{said}"
    );
}
