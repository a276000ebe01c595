//! Nothing happens for six seconds: because the program is stopped, and because the drive answers nothing.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use drivetest_fault_drive::{FaultDrive, Operation};
use serde_json::Value;

use crate::bench::Run;
use crate::loaded::Loaded;

const STALL: Duration = Duration::from_secs(6);

/// What a run may take to end once it is told to: it waits 5 s for its threads, and this machine may be slow.
const MOST: Duration = Duration::from_secs(30);

/// Part of the late reads by which counts may be off: this machine stands still for moments of its own.
const MOST_OFF: f64 = 0.05;

/// Time between two reads of the load.
const SPACING_S: f64 = 1.0 / 2_000.0;

const LOAD: &str = "test-duration-sec: 9\nread-reqs-per-sec: 2000\n";

/// Reads that came 64 ms or more after they were due, and those that took that long themselves.
fn late_and_slow(end: &Value) -> (u64, u64) {
    let reads = &end["operations"]["reads"];
    let over = |of: &str| reads[of]["64000"].as_u64();
    let both = over("response_over").zip(over("service_over"));
    both.unwrap_or_else(|| panic!("no counts of reads in {end}"))
}

/// Reads that the drive answered 64 ms or more after they were due, by its own stamps: the earliest of the evenly
/// spaced tells when the others were due. After a stall these are more than became due in it, by what becomes due while
/// the host catches up, which is the host's and no fixed share.
fn answered_late(times: &[Instant]) -> u64 {
    let after_first = |time: &Instant| (*time - times[0]).as_secs_f64();
    let lags = times
        .iter()
        .zip(0u32..)
        .map(|(time, number)| after_first(time) - f64::from(number) * SPACING_S);
    let earliest = lags.clone().fold(f64::INFINITY, f64::min);
    lags.filter(|lag| lag - earliest >= 0.064).count() as u64
}

/// All that became due in a stall of any length is late, and as much as the drive says.
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
fn a_stopped_program_shows_every_read_that_was_late_and_no_slow_one() {
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
    // Only what was out when the program was stopped, or when the machine stood still.
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
    // What the drive held is what it got: as many as the engine had out.
    let held = loaded.drive.ground_truth().read.over[&64_000];
    assert!(
        held > 0 && slow >= held,
        "{slow} slow reads, the drive held {held}"
    );
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

/// Starts a run on a drive that soon answers nothing more, and tells it to stop.
fn told_to_stop(loaded: &Loaded, engine: &str) -> (Run, Instant) {
    let load = format!("test-duration-sec: 60\nread-reqs-per-sec: 2000\nengine: {engine}\n");
    let mut run = loaded.start(&load);
    loaded.bench.wait_for(&mut run, "after 1 sec:");
    loaded.drive.stall();
    std::thread::sleep(Duration::from_millis(500));
    run.signal("TERM");
    (run, Instant::now())
}

#[test]
fn a_drive_that_never_answers_does_not_keep_a_run_from_ending() {
    let Some(loaded) = Loaded::block_device() else {
        return;
    };
    let (run, asked) = told_to_stop(&loaded, "io_uring");
    let (ended, has_ended) = channel();
    std::thread::scope(|scope| {
        // A run that does not end can only be killed once the drive answers.
        let drive = &loaded.drive;
        scope.spawn(move || has_ended.recv_timeout(MOST).is_err().then(|| drive.resume()));
        let status = run.exit_status();
        // Nobody listens any more where the drive had to be waited for.
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
fn threads_that_a_drive_holds_do_not_keep_a_run_from_its_last_words() {
    let Some(loaded) = Loaded::block_device() else {
        return;
    };
    let (run, asked) = told_to_stop(&loaded, "threads");
    loaded.bench.wait_for_text("drivetest: stopped by signal TERM");
    loaded.bench.wait_for_end();
    assert!(asked.elapsed() < MOST, "{:?}", asked.elapsed());
    assert_eq!(loaded.bench.end()["reason"], "interrupted");
    // The kernel lets no thread go that waits for a drive: only now can the program be gone.
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
