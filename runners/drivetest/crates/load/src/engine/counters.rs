//! Counters of what the workers of an engine do to submit requests on time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use super::wake_error::{self, WakeError};
use crate::clock::Nanos;
use crate::stats::act_buckets::add;

/// Numbers of requests in a batch. The largest batch has 16.
const BATCH_SIZES: [&str; 5] = ["1", "2", "3-4", "5-8", "9-16"];

/// Indexes of the counters. The last ones are those of the batch sizes.
const SPIN_NS: usize = 0;
const TIMER_WAKES: usize = 1;
const COMPLETION_WAKES: usize = 2;
const ENTERS: usize = 3;
const BATCHES: usize = 4;
const COUNTERS_COUNT: usize = BATCHES + BATCH_SIZES.len();

/// The counters of one worker, and the distribution of its wake-up error. The worker alone writes them, and they have
/// cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
pub struct WorkerCounters {
    counts: [AtomicU64; COUNTERS_COUNT],
    wake_errors: [AtomicU32; wake_error::CELLS_COUNT],
}

impl Default for WorkerCounters {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; COUNTERS_COUNT],
            wake_errors: [const { AtomicU32::new(0) }; wake_error::CELLS_COUNT],
        }
    }
}

impl WorkerCounters {
    pub(super) fn count_spin(&self, length: Nanos) {
        add(&self.counts[SPIN_NS], length.0);
    }

    /// Counts the end of a sleep.
    pub(super) fn count_wake(&self, has_completion: bool) {
        let counter = if has_completion {
            COMPLETION_WAKES
        } else {
            TIMER_WAKES
        };
        add(&self.counts[counter], 1);
    }

    /// Publishes the distribution at its last evaluation.
    pub(super) fn set_wake_error(&self, wake_error: &WakeError) {
        for (cell, count) in self.wake_errors.iter().zip(wake_error.counts) {
            cell.store(count, Relaxed);
        }
    }

    pub(super) fn count_enter(&self) {
        add(&self.counts[ENTERS], 1);
    }

    /// Counts requests that were submitted in one turn. A turn without any is no batch.
    pub(super) fn count_batch(&self, requests_count: usize) {
        if let Some(beyond_first) = requests_count.checked_sub(1) {
            let size = (usize::BITS - beyond_first.leading_zeros()) as usize;
            add(&self.counts[BATCHES + size.min(BATCH_SIZES.len() - 1)], 1);
        }
    }
}

/// The counters of all workers.
#[derive(Debug)]
pub struct EngineCounters {
    workers: Vec<Arc<WorkerCounters>>,
    has_rings: bool,
    /// Sums at the end of the previous interval.
    previous: [u64; COUNTERS_COUNT],
}

/// Sums over all workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EngineCounts {
    /// Time in which workers polled until a request was due.
    pub spin_ns: u64,
    /// Sleeps that ended without the completion of a request.
    pub timer_wakes_count: u64,
    /// Sleeps that ended with the completion of a request. Threads wait for it in the call of the request itself.
    pub completion_wakes_count: Option<u64>,
    /// Calls of io_uring_enter.
    pub enters_count: Option<u64>,
    /// 10th percentile of the time by which timers lately woke workers late, in steps of 500 ns. 127,500 is that or
    /// longer.
    pub wake_error_p10_ns: u64,
    /// Its median.
    pub wake_error_p50_ns: u64,
    /// Its 99th percentile.
    pub wake_error_p99_ns: u64,
    /// Number of batches by their number of requests.
    pub batch_sizes: BTreeMap<&'static str, u64>,
}

impl EngineCounters {
    pub(super) fn new(workers_count: usize, has_rings: bool) -> Self {
        Self {
            workers: (0..workers_count).map(|_| Arc::default()).collect(),
            has_rings,
            previous: [0; COUNTERS_COUNT],
        }
    }

    pub(super) fn of_worker(&self, number: usize) -> Arc<WorkerCounters> {
        Arc::clone(&self.workers[number])
    }

    /// Returns the counts since the last call.
    pub fn close_interval(&mut self) -> EngineCounts {
        let sums = self.sums();
        let previous = std::mem::replace(&mut self.previous, sums);
        self.counts(std::array::from_fn(|counter| sums[counter] - previous[counter]))
    }

    /// Returns the counts since the start.
    pub fn totals(&self) -> EngineCounts {
        self.counts(self.sums())
    }

    fn sums(&self) -> [u64; COUNTERS_COUNT] {
        std::array::from_fn(|counter: usize| {
            let values = self
                .workers
                .iter()
                .map(|worker| worker.counts[counter].load(Relaxed));
            values.sum()
        })
    }

    fn counts(&self, sums: [u64; COUNTERS_COUNT]) -> EngineCounts {
        let of_rings = |counter| self.has_rings.then_some(sums[counter]);
        let wake_errors: [u32; wake_error::CELLS_COUNT] = std::array::from_fn(|cell: usize| {
            let values = self
                .workers
                .iter()
                .map(|worker| worker.wake_errors[cell].load(Relaxed));
            values.sum()
        });
        let wake_error_ns = |percent| wake_error::percentile(&wake_errors, percent).0;
        EngineCounts {
            wake_error_p10_ns: wake_error_ns(10),
            wake_error_p50_ns: wake_error_ns(50),
            wake_error_p99_ns: wake_error_ns(99),
            spin_ns: sums[SPIN_NS],
            timer_wakes_count: sums[TIMER_WAKES],
            completion_wakes_count: of_rings(COMPLETION_WAKES),
            enters_count: of_rings(ENTERS),
            batch_sizes: BATCH_SIZES
                .into_iter()
                .zip(sums.into_iter().skip(BATCHES))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_counts_in_the_range_of_its_size() {
        let counters = EngineCounters::new(1, true);
        (0..=17).for_each(|size| counters.of_worker(0).count_batch(size));
        let expected = [("1", 1), ("2", 1), ("3-4", 2), ("5-8", 4), ("9-16", 9)];
        assert_eq!(counters.totals().batch_sizes, BTreeMap::from(expected));
    }

    #[test]
    fn an_interval_has_the_counts_of_all_workers_since_the_last_one() {
        let mut counters = EngineCounters::new(2, true);
        let count = |counters: &EngineCounters| {
            for number in 0..2 {
                let worker = counters.of_worker(number);
                worker.count_spin(Nanos(7));
                worker.count_wake(number == 0);
                worker.count_enter();
            }
        };
        count(&counters);
        let first = counters.close_interval();
        assert_eq!(
            (
                first.spin_ns,
                first.timer_wakes_count,
                first.completion_wakes_count,
                first.enters_count
            ),
            (14, 1, Some(1), Some(2))
        );
        count(&counters);
        assert_eq!(counters.close_interval(), first);
        assert_eq!(counters.totals().spin_ns, 28);
    }

    #[test]
    fn threads_have_no_calls_of_a_ring() {
        let counts = EngineCounters::new(1, false).totals();
        assert_eq!((counts.completion_wakes_count, counts.enters_count), (None, None));
    }

    #[test]
    fn the_wake_up_error_is_that_of_the_samples_of_all_workers() {
        let counters = EngineCounters::new(3, true);
        for (number, us) in [(0, 30), (1, 20), (2, 10)] {
            let (worker, mut wake_error) = (counters.of_worker(number), WakeError::new());
            while !wake_error.add(Nanos::from_us(us)) {}
            worker.set_wake_error(&wake_error);
        }
        let totals = counters.totals();
        let percentiles = [
            totals.wake_error_p10_ns,
            totals.wake_error_p50_ns,
            totals.wake_error_p99_ns,
        ];
        assert_eq!(percentiles, [10_000, 20_000, 30_000]);
    }

    #[test]
    fn the_published_distribution_has_all_samples() {
        let counters = EngineCounters::new(1, true);
        let mut wake_error = WakeError::new();
        wake_error.add(Nanos::from_ms(4));
        while !wake_error.add(Nanos::from_us(20)) {}
        counters.of_worker(0).set_wake_error(&wake_error);
        assert_eq!(counters.totals().wake_error_p99_ns, 127_500);
    }
}
