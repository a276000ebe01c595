//! Interrupted and continued preparations.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::bench::{Bench, ended};

/// Long enough for a busy host.
const PATIENCE: Duration = Duration::from_secs(120);
const DRIVE_BYTES: u64 = 64 << 20;
/// A pass with this progress is running.
const BEGUN_BYTES: u64 = 1 << 20;
/// One small request at a time, so that a test can stop it.
const SLOWLY: [&str; 6] = ["--seed", "5", "--streams", "1", "--request-kib", "4"];

/// A preparation that is ended on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a slow preparation, sends a signal when it is running, and returns the exit status.
fn stopped(bench: &Bench, signal: Signal, side: &str) -> Option<i32> {
    let mut command = bench.command(&SLOWLY);
    command.args([
        "--state",
        &bench.path("state"),
        "--side-file",
        &bench.path(side),
        "--log",
        &bench.path(&format!("{side}.log")),
    ]);
    let mut running = Running(command.stderr(Stdio::null()).spawn().unwrap());
    let patience = Instant::now() + PATIENCE;
    while bench.drive().metadata().unwrap().blocks() * 512 < BEGUN_BYTES {
        assert!(
            Instant::now() < patience && running.0.try_wait().unwrap().is_none(),
            "never got under way"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    // Sent by this process, because a separate program might start only after the end of the preparation.
    kill_process(Pid::from_child(&running.0), signal).unwrap();
    running.0.wait().unwrap().code()
}

fn state(bench: &Bench) -> Value {
    serde_json::from_slice(&fs::read(bench.path("state")).unwrap()).unwrap()
}

#[test]
fn a_stopped_preparation_continues_and_writes_the_same_data() {
    let (Some(bench), Some(whole)) = (Bench::new(DRIVE_BYTES), Bench::new(DRIVE_BYTES)) else {
        return;
    };
    assert_eq!(stopped(&bench, Signal::TERM, "first"), Some(5));
    let end = bench.records("first").pop().unwrap();
    assert_eq!(
        (&end["reason"], &end["text"]),
        (&"interrupted".into(), &"stopped by signal TERM".into())
    );
    let done = state(&bench)["devices"][0]["done_bytes"].as_u64().unwrap();
    assert!(done > 0 && done < DRIVE_BYTES, "{done}");
    assert!(bench.content()[..done as usize].iter().all(|byte| *byte == 0));
    // The seed comes from the state file.
    let options = [
        "--streams",
        "1",
        "--request-kib",
        "4",
        "--state",
        &bench.path("state"),
    ];
    let output = bench.run(&[&options[..], &["--side-file", &bench.path("second")]].concat());
    ended(&output, 0, "");
    let end = bench.records("second").pop().unwrap();
    assert_eq!(end["written_bytes"], 2 * DRIVE_BYTES - done);
    assert!(
        !std::path::Path::new(&bench.path("state")).exists(),
        "a state is of what is not finished"
    );
    ended(&whole.run(&SLOWLY), 0, "");
    assert!(bench.content() == whole.content());
}

#[test]
fn a_killed_preparation_continues_from_its_state_file() {
    let Some(bench) = Bench::new(DRIVE_BYTES) else {
        return;
    };
    assert_eq!(stopped(&bench, Signal::KILL, "first"), None);
    let kept = state(&bench)["devices"][0]["done_bytes"].as_u64().unwrap();
    let state = bench.path("state");
    let output = bench.run(&[&SLOWLY[..], &["--zero-only", "--state", &state]].concat());
    ended(
        &output,
        64,
        "was started with passes zero and salt, got another value",
    );
    let output = bench.run(
        &[
            &SLOWLY[..],
            &["--state", &state, "--side-file", &bench.path("second")],
        ]
        .concat(),
    );
    ended(&output, 0, "");
    assert_eq!(
        bench.records("second").pop().unwrap()["written_bytes"],
        2 * DRIVE_BYTES - kept
    );
}

#[test]
fn another_drive_is_not_gone_on_with() {
    let (Some(bench), Some(other)) = (Bench::new(DRIVE_BYTES), Bench::new(DRIVE_BYTES)) else {
        return;
    };
    assert_eq!(stopped(&bench, Signal::INT, "first"), Some(5));
    let before = fs::read(bench.path("state")).unwrap();
    let output = other.run(&[&SLOWLY[..], &["--state", &bench.path("state")]].concat());
    ended(&output, 2, "was started on");
    ended(&output, 2, "nothing was written");
    assert!(other.content().iter().all(|byte| *byte == 0), "written to");
    assert_eq!(fs::read(bench.path("state")).unwrap(), before);
}

#[test]
fn a_drive_that_changed_its_size_is_not_gone_on_with() {
    let Some(bench) = Bench::new(DRIVE_BYTES) else {
        return;
    };
    assert_eq!(stopped(&bench, Signal::HUP, "first"), Some(5));
    fs::OpenOptions::new()
        .write(true)
        .open(bench.drive())
        .unwrap()
        .set_len(DRIVE_BYTES + 4_096)
        .unwrap();
    ended(
        &bench.run(&[&SLOWLY[..], &["--state", &bench.path("state")]].concat()),
        2,
        "67112960 bytes)",
    );
}

#[test]
fn other_settings_and_other_files_are_a_matter_of_usage() {
    let Some(bench) = Bench::new(DRIVE_BYTES) else {
        return;
    };
    assert_eq!(stopped(&bench, Signal::TERM, "first"), Some(5));
    let state = bench.path("state");
    for (more, sentence) in [
        (["--seed", "6"], "was started with seed 5"),
        (["--compress-pct", "50"], "was started with --compress-pct 100"),
        (["--streams", "2"], "requests of 4096 bytes"),
    ] {
        ended(
            &bench.run(&[&more[..], &["--state", &state]].concat()),
            64,
            sentence,
        );
    }
    fs::write(&state, "{}").unwrap();
    ended(
        &bench.run(&["--state", &state]),
        64,
        "expected drivecert.prep-state/1, got something else",
    );
}

#[test]
fn an_impossible_state_file_is_refused() {
    let Some(bench) = Bench::new(DRIVE_BYTES) else {
        return;
    };
    assert_eq!(stopped(&bench, Signal::TERM, "first"), Some(5));
    let (path, sound) = (bench.path("state"), state(&bench));
    let with = |passes_done: u64, done_bytes: u64| {
        let mut state = sound.clone();
        state["passes_done"] = passes_done.into();
        state["devices"][0]["done_bytes"] = done_bytes.into();
        fs::write(&path, state.to_string()).unwrap();
        bench.run(&[&SLOWLY[..], &["--state", &path]].concat())
    };
    ended(&with(3, 0), 64, "3 of 2 passes are done");
    ended(&with(1, DRIVE_BYTES + 1), 64, "67108865 of 67108864 bytes of");
    ended(&with(2, DRIVE_BYTES), 0, "");
}
