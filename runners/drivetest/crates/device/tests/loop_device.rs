//! Real loop devices on this host. Without root the tests report that they were skipped.
#![expect(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drivetest_device::{Refusal, identify};

/// O_EXCL of Linux on every architecture.
const EXCLUSIVE: i32 = 0o200;

/// A loop device over a file of 16 MiB. Both are removed when it is dropped.
struct Loop {
    folder: tempfile::TempDir,
    device: PathBuf,
    mounted: bool,
}

impl Loop {
    fn attach() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("drive.img");
        File::create(&file).unwrap().set_len(16 << 20).unwrap();
        let Some(output) = run("losetup", &["--find", "--show", file.to_str().unwrap()]) else {
            eprintln!("SKIPPED: losetup makes no loop device here (not root, or a container)");
            return None;
        };
        Some(Self {
            folder,
            device: output.trim().into(),
            mounted: false,
        })
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("drive.img")
    }

    fn mount(&mut self) -> bool {
        let point = self.folder.path().join("mnt");
        std::fs::create_dir(&point).unwrap();
        let device = self.device.to_str().unwrap();
        self.mounted = run("mkfs.ext4", &["-q", device]).is_some()
            && run("mount", &[device, point.to_str().unwrap()]).is_some();
        if !self.mounted {
            eprintln!("SKIPPED: mkfs.ext4 or mount does not work here");
        }
        self.mounted
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if self.mounted {
            run("umount", &[self.folder.path().join("mnt").to_str().unwrap()]);
        }
        run("losetup", &["--detach", self.device.to_str().unwrap()]);
    }
}

fn refusals(path: &Path) -> Vec<Refusal> {
    identify(path).unwrap().refusals
}

fn ids(path: &Path) -> Vec<&'static str> {
    refusals(path).into_iter().map(|refusal| refusal.id).collect()
}

/// Runs a program and returns its output; None if it failed or does not exist.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_loop_device_and_its_file_are_one_drive() {
    let Some(attached) = Loop::attach() else { return };
    let (device, file) = (
        identify(&attached.device).unwrap(),
        identify(&attached.file()).unwrap(),
    );
    assert_eq!(device.drive_key, file.drive_key);
    assert_eq!(
        (device.size_bytes, device.backing),
        (16 << 20, Some(attached.file()))
    );
    assert!(device.refusals.is_empty() && file.refusals.is_empty());
}

#[test]
fn a_mounted_loop_device_is_refused_by_every_path() {
    let Some(mut attached) = Loop::attach() else {
        return;
    };
    if !attached.mount() {
        return;
    }
    let link = attached.folder.path().join("by-another-name");
    symlink(&attached.device, &link).unwrap();
    for path in [&attached.device, &attached.file(), &link] {
        assert_eq!(ids(path), ["mounted"], "{path:?}");
    }
}

#[test]
fn a_loop_device_that_a_process_has_open_is_refused() {
    let Some(attached) = Loop::attach() else { return };
    let open_file = File::open(&attached.device).unwrap();
    let mut sleeper = Command::new("sleep").arg("60").stdin(open_file).spawn().unwrap();
    let found = refusals(&attached.device);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(
        found[0]
            .sentence
            .contains(&format!("open in process {} (sleep)", sleeper.id())),
        "{found:?}"
    );
    assert!(ids(&attached.device).is_empty());
}

#[test]
fn a_loop_device_that_was_opened_exclusively_is_refused() {
    let Some(attached) = Loop::attach() else { return };
    let exclusive = OpenOptions::new()
        .read(true)
        .custom_flags(EXCLUSIVE)
        .open(&attached.device)
        .unwrap();
    assert_eq!(ids(&attached.device), ["claimed"]);
    drop(exclusive);
    assert!(ids(&attached.device).is_empty());
}

#[test]
fn a_file_under_another_name_is_the_same_drive() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("a"), folder.path().join("b"));
    File::create(&file).unwrap().set_len(1 << 20).unwrap();
    std::fs::hard_link(&file, &link).unwrap();
    assert_eq!(
        identify(&file).unwrap().drive_key,
        identify(&link).unwrap().drive_key
    );
}
