//! Parts of volumes and arrays, if the kernel has device-mapper or md.

use std::fs;

use super::all_refuse;
use crate::drive::{Drive, run_tool, skip};

fn kernel_has(driver: &str, listed_in: &str) -> bool {
    let has =
        fs::read_to_string(listed_in).is_ok_and(|list| list.split_whitespace().any(|word| word == driver));
    if !has {
        skip(&format!("this kernel has no {driver} ({listed_in})"));
    }
    has
}

/// Returns a name for the stacked device that no other test uses.
fn name(kind: &str) -> String {
    format!("drivetest-{kind}-{}", std::process::id())
}

#[test]
fn a_part_of_a_device_mapper_device() {
    let Some(mut drive) = Drive::attach() else { return };
    if !kernel_has("device-mapper", "/proc/misc") {
        return;
    }
    let (device, name) = (drive.device.clone(), name("dm"));
    let table = format!("0 16384 linear {device} 0");
    if drive.set_up_for_now(
        &["dmsetup", "create", &name, "--table", &table],
        &["dmsetup", "remove", &name],
    ) {
        all_refuse(&drive, &device, "used by /dev/dm-");
        all_refuse(
            &drive,
            &format!("/dev/mapper/{name}"),
            "which a load would measure together; name a single drive",
        );
    }
}

#[test]
fn a_part_of_a_logical_volume() {
    let Some(mut drive) = Drive::attach() else { return };
    if !kernel_has("device-mapper", "/proc/misc") {
        return;
    }
    let (device, group) = (drive.device.clone(), name("vg"));
    let is_made = drive.set_up(&["pvcreate", "--yes", "--setphysicalvolumesize", "16M", &device])
        && drive.set_up_for_now(&["vgcreate", &group, &device], &["vgremove", "--force", &group])
        && drive.set_up(&["lvcreate", "--yes", "--extents", "1", "--name", "volume", &group]);
    if is_made {
        all_refuse(&drive, &device, "used by /dev/dm-");
    }
}

#[test]
fn a_member_of_an_array() {
    let Some(mut drive) = Drive::attach() else { return };
    if !kernel_has("md", "/proc/devices") || run_tool(&["mdadm", "--version"]).is_none() {
        return;
    }
    let (device, array) = (drive.device.clone(), format!("/dev/md/{}", name("md")));
    let create = [
        "mdadm",
        "--create",
        &array,
        "--run",
        "--force",
        "--metadata=1.2",
        "--level=1",
        "--size=8M",
    ];
    let create = [&create[..], &["--raid-devices=1", &device]].concat();
    if drive.set_up_for_now(&create, &["mdadm", "--stop", &array]) {
        all_refuse(&drive, &device, "used by /dev/md");
    }
}
