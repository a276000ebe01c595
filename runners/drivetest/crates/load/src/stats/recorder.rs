//! Recorders: the counters of one thread. The collector reads them without locks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::{Instant, Nanos};
use crate::stats::act_buckets::{BUCKETS_COUNT, Buckets, Counts, Unit, add_one};
use crate::stats::histogram::{AtomicHistogram, Histogram};

/// The three timestamps of a request, and its time in the backlog.
#[derive(Debug, Clone, Copy)]
pub struct Stamps {
    /// Due time.
    pub due: Instant,
    /// Submission.
    pub submitted: Instant,
    /// Completion.
    pub completed: Instant,
    /// The part of `submitted - due` in which the device had no free slot; 0 if the request found one.
    pub backlog: Nanos,
}

/// Histograms that the threads of a stream share. Sharing limits the memory, and so few threads per set rarely meet.
const SHARED_COUNT: usize = 8;

/// The counters of one thread.
#[derive(Debug)]
pub struct Recorder {
    unit: Unit,
    by_device: Box<[Buckets]>,
    failed: Box<[AtomicU64]>,
    precise: Arc<Precise>,
    /// Whether this recorder drains the shared histograms: one per set does.
    drains_histograms: bool,
}

/// High-resolution times. A request without backlog is added to three histograms, as many as without the division of
/// the lateness, because all of its lateness is the generator's.
#[derive(Debug, Default)]
struct Precise {
    service: AtomicHistogram,
    response: AtomicHistogram,
    /// Lateness of the requests without backlog.
    unqueued_lateness: AtomicHistogram,
    /// These three are of the requests with backlog.
    queued_lateness: AtomicHistogram,
    queued_backlog: AtomicHistogram,
    queued_generator: AtomicHistogram,
}

impl Precise {
    fn record(&self, stamps: Stamps) {
        let lateness = stamps.submitted.since(stamps.due);
        self.service.record(stamps.completed.since(stamps.submitted));
        self.response.record(stamps.completed.since(stamps.due));
        if stamps.backlog == Nanos(0) {
            return self.unqueued_lateness.record(lateness);
        }
        let backlog = stamps.backlog.min(lateness);
        self.queued_lateness.record(lateness);
        self.queued_backlog.record(backlog);
        self.queued_generator.record(Nanos(lateness.0 - backlog.0));
    }

    fn drain_into(&self, times: &mut RequestTimes) {
        self.service.drain_into([&mut times.service]);
        self.response.drain_into([&mut times.response]);
        let unqueued_count = self
            .unqueued_lateness
            .drain_into([&mut times.lateness, &mut times.generator_lateness]);
        times.backlog.record_many(Nanos(0), unqueued_count);
        self.queued_lateness.drain_into([&mut times.lateness]);
        self.queued_backlog.drain_into([&mut times.backlog]);
        self.queued_generator.drain_into([&mut times.generator_lateness]);
    }
}

impl Recorder {
    /// Creates the recorders of a stream's threads.
    pub fn of_threads(unit: Unit, devices_count: usize, threads_count: usize) -> Vec<Arc<Self>> {
        let context: Vec<_> = (0..threads_count.min(SHARED_COUNT))
            .map(|_| Arc::new(Precise::default()))
            .collect();
        let one = |number| Self {
            unit,
            by_device: (0..devices_count).map(|_| Buckets::default()).collect(),
            failed: (0..devices_count).map(|_| AtomicU64::new(0)).collect(),
            precise: Arc::clone(&context[number % SHARED_COUNT]),
            drains_histograms: number < SHARED_COUNT,
        };
        (0..threads_count).map(|number| Arc::new(one(number))).collect()
    }

    /// Counts a completed request. Only the thread that owns the recorder may call this.
    pub fn record(&self, device: usize, stamps: Stamps) {
        let service = stamps.completed.since(stamps.submitted);
        self.by_device[device].add(self.unit.bucket(service));
        self.precise.record(stamps);
    }

    /// Counts a failed request, which is in no histogram. Only the thread that owns the recorder may call this.
    pub fn fail(&self, device: usize) {
        add_one(&self.failed[device]);
    }

    /// Adds the counts to the buckets of `tally`, and moves the times since the last call to its histograms.
    pub fn drain_into(&self, tally: &mut Tally) {
        for (counts, buckets) in tally.by_device.iter_mut().zip(&self.by_device) {
            buckets.add_to(counts);
        }
        for (count, failed) in tally.failed_by_device.iter_mut().zip(&self.failed) {
            *count += failed.load(Relaxed);
        }
        if self.drains_histograms {
            self.precise.drain_into(&mut tally.times);
        }
    }
}

/// The times of requests, in high resolution. For each request, the response time is the lateness plus the service
/// time, and the lateness is the backlog plus the generator lateness.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestTimes {
    /// Submission to completion.
    pub service: Histogram,
    /// Due time to completion.
    pub response: Histogram,
    /// Due time to submission.
    pub lateness: Histogram,
    /// Wait for a free slot of the device.
    pub backlog: Histogram,
    /// The rest of the lateness: the delay of the generator itself.
    pub generator_lateness: Histogram,
}

impl RequestTimes {
    /// Sets all counts to 0 and retains the memory.
    pub fn clear(&mut self) {
        self.service.clear();
        self.response.clear();
        self.lateness.clear();
        self.backlog.clear();
        self.generator_lateness.clear();
    }

    /// Adds the times of an interval.
    pub fn merge(&mut self, interval: &Self) {
        self.service.merge(&interval.service);
        self.response.merge(&interval.response);
        self.lateness.merge(&interval.lateness);
        self.backlog.merge(&interval.backlog);
        self.generator_lateness.merge(&interval.generator_lateness);
    }
}

/// The sum over the threads of a stream.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Service times in ACT's buckets since the start of the run, by device.
    pub by_device: Vec<Counts>,
    /// Failed requests since the start of the run, by device. They are in no histogram.
    pub failed_by_device: Vec<u64>,
    /// Catch-up requests since the start of the run; None if the arrivals are not even.
    pub catch_up_count: Option<u64>,
    /// Times since the last reset.
    pub times: RequestTimes,
}

impl Tally {
    /// Creates an empty tally.
    pub fn new(devices_count: usize) -> Self {
        Self {
            by_device: vec![[0; BUCKETS_COUNT]; devices_count],
            failed_by_device: vec![0; devices_count],
            ..Self::default()
        }
    }

    /// Sets the buckets to 0 before they are added up again. The times remain.
    pub fn clear_buckets(&mut self) {
        self.by_device.fill([0; BUCKETS_COUNT]);
        self.failed_by_device.fill(0);
    }

    /// Returns the sum over all devices, so that the parts of a block always add up to its total.
    #[cfg(test)]
    pub fn all_devices(&self) -> Counts {
        let mut sum = [0; BUCKETS_COUNT];
        for counts in &self.by_device {
            for (total, count) in sum.iter_mut().zip(counts) {
                *total += count;
            }
        }
        sum
    }

    /// Returns the number of completed requests.
    pub fn count(&self) -> u64 {
        self.by_device.iter().flatten().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(due: u64, submitted: u64, completed: u64) -> Stamps {
        let start = Instant::now();
        let at = |us| start.after(Nanos(us * 1_000));
        Stamps {
            due: at(due),
            submitted: at(submitted),
            completed: at(completed),
            backlog: Nanos(0),
        }
    }

    fn times_of(all: &[Stamps]) -> RequestTimes {
        let recorders = Recorder::of_threads(Unit::Microsecond, 1, 1);
        let mut tally = Tally::new(1);
        all.iter().for_each(|stamps| recorders[0].record(0, *stamps));
        recorders[0].drain_into(&mut tally);
        tally.times
    }

    #[test]
    fn service_time_starts_at_submission_and_response_time_at_the_due_time() {
        let recorders = Recorder::of_threads(Unit::Microsecond, 2, 1);
        recorders[0].record(1, stamps(0, 3_000, 5_000));
        let mut tally = Tally::new(2);
        recorders[0].drain_into(&mut tally);
        let RequestTimes {
            service,
            response,
            lateness,
            ..
        } = &tally.times;
        assert_eq!(
            [service, response, lateness].map(Histogram::longest),
            [Nanos(2_000_000), Nanos(5_000_000), Nanos(3_000_000)]
        );
        assert_eq!((tally.by_device[0][11], tally.by_device[1][11]), (0, 1));
    }

    #[test]
    fn all_lateness_of_a_request_without_backlog_is_the_generators() {
        let times = times_of(&[stamps(0, 3_000, 5_000)]);
        assert_eq!(
            (times.generator_lateness.longest(), times.backlog.longest()),
            (Nanos(3_000_000), Nanos(0))
        );
        assert_eq!(times.generator_lateness, times.lateness);
    }

    #[test]
    fn each_of_the_five_times_counts_requests_with_and_without_backlog() {
        let queued = Stamps {
            backlog: Nanos(2_000_000),
            ..stamps(0, 3_000, 5_000)
        };
        let times = times_of(&[queued, stamps(0, 7, 9), queued]);
        let all = [
            &times.service,
            &times.response,
            &times.lateness,
            &times.backlog,
            &times.generator_lateness,
        ];
        assert_eq!(all.map(Histogram::count), [3; 5]);
        let extremes = |times: &Histogram| (times.shortest(), times.longest());
        assert_eq!(
            [extremes(&times.backlog), extremes(&times.generator_lateness)],
            [
                (Some(Nanos(0)), Nanos(2_000_000)),
                (Some(Nanos(7_000)), Nanos(1_000_000))
            ]
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]
        #[test]
        fn the_parts_of_a_response_time_add_up_to_the_nanosecond(
            lateness in 0u64..1 << 40,
            backlog in 0u64..1 << 41,
            service in 0u64..1 << 40,
        ) {
            let due = Instant::now();
            let submitted = due.after(Nanos(lateness));
            let completed = submitted.after(Nanos(service));
            let times = times_of(&[Stamps { due, submitted, completed, backlog: Nanos(backlog) }]);
            let [backlog, own] = [&times.backlog, &times.generator_lateness].map(|times| times.longest().0);
            proptest::prop_assert_eq!(backlog + own, times.lateness.longest().0);
            proptest::prop_assert_eq!(backlog + own + times.service.longest().0, times.response.longest().0);
            proptest::prop_assert_eq!((times.backlog.count(), times.generator_lateness.count()), (1, 1));
        }
    }

    #[test]
    fn device_counts_add_up_to_the_total() {
        let recorders = Recorder::of_threads(Unit::Millisecond, 3, 1);
        for device in [0, 1, 2, 2] {
            recorders[0].record(device, stamps(0, 0, 1_500));
        }
        let mut tally = Tally::new(3);
        recorders[0].drain_into(&mut tally);
        assert_eq!((tally.all_devices()[1], tally.count()), (4, 4));
    }

    #[test]
    fn buckets_count_from_the_start_and_times_from_the_last_drain() {
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
