//! Progress, final reports and refusals.

use std::fs;

use super::bench::{Bench, ended, of_kind, records};
use crate::drive::drivetest;

const MIB: u64 = 1 << 20;

#[test]
fn the_log_states_the_size_the_passes_and_the_written_bytes() {
    let Some(bench) = Bench::new(2 * MIB) else { return };
    let output = bench.run(&["--seed", "7"]);
    let (log, drive) = (String::from_utf8(output.stdout).unwrap(), bench.drive());
    let lines: Vec<_> = log.lines().collect();
    assert!(
        lines[0].starts_with("drivetest ") && lines[0].ends_with(" prep, seed 7, compress-pct 100"),
        "{log}"
    );
    // The text of act_prep.
    assert_eq!(
        lines[1],
        format!("{} size = 2097152 bytes, 16 large blocks", drive.display())
    );
    assert_eq!(lines[2], format!("cleaning device {}", drive.display()));
    assert_eq!(lines[4], format!("salting device {}", drive.display()));
    assert!(
        lines[6].starts_with("finished: 4194304 bytes in ") && lines[6].ends_with(" MB/s"),
        "{log}"
    );
}

#[test]
fn without_a_terminal_the_records_are_on_standard_error() {
    let Some(bench) = Bench::new(2 * MIB) else { return };
    let found = records(&bench.run(&[]).stderr);
    let start = &found[0];
    assert_eq!(
        (&start["record"], &start["schema"]),
        (&"start".into(), &"drivecert.prep/1".into())
    );
    assert_eq!(start["devices"][0]["size_bytes"], 2 * MIB);
    let last_of = |phase: &str| {
        of_kind(&found, "progress")
            .into_iter()
            .rfind(|record| record["phase"] == phase)
    };
    assert_eq!(last_of("zero").unwrap()["done_bytes"], 2 * MIB);
    assert_eq!(last_of("salt").unwrap()["remaining_s"], 0);
    let end = found.last().unwrap();
    assert_eq!(
        (&end["reason"], &end["written_bytes"]),
        (&"finished".into(), &(4 * MIB).into())
    );
}

#[test]
fn with_a_side_file_standard_error_is_empty() {
    let Some(bench) = Bench::new(2 * MIB) else { return };
    let output = bench.run(&["--side-file", &bench.path("side"), "--log", &bench.path("log")]);
    assert!(output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
    assert_eq!(bench.records("side").last().unwrap()["reason"], "finished");
    assert!(
        fs::read_to_string(bench.path("log"))
            .unwrap()
            .contains("\nfinished: 4194304 bytes")
    );
}

#[test]
fn a_device_that_cannot_be_prepared_is_refused_with_a_reason() {
    let Some(bench) = Bench::new(MIB + 512) else {
        return;
    };
    ended(
        &bench.run(&[]),
        2,
        "is a file of 1049088 bytes, but needs a multiple of 4096",
    );
    fs::write(bench.drive(), "").unwrap();
    ended(&bench.run(&[]), 2, "is a file of 0 bytes");
    ended(
        &drivetest(&["prep", "/dev/nothing-of-that-name"]),
        2,
        "/dev/nothing-of-that-name: does not exist",
    );
    ended(
        &drivetest(&["prep", "/"]),
        2,
        "/: is a directory; name a block device",
    );
    ended(
        &drivetest(&["prep", "/dev/null"]),
        2,
        "/dev/null: is a character device",
    );
}

#[test]
fn a_file_system_is_overwritten_only_with_the_flag() {
    let Some(bench) = Bench::new(MIB) else { return };
    let mut image = vec![0; MIB as usize];
    image[..6].copy_from_slice(b"XFSB\0\0");
    fs::write(bench.drive(), &image).unwrap();
    let log = bench.path("log");
    ended(
        &bench.run(&["--log", &log]),
        2,
        "contains an XFS file system, which would be overwritten",
    );
    assert!(bench.content() == image, "the image was changed");
    assert!(fs::read_to_string(log).unwrap().contains("drivetest: refused: "));
    ended(&bench.run(&["--i-know-this-destroys-data"]), 0, "");
}

#[test]
fn one_of_two_drives_refused_leaves_the_other_as_it_was() {
    let (Some(good), Some(bad)) = (Bench::new(MIB), Bench::new(MIB + 512)) else {
        return;
    };
    fs::write(good.drive(), vec![7; MIB as usize]).unwrap();
    ended(
        &good.run(&[bad.drive().to_str().unwrap()]),
        2,
        "needs a multiple of 4096",
    );
    assert!(good.content().iter().all(|byte| *byte == 7));
}

#[test]
fn a_drive_named_twice_is_refused() {
    let Some(bench) = Bench::new(MIB) else { return };
    ended(
        &bench.run(&[bench.drive().to_str().unwrap()]),
        2,
        "in use (by a file system",
    );
}

#[test]
fn numbers_out_of_range_are_usage_errors() {
    for (option, value, sentence) in [
        ("--compress-pct", "101", "0..=100"),
        ("--request-kib", "6", "expected a multiple of 4 from 4 to 16384"),
        ("--request-kib", "99999999999", "expected a multiple of 4"),
        ("--streams", "0", "1..=1024"),
        ("--seed", "x", "invalid digit"),
    ] {
        ended(&drivetest(&["prep", "/dev/null", option, value]), 64, sentence);
    }
    ended(
        &drivetest(&["prep", "/dev/null", "--zero-only", "--salt-only"]),
        64,
        "cannot be used with",
    );
    ended(
        &drivetest(&["prep", "/dev/null", "--report", "x"]),
        64,
        "--steady-state",
    );
    ended(&drivetest(&["prep"]), 64, "DEVICE");
    ended(
        &drivetest(&["prep", "/dev/null", "--expect-drive", "a", "--expect-drive", "b"]),
        64,
        "one per device (1), got 2",
    );
}
