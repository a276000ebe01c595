//! A directory with a plain file as a drive.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::drive::skip;

/// O_DIRECT.
const DIRECT: i32 = if cfg!(target_arch = "aarch64") {
    0o200_000
} else {
    0o40_000
};

pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// Creates a bench. Returns None and reports the reason if plain files do not support direct I/O.
    pub fn new(drive_bytes: u64) -> Option<Self> {
        let bench = Self {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
        };
        let mut options = fs::OpenOptions::new();
        let file = options
            .write(true)
            .create(true)
            .custom_flags(DIRECT)
            .open(bench.drive());
        let Ok(file) = file else {
            skip("no direct I/O on the files here");
            return None;
        };
        file.set_len(drive_bytes).unwrap();
        Some(bench)
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn drive(&self) -> PathBuf {
        self.folder.path().join("drive.img")
    }

    pub fn content(&self) -> Vec<u8> {
        fs::read(self.drive()).unwrap()
    }

    /// Returns the command line for the drive. Its output goes to files.
    pub fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
        command
            .arg("prep")
            .arg(self.drive())
            .args(options)
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, options: &[&str]) -> Output {
        self.command(options).output().unwrap()
    }

    /// Returns the records of a side file.
    pub fn records(&self, name: &str) -> Vec<Value> {
        records(&fs::read(self.path(name)).unwrap_or_default())
    }
}

/// Returns the lines that are JSON.
pub fn records(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Returns the records of one kind.
pub fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["record"] == kind).collect()
}

#[track_caller]
pub fn ended(output: &Output, status: i32, sentence: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(said.contains(sentence), "expected '{sentence}', got: {said}");
}
