//! Errors of starting, querying, stopping and removing a background run.

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
