//! Real block devices for tests: loop devices over files, partitions, swap, stacks. Only root can create them. Without root,
//! or without support in the kernel, the tests report that they were skipped.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part; a bench that fails fails the test"
)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Every byte of a new drive, different from the zeros and the random data of the program under test.
pub const FILLING: u8 = 0xa5;
pub const DRIVE_BYTES: usize = 32 << 20;

/// A loop device over a file in a temporary directory. Dropping it first removes everything that was set up on it.
pub struct Drive {
    pub folder: tempfile::TempDir,
    pub device: String,
    undo: Vec<Vec<String>>,
}

impl Drive {
    /// Creates a device. Returns None and reports the reason if that is impossible.
    pub fn attach() -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().join("drive.img");
        fs::write(&file, vec![FILLING; DRIVE_BYTES]).unwrap();
        let printed = run_tool(&[
            "losetup",
            "--find",
            "--show",
            "--partscan",
            file.to_str().unwrap(),
        ]);
        let Some(device) = printed else {
            skip("no loop device can be made here (it needs root)");
            return None;
        };
        let undo = vec![words(&["losetup", "--detach", &device])];
        Some(Self { folder, device, undo })
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("drive.img")
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs a command that must succeed. If it fails, reports that the test is skipped, and why.
    pub fn set_up(&self, command: &[&str]) -> bool {
        let succeeds = run_tool(command).is_some();
        if !succeeds {
            skip(&format!("'{}' does not work here", command.join(" ")));
        }
        succeeds
    }

    /// Like `set_up`, and runs `undo` at the end.
    pub fn set_up_for_now(&mut self, command: &[&str], undo: &[&str]) -> bool {
        let succeeds = self.set_up(command);
        if succeeds {
            self.undo.push(words(undo));
        }
        succeeds
    }

    /// Returns whether the last MiB, where no test setup writes, is unchanged.
    pub fn is_untouched(&self) -> bool {
        let bytes = fs::read(self.file()).unwrap();
        bytes[DRIVE_BYTES - (1 << 20)..]
            .iter()
            .all(|byte| *byte == FILLING)
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        while let Some(undo) = self.undo.pop() {
            let undo: Vec<_> = undo.iter().map(String::as_str).collect();
            if run_tool(&undo).is_none() {
                skip(&format!("left behind: '{}' failed", undo.join(" ")));
            }
        }
    }
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

/// Runs a program and returns its trimmed output. None if it failed or does not exist.
pub fn run_tool(command: &[&str]) -> Option<String> {
    let (program, arguments) = command.split_first().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(printed)
}

/// Reports a skipped test outside the captured output, so that it does not look like a passed one.
pub fn skip(why: &str) {
    std::io::stderr()
        .write_all(format!("SKIPPED: {why}\n").as_bytes())
        .unwrap();
}

/// Runs drivetest with a short sample of I/O activity: nothing else uses the drive.
pub fn drivetest(arguments: &[impl AsRef<OsStr>]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drivetest"))
        .env("DRIVETEST_GATE_SAMPLE_MS", "50")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Writes the configuration of a load that writes, and returns its path.
pub fn config_for(device: &str, folder: &Path) -> String {
    let path = folder.join("config");
    let lines = "test-duration-sec: 1\nread-reqs-per-sec: 100\nwrite-reqs-per-sec: 100\n";
    fs::write(&path, format!("device-names: {device}\n{lines}")).unwrap();
    path.to_str().unwrap().to_owned()
}
