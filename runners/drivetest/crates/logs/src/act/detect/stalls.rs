//! Detector of stalls, of intervals with another rate than requested, and of the rate of the whole run.

use crate::act::detect::request_rates::RequestRate;
use crate::finding::{Finding, counted, rule};

/// Minimum number of due operations in an interval for a stall: with fewer, an interval may be empty by chance.
const PAUSE_DUE_MIN: f64 = 100.0;

/// Minimum number of due bursts in an interval for a stall: the last burst may come after the dump.
const PAUSE_BURSTS_MIN: f64 = 3.0;

/// Allowed deviation of an interval from the requested rate.
const INTERVAL_TOLERANCE: f64 = 0.1;

/// Allowed deviation of a run from the requested rate.
const RUN_TOLERANCE: f64 = 0.01;

/// An interval, or several of them from the first to the last.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    line: u64,
    from_s: u64,
    to_s: u64,
    due: f64,
    made: u64,
}

/// Intervals of one class.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    count: u64,
    whole: Interval,
}

/// Detector for one histogram.
#[derive(Clone, Debug, Default)]
pub struct StallDetector {
    name: String,
    rate: RequestRate,
    /// Threads of a closed loop, each with one request in flight; `None` if requests do not wait for threads.
    closed_threads: Option<u64>,
    /// Last interval, which is ignored if the run stopped itself inside it.
    pending: Option<Interval>,
    last_ops: u64,
    last_s: u64,
    intervals_count: u64,
    pauses: Seen,
    slow: Seen,
    fast: Seen,
}

/// End of the run, for the report.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Whether the last label is a time: the run did not stop itself inside an interval.
    pub is_whole: bool,
    /// Last line of the run.
    pub last_line: u64,
}

impl Seen {
    fn add(&mut self, interval: &Interval) {
        if self.count == 0 {
            (self.whole.line, self.whole.from_s) = (interval.line, interval.from_s);
        }
        self.count += 1;
        self.whole.to_s = interval.to_s;
        self.whole.due += interval.due;
        self.whole.made += interval.made;
    }
}

impl StallDetector {
    /// Return a detector for a histogram with a requested rate, and with the threads of a closed loop.
    pub fn new(name: String, rate: RequestRate, closed_threads: Option<u64>) -> Self {
        Self {
            name,
            rate,
            closed_threads,
            ..Self::default()
        }
    }

    /// Add the operations so far at the dump with a label; missing dumps lengthen the interval.
    pub fn take(&mut self, line: u64, label_s: u64, ops: u64) {
        self.settle();
        self.pending = Some(Interval {
            line,
            from_s: self.last_s,
            to_s: label_s,
            due: self.rate.due(label_s.saturating_sub(self.last_s)),
            made: ops.saturating_sub(self.last_ops),
        });
        (self.last_ops, self.last_s) = (ops, label_s);
    }

    /// Return the findings, each with the name of the histogram.
    pub fn report(&self, ended: &Ended) -> Vec<(Finding, String)> {
        let mut settled = self.clone();
        if ended.is_whole {
            settled.settle();
        }
        let run_off = settled.run_off(ended.last_line).filter(|_| ended.is_whole);
        let found = [settled.pause(), settled.intervals_off(), run_off]
            .into_iter()
            .flatten();
        found.map(|finding| (finding, self.name.clone())).collect()
    }

    fn settle(&mut self) {
        let Some(interval) = self.pending.take() else {
            return;
        };
        let Interval { due, made, .. } = interval;
        let (made, slack) = (made as f64, self.rate.slack(due));
        self.intervals_count += 1;
        if due >= PAUSE_DUE_MIN.max(PAUSE_BURSTS_MIN * self.rate.burst) && made < due / 10.0 {
            self.pauses.add(&interval);
        } else if made < due * (1.0 - INTERVAL_TOLERANCE) - slack {
            self.slow.add(&interval);
        } else if made > due * (1.0 + INTERVAL_TOLERANCE) + slack {
            self.fast.add(&interval);
        }
    }

    fn pause(&self) -> Option<Finding> {
        let Seen { count, whole } = self.pauses;
        let Interval {
            line,
            from_s,
            to_s,
            due,
            made,
        } = whole;
        let hidden = self.closed_threads.map_or_else(String::new, |threads| {
            format!("; at most {threads} late operations, one per thread, can appear as slow")
        });
        let (name, intervals) = (&self.name, counted(count, "interval"));
        let sentence = format!(
            "{name} stalled in {intervals} (from {from_s} s to {to_s} s): {made} of {due:.0} expected operations completed{hidden}"
        );
        (count > 0).then(|| rule::STALL.at(line, sentence))
    }

    fn intervals_off(&self) -> Option<Finding> {
        let seen = [&self.slow, &self.fast].into_iter().filter(|seen| seen.count > 0);
        let first = seen.min_by_key(|seen| seen.whole.line)?.whole;
        let intervals = counted(self.intervals_count, "interval");
        let sentence = format!(
            "{}: of {intervals}, {} reached less than 90 % of the requested rate and {} more than 110 %; the first of these intervals begins at {} s",
            self.name, self.slow.count, self.fast.count, first.from_s
        );
        Some(rule::INTERVALS_OFF_RATE.at(first.line, sentence))
    }

    fn run_off(&self, line: u64) -> Option<Finding> {
        let (made, due) = (self.last_ops as f64, self.rate.due(self.last_s));
        let slack = self.rate.slack(due);
        let rule = if made + slack < due * (1.0 - RUN_TOLERANCE) {
            rule::RATE_BELOW_REQUESTED
        } else if made > due * (1.0 + RUN_TOLERANCE) + slack {
            rule::RATE_ABOVE_REQUESTED
        } else {
            return None;
        };
        let (name, made, ran_s) = (&self.name, self.last_ops, self.last_s);
        Some(rule.at(
            line,
            format!("{name}: {made} operations in {ran_s} s; {due:.0} were requested"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDED: Ended = Ended {
        is_whole: true,
        last_line: 99,
    };

    fn reported(per_s: f64, burst: f64, ops: &[u64]) -> Vec<Finding> {
        let rate = RequestRate {
            per_s,
            burst,
            is_drawn: false,
        };
        let mut pace = StallDetector::new("reads".to_owned(), rate, Some(10));
        (1..).zip(ops).for_each(|(at, &ops)| pace.take(at, at, ops));
        let found = pace.report(&ENDED).into_iter();
        found.map(|(finding, _)| finding).collect()
    }

    fn ids(per_s: f64, burst: f64, ops: &[u64]) -> Vec<&'static str> {
        reported(per_s, burst, ops)
            .iter()
            .map(|finding| finding.id)
            .collect()
    }

    #[test]
    fn an_even_rate_has_no_findings() {
        assert!(ids(1000.0, 10.0, &[1000, 1991, 3009, 4000]).is_empty());
    }

    #[test]
    fn a_stall_is_below_a_tenth_of_the_due_operations() {
        assert_eq!(ids(1000.0, 0.0, &[1000, 1099, 4000])[0], "stall");
        assert_eq!(
            ids(1000.0, 0.0, &[1000, 1100, 4000]),
            ["intervals-off-rate", "rate-above-asked"]
        );
    }

    #[test]
    fn a_stall_reports_due_operations_and_how_many_can_appear() {
        let found = reported(2000.0, 10.0, &[2000, 2001, 2001, 8000]);
        assert_eq!(
            found[0].sentence,
            "reads stalled in 2 intervals (from 1 s to 3 s): 1 of 4000 expected operations completed; \
             at most 10 late operations, one per thread, can appear as slow"
        );
    }

    #[test]
    fn a_burst_after_its_dump_is_no_stall() {
        // 480 threads that fire once a second: the dump may come before them or after.
        assert!(ids(480.0, 480.0, &[0, 960, 960, 1920]).is_empty());
    }

    #[test]
    fn the_interval_in_which_a_run_stopped_itself_is_ignored() {
        let rate = RequestRate {
            per_s: 1000.0,
            burst: 0.0,
            is_drawn: false,
        };
        let mut pace = StallDetector::new("reads".to_owned(), rate, None);
        (1..)
            .zip([1000, 1010])
            .for_each(|(at, ops)| pace.take(at, at, ops));
        let stopped = Ended {
            is_whole: false,
            ..ENDED
        };
        assert!(pace.report(&stopped).is_empty());
    }

    #[test]
    fn intervals_off_the_rate_are_counted_on_both_sides() {
        assert!(
            ids(1000.0, 0.0, &[900, 2000, 3100, 4000]).is_empty(),
            "90 % and 110 %"
        );
        assert_eq!(ids(1000.0, 0.0, &[899, 2000, 3000, 4000]), ["intervals-off-rate"]);
        assert_eq!(
            ids(1000.0, 0.0, &[1000, 2101, 3090, 4000]),
            ["intervals-off-rate"]
        );
    }

    #[test]
    fn a_run_is_off_its_rate_from_one_percent_on() {
        assert!(ids(1000.0, 0.0, &[990]).is_empty());
        assert_eq!(ids(1000.0, 0.0, &[989]), ["rate-below-asked"]);
        assert!(ids(1000.0, 0.0, &[1010]).is_empty());
        assert_eq!(ids(1000.0, 0.0, &[1011]), ["rate-above-asked"]);
        assert!(
            ids(1000.0, 10.0, &[980]).is_empty(),
            "a burst of 10 may come behind the last dump"
        );
    }
}
