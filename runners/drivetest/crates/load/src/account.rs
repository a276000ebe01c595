//! One operation's account: what was asked of it, what came, and how long that took.

use crate::cells::Times;
use crate::clock::Nanos;
use crate::recorder::{RequestTimes, Tally};
use crate::schedule::Schedule;
use crate::stream::{Histogram, Operation, Stream};

/// The account of one stream of requests, at a report and at the end of the run.
#[derive(Debug)]
pub struct Account {
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
    /// Times of this interval.
    pub interval: RequestTimes,
    /// Times of the run, up to the end of the interval.
    pub total: RequestTimes,
}

impl Account {
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
pub fn times_of(accounts: &[Account], histogram: Histogram, pick: fn(&Account) -> &Times) -> Times {
    let mut all = Times::default();
    for account in of(accounts, histogram) {
        all.merge(pick(account));
    }
    all
}

/// The accounts of the operations that a histogram of ACT's counts.
pub fn of(accounts: &[Account], histogram: Histogram) -> impl Iterator<Item = &Account> {
    let is_of = move |account: &&Account| account.operation.histogram() == Some(histogram);
    accounts.iter().filter(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::stream::streams;

    fn account() -> Account {
        let text = "device-names: a\ntest-duration-sec: 10\nread-reqs-per-sec: 3";
        Account::of(&streams(&Config::read(text, 1).unwrap().0, Nanos::from_s(10), 1, None)[0])
    }

    #[test]
    fn an_interval_is_what_came_since_the_last() {
        let (mut account, mut tally) = (account(), Tally::new(1));
        for (bucket, count) in [(3, 5), (4, 2)] {
            tally.by_device[0][bucket] = count;
            tally.times.service.record(Nanos(count * 1_000));
            account.turn(&mut tally);
        }
        assert_eq!((account.done_count, account.interval_count), (7, 2));
        assert_eq!(
            (account.interval.service.count(), account.total.service.count()),
            (1, 2)
        );
        assert_eq!(tally.times, RequestTimes::default());
    }

    #[test]
    fn no_more_is_due_than_the_whole_run_has() {
        let account = account();
        let due = |ms| account.due_count(Nanos::from_ms(ms));
        assert_eq!(
            [due(0), due(1), due(1_000), due(1_001), due(9_999), due(60_000)],
            [0, 1, 3, 4, 30, 30]
        );
    }
}
