//! Background runs: starts a load exactly once, and reports its status after the launcher has exited.
//!
//! Each run has a directory. Three processes use it:
//!
//! * the **launcher** (`drivetest run start`) takes the lock of the directory and the lock of the drive, forks, and
//!   exits;
//! * the **monitor**, its child in its own session, waits for the program and writes `exit`;
//! * the **program**, the child of the monitor, writes its process id to `pid` and then executes the load.
//!
//! Monitor and program inherit both locks. Therefore the directory's lock is free only if no process of the run lives
//! any more, and the drive's lock only if the program has ended. The program writes `pid` once, under the
//! lock, before the load begins: if the file exists, the run was started. Every decision here uses these two facts, and
//! none uses a process id alone.

mod drive_lock;
mod lock;
mod process;
mod remove;
mod run_dir;
mod spawn;
mod start;
mod status;

pub use drive_lock::Refusal;
pub use remove::{Removal, remove};
pub use start::{StartOutcome, StartRequest, start};
pub use status::{EndCause, State, Status, status, stop};

use std::io;
use std::path::{Path, PathBuf};

/// Why a command on a run failed. The load may be running all the same.
#[derive(Debug, thiserror::Error)]
pub enum DetachError {
    /// A file or directory failed.
    #[error("{path}: cannot {action}: {source}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The failed action, as a verb.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A record has content that this program never writes.
    #[error(
        "{path}: expected a JSON record, got {got:?}; find out which program wrote the file, then move it away"
    )]
    Record {
        /// The file.
        path: PathBuf,
        /// Its first characters.
        got: String,
    },
    /// Another start or stop holds the lock of the directory.
    #[error("{run_dir}: locked for {waited_s} s by another start or stop in progress; retry")]
    Unsettled {
        /// The run directory.
        run_dir: PathBuf,
        /// The waiting time in seconds.
        waited_s: u64,
    },
    /// The program could not be started.
    #[error("{program}: cannot {stage}: {source}")]
    Program {
        /// The program.
        program: PathBuf,
        /// The failed step, as a verb.
        stage: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// The new process was killed before it executed the program.
    #[error("{run_dir}: the new process ended before it executed the program; start again")]
    EndedBeforeExec {
        /// The run directory.
        run_dir: PathBuf,
    },
    /// An argument of the program is invalid.
    #[error("{argument:?}: an argument cannot contain a zero byte")]
    Argument {
        /// The argument.
        argument: String,
    },
}

impl DetachError {
    /// Wraps a system error with the path and the failed action.
    pub(crate) fn file(path: &Path, action: &'static str, source: impl Into<io::Error>) -> Self {
        Self::File {
            path: path.to_path_buf(),
            action,
            source: source.into(),
        }
    }

    /// Returns the value of a call on a file, or None if the file does not exist.
    pub(crate) fn unless_missing<T>(
        result: io::Result<T>,
        path: &Path,
        action: &'static str,
    ) -> Result<Option<T>, Self> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            result => result.map(Some).map_err(|error| Self::file(path, action, error)),
        }
    }
}
