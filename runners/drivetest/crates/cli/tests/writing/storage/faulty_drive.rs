//! Drives that fail: I/O errors are reported with offset and error number, with a separate exit code, and never omitted;
//! runs end although the drive no longer responds.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use drivetest_fault_drive::{FailureRule, Operation};
use serde_json::Value;

use crate::bench::Run;
use crate::loaded::{Loaded, RECORD_BYTES};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Maximum time of a run to end after a signal: it waits 5 s for its threads, and this machine may be slow.
const MOST: Duration = Duration::from_secs(30);

const LOAD: &str = "test-duration-sec: 20\nread-reqs-per-sec: 1000\n";

fn every(errno: i32, every: u64) -> FailureRule {
    FailureRule {
        errno,
        every,
        region: None,
    }
}

/// Returns the count in the end record.
fn reported_count(end: &Value, errno: i32) -> u64 {
    let errors = end["errors"].as_array().unwrap();
    let counts = errors.iter().filter(|error| error["errno"] == errno);
    counts.map(|error| error["count"].as_u64().unwrap()).sum()
}

#[test]
fn the_first_failed_read_ends_the_run_and_is_reported() {
    for engine in ["threads", "io_uring"] {
        let Some(loaded) = Loaded::file() else { return };
        loaded.drive.add_failure(Operation::Read, every(EIO, 700));
        let run = loaded.start(&format!("{LOAD}engine: {engine}\n"));
        assert_eq!(run.exit_status(), Some(3), "{}", loaded.bench.log());
        let (log, end) = (loaded.bench.log(), loaded.bench.end());
        let words = format!("ERROR: reading {}: 5 'Input/output error'", loaded.bench.device);
        assert!(log.contains(&words) && log.contains("at offset "), "{log}");
        assert_eq!(
            (&end["reason"], reported_count(&end, EIO)),
            (&"device-error".into(), 1)
        );
        // A failed read is in no histogram, a successful one in all.
        let answered = loaded.drive.ground_truth().read.answered_count;
        assert!(end["reads_count"].as_u64() <= Some(answered), "{end}");
    }
}

#[test]
fn errors_are_borne_until_there_are_too_many() {
    let Some(loaded) = Loaded::file() else { return };
    loaded.drive.add_failure(Operation::Read, every(EIO, 100));
    let run = loaded.start(&format!("{LOAD}max-errors: 5\n"));
    assert_eq!(run.exit_status(), Some(3), "{}", loaded.bench.log());
    assert_eq!(reported_count(&loaded.bench.end(), EIO), 5);
    assert_eq!(
        loaded.bench.log().matches("ERROR: reading").count(),
        5,
        "{}",
        loaded.bench.log()
    );
}

#[test]
fn errors_that_are_all_borne_are_counted_to_the_last() {
    for engine in ["threads", "io_uring"] {
        let Some(loaded) = Loaded::file() else { return };
        loaded.drive.add_failure(Operation::Read, every(EIO, 10));
        let load =
            format!("test-duration-sec: 2\nread-reqs-per-sec: 1000\nmax-errors: 0\nengine: {engine}\n");
        assert_eq!(
            loaded.start(&load).exit_status(),
            Some(0),
            "{}",
            loaded.bench.log()
        );
        let (end, truth) = (loaded.bench.end(), loaded.drive.ground_truth().read);
        assert_eq!((truth.failed_count, truth.answered_count), (200, 1_800));
        assert_eq!(reported_count(&end, EIO), truth.failed_count);
        assert_eq!(end["reads_count"].as_u64(), Some(truth.answered_count));
    }
}

#[test]
fn a_failed_read_is_reported_with_its_offset() {
    let Some(loaded) = Loaded::file() else { return };
    let (from, to) = (16 << 20, 24 << 20);
    let region = Some((from, to));
    loaded.drive.add_failure(
        Operation::Read,
        FailureRule {
            errno: EIO,
            every: 0,
            region,
        },
    );
    assert_eq!(
        loaded.start(LOAD).exit_status(),
        Some(3),
        "{}",
        loaded.bench.log()
    );
    let log = loaded.bench.log();
    let printed = log
        .split("at offset ")
        .nth(1)
        .and_then(|rest| rest.split([',', ' ']).next());
    let offset: u64 = printed.unwrap().parse().unwrap();
    assert!(offset < to && offset + u64::from(RECORD_BYTES) > from, "{log}");
}

#[test]
fn a_full_drive_ends_a_load_that_writes() {
    let Some(loaded) = Loaded::block_device() else {
        return;
    };
    loaded.drive.limit_to_length(Operation::Write, 131_072);
    loaded.drive.add_failure(Operation::Write, every(ENOSPC, 20));
    let load = format!("{LOAD}write-reqs-per-sec: 1000\n");
    assert_eq!(
        loaded.start(&load).exit_status(),
        Some(3),
        "{}",
        loaded.bench.log()
    );
    let words = format!(
        "ERROR: writing {}: 28 'No space left on device'",
        loaded.bench.device
    );
    assert!(loaded.bench.log().contains(&words), "{}", loaded.bench.log());
}

#[test]
fn a_stall_longer_than_the_lag_allowed_ends_the_run() {
    let Some(loaded) = Loaded::file() else { return };
    let mut run = loaded.start("test-duration-sec: 60\nread-reqs-per-sec: 2000\nmax-lag-sec: 2\n");
    loaded.bench.wait_for(&mut run, "after 1 sec:");
    loaded.drive.stall();
    loaded.bench.wait_for_text("can't keep up");
    loaded.drive.resume();
    assert_eq!(run.exit_status(), Some(4), "{}", loaded.bench.log());
    assert_eq!(loaded.bench.end()["reason"], "lag");
}

/// Starts a run on a drive that soon stops responding, and sends a signal to the run.
fn stop_run(loaded: &Loaded, engine: &str) -> (Run, Instant) {
    let load = format!("test-duration-sec: 60\nread-reqs-per-sec: 2000\nengine: {engine}\n");
    let mut run = loaded.start(&load);
    loaded.bench.wait_for(&mut run, "after 1 sec:");
    loaded.drive.stall();
    std::thread::sleep(Duration::from_millis(500));
    run.signal("TERM");
    (run, Instant::now())
}

#[test]
fn a_run_ends_although_its_drive_never_answers() {
    let Some(loaded) = Loaded::block_device() else {
        return;
    };
    let (run, asked) = stop_run(&loaded, "io_uring");
    let (ended, has_ended) = channel();
    std::thread::scope(|scope| {
        // A run that does not end can be killed only after the drive responds.
        let drive = &loaded.drive;
        scope.spawn(move || has_ended.recv_timeout(MOST).is_err().then(|| drive.resume()));
        let status = run.exit_status();
        // The receiver is gone if the test did not wait for the drive.
        let _unheard = ended.send(());
        assert_eq!(
            (status, asked.elapsed() < MOST),
            (Some(5), true),
            "{:?}",
            asked.elapsed()
        );
    });
    assert_eq!(loaded.bench.end()["reason"], "interrupted");
}

#[test]
fn a_run_writes_its_end_although_the_drive_blocks_its_threads() {
    let Some(loaded) = Loaded::block_device() else {
        return;
    };
    let (run, asked) = stop_run(&loaded, "threads");
    loaded.bench.wait_for_text("drivetest: stopped by signal TERM");
    loaded.bench.wait_for_end();
    assert!(asked.elapsed() < MOST, "{:?}", asked.elapsed());
    assert_eq!(loaded.bench.end()["reason"], "interrupted");
    // The kernel does not end a thread that waits for a drive. Only now can the program end.
    loaded.drive.resume();
    assert_eq!(run.exit_status(), Some(5));
}

#[test]
fn a_read_only_load_never_writes() {
    let Some(loaded) = Loaded::file() else { return };
    loaded.run("test-duration-sec: 1\nread-reqs-per-sec: 500\n");
    loaded.drive.limit_to_length(Operation::Write, 1);
    let written = loaded.drive.ground_truth().write;
    assert_eq!((written.arrived_count, written.others_count), (0, 0));
}
