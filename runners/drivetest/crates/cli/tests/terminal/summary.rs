//! The summary of a load at a terminal, and its colours.

use std::fs;
use std::process::Command;

use crate::terminal::{Shown, Target, Terminal};

/// Stops a load of 8 MiB at a terminal after a second. The log is a file.
fn stopped_load(env: Vec<(&'static str, &'static str)>) -> Option<Shown> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let drive = path("drive.img");
    let lines = "file-size-mbytes: 8\ntest-duration-sec: 600\nread-reqs-per-sec: 100\n";
    fs::write(path("config"), format!("device-names: {drive}\n{lines}")).unwrap();
    let mut command = Command::new("timeout");
    command
        .args(["--foreground", "--preserve-status", "--signal", "TERM", "2"])
        .arg(env!("CARGO_BIN_EXE_drivetest"))
        .env("DRIVETEST_GATE_SAMPLE_MS", "50")
        .args(["storage", &path("config"), "--log", &path("log")]);
    let terminal = Terminal {
        env,
        stdout: Target::Pipe,
        ..Terminal::default()
    };
    terminal.run(command)
}

#[test]
fn a_stopped_load_shows_its_reason_in_the_summary_only() {
    let Some(shown) = stopped_load(Vec::new()) else {
        return;
    };
    let screen = shown.screen();
    assert_eq!(shown.status, Some(5), "{screen}");
    // The headline quotes the line of the log.
    let lines: Vec<_> = screen.lines().collect();
    assert!(lines[0].starts_with("drivetest: void: line "), "{screen}");
    assert!(lines[1].starts_with("stopped after "), "{screen}");
    assert!(lines[1].contains(": stopped by signal TERM; "), "{screen}");
    assert!(
        !lines[2..].iter().any(|line| line.contains("signal TERM")),
        "{screen}"
    );
    let next = screen.lines().find(|line| line.starts_with("next: ")).unwrap();
    assert!(next.starts_with("next: drivetest check "), "{screen}");
    assert_eq!(shown.piped, "");
}

#[test]
fn no_color_removes_the_colours_and_keeps_the_words() {
    for (no_color, has_colours) in [("", true), ("1", false)] {
        let Some(shown) = stopped_load(vec![("NO_COLOR", no_color)]) else {
            return;
        };
        let text = String::from_utf8_lossy(&shown.bytes);
        assert_eq!(text.contains("\x1b[33mvoid"), has_colours, "{text:?}");
        assert_eq!(text.contains("\x1b[3"), has_colours, "{text:?}");
        let screen = shown.screen();
        assert!(screen.starts_with("drivetest: void: line "), "{screen}");
    }
}
