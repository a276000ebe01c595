//! What one thread counts. One thread writes, the collector reads: nothing locks, nothing waits.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::buckets::{BUCKETS_COUNT, Buckets, Counts, Unit, add_one};
use crate::cells::{Cells, Times};
use crate::clock::{Instant, Nanos};

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

/// The counts of one thread.
#[derive(Debug)]
pub struct Recorder {
    unit: Unit,
    by_device: Box<[Buckets]>,
    failed: Box<[AtomicU64]>,
    precise: Option<Precise>,
    lag_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct Precise {
    service: Cells,
    response: Cells,
    lag: Cells,
}

impl Recorder {
    /// Counts for that many devices; in high resolution as well when `is_precise`.
    pub fn new(unit: Unit, devices_count: usize, is_precise: bool) -> Self {
        let by_device = (0..devices_count).map(|_| Buckets::default()).collect();
        let precise = is_precise.then(Precise::default);
        Self {
            unit,
            by_device,
            failed: (0..devices_count).map(|_| AtomicU64::new(0)).collect(),
            precise,
            lag_ns: AtomicU64::new(0),
        }
    }

    /// Counts one request; only ever called by the thread that owns the recorder.
    pub fn record(&self, device: usize, stamps: Stamps) {
        let service = stamps.completed.since(stamps.submitted);
        self.by_device[device].add(self.unit.bucket(service));
        let lag = stamps.submitted.since(stamps.due);
        if lag.0 > self.lag_ns.load(Relaxed) {
            self.lag_ns.fetch_max(lag.0, Relaxed);
        }
        if let Some(precise) = &self.precise {
            precise.service.record(service);
            precise.response.record(stamps.completed.since(stamps.due));
            precise.lag.record(lag);
        }
    }

    /// Counts one request that failed, which no histogram holds; only ever called by the thread that owns the recorder.
    pub fn fail(&self, device: usize) {
        add_one(&self.failed[device]);
    }

    /// Adds what is counted so far to `tally`; longest times and lag are those since the last call.
    pub fn drain_into(&self, tally: &mut Tally) {
        for (counts, buckets) in tally.by_device.iter_mut().zip(&self.by_device) {
            buckets.add_to(counts);
        }
        for (count, failed) in tally.failed_by_device.iter_mut().zip(&self.failed) {
            *count += failed.load(Relaxed);
        }
        tally.lag = tally.lag.max(Nanos(self.lag_ns.swap(0, Relaxed)));
        if let Some(precise) = &self.precise {
            precise.service.drain_into(&mut tally.service);
            precise.response.drain_into(&mut tally.response);
            precise.lag.drain_into(&mut tally.lags);
        }
    }
}

/// The sum over the threads of a stream, since the start of the run.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Service times in ACT's buckets, for each device.
    pub by_device: Vec<Counts>,
    /// Service times in high resolution.
    pub service: Times,
    /// Response times in high resolution.
    pub response: Times,
    /// How far behind their due time requests were submitted, in high resolution.
    pub lags: Times,
    /// Requests that failed, for each device; they are in no histogram.
    pub failed_by_device: Vec<u64>,
    /// The latest submission behind its due time since the last look.
    pub lag: Nanos,
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

    /// Puts everything back to none, and keeps the room.
    pub fn clear(&mut self) {
        self.by_device.fill([0; BUCKETS_COUNT]);
        self.service.clear();
        self.response.clear();
        self.lags.clear();
        self.failed_by_device.fill(0);
        self.lag = Nanos(0);
    }

    /// Adds what another stream counted.
    pub fn merge(&mut self, other: &Self) {
        for (counts, more) in self.by_device.iter_mut().zip(&other.by_device) {
            counts
                .iter_mut()
                .zip(more)
                .for_each(|(count, more)| *count += more);
        }
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.lag = self.lag.max(other.lag);
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
        let recorder = Recorder::new(Unit::Microsecond, 2, true);
        recorder.record(1, stamps(0, 3_000, 5_000));
        let mut tally = Tally::new(2);
        recorder.drain_into(&mut tally);
        assert_eq!(
            (tally.service.longest(), tally.response.longest()),
            (Nanos(2_000_000), Nanos(5_000_000))
        );
        assert_eq!(tally.lag, Nanos(3_000_000));
        assert_eq!((tally.by_device[0][11], tally.by_device[1][11]), (0, 1));
    }

    #[test]
    fn devices_add_up_to_the_whole() {
        let recorder = Recorder::new(Unit::Millisecond, 3, false);
        for device in [0, 1, 2, 2] {
            recorder.record(device, stamps(0, 0, 1_500));
        }
        let mut tally = Tally::new(3);
        recorder.drain_into(&mut tally);
        assert_eq!(
            (tally.all_devices()[1], tally.count(), tally.service.count()),
            (4, 4, 0)
        );
    }

    #[test]
    fn lag_is_that_since_the_last_look() {
        let recorder = Recorder::new(Unit::Microsecond, 1, false);
        let mut tally = Tally::new(1);
        recorder.record(0, stamps(0, 9, 9));
        recorder.drain_into(&mut tally);
        tally.clear();
        recorder.record(0, stamps(0, 4, 4));
        recorder.drain_into(&mut tally);
        assert_eq!((tally.lag, tally.count()), (Nanos(4_000), 2));
    }
}
