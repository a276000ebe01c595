//! Devices that no command may overwrite, tested with `prep`, `storage`, `index` and a program of `watch`. All must refuse
//! before any write, even with the flag that allows to destroy data.

mod in_use;
mod stacked;

use std::fs;
use std::process::Output;

use crate::drive::{Drive, config_for, drivetest};

/// The flag that allows to destroy data. It does not override these refusals.
const FLAG: &str = "--i-know-this-destroys-data";

fn refused_by(output: &Output, sentence: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(2),
        "expected a refusal with '{sentence}', got: {said}"
    );
    assert!(said.contains(sentence), "expected '{sentence}', got: {said}");
}

/// Returns the command lines that would write to a device.
fn writers(drive: &Drive, device: &str) -> Vec<Vec<String>> {
    let config = config_for(device, drive.folder.path());
    let ours = [["prep", device], ["storage", &config], ["index", &config]];
    let ours = ours.map(|[command, what]| vec![command.to_owned(), what.to_owned(), FLAG.to_owned()]);
    ours.into_iter()
        .chain([watched(drive, device, &[FLAG])])
        .collect()
}

/// Returns the command line of an allowed program that fills a device with zeros.
fn watched(drive: &Drive, device: &str, more: &[&str]) -> Vec<String> {
    let programs = drive.path("programs.json");
    let fill = "head -c $(blockdev --getsize64 $0) /dev/zero > $0";
    let text = format!(
        r#"{{"schema": "drivecert.programs/1", "programs": {{"fill": {{"argv": ["/bin/sh", "-c", "{fill}"], "lines": [["{{device}}"]]}}}}}}"#
    );
    fs::write(&programs, text).unwrap();
    // A side file is never overwritten.
    let count = fs::read_dir(drive.folder.path()).unwrap().count();
    let side = drive.path(&format!("side-{count}.jsonl"));
    let head = ["watch", device, "--will-overwrite"];
    let files = ["--side-file", &side, "--programs", &programs];
    let words = [&head[..], more, &files, &["--", "fill", "{device}"]].concat();
    words.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_program_that_writes_over_the_drive_needs_consent_for_data_that_is_recognised() {
    let Some(drive) = Drive::attach() else { return };
    let device = drive.device.clone();
    if !drive.set_up(&["mkfs.ext4", "-q", &device, "8M"]) {
        return;
    }
    let what = "contains an ext2, ext3 or ext4 file system";
    refused_by(&drivetest(&watched(&drive, &device, &[])), what);
    assert!(drive.is_untouched(), "the program was run");
    let output = drivetest(&watched(&drive, &device, &[FLAG]));
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!drive.is_untouched(), "the program wrote to something else");
}

#[test]
fn a_program_that_overwrites_the_drive_gets_the_checked_descriptor_and_not_a_name() {
    let Some(drive) = Drive::attach() else { return };
    let output = drivetest(&watched(&drive, &drive.device, &[]));
    assert_eq!(output.status.code(), Some(0));
    let mut sides = fs::read_dir(drive.folder.path()).unwrap().flatten();
    let side = sides.find(|entry| entry.file_name().to_string_lossy().starts_with("side-"));
    let record = fs::read_to_string(side.unwrap().path()).unwrap();
    assert!(
        record.contains("/proc/self/fd/") && record.contains(&drive.device),
        "{record}"
    );
}

/// Checks that all commands refuse the device with the sentence and do not change the drive.
fn all_refuse(drive: &Drive, device: &str, sentence: &str) {
    for line in writers(drive, device) {
        refused_by(&drivetest(&line), sentence);
    }
    assert!(drive.is_untouched(), "the drive was written to");
}

/// Checks that all commands write to the device when it is safe.
fn all_write(drive: &Drive, device: &str) {
    for line in writers(drive, device) {
        let output = drivetest(&line);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{line:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(!drive.is_untouched());
}
