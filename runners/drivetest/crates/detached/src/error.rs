//! What can keep a run from being started, asked after or stopped.

use std::io;
use std::path::{Path, PathBuf};

/// Why no answer can be given; none of these says anything about a load that may be running.
#[derive(Debug, thiserror::Error)]
pub enum DetachError {
    /// A file or directory of the run, or of the host, could not be used.
    #[error("{path}: cannot {action}: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A record holds something that this program never writes.
    #[error("{path}: expected a JSON record, got {got:?}; move the file away once you know what wrote it")]
    Record {
        /// The file.
        path: PathBuf,
        /// Its first characters.
        got: String,
    },
    /// Somebody holds the lock of the directory without getting on.
    #[error("{run_dir}: its lock has been held for {waited_s} s by a start or an end under way; ask again")]
    Unsettled {
        /// The run directory.
        run_dir: PathBuf,
        /// How long it was watched.
        waited_s: u64,
    },
    /// The program did not come to life.
    #[error("{program}: cannot {stage}: {source}")]
    Program {
        /// What was to run.
        program: PathBuf,
        /// The step that failed, as a verb.
        stage: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The new process was killed before it became the program.
    #[error("{run_dir}: the new process ended before the program began; start again")]
    Stillborn {
        /// The run directory.
        run_dir: PathBuf,
    },
    /// The command line of the program cannot be handed on.
    #[error("{argument:?}: an argument cannot hold a zero byte")]
    Argument {
        /// The argument.
        argument: String,
    },
}

impl DetachError {
    /// Wraps a system's answer with the path and the action it answers.
    pub(crate) fn file(path: &Path, action: &'static str, source: impl Into<io::Error>) -> Self {
        Self::File {
            path: path.to_path_buf(),
            action,
            source: source.into(),
        }
    }
}
