//! Stopping a run, whether it runs, has ended, or has yet to begin.

use std::path::Path;
use std::thread;
use std::time::Instant;

use crate::error::DetachError;
use crate::process;
use crate::records::ExitRecord;
use crate::run_dir::RunDir;
use crate::status::{self, PAUSE, SETTLING, State, Status};

/// Sends TERM to the program of a directory and to no other, and tells how the run stands then; it may need time to end.
///
/// A directory that was not started yet is closed: a start that comes later, because it was under way when the run was
/// cancelled, finds it ended and starts nothing.
///
/// # Errors
/// When the directory cannot be read or written, or the program may not be signalled: it may still be running.
pub fn stop(run_dir: &Path) -> Result<Status, DetachError> {
    let Some(found) = RunDir::find(run_dir)? else {
        return status::status(run_dir);
    };
    let deadline = Instant::now() + SETTLING;
    loop {
        let status = status::settled(&found)?;
        match status.state {
            State::Ended => return Ok(status),
            State::Running => return terminate(&found),
            State::Absent if close(&found)? => return status::settled(&found),
            State::Absent if Instant::now() >= deadline => return Err(status::unsettled(&found)),
            State::Absent => thread::sleep(PAUSE),
        }
    }
}

fn terminate(run_dir: &RunDir) -> Result<Status, DetachError> {
    if let Some(record) = run_dir.pid()? {
        process::terminate(&record)?;
    }
    status::settled(run_dir)
}

/// Closes a directory for good; false when a launcher has its lock.
fn close(run_dir: &RunDir) -> Result<bool, DetachError> {
    let Some(_lock) = run_dir.try_lock()? else {
        return Ok(false);
    };
    if !run_dir.is_spent()? {
        let reason = "stopped before it was started".to_owned();
        run_dir.write_exit(&ExitRecord {
            exit_status: None,
            signal: None,
            reason,
        })?;
    }
    Ok(true)
}
