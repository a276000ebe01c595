//! Stalls of three seconds, by a stopped program and by a drive that does not respond.

use std::time::{Duration, Instant};

use drivetest_fault_drive::FaultDrive;
use serde_json::Value;

use crate::loaded::Loaded;

/// 6,000 reads become due in it. A load that omits late reads shows at most those in flight: 32.
const STALL: Duration = Duration::from_secs(3);

/// Tolerance of counts, as a share of the late reads, because this machine also stalls: 0.3 s of the stall.
const MOST_OFF: f64 = 0.1;

/// Time between two reads of the load.
const SPACING_S: f64 = 1.0 / 2_000.0;

const LOAD: &str = "test-duration-sec: 6\nread-reqs-per-sec: 2000\n";

/// Returns the reads that completed 64 ms or more after they were due, and those with such a service time.
fn late_and_slow(end: &Value) -> (u64, u64) {
    let reads = &end["operations"]["reads"];
    let over = |of: &str| reads[of]["64000"].as_u64();
    let both = over("response_over").zip(over("service_over"));
    both.unwrap_or_else(|| panic!("no counts of reads in {end}"))
}

/// Returns the reads that the drive completed 64 ms or more after they were due, by its timestamps. The reads are evenly
/// spaced, so the first shows when the others were due. After a stall there are more than became due in it, because more
/// become due while the host catches up.
fn answered_late(times: &[Instant]) -> u64 {
    let after_first = |time: &Instant| (*time - times[0]).as_secs_f64();
    let lags = times
        .iter()
        .zip(0u32..)
        .map(|(time, number)| after_first(time) - f64::from(number) * SPACING_S);
    let earliest = lags.clone().fold(f64::INFINITY, f64::min);
    lags.filter(|lag| lag - earliest >= 0.064).count() as u64
}

/// Checks that all reads that became due in a stall are late, and as many as the drive reports.
fn assert_all_are_late(late: u64, stalled: Duration, drive: &FaultDrive) {
    let due = stalled.as_secs_f64() / SPACING_S;
    let answered_late = answered_late(&drive.read_completion_times());
    let off = late.abs_diff(answered_late) as f64 / answered_late as f64;
    assert!(
        off <= MOST_OFF && late as f64 >= (1.0 - MOST_OFF) * due,
        "{late} late reads, {due:.0} became due while nothing happened, the drive answered {answered_late} late"
    );
}

#[test]
fn a_stopped_program_shows_every_late_read_and_no_slow_one() {
    let Some(loaded) = Loaded::file() else { return };
    loaded.drive.record_read_times();
    let mut run = loaded.start(LOAD);
    loaded.bench.wait_for(&mut run, "after 1 sec:");
    let stopped = Instant::now();
    run.signal("STOP");
    std::thread::sleep(STALL);
    run.signal("CONT");
    let stopped = stopped.elapsed();
    assert_eq!(run.exit_status(), Some(0), "{}", loaded.bench.log());
    let (late, slow) = late_and_slow(&loaded.bench.end());
    assert_all_are_late(late, stopped, &loaded.drive);
    // Only requests that were in flight when the program was stopped or the machine stalled.
    let held = loaded.drive.ground_truth().read.over[&64_000];
    let most = late as f64 * MOST_OFF;
    assert!(
        slow as f64 <= most && held as f64 <= most,
        "of {late} late reads {slow} took 64 ms themselves, the drive held {held}"
    );
}

#[test]
fn a_stalled_drive_shows_every_read_that_was_late() {
    let Some(loaded) = Loaded::file() else { return };
    loaded.drive.record_read_times();
    let mut run = loaded.start(LOAD);
    loaded.bench.wait_for(&mut run, "after 1 sec:");
    loaded.drive.stall();
    std::thread::sleep(STALL);
    let stalled = loaded.drive.resume();
    assert_eq!(run.exit_status(), Some(0), "{}", loaded.bench.log());
    let (late, slow) = late_and_slow(&loaded.bench.end());
    assert_all_are_late(late, stalled, &loaded.drive);
    // The drive delayed all requests that it received: as many as the engine had in flight.
    let held = loaded.drive.ground_truth().read.over[&64_000];
    assert!(
        held > 0 && slow >= held,
        "{slow} slow reads, the drive held {held}"
    );
}
