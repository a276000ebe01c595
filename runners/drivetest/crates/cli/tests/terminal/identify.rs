//! The text of `drivetest identify` at a terminal: data, use and refusals of real loop devices.

use std::process::Command;

use serde_json::Value;

use crate::drive::{Drive, drivetest};
use crate::terminal::Terminal;

/// Returns what a terminal shows.
fn shown(args: &[&str]) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command
        .env("DRIVETEST_GATE_SAMPLE_MS", "50")
        .arg("identify")
        .args(args);
    let shown = Terminal::default().run(command)?;
    assert_eq!(shown.status, Some(0));
    Some(shown.screen())
}

fn document(args: &[&str]) -> Value {
    let output = drivetest(&[&["identify", "--json"], args].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

const UNUSED: &str = "nothing was recognised on it; not mounted, held or open";

#[test]
fn the_data_on_a_device_is_named() {
    let Some(drive) = Drive::attach() else { return };
    let device = drive.device.clone();
    let Some(screen) = shown(&[&device]) else { return };
    assert!(screen.contains(UNUSED), "{screen}");
    for (tool, data, name) in [
        (
            &["mkfs.ext4", "-q", "-F"][..],
            "an ext4 file system",
            "an ext2, ext3 or ext4 file system",
        ),
        (
            &["mke2fs", "-q", "-F", "-t", "ext2"],
            "an ext2 file system",
            "an ext2, ext3 or ext4 file system",
        ),
        (
            &["mke2fs", "-q", "-F", "-t", "ext3"],
            "an ext3 file system",
            "an ext2, ext3 or ext4 file system",
        ),
        (&["mkswap", "-q"], "swap space", "swap space"),
    ] {
        if !drive.set_up(&[tool, &[&device]].concat()) {
            continue;
        }
        let Some(screen) = shown(&[&device]) else { return };
        assert!(
            screen.contains(&format!(
                "  holds {data}; a load or prep overwrites it only with --i-know-this-destroys-data"
            )),
            "{screen}"
        );
        assert!(!screen.contains(UNUSED), "{screen}");
        assert_eq!(document(&[&device])["signature"], name);
    }
}

#[test]
fn a_mounted_device_is_refused_and_is_in_use_in_the_list() {
    let Some(mut drive) = Drive::attach() else { return };
    let (device, point) = (drive.device.clone(), drive.path("mnt"));
    std::fs::create_dir(&point).unwrap();
    let is_mounted = drive.set_up(&["mkfs.ext4", "-q", &device])
        && drive.set_up_for_now(&["mount", &device, &point], &["umount", &point]);
    if !is_mounted {
        return;
    }
    let Some(screen) = shown(&[&device]) else { return };
    assert!(
        screen.contains(&format!("refused (mounted): {device}: mounted at {point}")),
        "{screen}"
    );
    assert!(!screen.contains(UNUSED) && !screen.contains("holds"), "{screen}");
    let Some(screen) = shown(&[]) else { return };
    let line = screen
        .lines()
        .find(|line| line.starts_with(&format!("{device}: ")));
    assert!(
        line.is_some_and(|line| line.ends_with(&format!(": mounted at {point}"))),
        "{screen}"
    );
}

#[test]
fn the_list_has_the_use_of_drives_only_if_json_is_requested() {
    let Some(drive) = Drive::attach() else { return };
    if !drive.set_up(&["mkfs.ext4", "-q", &drive.device]) {
        return;
    }
    let entry = |list: &Value| {
        let drives = list["drives"].as_array().unwrap().iter();
        let found = drives
            .filter(|entry| entry["path"] == drive.device.as_str())
            .cloned();
        found.collect::<Vec<_>>()
    };
    let [listed] = &entry(&document(&[]))[..] else {
        panic!()
    };
    assert_eq!(
        (
            &listed["signature"],
            &listed["is_content_read"],
            &listed["is_open"]
        ),
        (
            &"an ext2, ext3 or ext4 file system".into(),
            &true.into(),
            &false.into()
        )
    );
    let piped = serde_json::from_slice(&drivetest(&["identify"]).stdout).unwrap();
    let [listed] = &entry(&piped)[..] else { panic!() };
    assert_eq!(listed["path"], drive.device.as_str());
    for field in [
        "mounts",
        "holders",
        "is_swap",
        "is_open",
        "is_content_read",
        "signature",
    ] {
        assert_eq!(listed.get(field), None, "{field}");
    }
}
