//! The streams of requests that make up a load, with the due times of their requests.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::{Instant, Nanos};
use crate::config::{Arrivals, Config};
use crate::schedule::rng::RequestRng;
use crate::schedule::{Phase, Rate, Schedule};
use crate::stats::act_buckets::Unit;
use crate::stats::recorder::{Recorder, Tally};

pub use crate::schedule::operation::{ActHistogram, Operation};

/// Time budget of a large-block operation, and limits of the number of threads for them. A drive that needs longer
/// falls behind much earlier with upstream's single thread.
const BLOCK_BUDGET_S: f64 = 0.05;
const LEAST_BLOCK_THREADS: usize = 4;
const MOST_BLOCK_THREADS: usize = 256;

/// Reads and writes that a cache thread of upstream makes before it sleeps. Source: src/index/act_index.c,
/// `BUNDLE_SIZE`.
const BUNDLE: u64 = 100;

/// Requests of one operation, with their schedule and the number of the next one.
#[derive(Debug)]
pub struct Stream {
    /// The operation.
    pub operation: Operation,
    /// The due times.
    pub schedule: Schedule,
    /// One recorder for each thread.
    pub recorders: Vec<Arc<Recorder>>,
    alternates_devices: bool,
    next: AtomicU64,
    catch_up: Option<CatchUp>,
}

/// Counts catch-up requests: those that the generator submitted more than half a period late, and less than half a
/// period after the previous one.
#[derive(Debug, Default)]
struct CatchUp {
    half_period: Nanos,
    /// Time of the latest submission, from the zero of the clock.
    previous_ns: AtomicU64,
    count: AtomicU64,
}

impl CatchUp {
    fn note(&self, submitted: Instant, own_lateness: Nanos) {
        let submitted = submitted.since(Instant::ZERO);
        // Threads call this in another order than they submit.
        let previous_ns = self.previous_ns.fetch_max(submitted.0, Relaxed);
        let is_close = submitted.0.saturating_sub(previous_ns) < self.half_period.0;
        if is_close && own_lateness > self.half_period {
            self.count.fetch_add(1, Relaxed);
        }
    }
}

impl Stream {
    fn new(operation: Operation, schedule: Schedule, threads_count: usize, config: &Config) -> Self {
        let unit = if config.is_microseconds {
            Unit::Microsecond
        } else {
            Unit::Millisecond
        };
        Self {
            operation,
            schedule,
            recorders: Recorder::of_threads(unit, config.device_names.len(), threads_count),
            alternates_devices: operation.is_block() && config.arrivals != Arrivals::Poisson,
            next: AtomicU64::new(0),
            catch_up: (config.arrivals == Arrivals::Even).then(|| CatchUp {
                half_period: Nanos(schedule.rate().begin(1).0 / 2),
                ..CatchUp::default()
            }),
        }
    }

    /// Returns the device of request `k`, as index in the configuration. Devices of records and pages are random.
    /// Large blocks alternate between the devices, because upstream gives every device the same share; with random
    /// arrivals they are random as well.
    pub fn device(&self, k: u64, devices_count: usize, rng: &mut RequestRng) -> usize {
        match self.alternates_devices {
            true => (k % devices_count as u64) as usize,
            false => rng.below(devices_count as u64) as usize,
        }
    }

    /// Takes the number of the next request, or None if all are taken.
    ///
    /// All threads share one counter. So a request waits for any free thread, not for a thread that a slow request
    /// may block. A ring, which no request blocks, takes one ahead: the
    /// one that it submits next.
    pub fn take(&self) -> Option<u64> {
        self.take_several(1).map(|taken| taken.start)
    }

    /// Takes the numbers of up to `count` next requests, or None if all are taken.
    pub fn take_several(&self, count: u64) -> Option<Range<u64>> {
        let all = self.schedule.requests_count();
        let first = self.next.fetch_add(count, Relaxed);
        (first < all).then(|| first..all.min(first + count))
    }

    /// Returns when request `k` is due, from the start of the run.
    pub fn due(&self, k: u64) -> Nanos {
        self.schedule.due(k)
    }

    /// Returns half the time between two requests, or None unless they are evenly spaced.
    pub fn half_period(&self) -> Option<Nanos> {
        self.catch_up.as_ref().map(|catch_up| catch_up.half_period)
    }

    /// Returns how late the next untaken request is, or None if all are taken.
    pub fn lag(&self, start: Instant, now: Instant) -> Option<Nanos> {
        let k = self.next.load(Relaxed);
        (k < self.schedule.requests_count()).then(|| now.since(start.after(self.schedule.due(k))))
    }

    /// Records the time of a submission and the generator lateness, to count catch-up requests. They only exist with
    /// even arrivals.
    pub fn note_submission(&self, submitted: Instant, own_lateness: Nanos) {
        if let Some(catch_up) = &self.catch_up {
            catch_up.note(submitted, own_lateness);
        }
    }

    /// Adds up the counts of all threads.
    pub fn drain_into(&self, tally: &mut Tally) {
        tally.catch_up_count = self
            .catch_up
            .as_ref()
            .map(|catch_up| catch_up.count.load(Relaxed));
        for recorder in &self.recorders {
            recorder.drain_into(tally);
        }
    }
}

/// Returns the number of threads of an operation in the `threads` engine.
fn threads_count(operation: Operation, rate: Rate, config: &Config) -> usize {
    match operation {
        Operation::ReadRecord | Operation::WriteRecord | Operation::ReadIndex => {
            config.service_threads as usize
        }
        Operation::ReadCache | Operation::WriteCache => config.cache_threads as usize,
        Operation::ReadBlock | Operation::WriteBlock | Operation::TombRaider => {
            // Upstream has one thread of each kind for each device, which start together.
            let lockstep = match config.arrivals {
                Arrivals::Lockstep => config.device_names.len(),
                _ => 0,
            };
            block_threads_count(rate).max(lockstep)
        }
    }
}

fn block_threads_count(rate: Rate) -> usize {
    let wanted = (rate.per_s() * BLOCK_BUDGET_S).ceil() as usize;
    wanted.clamp(LEAST_BLOCK_THREADS, MOST_BLOCK_THREADS)
}

/// Returns the phase of an operation. Streams with a common period start in different parts of it.
fn phase(operation: Operation) -> Phase {
    match operation {
        Operation::ReadRecord | Operation::ReadIndex | Operation::TombRaider => Phase::Start,
        Operation::ReadBlock | Operation::ReadCache => Phase::Third,
        Operation::WriteRecord => Phase::Half,
        Operation::WriteBlock | Operation::WriteCache => Phase::TwoThirds,
    }
}

/// Returns the rate of upstream's bursts: all threads of an operation send a request at the same time.
/// Source: src/storage/act_storage.c, `run_service()`, `run_large_block_reads()`; src/index/act_index.c,
/// `run_cache_simulation()`, whose threads send a bundle each.
fn bursts(operation: Operation, rate: Rate, config: &Config) -> Rate {
    let derived = &config.derived;
    match operation {
        Operation::ReadRecord | Operation::WriteRecord => {
            let reads = derived.internal_reads_per_s;
            let all = Rate::new(reads + derived.internal_writes_per_s, 1);
            all.unwrap_or(rate).divided(u64::from(config.service_threads))
        }
        Operation::ReadIndex => rate.divided(u64::from(config.service_threads)),
        Operation::ReadCache | Operation::WriteCache => {
            rate.divided(BUNDLE * u64::from(config.cache_threads))
        }
        Operation::ReadBlock | Operation::WriteBlock | Operation::TombRaider => {
            rate.divided(config.device_names.len() as u64)
        }
    }
}

fn schedule(operation: Operation, rate: Rate, config: &Config, length: Nanos, seed: u64) -> Schedule {
    match config.arrivals {
        Arrivals::Even => Schedule::even(rate, phase(operation), length),
        Arrivals::Poisson => {
            // Each stream has random times of its own, independent of the offsets on the device.
            let mut rng = RequestRng::new(seed, u64::MAX - operation as u64, 0);
            Schedule::poisson(rate, rng.next_bits(), length)
        }
        Arrivals::Lockstep => Schedule::lockstep(rate, bursts(operation, rate, config), length),
    }
}

/// Creates the streams of a configuration except the tomb raiders, for `workers` rings or for as many threads as
/// needed.
pub fn streams(config: &Config, length: Nanos, seed: u64, workers: Option<usize>) -> Vec<Arc<Stream>> {
    let stream = |(operation, rate): (Operation, Rate)| {
        let schedule = schedule(operation, rate, config, length, seed);
        Arc::new(Stream::new(
            operation,
            schedule,
            workers.unwrap_or_else(|| threads_count(operation, rate, config)),
            config,
        ))
    };
    config.rates().into_iter().map(stream).collect()
}

#[cfg(test)]
mod tests;
