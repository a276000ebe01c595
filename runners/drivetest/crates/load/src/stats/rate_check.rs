//! Whether a load was what it was asked to be: a drive that is slower than asked must not look fast for being asked less.

use serde::Serialize;

use crate::clock::Nanos;
use crate::report::decimal::rate;
use crate::stats::operation_stats::OperationStats;

/// The least share of the requests that may be missing: 0.1 %.
const MISSING_SHARE: f64 = 0.001;

/// Requests of so long may still be out, or not yet taken, when a run is stopped before its time.
const STOPPED_SLACK_S: f64 = 0.05;

/// However short a run was, requests that are late by less do not show that the load fell behind.
const LEAST_BEHIND: Nanos = Nanos::from_ms(10);

/// A request that was submitted so late waited for a pause: the run as a whole may have made up for it.
const PAUSE: Nanos = Nanos::from_s(1);

/// The verdict on a run's rates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RateCheck {
    /// Whether every operation came as often as asked.
    pub is_held: bool,
    /// `held`, `held-after-pause`, `below-asked` or `behind`.
    pub word: &'static str,
    /// What fell short or was late, by how much; empty where nothing was.
    pub sentence: String,
}

/// When and how a run ended.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How long it run_totals.
    pub elapsed: Nanos,
    /// Whether it run_totals its whole time.
    pub is_whole: bool,
}

impl RateCheck {
    /// Judges all operations of a run; the last interval of each stats is the run's last. None of a run that ended before
    /// anything was due.
    pub fn of(operation_stats: &[OperationStats], extent: Extent) -> Option<Self> {
        if extent.elapsed == Nanos(0) {
            return None;
        }
        let shortfalls: Vec<_> = operation_stats
            .iter()
            .filter_map(|stats| Shortfall::of(stats, extent))
            .collect();
        Some(match shortfalls.is_empty() {
            true => Self::in_full(operation_stats),
            false => Self::not_held(&shortfalls),
        })
    }

    fn in_full(operation_stats: &[OperationStats]) -> Self {
        let lateness = |stats: &OperationStats| stats.total.lateness.longest();
        let late = operation_stats.iter().filter(|stats| lateness(stats) >= PAUSE);
        let late = late.max_by_key(|stats| lateness(stats));
        let sentence = late.map(|stats| {
            let late_s = lateness(stats).0 as f64 / 1e9;
            format!(
                "{} were submitted up to {late_s:.3} s late",
                stats.operation.name()
            )
        });
        Self {
            is_held: true,
            word: if sentence.is_some() {
                "held-after-pause"
            } else {
                "held"
            },
            sentence: sentence.unwrap_or_default(),
        }
    }

    fn not_held(shortfalls: &[Shortfall]) -> Self {
        let is_missing = shortfalls.iter().any(|shortfall| shortfall.is_missing);
        let told: Vec<_> = shortfalls
            .iter()
            .map(|shortfall| shortfall.sentence.as_str())
            .collect();
        Self {
            is_held: false,
            word: if is_missing { "below-asked" } else { "behind" },
            sentence: told.join("; "),
        }
    }
}

struct Shortfall {
    is_missing: bool,
    sentence: String,
}

impl Shortfall {
    fn of(stats: &OperationStats, extent: Extent) -> Option<Self> {
        let due_count = match extent.is_whole {
            true => stats.requests_count,
            false => stats.due_count(extent.elapsed),
        };
        let slack = match extent.is_whole {
            true => 0.0,
            false => stats.asked_per_s * STOPPED_SLACK_S + 1.0,
        };
        let missing = due_count.saturating_sub(stats.done_count + stats.failed_count) as f64;
        let is_missing = missing > due_count as f64 * MISSING_SHARE + slack;
        let behind = behind(stats, extent.elapsed);
        (is_missing || behind.is_some()).then(|| Self {
            is_missing,
            sentence: sentence(stats, extent.elapsed, behind),
        })
    }
}

/// How late requests were at the end, where that is more than the share of the run that may be missing: a load that
/// falls behind by a thousandth is late by a thousandth of its time.
fn behind(stats: &OperationStats, elapsed: Nanos) -> Option<Nanos> {
    let median = stats.interval.lateness.percentile(50_000)?;
    let most = Nanos((elapsed.0 as f64 * MISSING_SHARE) as u64).max(LEAST_BEHIND);
    (median > most).then_some(median)
}

fn sentence(stats: &OperationStats, elapsed: Nanos, behind: Option<Nanos>) -> String {
    let late = behind.map_or_else(String::new, |behind| {
        format!(", half of them {:.3} s late at the end", behind.0 as f64 / 1e9)
    });
    format!(
        "{}: {} a second, {:.3} were asked{late}",
        stats.operation.name(),
        rate(stats.done_count, elapsed),
        stats.asked_per_s
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::schedule::stream::streams;

    const WHOLE: Extent = Extent {
        elapsed: Nanos::from_s(10),
        is_whole: true,
    };

    /// 1,000 reads a second for 10 s.
    fn stats(done_count: u64, late_ms: u64) -> OperationStats {
        let text = "device-names: a\ntest-duration-sec: 10\nread-reqs-per-sec: 1000";
        let mut stats =
            OperationStats::of(&streams(&Config::read(text, 1).unwrap().0, Nanos::from_s(10), 1, None)[0]);
        stats.done_count = done_count;
        (0..2).for_each(|_| stats.interval.lateness.record(Nanos::from_ms(late_ms)));
        stats
    }

    fn verdict(done_count: u64, late_ms: u64, extent: Extent) -> &'static str {
        RateCheck::of(&[stats(done_count, late_ms)], extent).unwrap().word
    }

    #[test]
    fn a_thousandth_may_be_missing_and_no_more() {
        assert_eq!(
            (verdict(9_990, 0, WHOLE), verdict(9_989, 0, WHOLE)),
            ("held", "below-asked")
        );
    }

    #[test]
    fn a_run_that_ended_before_it_began_held_nothing() {
        let stopped = |elapsed| Extent {
            elapsed,
            is_whole: false,
        };
        assert_eq!(RateCheck::of(&[stats(0, 0)], stopped(Nanos(0))), None);
        assert!(RateCheck::of(&[stats(0, 0)], stopped(Nanos::from_s(9))).is_some());
    }

    #[test]
    fn requests_that_failed_were_made() {
        let mut stats = stats(9_000, 0);
        stats.failed_count = 1_000;
        assert!(RateCheck::of(&[stats], WHOLE).unwrap().is_held);
    }

    #[test]
    fn a_run_that_ended_late_did_not_hold_its_rate() {
        assert_eq!(
            (verdict(10_000, 10, WHOLE), verdict(10_000, 11, WHOLE)),
            ("held", "behind")
        );
        let day = Extent {
            elapsed: Nanos::from_s(86_400),
            is_whole: true,
        };
        assert_eq!(
            (verdict(10_000, 86_000, day), verdict(10_000, 87_000, day)),
            ("held", "behind")
        );
    }

    #[test]
    fn a_run_that_was_stopped_is_judged_by_what_was_due_till_then() {
        let stopped = Extent {
            elapsed: Nanos::from_s(5),
            is_whole: false,
        };
        // 5,000 were due; 5 may be missing, and the 51 that may still have been out.
        assert_eq!(
            (verdict(4_944, 0, stopped), verdict(4_943, 0, stopped)),
            ("held", "below-asked")
        );
    }

    #[test]
    fn a_pause_that_was_made_up_for_is_told() {
        let paused = |late_ms| {
            let mut stats = stats(10_000, 0);
            stats.total.lateness.record(Nanos::from_ms(late_ms));
            RateCheck::of(&[stats], WHOLE).unwrap()
        };
        assert_eq!(
            (paused(999).word, paused(1_000).word),
            ("held", "held-after-pause")
        );
        assert!(paused(6_000).is_held);
        assert_eq!(paused(6_000).sentence, "reads were submitted up to 6.000 s late");
    }

    #[test]
    fn the_sentence_names_what_came_and_what_was_asked() {
        let held = RateCheck::of(&[stats(8_748, 1_250)], WHOLE).unwrap();
        assert_eq!(
            held.sentence,
            "reads: 874.800 a second, 1000.000 were asked, half of them 1.250 s late at the end"
        );
        assert!(!held.is_held);
    }
}
