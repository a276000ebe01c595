//! Tests of `--dry-run`: the description of a load, and the absence of writes.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::bench::{Bench, takes_direct_io};
use crate::drive::Drive;

const READS: &str = "test-duration-sec: 1\nread-reqs-per-sec: 10\n";
const WRITES: &str = "file-size-mbytes: 1\ntest-duration-sec: 1\nwrite-reqs-per-sec: 100\n";

fn dry_run(bench: &Bench, lines: &str, more: &[&str]) -> Output {
    bench.command(lines).arg("--dry-run").args(more).output().unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn document(bench: &Bench, lines: &str) -> Value {
    serde_json::from_slice(&dry_run(bench, lines, &["--json"]).stdout).unwrap()
}

#[track_caller]
fn assert_would_start(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let begin = "dry run of storage: the load would start\nnothing was written\n";
    assert!(printed(output).starts_with(begin), "{}", printed(output));
}

#[test]
fn a_dry_run_creates_no_file() {
    let bench = Bench::new();
    let output = dry_run(&bench, WRITES, &[]);
    assert_would_start(&output);
    let sentence = "drive.img: does not exist yet; the load would create it with 1MiB\n";
    assert!(printed(&output).contains(sentence), "{}", printed(&output));
    assert!(!Path::new(&bench.device).exists());
    assert!(!bench.path("log").exists() && !bench.path("side.jsonl").exists());
}

#[test]
fn a_dry_run_does_not_round_the_size_of_a_file_to_create() {
    let bench = Bench::new();
    let output = dry_run(&bench, &WRITES.replace("mbytes: 1\n", "mbytes: 1500\n"), &[]);
    let sentence = "the load would create it with 1500MiB\n";
    assert!(printed(&output).contains(sentence), "{}", printed(&output));
}

#[test]
fn a_dry_run_does_not_change_an_existing_file() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    File::create(&bench.device).unwrap().set_len(1 << 20).unwrap();
    let state = || {
        let found = fs::metadata(&bench.device).unwrap();
        (found.len(), found.blocks(), found.mtime(), found.mtime_nsec())
    };
    let before = state();
    assert_would_start(&dry_run(&bench, WRITES, &[]));
    assert_eq!(state(), before);
}

#[test]
fn a_dry_run_of_a_refused_load_has_its_status_and_its_sentence() {
    let image = |path: &Path| {
        let file = File::create(path).unwrap();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(b"XFSB\0\0", 0).unwrap();
    };
    for (device, lines) in [
        ("/dev/nothing-of-that-name", READS),
        ("HERE", READS),
        ("/dev/null", READS),
        ("HERE/config", READS),
        ("HERE/config", WRITES),
        ("HERE/image", WRITES),
        // The load checks both devices before it opens the first.
        ("HERE/config,HERE/link", WRITES),
    ] {
        let mut bench = Bench::new();
        image(&bench.path("image"));
        std::os::unix::fs::symlink(bench.path("config"), bench.path("link")).unwrap();
        bench.device = device.replace("HERE", &bench.path("").display().to_string());
        let (dry, real) = (dry_run(&bench, lines, &[]), bench.run(lines));
        assert_eq!(
            (dry.status.code(), real.status.code()),
            (Some(2), Some(2)),
            "{device}"
        );
        let printed_by_load = String::from_utf8_lossy(&real.stderr).into_owned();
        let sentence = printed_by_load
            .lines()
            .last()
            .unwrap()
            .strip_prefix("drivetest: ")
            .unwrap();
        let first = format!("dry run of storage: the load would be refused: {sentence}");
        assert_eq!(printed(&dry).lines().next(), Some(first.as_str()));
    }
}

#[test]
fn a_dry_run_of_a_drive_sees_whether_it_is_mounted() {
    let Some(mut drive) = Drive::attach() else { return };
    let mut bench = Bench::new();
    bench.device.clone_from(&drive.device);
    assert_would_start(&dry_run(&bench, READS, &[]));
    let (device, point) = (drive.device.clone(), drive.path("mnt"));
    fs::create_dir(&point).unwrap();
    let is_mounted = drive.set_up(&["mkfs.ext4", "-q", &device, "8M"])
        && drive.set_up_for_now(&["mount", &device, &point], &["umount", &point]);
    if is_mounted {
        let output = dry_run(&bench, READS, &["--i-know-this-destroys-data"]);
        assert_eq!(output.status.code(), Some(2));
        let sentence = format!("refused: {device}: mounted at {point}; unmount it");
        assert!(printed(&output).contains(&sentence), "{}", printed(&output));
    }
    assert!(drive.is_untouched());
}

#[test]
fn the_engine_of_a_dry_run_is_that_of_the_load() {
    let mut bench = Bench::new();
    // The answer for a file in memory is always the same. For a disk, it depends on the other work of the host.
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    bench.device = memory.path().join("drive.img").display().to_string();
    if !takes_direct_io(&bench) {
        return;
    }
    assert_eq!(bench.run(WRITES).status.code(), Some(0));
    let engine_after = |text: &str, label: &str| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(label));
        lines.next().unwrap().to_owned()
    };
    let engine = engine_after(&bench.log(), "drivetest: engine ");
    assert!(
        engine.starts_with(&format!("threads: {} ", bench.device)),
        "{engine}"
    );
    fs::remove_file(bench.path("log")).unwrap();
    fs::remove_file(bench.path("side.jsonl")).unwrap();
    assert_eq!(
        engine_after(&printed(&dry_run(&bench, WRITES, &[])), "engine: "),
        engine
    );
}

#[test]
fn wrong_usage_of_a_dry_run_exits_with_64() {
    let bench = Bench::new();
    let unknown_key = dry_run(&bench, "test-duration-sec: 1\nread-req-per-sec: 10\n", &[]);
    assert_eq!(unknown_key.status.code(), Some(64));
    fs::write(bench.path("log"), "after 1 sec:\n").unwrap();
    let taken = dry_run(&bench, WRITES, &[]);
    assert_eq!(taken.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&taken.stderr).contains("contains 13 bytes; choose another file"));
    assert_eq!(bench.log(), "after 1 sec:\n");
    assert_eq!(
        bench.command(READS).arg("--json").status().unwrap().code(),
        Some(64)
    );
}

#[test]
fn the_json_of_a_dry_run_has_configuration_rates_devices_and_engine() {
    let bench = Bench::new();
    let plan = document(
        &bench,
        &format!("{WRITES}read-reqs-per-sec: 50\nreport-interval-sec: 2\n"),
    );
    assert_eq!(
        (&plan["schema"], &plan["load"]),
        (&json!("drivecert.load-plan/1"), &json!("storage"))
    );
    assert_eq!(
        (&plan["would_start"], &plan["refusal"]),
        (&json!(true), &Value::Null)
    );
    // A duration is extended to whole intervals.
    assert_eq!(plan["duration_s"], 2);
    assert_eq!(
        plan["rates"][0],
        json!({"operation": "reads", "per_s": "50.000000"})
    );
    let keys = plan["config"]["keys"].as_array().unwrap();
    assert!(
        keys.contains(&json!({"name": "read-reqs-per-sec", "value": "50"})),
        "{keys:?}"
    );
    let device = json!({
        "path": bench.device, "identity": null, "size_bytes": null, "minimum_io_bytes": null, "refusal": null,
    });
    assert_eq!(plan["devices"], json!([device]));
    // The engine of a file that does not exist cannot be tested, but it can be configured.
    assert!(plan["engine"].is_null());
    let engine = json!({"name": "threads", "workers": null, "reason": "configured"});
    assert_eq!(
        document(&bench, &format!("{WRITES}engine: threads\n"))["engine"],
        engine
    );
    assert_eq!(plan["log"], bench.path("log").display().to_string());
}

#[test]
fn the_json_of_a_refused_dry_run_names_the_device() {
    let mut bench = Bench::new();
    bench.device = "/dev/null".to_owned();
    let plan = document(&bench, READS);
    let sentence = plan["refusal"].as_str().unwrap();
    assert!(
        sentence.starts_with("/dev/null: is a character device"),
        "{sentence}"
    );
    assert_eq!(
        (&plan["would_start"], &plan["devices"][0]["refusal"]),
        (&json!(false), &json!(sentence))
    );
}
