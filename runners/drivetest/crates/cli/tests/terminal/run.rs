//! `drivetest run` at a terminal: sentences, JSON on request, and JSON from the earlier names.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::terminal::Terminal;

/// Returns what a terminal shows, and the exit status.
fn shown(directory: &Path, args: &[&str]) -> Option<(String, Option<i32>)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command.current_dir(directory).args(args);
    let shown = Terminal::default().run(command)?;
    Some((shown.screen(), shown.status))
}

#[test]
fn a_person_at_a_terminal_reads_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let absent = "absent: no run was started in nowhere".to_owned();
    let status = ["run", "status", "--run-dir", "nowhere"];
    let Some(status) = shown(folder.path(), &status) else {
        return;
    };
    assert_eq!(status, (absent.clone(), Some(0)));
    let stop = ["run", "stop", "--run-dir", "nowhere"];
    assert_eq!(shown(folder.path(), &stop), Some((absent, Some(0))));
    std::fs::create_dir(folder.path().join("a")).unwrap();
    let words = ["--run-dir", "a", "--drive-lock", "lock", "--generation", "1"];
    let start = [&["run", "start"], &words[..], &["--", "keys"]].concat();
    let (screen, code) = shown(folder.path(), &start).unwrap();
    assert_eq!(code, Some(0));
    assert!(
        screen.starts_with("running: process ") || screen.starts_with("ended: exit status 0; the log has "),
        "{screen}"
    );
    // The monitor records the end after the program has ended.
    let status = ["run", "status", "--run-dir", "a"];
    let patience = Instant::now() + Duration::from_secs(60);
    let mut screen = shown(folder.path(), &status).unwrap().0;
    while screen.starts_with("running") {
        assert!(Instant::now() < patience, "the run does not end: {screen}");
        thread::sleep(Duration::from_millis(50));
        screen = shown(folder.path(), &status).unwrap().0;
    }
    assert!(
        screen.starts_with("ended: exit status 0; the log has "),
        "{screen}"
    );
    let remove = [&["run", "remove"], &words[..]].concat();
    assert_eq!(
        shown(folder.path(), &remove),
        Some(("removed: a".to_owned(), Some(0)))
    );
}

#[test]
fn json_is_printed_at_a_terminal_on_request_and_by_the_earlier_names() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["run", "status", "--run-dir", "nowhere", "--json"][..],
        &["run", "stop", "--run-dir", "nowhere", "--json"],
        &["status", "--run-dir", "nowhere"],
        &["stop", "--run-dir", "nowhere"],
    ] {
        let Some((screen, code)) = shown(folder.path(), args) else {
            return;
        };
        let record: Value = serde_json::from_str(&screen.replace('\n', "")).unwrap();
        assert_eq!(
            (record["schema"].as_str(), record["state"].as_str(), code),
            (Some("drivecert.detached/1"), Some("absent"), Some(0)),
            "{args:?}"
        );
    }
}
