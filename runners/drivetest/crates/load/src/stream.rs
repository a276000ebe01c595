//! The streams of requests that make up a storage load: record reads, large-block reads, large-block writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::buckets::Unit;
use crate::clock::{Instant, Nanos};
use crate::config::Config;
use crate::recorder::{Recorder, Tally};
use crate::schedule::{Phase, Rate, Schedule};

/// What a stream's requests do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Reads a record.
    ReadRecord,
    /// Reads a large block, as defragmentation does.
    ReadBlock,
    /// Writes a large block.
    WriteBlock,
}

/// Time that a large-block operation may take before the threads for them run out, and the fewest and most threads.
/// A drive that needs longer at its asked rate falls behind in upstream with one thread much sooner.
const BLOCK_BUDGET_S: f64 = 0.05;
const LEAST_BLOCK_THREADS: usize = 4;
const MOST_BLOCK_THREADS: usize = 256;

/// Requests of one kind: when they are due, which is next, who carries them out.
#[derive(Debug)]
pub struct Stream {
    /// What they do.
    pub operation: Operation,
    /// When they are due.
    pub schedule: Schedule,
    /// One for each thread.
    pub recorders: Vec<Arc<Recorder>>,
    next: AtomicU64,
}

impl Stream {
    fn new(operation: Operation, rate: Rate, config: &Config, length: Nanos) -> Self {
        let phase = match operation {
            Operation::ReadRecord => Phase::Start,
            Operation::ReadBlock => Phase::Third,
            Operation::WriteBlock => Phase::TwoThirds,
        };
        let is_record = operation == Operation::ReadRecord;
        let threads = if is_record {
            config.service_threads as usize
        } else {
            block_threads(rate)
        };
        let unit = if config.is_microseconds {
            Unit::Microsecond
        } else {
            Unit::Millisecond
        };
        let recorder = || Arc::new(Recorder::new(unit, config.device_names.len(), is_record));
        Self {
            operation,
            schedule: Schedule::new(rate, phase, length),
            recorders: (0..threads).map(|_| recorder()).collect(),
            next: AtomicU64::new(0),
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

fn block_threads(rate: Rate) -> usize {
    let wanted = (rate.per_s() * BLOCK_BUDGET_S).ceil() as usize;
    wanted.clamp(LEAST_BLOCK_THREADS, MOST_BLOCK_THREADS)
}

/// The streams that a configuration asks for.
pub fn streams(config: &Config, length: Nanos) -> Vec<Arc<Stream>> {
    let derived = &config.derived;
    let rates = [
        (
            Operation::ReadRecord,
            Rate::new(u64::from(derived.internal_reads_per_s), 1),
        ),
        (Operation::ReadBlock, derived.large_block_reads),
        (Operation::WriteBlock, derived.large_block_writes),
    ];
    rates
        .into_iter()
        .filter_map(|(operation, rate)| Some(Arc::new(Stream::new(operation, rate?, config, length))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(more: &str) -> Vec<Arc<Stream>> {
        let text = format!("device-names: a\ntest-duration-sec: 10\n{more}");
        streams(&Config::read(&text, 2).unwrap().0, Nanos::from_s(10))
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
