//! Starting under systemd: a scope of its own outlives the SSH session that asked for it.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::HostError;
use crate::start::{Wish, unanswered};

pub(crate) const SYSTEMD_RUN: &str = "/usr/bin/systemd-run";
/// Exit status of `drivetest start` when the drive is busy or given to a newer generation.
const EXIT_REFUSED: i32 = 2;

/// Starts a wish of a run by `drivetest start` in a scope: at the end of an ssh session its own scope may be cleared
/// (KillUserProcesses). `systemd_run` and `this` are the programs.
pub(crate) fn start(systemd_run: &Path, this: &Path, wish: &Wish<'_>, run: &str) -> Result<Value, HostError> {
    let output = Command::new(systemd_run)
        .args(["--scope", "--quiet", "--collect", "--slice=system.slice"])
        .arg(format!("--description=drivetest of the run {run}"))
        .arg("--")
        .arg(this)
        .args(words(wish))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| HostError::file(systemd_run, "run", &error))?;
    let told: Result<Value, _> = serde_json::from_slice(&output.stdout);
    match (output.status.code(), told) {
        (Some(0), Ok(status)) => Ok(status),
        (Some(EXIT_REFUSED), Ok(status)) => {
            Err(HostError::refused(status["reason"].as_str().unwrap_or("refused")))
        }
        _ => Err(unanswered(&String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// The words of `drivetest start`.
fn words(wish: &Wish<'_>) -> Vec<OsString> {
    let generation = wish.generation.to_string();
    let mut words: Vec<OsString> = vec!["start".into(), "--run-dir".into(), wish.run_dir.into()];
    words.extend(["--drive-lock".into(), wish.drive_lock.into()]);
    words.extend(["--generation".into(), generation.into(), "--".into()]);
    words.extend(wish.words.iter().map(OsString::from));
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

    /// A child of another test has this one's descriptors until it becomes its program: a script that was open for writing
    /// then cannot be executed meanwhile.
    static WRITING_OR_STARTING: Mutex<()> = Mutex::new(());

    const STATUS: &str = r#"{"state": "running", "reason": "said by the start"}"#;

    /// What stands in for systemd-run passes its own options over and becomes the program, as `--scope` does; what
    /// stands in for drivetest keeps its words and environment, and answers.
    fn programs(folder: &Path, answer: &str) -> (PathBuf, PathBuf) {
        let (told, own) = (
            folder.display(),
            r#"until [ "$1" = -- ]; do echo "$1"; shift; done"#,
        );
        let scope = format!("{own} > {told}/options; shift; exec \"$@\"");
        let this = format!("printf '%s\\n' \"$@\" > {told}/words; env > {told}/env; {answer}");
        let [scope, this] = [("systemd-run", scope), ("drivetest", this)].map(|(name, script)| {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        });
        (scope, this)
    }

    fn started(folder: &Path, answer: &str) -> Result<Value, HostError> {
        let _alone = WRITING_OR_STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let (systemd_run, this) = programs(folder, answer);
        let lock = PathBuf::from("/state/locks/a b");
        let words = ["storage".to_owned(), "config".to_owned()];
        let wish = Wish {
            run_dir: Path::new("/state/d-a"),
            drive_lock: &lock,
            generation: 7,
            words: &words,
        };
        start(&systemd_run, &this, &wish, "d-a")
    }

    fn lines(folder: &Path, name: &str) -> Vec<String> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_start_in_a_scope_is_that_of_drivetest_start_in_an_empty_environment() {
        let folder = tempfile::tempdir().unwrap();
        let told = started(folder.path(), &format!("echo '{STATUS}'")).unwrap();
        assert_eq!(told["state"], "running");
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
    fn a_refusal_is_told_as_one_and_everything_else_may_be_asked_again() {
        let answers = [
            (
                format!("echo '{STATUS}'; exit 2"),
                Kind::Refused,
                "said by the start",
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
