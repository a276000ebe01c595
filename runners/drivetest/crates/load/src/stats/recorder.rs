//! What one thread counts. The collector reads it: nothing locks, nothing waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::Instant;
use crate::stats::act_buckets::{BUCKETS_COUNT, Buckets, Counts, Unit, add_one};
use crate::stats::histogram::{AtomicHistogram, Histogram};

/// The three stamps of a request.
#[derive(Debug, Clone, Copy)]
pub struct Stamps {
    /// When it was due.
    pub due: Instant,
    /// When it was submitted.
    pub submitted: Instant,
    /// When it was completed.
    pub completed: Instant,
}

/// Sets of high resolution that the threads of a stream share: so memory does not grow with their number, and few
/// enough threads count in one set to seldom meet.
const SHARED_COUNT: usize = 8;

/// The counts of one thread.
#[derive(Debug)]
pub struct Recorder {
    unit: Unit,
    by_device: Box<[Buckets]>,
    failed: Box<[AtomicU64]>,
    precise: Arc<Precise>,
    /// One of those who share the set hands it over to the collector.
    hands_over: bool,
}

#[derive(Debug, Default)]
struct Precise {
    service: AtomicHistogram,
    response: AtomicHistogram,
    lateness: AtomicHistogram,
}

impl Recorder {
    /// The counts of a stream's threads, for that many devices.
    pub fn of_threads(unit: Unit, devices_count: usize, threads_count: usize) -> Vec<Arc<Self>> {
        let context: Vec<_> = (0..threads_count.min(SHARED_COUNT))
            .map(|_| Arc::new(Precise::default()))
            .collect();
        let one = |number| Self {
            unit,
            by_device: (0..devices_count).map(|_| Buckets::default()).collect(),
            failed: (0..devices_count).map(|_| AtomicU64::new(0)).collect(),
            precise: Arc::clone(&context[number % SHARED_COUNT]),
            hands_over: number < SHARED_COUNT,
        };
        (0..threads_count).map(|number| Arc::new(one(number))).collect()
    }

    /// Counts one request; only ever called by the thread that owns the recorder.
    pub fn record(&self, device: usize, stamps: Stamps) {
        let service = stamps.completed.since(stamps.submitted);
        self.by_device[device].add(self.unit.bucket(service));
        self.precise.service.record(service);
        self.precise.response.record(stamps.completed.since(stamps.due));
        self.precise.lateness.record(stamps.submitted.since(stamps.due));
    }

    /// Counts one request that failed, which no histogram holds; only ever called by the thread that owns the recorder.
    pub fn fail(&self, device: usize) {
        add_one(&self.failed[device]);
    }

    /// Adds all that is counted so far to the buckets of `tally`, and moves the times since the last call to its times.
    pub fn drain_into(&self, tally: &mut Tally) {
        for (counts, buckets) in tally.by_device.iter_mut().zip(&self.by_device) {
            buckets.add_to(counts);
        }
        for (count, failed) in tally.failed_by_device.iter_mut().zip(&self.failed) {
            *count += failed.load(Relaxed);
        }
        if self.hands_over {
            self.precise.service.drain_into(&mut tally.times.service);
            self.precise.response.drain_into(&mut tally.times.response);
            self.precise.lateness.drain_into(&mut tally.times.lateness);
        }
    }
}

/// The three times of requests, in high resolution.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestTimes {
    /// Submitted to completed.
    pub service: Histogram,
    /// Due to completed.
    pub response: Histogram,
    /// Due to submitted.
    pub lateness: Histogram,
}

impl RequestTimes {
    /// Puts everything back to none, and keeps the room.
    pub fn clear(&mut self) {
        self.service.clear();
        self.response.clear();
        self.lateness.clear();
    }

    /// Adds those of an interval to these of the run.
    pub fn merge(&mut self, interval: &Self) {
        self.service.merge(&interval.service);
        self.response.merge(&interval.response);
        self.lateness.merge(&interval.lateness);
    }
}

/// The sum over the threads of a stream.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Service times in ACT's buckets since the start of the run, for each device.
    pub by_device: Vec<Counts>,
    /// Requests that failed since the start of the run, for each device; they are in no histogram.
    pub failed_by_device: Vec<u64>,
    /// Histogram since they were last put back to none.
    pub times: RequestTimes,
}

impl Tally {
    /// Nothing counted, for that many devices.
    pub fn new(devices_count: usize) -> Self {
        Self {
            by_device: vec![[0; BUCKETS_COUNT]; devices_count],
            failed_by_device: vec![0; devices_count],
            ..Self::default()
        }
    }

    /// Puts the buckets back to none, to be counted up again; the times are left.
    pub fn clear_buckets(&mut self) {
        self.by_device.fill([0; BUCKETS_COUNT]);
        self.failed_by_device.fill(0);
    }

    /// All devices together: the sum, so that a block's parts always add up to its whole.
    pub fn all_devices(&self) -> Counts {
        let mut sum = [0; BUCKETS_COUNT];
        for counts in &self.by_device {
            for (total, count) in sum.iter_mut().zip(counts) {
                *total += count;
            }
        }
        sum
    }

    /// Requests completed.
    pub fn count(&self) -> u64 {
        self.by_device.iter().flatten().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Nanos;

    fn stamps(due: u64, submitted: u64, completed: u64) -> Stamps {
        let start = Instant::now();
        let at = |us| start.after(Nanos(us * 1_000));
        Stamps {
            due: at(due),
            submitted: at(submitted),
            completed: at(completed),
        }
    }

    #[test]
    fn service_starts_at_submission_and_response_at_the_due_time() {
        let recorders = Recorder::of_threads(Unit::Microsecond, 2, 1);
        recorders[0].record(1, stamps(0, 3_000, 5_000));
        let mut tally = Tally::new(2);
        recorders[0].drain_into(&mut tally);
        let RequestTimes {
            service,
            response,
            lateness,
        } = &tally.times;
        assert_eq!(
            [service, response, lateness].map(Histogram::longest),
            [Nanos(2_000_000), Nanos(5_000_000), Nanos(3_000_000)]
        );
        assert_eq!((tally.by_device[0][11], tally.by_device[1][11]), (0, 1));
    }

    #[test]
    fn devices_add_up_to_the_whole() {
        let recorders = Recorder::of_threads(Unit::Millisecond, 3, 1);
        for device in [0, 1, 2, 2] {
            recorders[0].record(device, stamps(0, 0, 1_500));
        }
        let mut tally = Tally::new(3);
        recorders[0].drain_into(&mut tally);
        assert_eq!((tally.all_devices()[1], tally.count()), (4, 4));
    }

    #[test]
    fn buckets_are_since_the_start_and_times_since_the_last_look() {
        let recorders = Recorder::of_threads(Unit::Microsecond, 1, 1);
        let mut tally = Tally::new(1);
        for submitted in [9, 4] {
            recorders[0].record(0, stamps(0, submitted, submitted));
            tally.clear_buckets();
            tally.times.clear();
            recorders[0].drain_into(&mut tally);
        }
        assert_eq!(
            (tally.times.lateness.longest(), tally.times.lateness.count()),
            (Nanos(4_000), 1)
        );
        assert_eq!(tally.count(), 2);
    }

    #[test]
    fn threads_that_share_their_times_are_counted_once() {
        let recorders = Recorder::of_threads(Unit::Microsecond, 1, 20);
        let mut tally = Tally::new(1);
        recorders
            .iter()
            .for_each(|recorder| recorder.record(0, stamps(0, 1, 2)));
        recorders
            .iter()
            .for_each(|recorder| recorder.drain_into(&mut tally));
        assert_eq!((tally.count(), tally.times.service.count()), (20, 20));
    }
}
