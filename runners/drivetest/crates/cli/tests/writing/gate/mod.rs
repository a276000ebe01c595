//! What no command that writes may touch, on real cases: asked of `prep`, `storage` and `index`, which must all refuse
//! before any write, whatever they were told of destroying data.

mod in_use;
mod stacked;

use std::process::Output;

use crate::drive::{Drive, config_for, drivetest};

/// What the user says; it is no way around any of these.
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

/// The command lines that would write to a device.
fn writers(drive: &Drive, device: &str) -> [Vec<String>; 3] {
    let config = config_for(device, drive.folder.path());
    [["prep", device], ["storage", &config], ["index", &config]]
        .map(|[command, what]| vec![command.to_owned(), what.to_owned(), FLAG.to_owned()])
}

/// All commands refuse the device with the sentence, and the drive keeps its content.
fn all_refuse(drive: &Drive, device: &str, sentence: &str) {
    for line in writers(drive, device) {
        refused_by(&drivetest(&line), sentence);
    }
    assert!(drive.is_untouched(), "the drive was written to");
}

/// All commands write to the device once nothing speaks against it.
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
