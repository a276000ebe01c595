//! The output files of a run. Each block is one write, so that a reader never sees half of it.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde::Serialize;

use super::side::{REFUSED_HEAD, START_HEAD};
use crate::folder;
use crate::progress::{ProgressView, Snapshot};

/// A refusal is shorter than this: a header for 128 devices, or a record with their names.
const REFUSAL_BYTES_MAX: u64 = 256 * 1024;

/// An output file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Opening failed.
    #[error("{path}: cannot be opened for writing: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file contains a run.
    #[error(
        "{path}: contains {found_bytes} bytes; choose another file, because existing runs are never overwritten"
    )]
    Taken {
        /// The file.
        path: PathBuf,
        /// Its size.
        found_bytes: u64,
    },
    /// Standard output cannot be used.
    #[error("standard output cannot be used: {0}")]
    Stdout(io::Error),
}

impl OutputError {
    fn of(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Open { path, source }
    }
}

/// The log and the side file.
#[derive(Debug)]
pub struct Outputs {
    log: File,
    side: Option<File>,
    is_at_terminal: bool,
    view: Option<Box<dyn ProgressView>>,
}

impl Outputs {
    /// Opens both files. Without a path, the log is standard output and there is no side file.
    ///
    /// # Errors
    /// [`OutputError`] names the file.
    pub fn open(log: Option<&Path>, side: Option<&Path>) -> Result<Self, OutputError> {
        let log = log.map_or_else(stdout, create)?;
        let side = side.map(create).transpose()?;
        let is_at_terminal = log.is_terminal() && io::stderr().is_terminal();
        Ok(Self {
            log,
            side,
            is_at_terminal,
            view: None,
        })
    }

    /// Returns whether a person sees both the log and standard error. Such a person needs to read each message only
    /// once.
    pub fn is_at_terminal(&self) -> bool {
        self.is_at_terminal
    }

    /// Appends to the log.
    ///
    /// # Errors
    /// The system's error; then it is unknown how much of `text` was written.
    pub fn log(&mut self, text: &str) -> io::Result<()> {
        let (mut log, mut written) = (&self.log, Ok(()));
        self.write_around_view(self.is_at_terminal, &mut || {
            written = log.write_all(text.as_bytes());
        });
        written
    }

    /// Appends a record to the side file, if there is one.
    ///
    /// # Errors
    /// The system's error.
    pub fn side(&mut self, record: &impl Serialize) -> io::Result<()> {
        let Some(side) = &mut self.side else { return Ok(()) };
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        side.write_all(&line)
    }

    /// Prints to standard error, which may be closed.
    pub fn print_status(&self, text: &str) {
        self.write_around_view(true, &mut || {
            // The text is also in the log and the side file, so a closed terminal does not end the run.
            let _ = io::stderr().write_all(text.as_bytes());
        });
    }

    /// Shows the progress of the run at the terminal of standard error, until the outputs are dropped.
    pub fn set_view(&mut self, view: Option<Box<dyn ProgressView>>) {
        self.view = view;
    }

    /// Returns whether a person sees the progress.
    pub fn has_view(&self) -> bool {
        self.view.is_some()
    }

    /// Shows a snapshot, if a person sees the progress.
    pub fn show(&self, snapshot: Snapshot) {
        if let Some(view) = &self.view {
            view.show(snapshot);
        }
    }

    fn write_around_view(&self, is_on_terminal: bool, write: &mut dyn FnMut()) {
        match &self.view {
            Some(view) if is_on_terminal => view.around_output(write),
            _ => write(),
        }
    }

    /// Warns about the outputs of a run whose result is known without them.
    pub fn warn_unless_written(&self, written: io::Result<()>) {
        if let Err(error) = written {
            self.print_status(&format!(
                "drivetest: warning: the log or side file cannot be written: {error}\n"
            ));
        }
    }
}

/// Checks that a log or side file could be created or used again, without creating or truncating it.
///
/// # Errors
/// [`OutputError`], as of [`Outputs::open`].
pub fn check(path: &Path) -> Result<(), OutputError> {
    let failed = |error| OutputError::of(path, error);
    match std::fs::metadata(path) {
        // Opening a pipe would wait for its reader.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => {
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            is_used_again(path, &file).map(|_| ())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let accessed = access(folder(path), Access::WRITE_OK | Access::EXEC_OK);
            accessed.map_err(|error| failed(error.into()))
        }
        Err(error) => Err(failed(error)),
    }
}

fn stdout() -> Result<File, OutputError> {
    io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .map(File::from)
        .map_err(OutputError::Stdout)
}

fn create(path: &Path) -> Result<File, OutputError> {
    let failed = |error| OutputError::of(path, error);
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(failed)?;
    if is_used_again(path, &file)? {
        file.set_len(0).map_err(failed)?;
    }
    Ok(file)
}

/// Returns whether an opened file contains only the refusal of an earlier attempt. A file with a run is an error.
fn is_used_again(path: &Path, file: &File) -> Result<bool, OutputError> {
    let found_bytes = file
        .metadata()
        .map_err(|error| OutputError::of(path, error))?
        .len();
    match found_bytes {
        0 => Ok(false),
        _ if is_refusal(path, found_bytes) => Ok(true),
        _ => Err(OutputError::Taken {
            path: path.to_owned(),
            found_bytes,
        }),
    }
}

/// Returns whether a file contains only the refusal of an earlier attempt, so that overwriting it loses no
/// measurement.
fn is_refusal(path: &Path, found_bytes: u64) -> bool {
    if found_bytes > REFUSAL_BYTES_MAX {
        return false;
    }
    let Ok(text) = std::fs::read_to_string(path) else {
        return false;
    };
    let is_log = text.contains("\nGenerated by drivetest ")
        && text.contains("\ndrivetest: refused: ")
        && !text.contains("HISTOGRAM NAMES");
    let lines: Vec<&str> = text.lines().collect();
    let is_side =
        matches!(lines[..], [start, end] if start.starts_with(START_HEAD) && end.starts_with(REFUSED_HEAD));
    is_log || is_side
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::side::tests::refused_lines;

    #[test]
    fn a_file_with_a_run_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let (full, empty) = (directory.path().join("full"), directory.path().join("empty"));
        std::fs::write(&full, "x").unwrap();
        std::fs::write(&empty, "").unwrap();
        assert!(
            Outputs::open(Some(&full), None)
                .unwrap_err()
                .to_string()
                .contains("contains 1 bytes")
        );
        assert!(Outputs::open(Some(&empty), Some(&full)).is_err());
        assert!(Outputs::open(Some(&empty), Some(&directory.path().join("new"))).is_ok());
        assert_eq!(std::fs::read_to_string(&full).unwrap(), "x");
    }

    #[test]
    fn a_refusal_is_overwritten_and_a_run_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (log, side) = (directory.path().join("log"), directory.path().join("side"));
        let opened = |log_text: &str, side_text: &str| {
            std::fs::write(&log, log_text).unwrap();
            std::fs::write(&side, side_text).unwrap();
            Outputs::open(Some(&log), Some(&side)).is_ok()
        };
        let refused =
            "\nACT version 6.6\nGenerated by drivetest 0.2.0, arrivals even\ndrivetest: refused: mounted\n";
        let [start, end] = refused_lines();
        assert!(opened(refused, &format!("{start}\n{end}\n")));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "");
        assert!(!opened(&format!("{refused}HISTOGRAM NAMES\n"), ""));
        assert!(!opened(
            "",
            &format!("{start}\n{{\"record\":\"interval\"}}\n{end}\n")
        ));
        assert!(!opened("drivetest: refused: mounted\n", ""), "not ours");
    }

    #[test]
    fn records_are_lines() {
        let directory = tempfile::tempdir().unwrap();
        let (log, side) = (directory.path().join("log"), directory.path().join("side"));
        let mut outputs = Outputs::open(Some(&log), Some(&side)).unwrap();
        outputs.side(&serde_json::json!({"record": "start"})).unwrap();
        outputs.side(&serde_json::json!({"record": "end"})).unwrap();
        let expected = "{\"record\":\"start\"}\n{\"record\":\"end\"}\n";
        assert_eq!(std::fs::read_to_string(&side).unwrap(), expected);
    }
}
