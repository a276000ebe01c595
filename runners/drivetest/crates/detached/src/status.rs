//! How the run of a directory stands, judged by its lock and the identity of its process.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::DetachError;
use crate::process;
use crate::records::{ExitRecord, PidRecord};
use crate::run_dir::RunDir;

/// Between a launcher's lock and the program's `pid`, and between the program's end and the monitor's `exit`, lie
/// milliseconds; a disk that stalls in fsync may stretch them to seconds.
pub(crate) const SETTLING: Duration = Duration::from_secs(10);
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

const UNSEEN: &str =
    "nobody was left to see the end: the program and its monitor were killed, or the host was rebooted";

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing was ever started in the directory.
    Absent,
    /// The program is running.
    Running,
    /// The program has ended, or was stopped before it began; it is never started again.
    Ended,
}

/// The answer of `start`, `status` and `stop`; its JSON is `drivecert.detached/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Name and version of this record.
    pub schema: &'static str,
    /// Where the run stands.
    pub state: State,
    /// The program's process; None when there never was one.
    pub pid: Option<i32>,
    /// Which start for the drive it was; None when there was none.
    pub generation: Option<u64>,
    /// The start of the host that the program belongs to: under another one it has ended. None when there was none.
    pub boot_id: Option<String>,
    /// None while it runs, when a signal ended it, and when nobody was left to see it.
    pub exit_status: Option<i32>,
    /// Length of the log.
    pub log_bytes: u64,
    /// Length of the side file.
    pub side_file_bytes: u64,
    /// A sentence; empty when there is nothing to add.
    pub reason: String,
}

/// Tells how the run of a directory stands.
///
/// # Errors
/// When the directory cannot be read, or stays between two states for 10 s: nothing is known then, ask again.
pub fn status(run_dir: &Path) -> Result<Status, DetachError> {
    match RunDir::find(run_dir)? {
        Some(run_dir) => settled(&run_dir),
        None => Ok(blank(State::Absent)),
    }
}

/// Looks until the run stands somewhere.
pub(crate) fn settled(run_dir: &RunDir) -> Result<Status, DetachError> {
    let deadline = Instant::now() + SETTLING;
    loop {
        if let Some(status) = look(run_dir)? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            return Err(unsettled(run_dir));
        }
        thread::sleep(PAUSE);
    }
}

pub(crate) fn unsettled(run_dir: &RunDir) -> DetachError {
    DetachError::Unsettled {
        run_dir: run_dir.path().to_path_buf(),
        waited_s: SETTLING.as_secs(),
    }
}

/// Looks once; None between two states. The order is what makes it sound: `pid` is read before the lock is asked, so a free
/// lock says that the process of *that* `pid` has ended, and `exit` is read after it, so it has been written if it ever will.
fn look(run_dir: &RunDir) -> Result<Option<Status>, DetachError> {
    let pid = run_dir.pid()?;
    let is_locked = run_dir.is_locked()?;
    match (run_dir.exit()?, &pid) {
        (Some(exit), _) => ended(run_dir, pid.as_ref(), exit).map(Some),
        (None, None) if is_locked => Ok(None),
        (None, None) => Ok(Some(blank(State::Absent))),
        (None, Some(process)) if !is_locked => ended(run_dir, Some(process), unseen()).map(Some),
        (None, Some(process)) if process::is_alive(process)? => measured(run_dir, running(process)).map(Some),
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
    }
}

pub(crate) fn refused(reason: String) -> Status {
    Status {
        reason,
        ..blank(State::Absent)
    }
}

fn running(process: &PidRecord) -> Status {
    of_process(State::Running, Some(process))
}

fn of_process(state: State, process: Option<&PidRecord>) -> Status {
    Status {
        pid: process.map(|process| process.pid),
        generation: process.map(|process| process.generation),
        boot_id: process.map(|process| process.boot_id.clone()),
        ..blank(state)
    }
}

fn unseen() -> ExitRecord {
    ExitRecord {
        exit_status: None,
        signal: None,
        reason: UNSEEN.to_owned(),
    }
}

fn ended(run_dir: &RunDir, process: Option<&PidRecord>, exit: ExitRecord) -> Result<Status, DetachError> {
    let reason = exit
        .signal
        .map_or(exit.reason, |signal| format!("ended by signal {signal}"));
    let status = Status {
        exit_status: exit.exit_status,
        reason,
        ..of_process(State::Ended, process)
    };
    measured(run_dir, status)
}

fn measured(run_dir: &RunDir, status: Status) -> Result<Status, DetachError> {
    Ok(Status {
        log_bytes: run_dir.length("log")?,
        side_file_bytes: run_dir.length("side.jsonl")?,
        ..status
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork_lock;

    #[test]
    fn a_start_under_way_is_neither_absent_nor_running() {
        let folder = tempfile::tempdir().unwrap();
        let run_dir = RunDir::find(folder.path()).unwrap().unwrap();
        assert_eq!(look(&run_dir).unwrap().unwrap().state, State::Absent);
        let _lock = run_dir.try_lock().unwrap().unwrap();
        assert_eq!(look(&run_dir).unwrap(), None);
    }

    #[test]
    fn an_end_that_the_monitor_is_about_to_write_is_waited_for() {
        let _alone = fork_lock::none();
        let folder = tempfile::tempdir().unwrap();
        let run_dir = RunDir::find(folder.path()).unwrap().unwrap();
        let lock = run_dir.try_lock().unwrap().unwrap();
        let record = r#"{"pid": 1, "start_ticks": 0, "generation": 4, "boot_id": "an earlier one"}"#;
        std::fs::write(run_dir.file("pid"), record).unwrap();
        assert_eq!(look(&run_dir).unwrap(), None);
        drop(lock);
        assert_eq!(look(&run_dir).unwrap().unwrap().state, State::Ended);
    }

    #[test]
    fn a_broken_record_is_an_error_and_no_state() {
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
