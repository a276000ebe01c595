//! Real block devices: loop devices over files, if the tests run as root.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::bench::{Bench, skip, totals};

const LOAD: &str = "test-duration-sec: 2\nread-reqs-per-sec: 200\nwrite-reqs-per-sec: 100\n";

/// A loop device and its mount point, freed on drop.
struct Loop {
    path: String,
    mount: Option<std::path::PathBuf>,
}

impl Loop {
    fn over(file: &Path, options: &[&str]) -> Option<Self> {
        std::fs::File::create(file).unwrap().set_len(16 << 20).unwrap();
        let made = Command::new("losetup")
            .args(options)
            .args(["-f", "--show"])
            .arg(file)
            .output()
            .ok()?;
        let path = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        made.status.success().then_some(Self { path, mount: None })
    }

    fn mount(&mut self, at: &Path) -> bool {
        std::fs::create_dir(at).unwrap();
        let is_mounted = succeeds("mkfs.ext4", &["-q", &self.path])
            && succeeds("mount", &[&self.path, &at.display().to_string()]);
        self.mount = is_mounted.then(|| at.to_owned());
        is_mounted
    }

    fn unmount(&mut self) {
        if let Some(at) = self.mount.take() {
            let patience = Instant::now() + Duration::from_secs(10);
            // What looks at all mounts of the machine keeps one busy for a moment.
            while !succeeds("umount", &[&at.display().to_string()]) {
                if Instant::now() > patience {
                    assert!(thread::panicking(), "{} stays mounted", at.display());
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.unmount();
        succeeds("losetup", &["-d", &self.path]);
    }
}

fn succeeds(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .output()
        .is_ok_and(|output| output.status.success())
}

fn loop_device(options: &[&str]) -> Option<(Bench, Loop)> {
    let mut bench = Bench::new();
    let Some(device) = Loop::over(&bench.path("disk"), options) else {
        skip("no loop device can be made here (it needs root)");
        return None;
    };
    bench.device.clone_from(&device.path);
    Some((bench, device))
}

#[test]
fn a_loop_device_runs_and_reports_its_size() {
    let Some((bench, device)) = loop_device(&[]) else {
        return;
    };
    let output = bench.run_kept_up("storage", LOAD);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(bench.log().contains(&format!(
        "{} size = 16777216 bytes, 128 large blocks, minimum IO size = ",
        device.path
    )));
    assert_eq!(totals(&bench.log(), "reads").last(), Some(&400));
}

#[test]
fn four_loop_devices_share_a_load_of_either_kind() {
    for (load, more) in [("storage", "commit-to-device: yes\n"), ("index", "")] {
        let Some((mut bench, first)) = loop_device(&[]) else {
            return;
        };
        let more_devices: Vec<Loop> = (1..4)
            .filter_map(|number| Loop::over(&bench.path(&format!("disk{number}")), &[]))
            .collect();
        if more_devices.len() < 3 {
            return skip("no four loop devices can be made here");
        }
        let devices: Vec<&Loop> = std::iter::once(&first).chain(&more_devices).collect();
        let names: Vec<&str> = devices.iter().map(|device| device.path.as_str()).collect();
        bench.device = names.join(",");
        let output = bench.command_of(load, &format!("{LOAD}{more}")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{load}: {output:?}");
        for kind in ["reads", "writes"] {
            let of = |name: &str| totals(&bench.log(), name).pop().unwrap();
            let parts: Vec<u64> = names.iter().map(|name| of(&format!("{name}-{kind}"))).collect();
            assert_eq!(parts.iter().sum::<u64>(), of(kind), "{load} {kind}");
            // At least 200 requests for four devices: a device without requests occurs once in 10^24 runs.
            assert!(parts.iter().all(|count| *count > 0), "{load} {kind}: {parts:?}");
        }
    }
}

#[test]
fn a_loop_device_over_another_file_is_another_drive() {
    use std::os::unix::fs::MetadataExt;
    let Some((bench, device)) = loop_device(&[]) else {
        return;
    };
    let other = bench.path("other");
    let Some(_other_device) = Loop::over(&other, &[]) else {
        return skip("no second loop device can be made here");
    };
    let key = |file: &Path| {
        let found = file.metadata().unwrap();
        let identify = ["identify", "--json", file.to_str().unwrap()];
        let output = Command::new(env!("CARGO_BIN_EXE_drivetest"))
            .args(identify)
            .output()
            .unwrap();
        let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let key = record["drive_key"].as_str().unwrap().to_owned();
        assert!(
            key.ends_with(&format!(":{}:{}", found.dev(), found.ino())),
            "{key}"
        );
        key
    };
    let (got, expected) = (key(&bench.path("disk")), key(&other));
    let run = |key: &str| {
        bench
            .command(LOAD)
            .args(["--expect-drive", key])
            .output()
            .unwrap()
    };
    let output = run(&expected);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(&format!("{}: expected drive {expected}, got {got}", device.path)),
        "{said}"
    );
    let disk = std::fs::read(bench.path("disk")).unwrap();
    assert!(disk.iter().all(|byte| *byte == 0), "the drive was written to");
    std::fs::remove_file(bench.path("log")).unwrap();
    std::fs::remove_file(bench.path("side.jsonl")).unwrap();
    assert_eq!(run(&got).status.code(), Some(0));
}

#[test]
fn a_mounted_device_is_refused_with_its_mount_point() {
    let Some((bench, mut device)) = loop_device(&[]) else {
        return;
    };
    let at = bench.path("mnt");
    if !device.mount(&at) {
        return skip("no ext4 can be made and mounted here");
    }
    let output = bench.run(LOAD);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let sentence = format!(
        "{}: mounted at {}; unmount it or choose another device",
        device.path,
        at.display()
    );
    assert!(said.contains(&sentence), "{said}");
    assert!(
        bench.log().contains(&format!("drivetest: refused: {sentence}")),
        "{}",
        bench.log()
    );
}

#[test]
fn a_file_system_is_overwritten_only_with_the_flag() {
    let Some((bench, mut device)) = loop_device(&[]) else {
        return;
    };
    if !device.mount(&bench.path("mnt")) {
        return skip("no ext4 can be made and mounted here");
    }
    device.unmount();
    let output = bench.run(LOAD);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("contains an ext2, ext3 or ext4 file system"),
        "{output:?}"
    );
}

#[test]
fn a_read_only_device_accepts_reads_and_refuses_writes() {
    let Some((bench, _device)) = loop_device(&["-r"]) else {
        return;
    };
    let output = bench.run(LOAD);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("read-only"),
        "{output:?}"
    );
    std::fs::remove_file(bench.path("log")).unwrap();
    std::fs::remove_file(bench.path("side.jsonl")).unwrap();
    assert_eq!(
        bench
            .run("test-duration-sec: 1\nread-reqs-per-sec: 50\n")
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn a_device_has_its_own_size() {
    let Some((bench, device)) = loop_device(&[]) else {
        return;
    };
    let output = bench.run(&format!("{LOAD}file-size-mbytes: 4\n"));
    assert_eq!(output.status.code(), Some(2));
    let sentence = format!("{}: is a block device; remove file-size-mbytes", device.path);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains(&sentence),
        "{output:?}"
    );
}
