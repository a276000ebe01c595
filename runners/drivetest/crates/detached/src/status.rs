//! `drivetest run status` and `run stop`: the status of a run, from its lock and the identity of its process, and how
//! to end it.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::run_dir::{ExitRecord, PidRecord, RunDir};
use crate::{DetachError, process};

/// Maximum time between the launcher's lock and the program's `pid`, and between the end of the program and the monitor's
/// `exit`. Both take milliseconds, or seconds if a disk stalls in fsync.
const TRANSITION_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

const UNOBSERVED_END: &str =
    "nobody was left to see the end: the program and its monitor were killed, or the host was rebooted";

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The run was never started.
    Absent,
    /// The program is running.
    Running,
    /// The program has ended, or the run was stopped before its start. It is never started again.
    Ended,
}

/// How a run ended. The register reads it (docs/reference/formats.md), not the `reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// The program exited; `exit_status` has its status.
    Exited,
    /// A signal ended the program; `reason` has its number.
    Signal,
    /// `stop` marked the run as ended before a start.
    StoppedBeforeStart,
    /// Program and monitor were killed, or the host was rebooted.
    Unobserved,
}

/// The output of `start`, `status` and `stop`. Its JSON is `drivecert.detached/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Name and version of this record.
    pub schema: &'static str,
    /// The state of the run.
    pub state: State,
    /// The program's process id. None if there was none.
    pub pid: Option<i32>,
    /// The generation of the start on its drive. None if there was none.
    pub generation: Option<u64>,
    /// The boot of the host in which the program runs; in another boot it has ended. None if there was none.
    pub boot_id: Option<String>,
    /// None while the program runs, if a signal ended it, or if the monitor was killed as well.
    pub exit_status: Option<i32>,
    /// Size of the log.
    pub log_bytes: u64,
    /// Size of the side file.
    pub side_file_bytes: u64,
    /// An explanation, or empty.
    pub reason: String,
    /// How the run ended. None before its end.
    pub end_cause: Option<EndCause>,
}

/// Returns the status of the run in a directory.
///
/// # Errors
/// If the directory cannot be read, or if it is between two states for 10 s. The status is unknown then; retry.
pub fn status(run_dir: &Path) -> Result<Status, DetachError> {
    match RunDir::find(run_dir)? {
        Some(run_dir) => settled(&run_dir),
        None => Ok(blank(State::Absent)),
    }
}

/// Polls until the run has a definite state.
pub(crate) fn settled(run_dir: &RunDir) -> Result<Status, DetachError> {
    poll(run_dir, || observe(run_dir))
}

/// Repeats an attempt until it has a result. Fails if another start or stop is in progress all the time.
pub(crate) fn poll<T>(
    run_dir: &RunDir,
    mut attempt: impl FnMut() -> Result<Option<T>, DetachError>,
) -> Result<T, DetachError> {
    let deadline = Instant::now() + TRANSITION_TIMEOUT;
    loop {
        if let Some(result) = attempt()? {
            return Ok(result);
        }
        if Instant::now() >= deadline {
            return Err(DetachError::Unsettled {
                run_dir: run_dir.path().to_path_buf(),
                waited_s: TRANSITION_TIMEOUT.as_secs(),
            });
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Observes the run once. Returns None between two states.
///
/// The order matters. `pid` is read before the lock is tested, so a free lock means that the process of *that* `pid` has
/// ended. `exit` is read after the lock, so it exists if it will ever be written.
fn observe(run_dir: &RunDir) -> Result<Option<Status>, DetachError> {
    let pid = run_dir.pid()?;
    let is_locked = run_dir.is_locked()?;
    match (run_dir.exit()?, &pid) {
        (Some(exit), _) => ended(run_dir, pid.as_ref(), Some(exit)).map(Some),
        (None, None) if is_locked => Ok(None),
        (None, None) => Ok(Some(blank(State::Absent))),
        (None, Some(process)) if !is_locked => ended(run_dir, Some(process), None).map(Some),
        (None, Some(process)) if process::is_alive(process)? => {
            of_process(run_dir, State::Running, Some(process)).map(Some)
        }
        (None, Some(_)) => Ok(None),
    }
}

fn blank(state: State) -> Status {
    Status {
        schema: "drivecert.detached/1",
        state,
        pid: None,
        generation: None,
        boot_id: None,
        exit_status: None,
        log_bytes: 0,
        side_file_bytes: 0,
        reason: String::new(),
        end_cause: None,
    }
}

pub(crate) fn refused(reason: String) -> Status {
    Status {
        reason,
        ..blank(State::Absent)
    }
}

/// Returns the status of a run with its process, if it was started, and the sizes of its files.
fn of_process(run_dir: &RunDir, state: State, process: Option<&PidRecord>) -> Result<Status, DetachError> {
    Ok(Status {
        pid: process.map(|process| process.pid),
        generation: process.map(|process| process.generation),
        boot_id: process.map(|process| process.boot_id.clone()),
        log_bytes: run_dir.size_bytes("log")?,
        side_file_bytes: run_dir.size_bytes("side.jsonl")?,
        ..blank(state)
    })
}

/// Returns the status of a run that has ended. `exit` is None if nothing recorded its end.
fn ended(
    run_dir: &RunDir,
    process: Option<&PidRecord>,
    exit: Option<ExitRecord>,
) -> Result<Status, DetachError> {
    let exit_status = exit.as_ref().and_then(|exit| exit.exit_status);
    let (end_cause, reason) = match exit {
        None => (EndCause::Unobserved, UNOBSERVED_END.to_owned()),
        Some(ExitRecord {
            signal: Some(signal), ..
        }) => (EndCause::Signal, format!("ended by signal {signal}")),
        Some(exit) if exit_status.is_some() => (EndCause::Exited, exit.reason),
        Some(exit) => (EndCause::StoppedBeforeStart, exit.reason),
    };
    Ok(Status {
        exit_status,
        reason,
        end_cause: Some(end_cause),
        ..of_process(run_dir, State::Ended, process)?
    })
}

/// Sends SIGTERM to the program of a run and to no other, and returns the status. The program may need time to end.
///
/// A run that was not started yet is marked as ended. A start that arrives later, because it was in progress when the run
/// was cancelled, then starts nothing.
///
/// # Errors
/// If the directory cannot be read or written, or the program cannot be signalled. It may still be running.
pub fn stop(run_dir: &Path) -> Result<Status, DetachError> {
    let Some(found) = RunDir::find(run_dir)? else {
        return status(run_dir);
    };
    poll(&found, || {
        let status = settled(&found)?;
        match status.state {
            State::Ended => Ok(Some(status)),
            State::Running => terminate(&found).map(Some),
            State::Absent if mark_stopped(&found)? => settled(&found).map(Some),
            State::Absent => Ok(None),
        }
    })
}

fn terminate(run_dir: &RunDir) -> Result<Status, DetachError> {
    if let Some(record) = run_dir.pid()? {
        process::terminate(&record)?;
    }
    settled(run_dir)
}

/// Marks a run as stopped before its start. Returns false if a launcher has the lock.
fn mark_stopped(run_dir: &RunDir) -> Result<bool, DetachError> {
    let Some(_lock) = run_dir.try_lock()? else {
        return Ok(false);
    };
    if !run_dir.is_used()? {
        let reason = "stopped before it was started".to_owned();
        run_dir.write_exit(&ExitRecord {
            exit_status: None,
            signal: None,
            reason,
        })?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::fork_lock;

    #[test]
    fn a_start_in_progress_is_neither_absent_nor_running() {
        let folder = tempfile::tempdir().unwrap();
        let run_dir = RunDir::find(folder.path()).unwrap().unwrap();
        assert_eq!(observe(&run_dir).unwrap().unwrap().state, State::Absent);
        let _lock = run_dir.try_lock().unwrap().unwrap();
        assert_eq!(observe(&run_dir).unwrap(), None);
    }

    #[test]
    fn status_waits_for_the_exit_file_of_the_monitor() {
        let _no_forks = fork_lock::hold_forks();
        let folder = tempfile::tempdir().unwrap();
        let run_dir = RunDir::find(folder.path()).unwrap().unwrap();
        let lock = run_dir.try_lock().unwrap().unwrap();
        let record = r#"{"pid": 1, "start_ticks": 0, "generation": 4, "boot_id": "an earlier one"}"#;
        std::fs::write(run_dir.file("pid"), record).unwrap();
        assert_eq!(observe(&run_dir).unwrap(), None);
        drop(lock);
        let status = observe(&run_dir).unwrap().unwrap();
        assert_eq!(
            (status.state, status.end_cause),
            (State::Ended, Some(EndCause::Unobserved))
        );
    }

    #[test]
    fn an_invalid_record_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pid"), "{").unwrap();
        assert!(
            status(folder.path())
                .unwrap_err()
                .to_string()
                .contains("expected a JSON record, got \"{\"")
        );
    }
}
