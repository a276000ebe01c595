//! Live progress of loads and preparations at a terminal, and its absence elsewhere.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::drive::skip;
use crate::terminal::{Shown, Target, Terminal};

/// A load of 3 s on a file of 8 MiB.
struct Load(TempDir);

impl Load {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let load = Self(folder);
        let lines = "file-size-mbytes: 8\ntest-duration-sec: 3\nread-reqs-per-sec: 100\n";
        fs::write(
            load.path("config"),
            format!("device-names: {}\n{lines}", load.path("drive.img")),
        )
        .unwrap();
        load
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Returns the words of the command line. The log and the side file are files.
    fn words(&self) -> Vec<String> {
        let [config, log, side] = ["config", "log", "side"].map(|name| self.path(name));
        [
            env!("CARGO_BIN_EXE_drivetest"),
            "storage",
            &config,
            "--log",
            &log,
            "--side-file",
            &side,
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn command(&self) -> Command {
        command(&self.words())
    }

    fn side(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("side")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("DRIVETEST_GATE_SAMPLE_MS", "50");
    command
}

fn terminal(columns: u16, env: Vec<(&'static str, &'static str)>) -> Terminal {
    Terminal {
        columns,
        env,
        stdout: Target::Pipe,
    }
}

/// Returns everything that was shown at any time.
fn text(shown: &Shown) -> String {
    String::from_utf8(shown.bytes.clone()).unwrap()
}

#[test]
fn a_load_shows_time_rates_and_shares_and_clears_them_at_the_end() {
    for columns in [200, 60] {
        let load = Load::new();
        let Some(shown) = terminal(columns, Vec::new()).run(load.command()) else {
            return;
        };
        let text = text(&shown);
        assert_eq!(shown.status, Some(0), "{text}");
        for part in [
            "storage [##########",
            " left of 0:00:03",
            "/s of 100.0/s",
            "reads so far: ",
            " over 64 ms (limit 0.1 %)",
        ] {
            assert!(text.contains(part), "{part}: {text:?}");
        }
        let screen = shown.screen();
        assert!(screen.starts_with("drivetest: "), "{screen}");
        assert!(
            !screen.contains("left of") && !screen.contains("storage ["),
            "{screen}"
        );
    }
}

#[test]
fn a_terminal_that_cannot_redraw_lines_shows_no_progress() {
    for term in ["dumb", ""] {
        let load = Load::new();
        let Some(shown) = terminal(80, vec![("TERM", term)]).run(load.command()) else {
            return;
        };
        let text = text(&shown);
        assert!(
            text.starts_with("drivetest: ") && !text.contains('\x1b'),
            "{text:?}"
        );
    }
}

#[test]
fn the_log_at_the_same_terminal_is_not_torn() {
    let load = Load::new();
    let shown = Terminal::default().run(command(&load.words()[..3]));
    let Some(shown) = shown else { return };
    let screen = shown.screen();
    for label_s in 1..=3 {
        let line = format!("after {label_s} sec:");
        assert_eq!(
            screen.lines().filter(|found| *found == line).count(),
            1,
            "{screen}"
        );
    }
    assert!(text(&shown).contains("left of 0:00:03"), "{screen}");
    assert!(!screen.contains("left of"), "{screen}");
    let summary = screen.lines().filter(|line| line.starts_with("next: ")).count();
    assert_eq!(summary, 1, "{screen}");
}

#[test]
fn a_terminal_that_does_not_read_delays_no_report() {
    let load = Load::new();
    let has_ended = || {
        let patience = Instant::now() + Duration::from_secs(60);
        while !fs::read_to_string(load.path("side")).is_ok_and(|text| text.contains("\"record\":\"end\"")) {
            assert!(Instant::now() < patience, "the run does not end");
            thread::sleep(Duration::from_millis(50));
        }
    };
    let shown = terminal(80, Vec::new()).run_stopped(load.command(), Some(&has_ended));
    let Some(shown) = shown else { return };
    assert_eq!(shown.status, Some(0), "{}", text(&shown));
    let records = load.side();
    let intervals = records.iter().filter(|record| record["record"] == "interval");
    let late_s = |record: &Value| {
        let elapsed_s = record["elapsed_ns"].as_f64().unwrap() / 1e9;
        elapsed_s - record["label_s"].as_f64().unwrap()
    };
    let late: Vec<_> = intervals.map(late_s).collect();
    assert_eq!(late.len(), 3, "{late:?}");
    assert!(late.iter().all(|late_s| *late_s < 0.5), "{late:?}");
}

#[test]
fn a_job_in_the_background_draws_nothing() {
    for (end, draws) in [("& wait", false), ("", true)] {
        let load = Load::new();
        let job = format!("{} {end}", load.words().join(" "));
        let mut shell = Command::new("sh");
        // setsid makes its standard input the terminal of the session, which job control needs.
        shell.env("DRIVETEST_GATE_SAMPLE_MS", "50").args([
            "-c",
            "exec setsid --ctty --wait sh -mc \"$1\" <&2",
            "sh",
            &job,
        ]);
        let Some(shown) = terminal(80, Vec::new()).run(shell) else {
            return;
        };
        if shown.status != Some(0) {
            return skip("setsid gives no terminal to a session here");
        }
        let text = text(&shown);
        assert_eq!(text.contains("left of"), draws, "{text:?}");
        assert!(text.contains("drivetest: "), "{text:?}");
    }
}

#[test]
fn a_preparation_shows_its_progress_and_then_its_end() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("drive"), vec![7; 2 << 20]).unwrap();
    let words = [
        env!("CARGO_BIN_EXE_drivetest"),
        "prep",
        &path("drive"),
        "--log",
        &path("log"),
    ];
    let Some(shown) = terminal(80, Vec::new()).run(command(&words.map(str::to_owned))) else {
        return;
    };
    let text = text(&shown);
    assert_eq!(shown.status, Some(0), "{text:?}");
    assert!(
        text.contains("salt   [##############################] 100.0 %"),
        "{text:?}"
    );
    assert!(
        text.contains("0:00:00 left") && !text.contains("\"record\""),
        "{text:?}"
    );
    let screen = shown.screen();
    assert!(
        screen.starts_with("drivetest: finished: 4194304 bytes in ") && screen.lines().count() == 1,
        "{screen}"
    );
}
