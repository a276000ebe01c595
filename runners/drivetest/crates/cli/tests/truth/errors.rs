//! Drives with I/O errors: reported with offset and error number, with a separate exit code, and never omitted.

use drivetest_fault_drive::{FailureRule, Operation};
use serde_json::Value;

use crate::loaded::{Loaded, RECORD_BYTES};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

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
