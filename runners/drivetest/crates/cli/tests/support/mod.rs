//! Support for tests of the binary: running it, and the real logs of tests/data.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part; a test that cannot go on fails"
)]

#[path = "closed_output.rs"]
pub mod closed_output;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// The directory of the real logs.
pub fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/act")
}

/// Returns the text of a real log.
pub fn log(case: &str) -> String {
    fs::read_to_string(logs().join(case)).unwrap()
}

/// Runs drivetest in a directory.
pub fn drivetest_in(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drivetest"))
        .current_dir(directory)
        .args(args)
        .output()
        .unwrap()
}

/// Runs drivetest in the directory of the real logs.
pub fn drivetest(args: &[&str]) -> Output {
    drivetest_in(&logs(), args)
}

/// Returns the output of a program as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A temporary file, removed on drop.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Writes a file whose name is unique to this process and value.
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, ordinal) = (std::process::id(), COUNT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(format!("drivetest-{process}-{ordinal}-{name}"));
        fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        Self(path)
    }

    /// Returns the path as an argument.
    pub fn arg(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// Returns the document of `read --json` with slices of 10 s, and the exit status.
    pub fn read(&self) -> (Value, i32) {
        read(self.arg(), &["--slice-sec", "10"])
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// Returns the document of `read --json`, and the exit status.
pub fn read(path: &str, args: &[&str]) -> (Value, i32) {
    let output = drivetest(&[&["read", path, "--json"], args].concat());
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (document, output.status.code().unwrap())
}

/// Compresses bytes with gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a file of a tar: a POSIX header and its bytes.
pub fn tar_entry(name: &[u8], kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
    header[156] = kind;
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let padding = vec![0; bytes.len().next_multiple_of(512) - bytes.len()];
    [&header[..], bytes, &padding].concat()
}

/// Returns a tar of named files.
pub fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let entries = files
        .iter()
        .map(|(name, bytes)| tar_entry(name.as_bytes(), b'0', bytes));
    let mut archive: Vec<u8> = entries.collect::<Vec<_>>().concat();
    archive.extend([0; 1024]);
    archive
}

/// Returns the ids of findings.
pub fn ids(findings: &Value) -> Vec<String> {
    findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["id"].as_str().unwrap().to_owned())
        .collect()
}
