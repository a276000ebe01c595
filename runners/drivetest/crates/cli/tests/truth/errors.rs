//! A drive that fails: told with place and number, by an exit status of its own, and never left out of what is shown.

use drivetest_testdrive::{Failing, Operation};

use crate::loaded::{Loaded, RECORD_BYTES};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

const LOAD: &str = "test-duration-sec: 20\nread-reqs-per-sec: 1000\n";

fn every(errno: i32, every: u64) -> Failing {
    Failing {
        errno,
        every,
        region: None,
    }
}

#[test]
fn the_first_failed_read_ends_the_run_and_is_told() {
    let Some(loaded) = Loaded::file() else { return };
    loaded.drive.fail(Operation::Read, every(EIO, 700));
    assert_eq!(
        loaded.start(LOAD).exit_status(),
        Some(3),
        "{}",
        loaded.bench.log()
    );
    let (log, end) = (loaded.bench.log(), loaded.bench.end());
    let words = format!("ERROR: reading {}: 5 'Input/output error'", loaded.bench.device);
    assert!(log.contains(&words) && log.contains("at offset "), "{log}");
    assert_eq!(end["reason"], "device-error");
    let truth = loaded.drive.truth().read;
    // A failed read is in no histogram, a good one in all.
    assert!(
        truth.failed_count >= 1 && end["reads_count"].as_u64() <= Some(truth.answered_count),
        "{end}"
    );
}

#[test]
fn a_failed_read_is_told_with_the_place_where_it_failed() {
    let Some(loaded) = Loaded::file() else { return };
    let (from, to) = (16 << 20, 24 << 20);
    let region = Some((from, to));
    loaded.drive.fail(
        Operation::Read,
        Failing {
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
    let told = log
        .split("at offset ")
        .nth(1)
        .and_then(|rest| rest.split([',', ' ']).next());
    let offset: u64 = told.unwrap().parse().unwrap();
    assert!(offset < to && offset + u64::from(RECORD_BYTES) > from, "{log}");
}

#[test]
fn a_full_drive_ends_a_load_that_writes() {
    let Some(loaded) = Loaded::block_device() else {
        return;
    };
    loaded.drive.watch_only(Operation::Write, 131_072);
    loaded.drive.fail(Operation::Write, every(ENOSPC, 20));
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
