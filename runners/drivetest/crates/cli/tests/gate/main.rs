//! What no command that writes may touch, on real cases: asked of `storage` and `prep`, which must both refuse before any
//! write, whatever they were told of destroying data.

#![allow(clippy::unwrap_used, reason = "a test whose bench cannot be set up fails")]

#[path = "../support/drive.rs"]
mod drive;
mod in_use;
mod stacked;

use std::process::Output;

use drive::{Drive, config_for, drivetest};

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

/// Both commands refuse the device with the sentence, and the drive keeps its content.
fn both_refuse(drive: &Drive, device: &str, sentence: &str) {
    refused_by(&drivetest(&["prep", device, FLAG]), sentence);
    refused_by(
        &drivetest(&["storage", &config_for(device, drive.folder.path()), FLAG]),
        sentence,
    );
    assert!(drive.is_untouched(), "the drive was written to");
}

/// Both commands write to the device once nothing speaks against it.
fn both_write(drive: &Drive, device: &str) {
    let config = config_for(device, drive.folder.path());
    for arguments in [vec!["prep", device, FLAG], vec!["storage", &config, FLAG]] {
        let output = drivetest(&arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(!drive.is_untouched());
}
