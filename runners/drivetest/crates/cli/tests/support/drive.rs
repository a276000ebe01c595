//! Real block devices for tests: loop devices over files, partitions, swap, stacks. Only root may make them; elsewhere,
//! and where the kernel lacks a part, the tests say that they were left out.
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

/// Every byte of a new drive: neither the zeros nor the random data of a program under test.
pub const FILLING: u8 = 0xa5;
pub const DRIVE_BYTES: usize = 32 << 20;

/// A loop device over a file in a directory of its own; both vanish with it, after what was put upon them.
pub struct Drive {
    pub folder: tempfile::TempDir,
    pub device: String,
    undo: Vec<Vec<String>>,
}

impl Drive {
    /// None, with a word why, where no loop device can be made.
    pub fn attach() -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().join("drive.img");
        fs::write(&file, vec![FILLING; DRIVE_BYTES]).unwrap();
        let told = told(&[
            "losetup",
            "--find",
            "--show",
            "--partscan",
            file.to_str().unwrap(),
        ]);
        let Some(device) = told else {
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

    /// Runs a command that must succeed; otherwise says that the test is left out, and why.
    pub fn set_up(&self, command: &[&str]) -> bool {
        let succeeds = told(command).is_some();
        if !succeeds {
            skip(&format!("'{}' does not work here", command.join(" ")));
        }
        succeeds
    }

    /// As `set_up`; `undo` is run at the end.
    pub fn set_up_for_now(&mut self, command: &[&str], undo: &[&str]) -> bool {
        let succeeds = self.set_up(command);
        if succeeds {
            self.undo.push(words(undo));
        }
        succeeds
    }

    /// Whether the last MiB, where no set-up of a test writes, still holds its filling.
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
            if told(&undo).is_none() {
                skip(&format!("left behind: '{}' failed", undo.join(" ")));
            }
        }
    }
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

/// Runs a program and returns what it printed, trimmed; None when it failed or is not there.
pub fn told(command: &[&str]) -> Option<String> {
    let (program, arguments) = command.split_first().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let told = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(told)
}

/// Past the capture of test output, so that a skipped test does not pass for a passed one.
pub fn skip(why: &str) {
    std::io::stderr()
        .write_all(format!("SKIPPED: {why}\n").as_bytes())
        .unwrap();
}

/// Runs drivetest.
pub fn drivetest(arguments: &[impl AsRef<OsStr>]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drivetest"))
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
