//! Start in a systemd scope, which outlives the SSH session of the register.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use drivetest_detached::StartRequest;
use serde_json::Value;

use crate::error::HostError;
use crate::start::start_failed;

pub(crate) const SYSTEMD_RUN: &str = "/usr/bin/systemd-run";
/// Exit code of `drivetest start` if the drive is busy or has a newer generation.
const EXIT_REFUSED: i32 = 2;

/// Starts a run with `drivetest start` in its own scope, because systemd may kill all processes in the scope of an SSH
/// session at its end (KillUserProcesses). `systemd_run` and `this` are the paths of the two programs.
pub(crate) fn start(
    systemd_run: &Path,
    this: &Path,
    plan: &StartRequest<'_>,
    run: &str,
) -> Result<Value, HostError> {
    let output = Command::new(systemd_run)
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
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::error::Kind;

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
        start(&systemd_run, &this, &plan, "d-a")
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
