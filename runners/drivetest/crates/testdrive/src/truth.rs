//! What the drive did, counted from its own stamps: how long it held each answer, where requests went, what failed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::faults::Fate;

/// Parts of equal size that the device is cut in for counting where requests go.
pub const REGIONS_COUNT: usize = 64;

/// Most delays that are counted apart.
pub const MOST_DELAYS: usize = 8;

/// Edges at which times are counted, us: those of ACT's buckets, and 1, 8 and 64 ms.
const EDGES_US: [u64; 27] = [
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_024, 2_048, 4_096, 8_000, 8_192, 16_384, 32_768, 64_000,
    65_536, 131_072, 262_144, 524_288, 1_048_576, 2_097_152, 4_194_304, 8_388_608,
];

/// Counts of one operation; many threads add to them.
#[derive(Debug)]
pub struct Counts {
    arrived: AtomicU64,
    answered: AtomicU64,
    others: AtomicU64,
    failed: AtomicU64,
    by_delay: [AtomicU64; MOST_DELAYS],
    over: [AtomicU64; EDGES_US.len()],
    regions: [AtomicU64; REGIONS_COUNT],
    longest_ns: AtomicU64,
    are_times_kept: AtomicBool,
    answered_at: Mutex<Vec<Instant>>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            arrived: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            others: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            by_delay: [const { AtomicU64::new(0) }; MOST_DELAYS],
            over: [const { AtomicU64::new(0) }; EDGES_US.len()],
            regions: [const { AtomicU64::new(0) }; REGIONS_COUNT],
            longest_ns: AtomicU64::new(0),
            are_times_kept: AtomicBool::new(false),
            answered_at: Mutex::default(),
        }
    }
}

impl Counts {
    /// Counts a request that the rules do not watch.
    pub fn add_other(&self) {
        self.others.fetch_add(1, Relaxed);
    }

    /// Counts a request that is watched, and returns its number, from 0.
    pub fn arrive(&self, offset: u64, size_bytes: u64) -> u64 {
        let region = u128::from(offset) * REGIONS_COUNT as u128 / u128::from(size_bytes.max(1));
        self.regions[(region as usize).min(REGIONS_COUNT - 1)].fetch_add(1, Relaxed);
        self.arrived.fetch_add(1, Relaxed)
    }

    /// Counts an answer, just before it is sent: whoever asked cannot have measured less than `held`.
    pub fn answer(&self, held: Duration, fate: Fate) {
        if fate.errno.is_some() {
            self.failed.fetch_add(1, Relaxed);
            return;
        }
        if let Some(count) = fate.delay.and_then(|ordinal| self.by_delay.get(ordinal)) {
            count.fetch_add(1, Relaxed);
        }
        for (edge_us, count) in EDGES_US.iter().zip(&self.over) {
            if held < Duration::from_micros(*edge_us) {
                break;
            }
            count.fetch_add(1, Relaxed);
        }
        let held_ns = u64::try_from(held.as_nanos()).unwrap_or(u64::MAX);
        self.longest_ns.fetch_max(held_ns, Relaxed);
        self.answered.fetch_add(1, Relaxed);
        if self.are_times_kept.load(Relaxed) {
            self.times().push(Instant::now());
        }
    }

    /// Keeps from now on when each answer was sent.
    pub fn keep_times(&self) {
        self.are_times_kept.store(true, Relaxed);
    }

    /// When each answer was sent since they are kept, the first first.
    pub fn answered_at(&self) -> Vec<Instant> {
        let mut times = self.times().clone();
        times.sort_unstable();
        times
    }

    fn times(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.answered_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts anew.
    pub fn clear(&self) {
        let single = [
            &self.arrived,
            &self.answered,
            &self.others,
            &self.failed,
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

    /// What is counted so far.
    pub fn told(&self) -> Told {
        let load = |counts: &[AtomicU64]| counts.iter().map(|count| count.load(Relaxed)).collect::<Vec<_>>();
        Told {
            arrived_count: self.arrived.load(Relaxed),
            answered_count: self.answered.load(Relaxed),
            failed_count: self.failed.load(Relaxed),
            others_count: self.others.load(Relaxed),
            delayed_count: load(&self.by_delay),
            over: EDGES_US.into_iter().zip(load(&self.over)).collect(),
            regions: load(&self.regions),
            longest_ns: self.longest_ns.load(Relaxed),
        }
    }
}

/// The truth about one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    /// Requests that came and are watched.
    pub arrived_count: u64,
    /// Of them, those that were answered without an error.
    pub answered_count: u64,
    /// Of them, those that were answered with an error.
    pub failed_count: u64,
    /// Requests of another length than the one watched.
    pub others_count: u64,
    /// Answered after each of the delays, in their order.
    pub delayed_count: Vec<u64>,
    /// Edge in us: answers that were held that long or longer, by the drive's own stamps.
    pub over: BTreeMap<u64, u64>,
    /// Requests that begin in each 64th of the device.
    pub regions: Vec<u64>,
    /// The longest time an answer was held.
    pub longest_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Fate = Fate {
        held: Duration::ZERO,
        delay: None,
        errno: None,
    };

    fn over(held: Duration, edge_us: u64) -> u64 {
        let counts = Counts::default();
        counts.answer(held, PLAIN);
        counts.told().over[&edge_us]
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
        let counts = Counts::default();
        counts.answer(
            Duration::from_secs(1),
            Fate {
                errno: Some(5),
                ..PLAIN
            },
        );
        let told = counts.told();
        assert_eq!(
            (
                told.answered_count,
                told.failed_count,
                told.over[&1],
                told.longest_ns
            ),
            (0, 1, 0, 0)
        );
    }

    #[test]
    fn times_of_answers_are_kept_in_their_order_from_when_they_are_asked_for() {
        let counts = Counts::default();
        counts.answer(Duration::ZERO, PLAIN);
        counts.keep_times();
        let before = Instant::now();
        counts.answer(Duration::ZERO, PLAIN);
        counts.answer(Duration::ZERO, PLAIN);
        let times = counts.answered_at();
        assert!(
            times.len() == 2 && before <= times[0] && times[0] <= times[1],
            "{times:?}"
        );
        counts.clear();
        assert_eq!(counts.answered_at(), []);
    }

    #[test]
    fn regions_cover_the_device_to_its_last_byte() {
        let counts = Counts::default();
        for offset in [0, 1_023, 1_024, 65_535] {
            counts.arrive(offset, 65_536);
        }
        let regions = counts.told().regions;
        assert_eq!(
            (regions[0], regions[1], regions[63], regions.iter().sum::<u64>()),
            (2, 1, 1, 4)
        );
    }

    #[test]
    fn numbers_count_up_from_nought_and_again_after_a_new_start() {
        let counts = Counts::default();
        assert_eq!((counts.arrive(0, 1), counts.arrive(0, 1)), (0, 1));
        counts.clear();
        assert_eq!(
            (counts.told(), counts.arrive(0, 1)),
            (Counts::default().told(), 0)
        );
    }
}
