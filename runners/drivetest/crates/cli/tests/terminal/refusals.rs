//! Refused loads and preparations: one line at a terminal, and the whole log in a pipe.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::terminal::{Shown, Target, Terminal};

const MISSING: &str = "drivetest: /dev/nothing: does not exist; check device-names";

fn show(stdout: Target, args: &[&str]) -> Option<Shown> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command.env("DRIVETEST_GATE_SAMPLE_MS", "50").args(args);
    let terminal = Terminal {
        stdout,
        ..Terminal::default()
    };
    terminal.run(command)
}

/// Runs a load of a device that does not exist.
fn load_of_nothing(stdout: Target) -> Option<Shown> {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let lines = "device-names: /dev/nothing\ntest-duration-sec: 1\nread-reqs-per-sec: 10\n";
    fs::write(&config, lines).unwrap();
    show(stdout, &["storage", config.to_str().unwrap()])
}

/// Creates a file with the superblock of an XFS file system.
fn image() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("image");
    let mut bytes = vec![0; 1 << 20];
    bytes[..6].copy_from_slice(b"XFSB\0\0");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn refusal_of(image: &str) -> String {
    format!(
        "drivetest: {image}: contains an XFS file system, which would be overwritten; wipe it, or give \
         --i-know-this-destroys-data"
    )
}

#[test]
fn a_refused_load_prints_one_line_at_a_terminal() {
    let Some(shown) = load_of_nothing(Target::Terminal) else {
        return;
    };
    assert_eq!((shown.screen().as_str(), shown.status), (MISSING, Some(2)));
}

#[test]
fn a_refused_load_in_a_pipe_has_its_header_and_its_refusal() {
    let Some(shown) = load_of_nothing(Target::Pipe) else {
        return;
    };
    assert_eq!((shown.screen().as_str(), shown.status), (MISSING, Some(2)));
    assert!(shown.piped.starts_with("\nACT version 6.6"), "{}", shown.piped);
    assert!(shown.piped.contains("\ndrivetest: refused: "), "{}", shown.piped);
}

#[test]
fn a_refused_preparation_prints_one_line_at_a_terminal() {
    let (_folder, image) = image();
    let image = image.to_str().unwrap();
    let Some(shown) = show(Target::Terminal, &["prep", image]) else {
        return;
    };
    assert_eq!((shown.screen(), shown.status), (refusal_of(image), Some(2)));
}

#[test]
fn a_refused_preparation_in_a_pipe_has_its_header_and_its_refusal() {
    let (_folder, image) = image();
    let image = image.to_str().unwrap();
    let Some(shown) = show(Target::Pipe, &["prep", image]) else {
        return;
    };
    assert_eq!((shown.screen(), shown.status), (refusal_of(image), Some(2)));
    let log: Vec<_> = shown.piped.lines().collect();
    assert!(log.len() == 2 && log[0].contains(" prep, seed "), "{log:?}");
    assert!(log[1].starts_with("drivetest: refused: "), "{log:?}");
}

#[test]
fn a_preparation_whose_side_file_is_full_prints_its_reason_once_at_a_terminal() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("file");
    fs::write(&file, [7; 4_096]).unwrap();
    let args = ["prep", file.to_str().unwrap(), "--side-file", "/dev/full"];
    let Some(shown) = show(Target::Terminal, &args) else {
        return;
    };
    let screen = shown.screen();
    assert_eq!(shown.status, Some(5), "{screen}");
    assert_eq!(
        screen.matches(": stopped: No space left on device").count(),
        1,
        "{screen}"
    );
    assert_eq!(fs::read(&file).unwrap(), [7; 4_096]);
}

#[test]
fn a_preparation_that_ends_early_prints_its_reason_once_at_a_terminal() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (file, state) = (folder.path().join("file"), folder.path().join("missing/state"));
    fs::write(&file, [7; 4_096]).unwrap();
    let args = ["prep", file.to_str().unwrap(), "--state", state.to_str().unwrap()];
    let Some(shown) = show(Target::Terminal, &args) else {
        return;
    };
    let screen = shown.screen();
    assert_eq!(shown.status, Some(5), "{screen}");
    assert_eq!(screen.matches("missing/state: ").count(), 1, "{screen}");
}
