//! Devices in use: mounted, swap, open, busy.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{FLAG, all_refuse, all_write, refused_by};
use crate::drive::{Drive, run_tool, skip};

/// A process that is ended on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn running(command: &mut Command) -> Running {
    Running(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    )
}

/// Adds two partitions without a table, which also works on kernels without support for tables.
fn with_partitions() -> Option<(Drive, String, String)> {
    let drive = Drive::attach()?;
    let device = drive.device.clone();
    let is_there = drive.set_up(&["addpart", &device, "1", "2048", "16384"])
        && drive.set_up(&["addpart", &device, "2", "20480", "16384"]);
    is_there.then(|| (drive, format!("{device}p1"), format!("{device}p2")))
}

fn mount(drive: &mut Drive, device: &str) -> bool {
    let point = drive.path("mnt");
    std::fs::create_dir(&point).unwrap();
    drive.set_up(&["mkfs.ext4", "-q", device, "8M"])
        && drive.set_up_for_now(&["mount", device, &point], &["umount", &point])
}

#[test]
fn a_mounted_file_system() {
    let Some(mut drive) = Drive::attach() else { return };
    let device = drive.device.clone();
    if mount(&mut drive, &device) {
        let sentence = format!("{device}: mounted at {}; unmount it", drive.path("mnt"));
        all_refuse(&drive, &device, &sentence);
        all_refuse(
            &drive,
            drive.file().to_str().unwrap(),
            "on the same drive, is mounted at",
        );
    }
}

#[test]
fn a_file_system_that_is_mounted_in_another_namespace_only() {
    let Some(drive) = Drive::attach() else { return };
    let (device, point) = (drive.device.clone(), drive.path("mnt"));
    std::fs::create_dir(&point).unwrap();
    if !drive.set_up(&["mkfs.ext4", "-q", &device, "8M"]) || !drive.set_up(&["unshare", "--mount", "true"]) {
        return;
    }
    let script = format!("mount {device} {point} && exec sleep 600");
    let container = running(Command::new("unshare").args(["--mount", "sh", "-c", &script]));
    let table = format!("/proc/{}/mountinfo", container.0.id());
    let is_mounted = || std::fs::read_to_string(&table).is_ok_and(|table| table.contains(&point));
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_mounted() {
        assert!(Instant::now() < patience, "'{script}' mounts nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ours = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!ours.contains(&point), "it is mounted here as well");
    all_refuse(&drive, &device, &format!("mounted at {point}; unmount it"));
}

#[test]
fn a_sibling_of_a_mounted_partition_and_their_drive() {
    let Some((mut drive, used, sibling)) = with_partitions() else {
        return;
    };
    if mount(&mut drive, &used) {
        let sentence = format!(
            "{sibling}: {used}, on the same drive, is mounted at {}",
            drive.path("mnt")
        );
        all_refuse(&drive, &sibling, &sentence);
        all_refuse(&drive, &drive.device, "on the same drive, is mounted at");
    }
}

#[test]
fn a_partitioned_drive_but_not_its_partition() {
    let Some((drive, _, part)) = with_partitions() else {
        return;
    };
    let whole = drive.device.clone();
    let names = format!(
        "has partitions ({0}p1, {0}p2); name one of them",
        whole.trim_start_matches("/dev/")
    );
    all_refuse(&drive, &whole, &names);
    let output = super::drivetest(&["prep", &part, FLAG]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bytes = std::fs::read(drive.file()).unwrap();
    let (begin, end) = (20_480 * 512, (20_480 + 16_384) * 512);
    let is_filling = |bytes: &[u8]| bytes.iter().all(|byte| *byte == crate::drive::FILLING);
    assert!(
        is_filling(&bytes[..begin]) && is_filling(&bytes[end..]),
        "written beyond the partition"
    );
    assert!(!is_filling(&bytes[begin..begin + 4096]) && !is_filling(&bytes[end - 4096..end]));
}

#[test]
fn a_swap_device_of_the_host() {
    let Some(mut drive) = Drive::attach() else { return };
    let device = drive.device.clone();
    // A swap area of 8 MiB, so that the end of the drive does not change.
    if drive.set_up(&["mkswap", "--quiet", &device, "8192"])
        && drive.set_up_for_now(&["swapon", &device], &["swapoff", &device])
    {
        all_refuse(
            &drive,
            &device,
            &format!("the host swaps to {device}; run swapoff {device}"),
        );
    }
}

#[test]
fn a_device_that_another_process_has_open() {
    let Some(drive) = Drive::attach() else { return };
    let opened = File::open(&drive.device).unwrap();
    let holder = running(Command::new("sleep").arg("600").stdin(opened));
    let sentence = format!(
        "{}: open in process {} (sleep); stop it",
        drive.device,
        holder.0.id()
    );
    all_refuse(&drive, &drive.device, &sentence);
    drop(holder);
    all_write(&drive, &drive.device);
}

#[test]
fn a_drive_that_an_invisible_process_reads() {
    let Some(drive) = Drive::attach() else { return };
    if !drive.set_up(&["unshare", "--pid", "--fork", "--mount-proc", "true"]) {
        return;
    }
    let read = format!(
        "while :; do dd if={} of=/dev/null bs=64k iflag=direct; done",
        drive.device
    );
    // dd ends by itself after its pass.
    let _reader = running(Command::new("sh").args(["-c", &read]));
    let sentence = format!("{0}: {0} receives I/O from an unknown source", drive.device);
    for line in super::writers(&drive, &drive.device) {
        // In its own process namespace, drivetest cannot see the reading process.
        let mut contained = Command::new("unshare");
        contained
            .args(["--pid", "--fork", "--mount-proc", env!("CARGO_BIN_EXE_drivetest")])
            .args(line);
        refused_by(&contained.output().unwrap(), &sentence);
    }
    assert!(drive.is_untouched());
}

/// Only runs `identify`: the other commands refuse what it refuses, and an error in them could destroy this system.
#[test]
fn the_drive_of_the_running_system() {
    let Some(device) = run_tool(&["findmnt", "--noheadings", "--output", "SOURCE", "/"]) else {
        return skip("findmnt tells no source of /");
    };
    if !std::path::Path::new(&device).exists() {
        return skip(&format!("the source of / is {device}, which is no device"));
    }
    let output = super::drivetest(&["identify", &device]);
    let identity = String::from_utf8(output.stdout).unwrap();
    assert!(
        identity.contains(r#""id":"boot""#) && identity.contains("by the running system"),
        "{identity}"
    );
}

#[test]
fn another_drive_than_the_one_expected() {
    let Some(drive) = Drive::attach() else { return };
    for line in super::writers(&drive, &drive.device) {
        // After the command and its arguments, because the arguments of a program come last.
        let mut line = line;
        line.splice(2..2, ["--expect-drive", "nvme:PM9A3:S1"].map(str::to_owned));
        let output = super::drivetest(&line);
        refused_by(
            &output,
            &format!("{}: expected drive nvme:PM9A3:S1, got file:", drive.device),
        );
    }
    assert!(drive.is_untouched());
}
