//! The files of a run. Each piece goes out in one write: who follows a log never reads half a block.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A file that cannot take a run.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Opening failed.
    #[error("{path}: cannot be opened for writing: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Somebody's run is in it.
    #[error("{path}: holds {found_bytes} bytes already; name another file, a run is never overwritten")]
    Taken {
        /// The file.
        path: PathBuf,
        /// How much it holds.
        found_bytes: u64,
    },
    /// Standard output cannot be used.
    #[error("standard output cannot be used: {0}")]
    Stdout(io::Error),
}

/// The log and the side file.
#[derive(Debug)]
pub struct Outputs {
    log: File,
    side: Option<File>,
}

impl Outputs {
    /// Opens both; the log is standard output when it has no path, and there may be no side file.
    ///
    /// # Errors
    /// [`OutputError`] names the file.
    pub fn open(log: Option<&Path>, side: Option<&Path>) -> Result<Self, OutputError> {
        let log = log.map_or_else(stdout, create)?;
        let side = side.map(create).transpose()?;
        Ok(Self { log, side })
    }

    /// Appends to the log.
    ///
    /// # Errors
    /// The system's; what was written of `text` is then unknown.
    pub fn log(&mut self, text: &str) -> io::Result<()> {
        self.log.write_all(text.as_bytes())
    }

    /// Appends a record to the side file, if there is one.
    ///
    /// # Errors
    /// The system's.
    pub fn side(&mut self, record: &impl Serialize) -> io::Result<()> {
        let Some(side) = &mut self.side else { return Ok(()) };
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        side.write_all(&line)
    }

    /// Says something to whoever watches: on standard error, which may be closed.
    pub fn tell(&self, text: &str) {
        // The log and the side file hold all of it; a terminal that has gone is no reason to end a run.
        let _ = io::stderr().write_all(text.as_bytes());
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
    let open = OpenOptions::new().append(true).create(true).open(path);
    let open = open.and_then(|file| Ok((file.metadata()?.len(), file)));
    let (found_bytes, file) = open.map_err(|source| OutputError::Open {
        path: path.to_owned(),
        source,
    })?;
    if found_bytes > 0 {
        return Err(OutputError::Taken {
            path: path.to_owned(),
            found_bytes,
        });
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_holds_a_run_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let (full, empty) = (directory.path().join("full"), directory.path().join("empty"));
        std::fs::write(&full, "x").unwrap();
        std::fs::write(&empty, "").unwrap();
        assert!(
            Outputs::open(Some(&full), None)
                .unwrap_err()
                .to_string()
                .contains("holds 1 bytes already")
        );
        assert!(Outputs::open(Some(&empty), Some(&full)).is_err());
        assert!(Outputs::open(Some(&empty), Some(&directory.path().join("new"))).is_ok());
        assert_eq!(std::fs::read_to_string(&full).unwrap(), "x");
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
