//! Drives with I/O errors.

use std::fs;

use super::bench::{ended, records};
use crate::drive::{drivetest, run_tool, skip};

/// A loop device of 16 MiB over a file on a tmpfs of 4 MiB. Writes above 4 MiB fail.
struct Failing {
    folder: tempfile::TempDir,
    device: String,
}

impl Failing {
    fn attach() -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = folder.path().to_str().unwrap();
        if run_tool(&["mount", "-t", "tmpfs", "-o", "size=4m", "drivetest", place]).is_none() {
            skip("no tmpfs can be mounted here (it needs root)");
            return None;
        }
        let file = folder.path().join("drive.img");
        fs::File::create(&file).unwrap().set_len(16 << 20).unwrap();
        let device = run_tool(&["losetup", "--find", "--show", file.to_str().unwrap()]);
        if device.is_none() {
            run_tool(&["umount", place]);
        }
        Some(Self {
            folder,
            device: device?,
        })
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        run_tool(&["losetup", "--detach", &self.device]);
        run_tool(&["umount", self.folder.path().to_str().unwrap()]);
    }
}

#[test]
fn a_write_error_is_reported_with_its_offset_and_a_separate_exit_code() {
    let Some(failing) = Failing::attach() else { return };
    let state = failing.folder.path().with_extension("state");
    let output = drivetest(&["prep", &failing.device, "--state", state.to_str().unwrap()]);
    ended(&output, 3, &format!("drivetest: writing {}: ", failing.device));
    ended(&output, 3, "stopped by the first error, at offset ");
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        log.contains(&format!("ERROR: writing {}: ", failing.device)),
        "{log}"
    );
    assert!(!log.contains("salting") && !log.contains("finished"), "{log}");
    assert_eq!(records(&output.stderr).last().unwrap()["reason"], "device-error");
    let kept: serde_json::Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
    fs::remove_file(&state).unwrap();
    assert!(
        kept["devices"][0]["done_bytes"].as_u64().unwrap() <= 4 << 20,
        "{kept}"
    );
}

#[test]
fn a_full_disk_for_the_log_ends_the_run() {
    let Some(bench) = super::bench::Bench::new(1 << 20) else {
        return;
    };
    ended(&bench.run(&["--log", "/dev/full"]), 5, "cannot be written");
}
