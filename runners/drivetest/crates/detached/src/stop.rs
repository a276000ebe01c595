//! `drivetest stop`: stops a run that is running, has ended, or was not started yet.

use std::path::Path;

use crate::error::DetachError;
use crate::process;
use crate::records::ExitRecord;
use crate::run_dir::RunDir;
use crate::status::{self, State, Status};

/// Sends SIGTERM to the program of a run and to no other, and returns the status. The program may need time to end.
///
/// A run that was not started yet is marked as ended. A start that arrives later, because it was in progress when the run
/// was cancelled, then starts nothing.
///
/// # Errors
/// If the directory cannot be read or written, or the program cannot be signalled. It may still be running.
pub fn stop(run_dir: &Path) -> Result<Status, DetachError> {
    let Some(found) = RunDir::find(run_dir)? else {
        return status::status(run_dir);
    };
    status::poll(&found, || {
        let status = status::settled(&found)?;
        match status.state {
            State::Ended => Ok(Some(status)),
            State::Running => terminate(&found).map(Some),
            State::Absent if mark_stopped(&found)? => status::settled(&found).map(Some),
            State::Absent => Ok(None),
        }
    })
}

fn terminate(run_dir: &RunDir) -> Result<Status, DetachError> {
    if let Some(record) = run_dir.pid()? {
        process::terminate(&record)?;
    }
    status::settled(run_dir)
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
