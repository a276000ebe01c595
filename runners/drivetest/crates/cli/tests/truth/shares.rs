//! Shares above 1, 8 and 64 ms compared with the delays that the drive injected, by count, for all arrivals and engines.

use std::time::Duration;

use drivetest_fault_drive::{Delay, Operation};

use crate::loaded::Loaded;
use crate::quiet::{Disturbance, until_undisturbed};

/// Two-sided 99.9 % of the normal distribution.
const Z: f64 = 3.290_527;

/// The injected delays: shares per million at the limits of the operational-database profile, each above its threshold.
const INJECTED: [(u32, u64); 3] = [(40_000, 2), (9_000, 12), (1_000, 90)];

fn inject(loaded: &Loaded) {
    for (per_million, ms) in INJECTED {
        let duration = Duration::from_millis(ms);
        loaded.drive.add_delay(
            Operation::Read,
            Delay {
                per_million,
                duration,
            },
        );
    }
}

/// Returns whether `found` of `count` is likely if a share `injected` of the requests was delayed that long.
fn is_likely(found: u64, injected: f64, count: u64) -> bool {
    let expected = injected * count as f64;
    (found as f64 - expected).abs() <= Z * (expected * (1.0 - injected)).sqrt()
}

/// The measured and the injected count above a threshold.
struct Found {
    us: u64,
    found: u64,
    injected: u64,
    count: u64,
}

impl Found {
    fn is_likely(&self) -> bool {
        is_likely(self.found, self.injected as f64 / self.count as f64, self.count)
    }

    fn describe(&self) -> String {
        let Self {
            us,
            found,
            injected,
            count,
        } = self;
        format!("{found} of {count} over {us} us, {injected} were held that long")
    }
}

/// Returns None if this machine stalled so long that reads were a second late, because a run omits those at its end.
fn run(loaded: &Loaded, lines: &str) -> Option<Vec<Found>> {
    inject(loaded);
    let end = loaded.run(&format!("test-duration-sec: 2\nread-reqs-per-sec: 4000\n{lines}"));
    let truth = loaded.drive.ground_truth().read;
    let count = end["reads_count"].as_u64().unwrap();
    assert_eq!(count, truth.answered_count, "{lines}");
    if count < 8_000 {
        return None;
    }
    let found = |us: u64| Found {
        us,
        found: end["over"][us.to_string()].as_u64().unwrap(),
        injected: truth.over[&us],
        count,
    };
    Some([1_000, 8_000, 64_000].map(found).into())
}

/// Other programs on the host sometimes add slow reads, and never remove any. One undisturbed run is enough, but no run
/// may show fewer than the drive delayed. Below `quiet_from_us`, only the second rule applies.
fn check(loaded: impl Fn() -> Option<Loaded>, lines: &str, quiet_from_us: u64) {
    until_undisturbed(&format!("shares, {lines:?}"), || {
        let Some(loaded) = loaded() else { return Ok(()) };
        let Some(found) = run(&loaded, lines) else {
            return Err(Disturbance::Late("reads are missing".to_owned()));
        };
        let less = found.iter().find(|found| found.found < found.injected);
        assert!(less.is_none(), "{lines}: {}", less.unwrap().describe());
        let judged = found.iter().filter(|found| found.us >= quiet_from_us);
        let unlikely: Vec<_> = judged
            .filter(|found| !found.is_likely())
            .map(Found::describe)
            .collect();
        if unlikely.is_empty() {
            Ok(())
        } else {
            Err(Disturbance::Late(unlikely.join("; ")))
        }
    });
}

#[test]
fn shares_of_a_file_are_those_that_were_injected() {
    for arrivals in ["even", "poisson", "lockstep"] {
        for engine in ["threads", "io_uring"] {
            let lines = format!("arrivals: {arrivals}\nengine: {engine}\n");
            check(Loaded::file, &lines, 1_000);
        }
    }
}

#[test]
fn shares_of_a_block_device_are_those_that_were_injected() {
    // The threads of the loop device have no priority. On a busy host they are a millisecond late.
    check(Loaded::block_device, "", 8_000);
}

#[test]
fn a_load_on_a_fast_drive_has_no_time_above_8_ms() {
    // As in check(): the host may stall for a moment, but hardly in each run.
    until_undisturbed("a fast drive", || {
        let Some(loaded) = Loaded::file() else {
            return Ok(());
        };
        loaded
            .drive
            .set_base_delay(Operation::Read, Duration::from_micros(100));
        let end = loaded.run("test-duration-sec: 3\nread-reqs-per-sec: 2000\n");
        assert!(end["service"]["p50_ns"].as_u64() >= Some(100_000), "{end}");
        // The drive reports which requests it delayed longer because the host took the processor away from it.
        let more = end["over"]["8000"].as_u64().unwrap() - loaded.drive.ground_truth().read.over[&8_000];
        if more <= 6 {
            Ok(())
        } else {
            Err(Disturbance::Late(format!(
                "{more} of 6000 reads over 8 ms that the drive held less long"
            )))
        }
    });
}
