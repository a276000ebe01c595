//! Rate check: whether the load reached its requested rates. A slow drive must not look fast because it got fewer
//! requests.

use serde::Serialize;

use crate::clock::Nanos;
use crate::report::rounded::rate;
use crate::schedule::stream::Operation;
use crate::stats::operation_stats::OperationStats;

/// Missing requests up to this share are tolerated: 0.1 %.
const MISSING_SHARE: f64 = 0.001;

/// When a run is stopped early, requests of this time may still be outstanding.
const STOPPED_SLACK_S: f64 = 0.05;

/// Lateness below this never counts as falling behind, even in a short run.
const LEAST_BEHIND: Nanos = Nanos::from_ms(10);

/// A request that was submitted this late waited for a pause. The run may have caught up afterwards.
const PAUSE: Nanos = Nanos::from_s(1);

/// The result of the check. Its JSON is `rate` in the side file, where the names of the fields are fixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RateCheck {
    /// Whether every operation reached its requested rate.
    #[serde(rename = "is_held")]
    pub is_sustained: bool,
    /// The verdict.
    #[serde(rename = "word")]
    pub verdict: RateVerdict,
    /// What was missing or late, and by how much. Empty if nothing was.
    pub sentence: String,
    /// The operations that did not reach their rate. They state it themselves in the side file.
    #[serde(skip)]
    pub missed: Vec<Operation>,
}

/// The verdict on the rates of a run, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum RateVerdict {
    /// All operations reached their rates.
    #[serde(rename = "held")]
    Sustained,
    /// All operations reached their rates, but requests waited for a pause.
    #[serde(rename = "held-after-pause")]
    SustainedAfterPause,
    /// No requests are missing, but the load fell behind.
    #[serde(rename = "behind")]
    Behind,
    /// Requests are missing.
    #[serde(rename = "below-asked")]
    BelowRequested,
}

/// Length and completeness of a run.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How long it ran.
    pub elapsed: Nanos,
    /// Whether it took its full duration.
    pub is_whole: bool,
}

impl RateCheck {
    /// Checks all operations of a run. The last interval of the statistics must be the run's last. None if the run
    /// ended before any request was due.
    pub fn of(operation_stats: &[OperationStats], extent: Extent) -> Option<Self> {
        if extent.elapsed == Nanos(0) {
            return None;
        }
        let (mut missed, mut shortfalls) = (vec![], vec![]);
        for stats in operation_stats {
            if let Some(shortfall) = shortfall(stats, extent) {
                missed.push(stats.operation);
                shortfalls.push(shortfall);
            }
        }
        let (verdict, sentence) = match shortfalls.iter().map(|(verdict, _)| *verdict).max() {
            Some(worst) => {
                let sentences: Vec<_> = shortfalls.into_iter().map(|(_, sentence)| sentence).collect();
                (worst, sentences.join("; "))
            }
            None => pause(operation_stats),
        };
        Some(Self {
            is_sustained: verdict <= RateVerdict::SustainedAfterPause,
            verdict,
            sentence,
            missed,
        })
    }
}

/// Returns the verdict on rates that were sustained.
fn pause(operation_stats: &[OperationStats]) -> (RateVerdict, String) {
    let lateness = |stats: &&OperationStats| stats.total.lateness.longest();
    match operation_stats.iter().max_by_key(lateness) {
        Some(latest) if lateness(&latest) >= PAUSE => {
            let (name, late_s) = (latest.operation.name(), lateness(&latest).0 as f64 / 1e9);
            let sentence = format!("{name} were submitted up to {late_s:.3} s late");
            (RateVerdict::SustainedAfterPause, sentence)
        }
        _ => (RateVerdict::Sustained, String::new()),
    }
}

/// Returns what is missing or late of an operation, or None if it reached its rate.
fn shortfall(stats: &OperationStats, extent: Extent) -> Option<(RateVerdict, String)> {
    let (due_count, slack) = match extent.is_whole {
        true => (stats.requests_count, 0.0),
        false => {
            let slack = stats.requested_per_s * STOPPED_SLACK_S + 1.0;
            (stats.due_count(extent.elapsed), slack)
        }
    };
    let missing = due_count.saturating_sub(stats.done_count + stats.failed_count) as f64;
    let behind = behind(stats, extent.elapsed);
    let verdict = match missing > due_count as f64 * MISSING_SHARE + slack {
        true => RateVerdict::BelowRequested,
        false => behind.map(|_| RateVerdict::Behind)?,
    };
    Some((verdict, sentence(stats, extent.elapsed, behind)))
}

/// Returns the median lateness at the end if it exceeds the tolerated share of the run's length. A load that falls
/// behind by 0.1 % is late by 0.1 % of its time.
fn behind(stats: &OperationStats, elapsed: Nanos) -> Option<Nanos> {
    let median = stats.interval.lateness.percentile(50_000)?;
    let most = Nanos((elapsed.0 as f64 * MISSING_SHARE) as u64).max(LEAST_BEHIND);
    (median > most).then_some(median)
}

fn sentence(stats: &OperationStats, elapsed: Nanos, behind: Option<Nanos>) -> String {
    let late = behind.map_or_else(String::new, |behind| {
        format!(
            "; half of them were {:.3} s late at the end",
            behind.0 as f64 / 1e9
        )
    });
    format!(
        "{}: {} per second, {:.3} requested{late}",
        stats.operation.name(),
        rate(stats.done_count, elapsed),
        stats.requested_per_s
    )
}

#[cfg(test)]
mod tests {
    use super::RateVerdict::{Behind, BelowRequested, Sustained, SustainedAfterPause};
    use super::*;
    use crate::config::Config;
    use crate::schedule::stream::streams;

    const WHOLE: Extent = Extent {
        elapsed: Nanos::from_s(10),
        is_whole: true,
    };

    /// Statistics of 1,000 reads per second for 10 s.
    fn stats(done_count: u64, late_ms: u64) -> OperationStats {
        let text = "device-names: a\ntest-duration-sec: 10\nread-reqs-per-sec: 1000";
        let mut stats =
            OperationStats::of(&streams(&Config::read(text, 1).unwrap().0, Nanos::from_s(10), 1, None)[0]);
        stats.done_count = done_count;
        (0..2).for_each(|_| stats.interval.lateness.record(Nanos::from_ms(late_ms)));
        stats
    }

    fn verdict(done_count: u64, late_ms: u64, extent: Extent) -> RateVerdict {
        RateCheck::of(&[stats(done_count, late_ms)], extent)
            .unwrap()
            .verdict
    }

    #[test]
    fn a_thousandth_may_be_missing_and_no_more() {
        assert_eq!(
            (verdict(9_990, 0, WHOLE), verdict(9_989, 0, WHOLE)),
            (Sustained, BelowRequested)
        );
    }

    #[test]
    fn a_run_without_due_requests_has_no_result() {
        let stopped = |elapsed| Extent {
            elapsed,
            is_whole: false,
        };
        assert_eq!(RateCheck::of(&[stats(0, 0)], stopped(Nanos(0))), None);
        assert!(RateCheck::of(&[stats(0, 0)], stopped(Nanos::from_s(9))).is_some());
    }

    #[test]
    fn failed_requests_count_as_made() {
        let mut stats = stats(9_000, 0);
        stats.failed_count = 1_000;
        assert!(RateCheck::of(&[stats], WHOLE).unwrap().is_sustained);
    }

    #[test]
    fn a_run_that_ended_late_did_not_sustain_its_rate() {
        assert_eq!(
            (verdict(10_000, 10, WHOLE), verdict(10_000, 11, WHOLE)),
            (Sustained, Behind)
        );
        let day = Extent {
            elapsed: Nanos::from_s(86_400),
            is_whole: true,
        };
        assert_eq!(
            (verdict(10_000, 86_000, day), verdict(10_000, 87_000, day)),
            (Sustained, Behind)
        );
    }

    #[test]
    fn a_stopped_run_is_compared_with_the_requests_due_until_then() {
        let stopped = Extent {
            elapsed: Nanos::from_s(5),
            is_whole: false,
        };
        // 5,000 were due. 5 may be missing, and 51 may still have been outstanding.
        assert_eq!(
            (verdict(4_944, 0, stopped), verdict(4_943, 0, stopped)),
            (Sustained, BelowRequested)
        );
    }

    #[test]
    fn only_operations_below_their_rate_have_missed_it() {
        let text = "device-names: a\ntest-duration-sec: 10\nread-reqs-per-sec: 1000\nwrite-reqs-per-sec: 500";
        let streams = streams(&Config::read(text, 1).unwrap().0, Nanos::from_s(10), 1, None);
        let missed = |below: &[Operation]| {
            let mut all: Vec<_> = streams.iter().map(|stream| OperationStats::of(stream)).collect();
            for stats in &mut all {
                stats.done_count = match below.contains(&stats.operation) {
                    true => 0,
                    false => stats.requests_count,
                };
            }
            RateCheck::of(&all, WHOLE).unwrap().missed
        };
        let cases: [&[Operation]; 4] = [
            &[],
            &[Operation::ReadRecord],
            &[Operation::WriteBlock],
            &[Operation::ReadRecord, Operation::WriteBlock],
        ];
        for below in cases {
            assert_eq!(missed(below), below);
        }
    }

    #[test]
    fn a_pause_with_recovery_is_reported() {
        let paused = |late_ms| {
            let mut stats = stats(10_000, 0);
            stats.total.lateness.record(Nanos::from_ms(late_ms));
            RateCheck::of(&[stats], WHOLE).unwrap()
        };
        assert_eq!(
            (paused(999).verdict, paused(1_000).verdict),
            (Sustained, SustainedAfterPause)
        );
        assert!(paused(6_000).is_sustained);
        assert_eq!(paused(6_000).sentence, "reads were submitted up to 6.000 s late");
    }

    #[test]
    fn the_sentence_has_the_achieved_and_the_requested_rate() {
        let check = RateCheck::of(&[stats(8_748, 1_250)], WHOLE).unwrap();
        assert_eq!(
            check.sentence,
            "reads: 874.800 per second, 1000.000 requested; half of them were 1.250 s late at the end"
        );
        assert!(!check.is_sustained);
    }
}
