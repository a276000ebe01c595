//! The streams of requests that make up a load, each with the times at which its requests are due.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::buckets::Unit;
use crate::clock::{Instant, Nanos};
use crate::config::{Arrivals, Config};
use crate::draws::Draws;
use crate::recorder::{Recorder, Tally};
use crate::schedule::{Phase, Rate, Schedule};

pub use crate::operation::{Histogram, Operation};

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
        let is_measured = operation.histogram().is_some();
        let recorder = || Arc::new(Recorder::new(unit, config.device_names.len(), is_measured));
        Self {
            operation,
            schedule,
            recorders: (0..threads).map(|_| recorder()).collect(),
            takes_turns: operation.is_block() && config.arrivals != Arrivals::Poisson,
            next: AtomicU64::new(0),
        }
    }

    /// The device of request `k`, by its place in the configuration: drawn for records and pages. Large blocks take
    /// turns, as every device has the same share of them in upstream; at random arrivals they are drawn as well.
    pub fn device(&self, k: u64, devices_count: usize, draws: &mut Draws) -> usize {
        match self.takes_turns {
            true => (k % devices_count as u64) as usize,
            false => draws.below(devices_count as u64) as usize,
        }
    }

    /// The number of the next request; None when all have been taken.
    ///
    /// One counter for all threads, so that a request waits for any free thread and not for a certain one that
    /// may be held up by a slow request.
    pub fn take(&self) -> Option<u64> {
        let k = self.next.fetch_add(1, Relaxed);
        (k < self.schedule.requests_count()).then_some(k)
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
            // Times of their own for each stream, and none that the places on the device follow from as well.
            let mut draws = Draws::new(seed, u64::MAX - operation as u64, 0);
            Schedule::poisson(rate, draws.next_bits(), length)
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
mod tests {
    use super::*;
    use crate::config::Model;

    fn of(more: &str) -> Vec<Arc<Stream>> {
        let text = format!("device-names: a\ntest-duration-sec: 10\n{more}");
        streams(&Config::read(&text, 2).unwrap().0, Nanos::from_s(10), 1, None)
    }

    #[test]
    fn only_what_is_asked_for_has_a_stream() {
        let operations = |more| of(more).iter().map(|stream| stream.operation).collect::<Vec<_>>();
        assert_eq!(operations("read-reqs-per-sec: 1"), [Operation::ReadRecord]);
        assert_eq!(
            operations("write-reqs-per-sec: 1"),
            [Operation::ReadBlock, Operation::WriteBlock]
        );
        assert_eq!(
            operations("write-reqs-per-sec: 1\nno-defrag-reads: yes"),
            [Operation::WriteBlock]
        );
        assert_eq!(
            operations("write-reqs-per-sec: 10\nupdate-pct: 50\nno-defrag-reads: y")[0],
            Operation::ReadRecord
        );
    }

    #[test]
    fn single_writes_and_index_pages_have_streams_of_their_own() {
        let operations = |model, more: &str| {
            let text = format!("device-names: a\ntest-duration-sec: 10\n{more}");
            let config = Config::read_of(model, &text, 2).unwrap().0;
            let all = streams(&config, Nanos::from_s(10), 1);
            all.iter()
                .map(|stream| (stream.operation, stream.schedule.requests_count()))
                .collect::<Vec<_>>()
        };
        // 85 records to a block: 8.5 a second are 0.1 blocks, of which defragmentation moves as much again at 50 %.
        let commits = "write-reqs-per-sec: 850\ncommit-to-device: yes\nno-defrag-reads: yes";
        assert_eq!(
            operations(Model::Storage, commits),
            [(Operation::WriteBlock, 100), (Operation::WriteRecord, 8_500)]
        );
        assert_eq!(
            operations(Model::Index, "write-reqs-per-sec: 10"),
            [
                (Operation::ReadIndex, 100),
                (Operation::ReadCache, 200),
                (Operation::WriteCache, 200)
            ]
        );
    }

    fn devices_of(more: &str, stream: usize, count: usize) -> Vec<usize> {
        let stream = &of(more)[stream];
        let device = |k| stream.device(k, count, &mut Draws::new(1, 1, k));
        (0..40).map(device).collect()
    }

    #[test]
    fn large_blocks_take_turns_at_the_devices_and_records_are_drawn() {
        let writes = "write-reqs-per-sec: 850\nread-reqs-per-sec: 100\n";
        for arrivals in ["even", "lockstep"] {
            let more = format!("{writes}arrivals: {arrivals}");
            assert_eq!(devices_of(&more, 1, 4)[..6], [0, 1, 2, 3, 0, 1], "{arrivals}");
            assert_ne!(devices_of(&more, 0, 4)[..6], [0, 1, 2, 3, 0, 1], "{arrivals}");
        }
        assert_ne!(
            devices_of(&format!("{writes}arrivals: poisson"), 1, 4)[..6],
            [0, 1, 2, 3, 0, 1]
        );
    }

    #[test]
    fn all_arrivals_ask_for_the_same_numbers_and_the_same_places() {
        let all = |arrivals| {
            of(&format!(
                "read-reqs-per-sec: 2009\nwrite-reqs-per-sec: 1000\narrivals: {arrivals}"
            ))
        };
        let counts = |arrivals| -> Vec<u64> {
            all(arrivals)
                .iter()
                .map(|stream| stream.schedule.requests_count())
                .collect()
        };
        assert_eq!(counts("poisson"), counts("lockstep"));
        assert_eq!((counts("even")[0], counts("poisson")[0]), (20_090, 20_090));
        assert_eq!(
            all("lockstep")[0].device(7, 9, &mut Draws::new(1, 0, 7)),
            all("even")[0].device(7, 9, &mut Draws::new(1, 0, 7))
        );
    }

    #[test]
    fn streams_have_random_times_of_their_own() {
        let all =
            of("read-reqs-per-sec: 1000\nwrite-reqs-per-sec: 1000\ncommit-to-device: yes\narrivals: poisson");
        let dues = |index: usize| all[index].schedule.due(5_000);
        assert_ne!(dues(0), dues(3));
    }

    #[test]
    fn upstreams_threads_burst_together() {
        // 10 threads for 2000 reads and 1000 writes: every 3.33 ms ten requests, 20 in three bursts are reads.
        let all = of(
            "service-threads: 10\nread-reqs-per-sec: 2000\nwrite-reqs-per-sec: 1000\ncommit-to-device: yes\narrivals: lockstep",
        );
        let mut due_at = std::collections::BTreeMap::new();
        for stream in [&all[0], &all[3]] {
            for k in 0..stream.schedule.requests_count() {
                *due_at.entry(stream.schedule.due(k)).or_insert(0) += 1;
            }
        }
        assert_eq!(due_at.len(), 3_000);
        assert!(due_at.values().all(|count| (9..=11).contains(count)));
    }

    #[test]
    fn cache_threads_burst_in_bundles_of_a_hundred() {
        let text = "device-names: a\ntest-duration-sec: 10\nwrite-reqs-per-sec: 400\ncache-threads: 2\narrivals: lockstep";
        let all = streams(
            &Config::read_of(Model::Index, text, 1).unwrap().0,
            Nanos::from_s(10),
            1,
        );
        // 800 a second by two threads: 200 at once, four times a second.
        let due = |k| all[1].schedule.due(k).0 / 1_000_000;
        assert_eq!(
            [due(0), due(199), due(200), due(399), due(400)],
            [0, 0, 250, 250, 500]
        );
    }

    #[test]
    fn large_blocks_have_threads_enough_for_their_rate() {
        assert_eq!(block_threads(Rate::new(2353, 100).unwrap()), LEAST_BLOCK_THREADS);
        assert_eq!(block_threads(Rate::new(81, 1).unwrap()), 5);
        assert_eq!(block_threads(Rate::new(5_120, 1).unwrap()), 256);
        assert_eq!(block_threads(Rate::new(11_765, 1).unwrap()), MOST_BLOCK_THREADS);
    }

    #[test]
    fn every_request_is_taken_once() {
        let stream = &of("read-reqs-per-sec: 20")[0];
        let taken: Vec<u64> = std::iter::from_fn(|| stream.take()).collect();
        assert_eq!(taken, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn lag_is_that_of_the_next_request() {
        let stream = &of("read-reqs-per-sec: 1")[0];
        let start = Instant::now();
        let at = |s| start.after(Nanos::from_s(s));
        stream.take();
        stream.take();
        assert_eq!(
            (stream.lag(start, at(1)), stream.lag(start, at(5))),
            (Some(Nanos(0)), Some(Nanos::from_s(3)))
        );
        while stream.take().is_some() {}
        assert_eq!(stream.lag(start, at(50)), None);
    }
}
