//! Statistics of one operation: requested rate, counts and times.

use crate::clock::Nanos;
use crate::schedule::Schedule;
use crate::schedule::stream::{ActHistogram, Operation, Stream};
use crate::stats::histogram::Histogram;
use crate::stats::recorder::{RequestTimes, Tally};

/// Statistics of one stream, at a report and at the end of the run.
#[derive(Debug)]
pub struct OperationStats {
    /// The operation.
    pub operation: Operation,
    /// Requested rate, requests per second.
    pub requested_per_s: f64,
    /// Requests that are due in the whole run.
    pub requests_count: u64,
    schedule: Schedule,
    /// Completed since the start.
    pub done_count: u64,
    /// Failed since the start.
    pub failed_count: u64,
    /// Completed in this interval.
    pub interval_count: u64,
    /// Requests with more than half a period of generator lateness that were submitted less than half a period after
    /// the previous one, since the start; None if the arrivals are not even.
    pub catch_up_count: Option<u64>,
    /// The same in this interval.
    pub interval_catch_up_count: Option<u64>,
    /// Times of this interval.
    pub interval: RequestTimes,
    /// Times of the run, up to the end of the interval.
    pub total: RequestTimes,
}

impl OperationStats {
    /// Creates empty statistics of a stream.
    pub fn of(stream: &Stream) -> Self {
        Self {
            operation: stream.operation,
            requested_per_s: stream.schedule.rate().per_s(),
            requests_count: stream.schedule.requests_count(),
            schedule: stream.schedule,
            done_count: 0,
            failed_count: 0,
            interval_count: 0,
            catch_up_count: None,
            interval_catch_up_count: None,
            interval: RequestTimes::default(),
            total: RequestTimes::default(),
        }
    }

    /// Moves the times of an interval out of a tally, and updates the counts.
    pub fn close_interval(&mut self, tally: &mut Tally) {
        std::mem::swap(&mut self.interval, &mut tally.times);
        tally.times.clear();
        self.total.merge(&self.interval);
        let done_count = tally.count();
        self.interval_count = done_count - self.done_count;
        self.done_count = done_count;
        let earlier = self.catch_up_count.unwrap_or(0);
        self.catch_up_count = tally.catch_up_count;
        self.interval_catch_up_count = tally.catch_up_count.map(|count| count - earlier);
        self.failed_count = tally.failed_by_device.iter().sum();
    }

    /// Returns how many requests are due in the first `elapsed` of the run.
    pub fn due_count(&self, elapsed: Nanos) -> u64 {
        let (mut due, mut rest) = (0, self.requests_count);
        while due < rest {
            let middle = due + (rest - due) / 2;
            match self.schedule.due(middle) < elapsed {
                true => due = middle + 1,
                false => rest = middle,
            }
        }
        due
    }
}

/// Merges one kind of times of all operations that an ACT histogram counts.
pub fn times_of(
    operation_stats: &[OperationStats],
    histogram: ActHistogram,
    pick: fn(&OperationStats) -> &Histogram,
) -> Histogram {
    let mut all = Histogram::default();
    for stats in of(operation_stats, histogram) {
        all.merge(pick(stats));
    }
    all
}

/// Returns the statistics of the operations that an ACT histogram counts.
pub fn of(
    operation_stats: &[OperationStats],
    histogram: ActHistogram,
) -> impl Iterator<Item = &OperationStats> {
    let is_of = move |stats: &&OperationStats| stats.operation.histogram() == Some(histogram);
    operation_stats.iter().filter(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::schedule::stream::streams;

    fn stats() -> OperationStats {
        let text = "device-names: a\ntest-duration-sec: 10\nread-reqs-per-sec: 3";
        OperationStats::of(&streams(&Config::read(text, 1).unwrap().0, Nanos::from_s(10), 1, None)[0])
    }

    #[test]
    fn an_interval_has_the_requests_since_the_last_one() {
        let (mut stats, mut tally) = (stats(), Tally::new(1));
        for (bucket, count) in [(3, 5), (4, 2)] {
            tally.by_device[0][bucket] = count;
            tally.times.service.record(Nanos(count * 1_000));
            stats.close_interval(&mut tally);
        }
        assert_eq!((stats.done_count, stats.interval_count), (7, 2));
        assert_eq!(
            (stats.interval.service.count(), stats.total.service.count()),
            (1, 2)
        );
        assert_eq!(tally.times, RequestTimes::default());
    }

    #[test]
    fn due_requests_never_exceed_those_of_the_run() {
        let stats = stats();
        let due = |ms| stats.due_count(Nanos::from_ms(ms));
        assert_eq!(
            [due(0), due(1), due(1_000), due(1_001), due(9_999), due(60_000)],
            [0, 1, 3, 4, 30, 30]
        );
    }
}
