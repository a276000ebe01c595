//! The streams of requests that make up a load, each with the times at which its requests are due.

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

/// Time that a large-block operation may take before the threads for them run out, and the fewest and most threads.
/// A drive that needs longer at its asked rate falls behind in upstream with one thread much sooner.
const BLOCK_BUDGET_S: f64 = 0.05;
const LEAST_BLOCK_THREADS: usize = 4;
const MOST_BLOCK_THREADS: usize = 256;

/// Reads and writes that a cache thread of upstream makes before it sleeps. Source: src/index/act_index.c, `BUNDLE_SIZE`.
const BUNDLE: u64 = 100;

/// Requests of one kind: when they are due, which is next, who carries them out.
#[derive(Debug)]
pub struct Stream {
    /// What they do.
    pub operation: Operation,
    /// When they are due.
    pub schedule: Schedule,
    /// One for each thread.
    pub recorders: Vec<Arc<Recorder>>,
    takes_turns: bool,
    next: AtomicU64,
}

impl Stream {
    fn new(operation: Operation, schedule: Schedule, threads: usize, config: &Config) -> Self {
        let unit = if config.is_microseconds {
            Unit::Microsecond
        } else {
            Unit::Millisecond
        };
        Self {
            operation,
            schedule,
            recorders: Recorder::of_threads(unit, config.device_names.len(), threads),
            takes_turns: operation.is_block() && config.arrivals != Arrivals::Poisson,
            next: AtomicU64::new(0),
        }
    }

    /// The device of request `k`, by its place in the configuration: drawn for records and pages. Large blocks take
    /// turns, as every device has the same share of them in upstream; at random arrivals they are drawn as well.
    pub fn device(&self, k: u64, devices_count: usize, rng: &mut RequestRng) -> usize {
        match self.takes_turns {
            true => (k % devices_count as u64) as usize,
            false => rng.below(devices_count as u64) as usize,
        }
    }

    /// The number of the next request; None when all have been taken.
    ///
    /// One counter for all threads, so that a request waits for any free thread and not for a certain one that
    /// may be held up by a slow request.
    pub fn take(&self) -> Option<u64> {
        self.take_several(1).map(|taken| taken.start)
    }

    /// The numbers of the next requests, up to `count` of them; None when all have been taken.
    pub fn take_several(&self, count: u64) -> Option<Range<u64>> {
        let all = self.schedule.requests_count();
        let first = self.next.fetch_add(count, Relaxed);
        (first < all).then(|| first..all.min(first + count))
    }

    /// When request `k` is due, from the start of the run.
    pub fn due(&self, k: u64) -> Nanos {
        self.schedule.due(k)
    }

    /// How late the next request is that nobody has taken; None when none is left.
    pub fn lag(&self, start: Instant, now: Instant) -> Option<Nanos> {
        let k = self.next.load(Relaxed);
        (k < self.schedule.requests_count()).then(|| now.since(start.after(self.schedule.due(k))))
    }

    /// Adds up what the threads have counted so far.
    pub fn drain_into(&self, tally: &mut Tally) {
        for recorder in &self.recorders {
            recorder.drain_into(tally);
        }
    }
}

/// Threads of the threads engine.
fn threads(operation: Operation, rate: Rate, config: &Config) -> usize {
    match operation {
        Operation::ReadRecord | Operation::WriteRecord | Operation::ReadIndex => {
            config.service_threads as usize
        }
        Operation::ReadCache | Operation::WriteCache => config.cache_threads as usize,
        Operation::ReadBlock | Operation::WriteBlock | Operation::TombRaider => {
            block_threads(rate).max(lockstep_devices(config))
        }
    }
}

/// Upstream has a thread of either kind for each device, and they start together.
fn lockstep_devices(config: &Config) -> usize {
    match config.arrivals {
        Arrivals::Lockstep => config.device_names.len(),
        _ => 0,
    }
}

fn block_threads(rate: Rate) -> usize {
    let wanted = (rate.per_s() * BLOCK_BUDGET_S).ceil() as usize;
    wanted.clamp(LEAST_BLOCK_THREADS, MOST_BLOCK_THREADS)
}

/// Streams of one load that may share a period begin in different parts of it.
fn phase(operation: Operation) -> Phase {
    match operation {
        Operation::ReadRecord | Operation::ReadIndex | Operation::TombRaider => Phase::Start,
        Operation::ReadBlock | Operation::ReadCache => Phase::Third,
        Operation::WriteRecord => Phase::Half,
        Operation::WriteBlock | Operation::WriteCache => Phase::TwoThirds,
    }
}

/// Upstream's bursts: all threads that carry the operation out make a request at the same time.
/// Source: src/storage/act_storage.c, `run_service()`, `run_large_block_reads()`; src/index/act_index.c,
/// `run_cache_simulation()`, whose threads make a bundle each.
fn bursts(operation: Operation, rate: Rate, config: &Config) -> Rate {
    let derived = &config.derived;
    match operation {
        Operation::ReadRecord | Operation::WriteRecord => {
            let reads = u64::from(derived.internal_reads_per_s);
            let all = Rate::new(reads + u64::from(derived.internal_writes_per_s), 1);
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
            // Histogram of their own for each stream, and none that the offsets on the device follow from as well.
            let mut rng = RequestRng::new(seed, u64::MAX - operation as u64, 0);
            Schedule::poisson(rate, rng.next_bits(), length)
        }
        Arrivals::Lockstep => Schedule::lockstep(rate, bursts(operation, rate, config), length),
    }
}

/// The streams that a configuration asks for, apart from the tomb raiders', each for that many ring workers, or for
/// threads enough.
pub fn streams(config: &Config, length: Nanos, seed: u64, workers: Option<usize>) -> Vec<Arc<Stream>> {
    let stream = |(operation, rate): (Operation, Rate)| {
        let schedule = schedule(operation, rate, config, length, seed);
        Arc::new(Stream::new(
            operation,
            schedule,
            workers.unwrap_or_else(|| threads(operation, rate, config)),
            config,
        ))
    };
    config.rates().into_iter().map(stream).collect()
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
