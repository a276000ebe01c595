//! Ground truth: the drive's own counts of replies, with their times, offsets and errors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::faults::Outcome;

/// Number of equal regions of the device for which requests are counted separately.
pub const REGIONS_COUNT: usize = 64;

/// Maximum number of delays with a counter of their own.
pub const MAX_DELAYS: usize = 8;

/// Minimum lateness of a late reply.
const LATE: Duration = Duration::from_millis(1);

/// Thresholds for reply times, us: the edges of ACT's buckets, and 1, 8 and 64 ms.
const EDGES_US: [u64; 27] = [
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_024, 2_048, 4_096, 8_000, 8_192, 16_384, 32_768, 64_000,
    65_536, 131_072, 262_144, 524_288, 1_048_576, 2_097_152, 4_194_304, 8_388_608,
];

/// Counters of one operation, shared by several threads.
#[derive(Debug)]
pub struct Counters {
    arrived: AtomicU64,
    answered: AtomicU64,
    others: AtomicU64,
    failed: AtomicU64,
    late: AtomicU64,
    by_delay: [AtomicU64; MAX_DELAYS],
    over: [AtomicU64; EDGES_US.len()],
    regions: [AtomicU64; REGIONS_COUNT],
    longest_ns: AtomicU64,
    are_times_recorded: AtomicBool,
    answered_at: Mutex<Vec<Instant>>,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            arrived: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            others: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            late: AtomicU64::new(0),
            by_delay: [const { AtomicU64::new(0) }; MAX_DELAYS],
            over: [const { AtomicU64::new(0) }; EDGES_US.len()],
            regions: [const { AtomicU64::new(0) }; REGIONS_COUNT],
            longest_ns: AtomicU64::new(0),
            are_times_recorded: AtomicBool::new(false),
            answered_at: Mutex::default(),
        }
    }
}

impl Counters {
    /// Counts a request that the rules do not apply to.
    pub fn record_other(&self) {
        self.others.fetch_add(1, Relaxed);
    }

    /// Counts a request that the rules apply to, and returns its number, from 0.
    pub fn record_arrival(&self, offset: u64, size_bytes: u64) -> u64 {
        let region = u128::from(offset) * REGIONS_COUNT as u128 / u128::from(size_bytes.max(1));
        self.regions[(region as usize).min(REGIONS_COUNT - 1)].fetch_add(1, Relaxed);
        self.arrived.fetch_add(1, Relaxed)
    }

    /// Counts a reply just before it is sent, so that no client can measure less than `elapsed`. `lateness` is the time
    /// since the reply was due.
    pub fn record_reply(&self, elapsed: Duration, lateness: Duration, outcome: Outcome) {
        if outcome.errno.is_some() {
            self.failed.fetch_add(1, Relaxed);
            return;
        }
        if let Some(count) = outcome.delay_index.and_then(|index| self.by_delay.get(index)) {
            count.fetch_add(1, Relaxed);
        }
        for (edge_us, count) in EDGES_US.iter().zip(&self.over) {
            if elapsed < Duration::from_micros(*edge_us) {
                break;
            }
            count.fetch_add(1, Relaxed);
        }
        if lateness >= LATE {
            self.late.fetch_add(1, Relaxed);
        }
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.longest_ns.fetch_max(elapsed_ns, Relaxed);
        self.answered.fetch_add(1, Relaxed);
        if self.are_times_recorded.load(Relaxed) {
            self.times().push(Instant::now());
        }
    }

    /// Starts to record the time of each reply.
    pub fn record_times(&self) {
        self.are_times_recorded.store(true, Relaxed);
    }

    /// Returns the recorded reply times in ascending order.
    pub fn reply_times(&self) -> Vec<Instant> {
        let mut times = self.times().clone();
        times.sort_unstable();
        times
    }

    fn times(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.answered_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets all counters to 0.
    pub fn reset(&self) {
        let single = [
            &self.arrived,
            &self.answered,
            &self.others,
            &self.failed,
            &self.late,
            &self.longest_ns,
        ];
        let all = single
            .into_iter()
            .chain(&self.by_delay)
            .chain(&self.over)
            .chain(&self.regions);
        all.for_each(|count| count.store(0, Relaxed));
        self.times().clear();
    }

    /// Returns the current counts.
    pub fn snapshot(&self) -> OperationTruth {
        let load = |counts: &[AtomicU64]| counts.iter().map(|count| count.load(Relaxed)).collect::<Vec<_>>();
        OperationTruth {
            arrived_count: self.arrived.load(Relaxed),
            answered_count: self.answered.load(Relaxed),
            failed_count: self.failed.load(Relaxed),
            late_count: self.late.load(Relaxed),
            others_count: self.others.load(Relaxed),
            delayed_count: load(&self.by_delay),
            over: EDGES_US.into_iter().zip(load(&self.over)).collect(),
            regions: load(&self.regions),
            longest_ns: self.longest_ns.load(Relaxed),
        }
    }
}

/// The counts of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperationTruth {
    /// Requests that the rules apply to.
    pub arrived_count: u64,
    /// Of these, requests that succeeded.
    pub answered_count: u64,
    /// Of these, requests that failed.
    pub failed_count: u64,
    /// Successful requests whose reply was sent 1 ms or more after it was due: the host was overloaded, or the drive
    /// stalled.
    pub late_count: u64,
    /// Requests that the rules do not apply to.
    pub others_count: u64,
    /// Successful requests by delay, in the order of the delays.
    pub delayed_count: Vec<u64>,
    /// Threshold in us: successful requests that took that long or longer.
    pub over: BTreeMap<u64, u64>,
    /// Requests by region of the device in which they begin.
    pub regions: Vec<u64>,
    /// Longest time of a successful request.
    pub longest_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Outcome = Outcome {
        duration: Duration::ZERO,
        delay_index: None,
        errno: None,
    };

    fn over(elapsed: Duration, edge_us: u64) -> u64 {
        let counts = Counters::default();
        counts.record_reply(elapsed, Duration::ZERO, PLAIN);
        counts.snapshot().over[&edge_us]
    }

    #[test]
    fn edges_are_exact_on_both_sides() {
        for edge_us in [1_000, 1_024, 8_000, 64_000] {
            let edge = Duration::from_micros(edge_us);
            assert_eq!(
                (over(edge - Duration::from_nanos(1), edge_us), over(edge, edge_us)),
                (0, 1),
                "{edge_us}"
            );
        }
    }

    #[test]
    fn a_failed_request_has_no_time() {
        let counts = Counters::default();
        counts.record_reply(
            Duration::from_secs(1),
            Duration::from_secs(1),
            Outcome {
                errno: Some(5),
                ..PLAIN
            },
        );
        let found = counts.snapshot();
        assert_eq!(
            (
                found.answered_count,
                found.failed_count,
                found.late_count,
                found.over[&1],
                found.longest_ns
            ),
            (0, 1, 0, 0, 0)
        );
    }

    #[test]
    fn a_reply_is_late_from_a_millisecond_after_it_was_due() {
        let counts = Counters::default();
        for lateness_us in [0, 999, 1_000, 5_000] {
            let lateness = Duration::from_micros(lateness_us);
            counts.record_reply(Duration::from_secs(1), lateness, PLAIN);
        }
        let found = counts.snapshot();
        assert_eq!((found.answered_count, found.late_count), (4, 2));
        counts.reset();
        assert_eq!(counts.snapshot().late_count, 0);
    }

    #[test]
    fn reply_times_are_recorded_in_order_after_recording_starts() {
        let counts = Counters::default();
        counts.record_reply(Duration::ZERO, Duration::ZERO, PLAIN);
        counts.record_times();
        let before = Instant::now();
        counts.record_reply(Duration::ZERO, Duration::ZERO, PLAIN);
        counts.record_reply(Duration::ZERO, Duration::ZERO, PLAIN);
        let times = counts.reply_times();
        assert!(
            times.len() == 2 && before <= times[0] && times[0] <= times[1],
            "{times:?}"
        );
        counts.reset();
        assert_eq!(counts.reply_times(), []);
    }

    #[test]
    fn regions_cover_the_device_to_its_last_byte() {
        let counts = Counters::default();
        for offset in [0, 1_023, 1_024, 65_535] {
            counts.record_arrival(offset, 65_536);
        }
        let regions = counts.snapshot().regions;
        assert_eq!(
            (regions[0], regions[1], regions[63], regions.iter().sum::<u64>()),
            (2, 1, 1, 4)
        );
    }

    #[test]
    fn request_numbers_start_at_zero_and_again_after_a_reset() {
        let counts = Counters::default();
        assert_eq!((counts.record_arrival(0, 1), counts.record_arrival(0, 1)), (0, 1));
        counts.reset();
        assert_eq!(
            (counts.snapshot(), counts.record_arrival(0, 1)),
            (Counters::default().snapshot(), 0)
        );
    }
}
