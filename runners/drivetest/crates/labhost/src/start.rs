//! Start of a drivetest command for a register, on a host with systemd in a scope that outlives the SSH session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::{fs, iter};

use drivetest_detached::{StartOutcome, StartRequest};
use serde_json::Value;

use crate::command_line::{self, Command};
use crate::error::{HostError, Kind};
use crate::run_store::RunStore;
use crate::settings::Settings;
use crate::{Start, device, health, retryable};

const THIS: &str = "/proc/self/exe";
/// Maximum generation. Generations count starts, and the register stores them in 31 bits. It never gets this far, but a
/// compromised register could set a number on a drive that no later start can exceed.
const GENERATION_MAX: u64 = i32::MAX as u64 - 1_000_000;

/// Starts the requested command, or returns the status of the process that an earlier request started. The result is a
/// `drivecert.detached/1` record.
pub(crate) fn start(settings: &Settings, store: &RunStore<'_>, request: &Start) -> Result<Value, HostError> {
    let run_dir = store.run_dir(&request.run)?;
    let command = command_line::parse(&request.words, &request.drive_key)?;
    if command.has_drive() {
        settings.check_listed(&request.drive_key)?;
    }
    check_generation(request.generation)?;
    check_program(&request.program_sha256)?;
    check_devices(&command, &run_dir, &request.drive_key)?;
    let drive_lock = store.drive_lock(&request.drive_key)?;
    let words = iter::once("drivetest".to_owned()).chain(command.words(&request.drive_key));
    let words: Vec<_> = words.map(OsString::from).collect();
    let plan = StartRequest {
        run_dir: &run_dir,
        drive_lock: &drive_lock,
        generation: request.generation,
        program: Path::new(THIS),
        words: &words,
    };
    if health::has_systemd() {
        return start_in_scope(
            Path::new(SYSTEMD_RUN),
            &program_of(process::id()),
            &plan,
            &request.run,
        );
    }
    match retryable(drivetest_detached::start(&plan))? {
        StartOutcome::Started(status) => serde_json::to_value(status).map_err(|error| start_failed(&error)),
        StartOutcome::Refused(refused) => Err(HostError::refused(refused.to_string())),
    }
}

/// Returns the program of a process that waits for its start. After a reinstallation, the path that its link names does
/// not exist.
fn program_of(pid: u32) -> PathBuf {
    format!("/proc/{pid}/exe").into()
}

pub(crate) fn check_generation(generation: u64) -> Result<(), HostError> {
    HostError::refuse_unless(generation <= GENERATION_MAX, || {
        format!("generation {generation}: expected at most {GENERATION_MAX}")
    })
}

fn check_program(expected: &str) -> Result<(), HostError> {
    let found = health::program_sha256()?;
    HostError::refuse_unless(found == expected, || {
        format!(
            "drivetest: expected the program with SHA-256 {expected}, found {found}; enrol the host again"
        )
    })
}

/// Checks that every device of the command is now the drive of the run. The command checks again what it has opened.
fn check_devices(command: &Command, run_dir: &Path, drive_key: &str) -> Result<(), HostError> {
    match command {
        Command::Prep { device: path, .. } => device::check_drive(path, drive_key, &device::key_of),
        Command::Watch(watch) => {
            watch.check_program()?;
            match &watch.device {
                Some(path) => device::check_drive(path, drive_key, &device::key_of),
                None => Ok(()),
            }
        }
        Command::Load { model } => {
            let path = run_dir.join("config");
            let bytes = fs::read(&path).map_err(|error| HostError::file(&path, "read", &error))?;
            device::check_config(*model, &bytes, drive_key, &device::key_of)
        }
    }
}

pub(crate) fn start_failed(sentence: &dyn std::fmt::Display) -> HostError {
    HostError::new(Kind::Unanswered, format!("start: {sentence}"))
}

pub(crate) const SYSTEMD_RUN: &str = "/usr/bin/systemd-run";
/// Exit code of `drivetest start` if the drive is busy or has a newer generation.
const EXIT_REFUSED: i32 = 2;

/// Starts a run with `drivetest start` in its own scope, because systemd may kill all processes in the scope of an SSH
/// session at its end (KillUserProcesses). `systemd_run` and `this` are the paths of the two programs.
fn start_in_scope(
    systemd_run: &Path,
    this: &Path,
    plan: &StartRequest<'_>,
    run: &str,
) -> Result<Value, HostError> {
    let output = process::Command::new(systemd_run)
        .args(["--scope", "--quiet", "--collect", "--slice=system.slice"])
        .arg(format!("--description=drivetest of the run {run}"))
        .arg("--")
        .arg(this)
        .args(words(plan))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| HostError::file(systemd_run, "run", &error))?;
    let record: Result<Value, _> = serde_json::from_slice(&output.stdout);
    match (output.status.code(), record) {
        (Some(0), Ok(status)) => Ok(status),
        (Some(EXIT_REFUSED), Ok(status)) => {
            Err(HostError::refused(status["reason"].as_str().unwrap_or("refused")))
        }
        _ => Err(start_failed(&String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Returns the arguments of `drivetest start`.
fn words(plan: &StartRequest<'_>) -> Vec<OsString> {
    let generation = plan.generation.to_string();
    let mut words: Vec<OsString> = vec!["start".into(), "--run-dir".into(), plan.run_dir.into()];
    words.extend(["--drive-lock".into(), plan.drive_lock.into()]);
    words.extend(["--generation".into(), generation.into(), "--".into()]);
    // The first word is the name of the program.
    words.extend(plan.words.iter().skip(1).cloned());
    words
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// The lock of a drive stores the newest generation for ever, and the column of the register ends at 2^31 - 1.
    #[test]
    fn the_highest_generations_are_refused() {
        assert!(check_generation(GENERATION_MAX).is_ok());
        for generation in [GENERATION_MAX + 1, i32::MAX as u64, u64::MAX] {
            assert_eq!(
                check_generation(generation).unwrap_err().kind,
                Kind::Refused,
                "{generation}"
            );
        }
    }

    /// A child of another test inherits the descriptors of this one until it executes its program. A script that is open for
    /// writing in any process cannot be executed.
    static WRITE_OR_START: Mutex<()> = Mutex::new(());

    const STATUS: &str = r#"{"state": "running", "reason": "message of start"}"#;

    /// Creates fakes of systemd-run and drivetest. The first skips its own options and executes the program, as `--scope`
    /// does. The second records its arguments and its environment, and answers.
    fn programs(folder: &Path, answer: &str) -> (PathBuf, PathBuf) {
        let (path, skip_options) = (
            folder.display(),
            r#"until [ "$1" = -- ]; do echo "$1"; shift; done"#,
        );
        let scope = format!("{skip_options} > {path}/options; shift; exec \"$@\"");
        let this = format!("printf '%s\\n' \"$@\" > {path}/words; env > {path}/env; {answer}");
        let [scope, this] = [("systemd-run", scope), ("drivetest", this)].map(|(name, script)| {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        });
        (scope, this)
    }

    fn started(folder: &Path, answer: &str) -> Result<Value, HostError> {
        let _guard = WRITE_OR_START.lock().unwrap_or_else(PoisonError::into_inner);
        let (systemd_run, this) = programs(folder, answer);
        let lock = PathBuf::from("/state/locks/a b");
        let words = ["drivetest", "storage", "config"].map(OsString::from);
        let plan = StartRequest {
            run_dir: Path::new("/state/d-a"),
            drive_lock: &lock,
            generation: 7,
            program: &this,
            words: &words,
        };
        start_in_scope(&systemd_run, &this, &plan, "d-a")
    }

    fn lines(folder: &Path, name: &str) -> Vec<String> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_start_in_a_scope_runs_drivetest_start_with_an_empty_environment() {
        let folder = tempfile::tempdir().unwrap();
        let record = started(folder.path(), &format!("echo '{STATUS}'")).unwrap();
        assert_eq!(record["state"], "running");
        let expected =
            "start|--run-dir|/state/d-a|--drive-lock|/state/locks/a b|--generation|7|--|storage|config";
        assert_eq!(lines(folder.path(), "words").join("|"), expected);
        let options = lines(folder.path(), "options");
        assert!(options.contains(&"--scope".to_owned()), "{options:?}");
        let environment = lines(folder.path(), "env");
        let own = ["PATH=", "PWD=", "OLDPWD=", "SHLVL=", "_="];
        let is_own = |line: &String| own.iter().any(|name| line.starts_with(name));
        assert!(environment.iter().all(is_own), "{environment:?}");
    }

    #[test]
    fn another_process_starts_the_running_program_after_its_file_was_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("program");
        let _guard = WRITE_OR_START.lock().unwrap_or_else(PoisonError::into_inner);
        fs::copy("/bin/cat", &copy).unwrap();
        let mut running = process::Command::new(&copy)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        fs::remove_file(&copy).unwrap();
        let started = process::Command::new(program_of(running.id()))
            .arg("/proc/self/comm")
            .stdin(Stdio::null())
            .status();
        drop(running.stdin.take());
        assert!(running.wait().unwrap().success());
        assert!(started.unwrap().success());
    }

    #[test]
    fn only_a_refusal_is_final_and_any_other_failure_can_be_retried() {
        let answers = [
            (
                format!("echo '{STATUS}'; exit 2"),
                Kind::Refused,
                "message of start",
            ),
            (
                "echo no bus >&2; exit 1".to_owned(),
                Kind::Unanswered,
                "start: no bus",
            ),
            ("echo started".to_owned(), Kind::Unanswered, "start: "),
            (format!("echo '{STATUS}'; kill $$"), Kind::Unanswered, "start: "),
        ];
        for (answer, kind, sentence) in answers {
            let folder = tempfile::tempdir().unwrap();
            let error = started(folder.path(), &answer).unwrap_err();
            assert_eq!(
                (error.kind, error.sentence.as_str()),
                (kind, sentence),
                "{answer}"
            );
        }
    }
}
