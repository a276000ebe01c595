//! One operation's stats: what was asked of it, what came, and how long that took.

use crate::clock::Nanos;
use crate::schedule::Schedule;
use crate::schedule::stream::{ActHistogram, Operation, Stream};
use crate::stats::histogram::Histogram;
use crate::stats::recorder::{RequestTimes, Tally};

/// The stats of one stream of requests, at a report and at the end of the run.
#[derive(Debug)]
pub struct OperationStats {
    /// What the requests do.
    pub operation: Operation,
    /// Asked, requests a second.
    pub asked_per_s: f64,
    /// Due in the whole run.
    pub requests_count: u64,
    schedule: Schedule,
    /// Completed since the start.
    pub done_count: u64,
    /// Failed since the start.
    pub failed_count: u64,
    /// Completed in this interval.
    pub interval_count: u64,
    /// Histogram of this interval.
    pub interval: RequestTimes,
    /// Histogram of the run, up to the end of the interval.
    pub total: RequestTimes,
}

impl OperationStats {
    /// Nothing has come yet.
    pub fn of(stream: &Stream) -> Self {
        Self {
            operation: stream.operation,
            asked_per_s: stream.schedule.rate().per_s(),
            requests_count: stream.schedule.requests_count(),
            schedule: stream.schedule,
            done_count: 0,
            failed_count: 0,
            interval_count: 0,
            interval: RequestTimes::default(),
            total: RequestTimes::default(),
        }
    }

    /// Takes the times of an interval out of a tally, and its count since the start.
    pub fn turn(&mut self, tally: &mut Tally) {
        std::mem::swap(&mut self.interval, &mut tally.times);
        tally.times.clear();
        self.total.merge(&self.interval);
        let done_count = tally.count();
        self.interval_count = done_count - self.done_count;
        self.done_count = done_count;
        self.failed_count = tally.failed_by_device.iter().sum();
    }

    /// How many requests became due in the first `elapsed` of the run.
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

/// One kind of times of all operations that a histogram of ACT's counts.
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

/// The operation_stats of the operations that a histogram of ACT's counts.
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
    fn an_interval_is_what_came_since_the_last() {
        let (mut stats, mut tally) = (stats(), Tally::new(1));
        for (bucket, count) in [(3, 5), (4, 2)] {
            tally.by_device[0][bucket] = count;
            tally.times.service.record(Nanos(count * 1_000));
            stats.turn(&mut tally);
        }
        assert_eq!((stats.done_count, stats.interval_count), (7, 2));
        assert_eq!(
            (stats.interval.service.count(), stats.total.service.count()),
            (1, 2)
        );
        assert_eq!(tally.times, RequestTimes::default());
    }

    #[test]
    fn no_more_is_due_than_the_whole_run_has() {
        let stats = stats();
        let due = |ms| stats.due_count(Nanos::from_ms(ms));
        assert_eq!(
            [due(0), due(1), due(1_000), due(1_001), due(9_999), due(60_000)],
            [0, 1, 3, 4, 30, 30]
        );
    }
}
