//! A verdict as it is written (docs/formats.md), and its headline.

use serde::Serialize;

use crate::act::semantics::Time;
use crate::judge::bucket_edges::Edge;
use crate::judge::decimal::Decimal;
use crate::judge::margin::Margin;
use crate::judge::profile::{Limit, ProfileName};
use crate::judge::share::Share;
use crate::judge::views::{Compared, SteadyState};

/// What was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As the profile asks, and nothing over a limit.
    Pass,
    /// A slice is over a limit, or the load could not be held.
    Fail,
    /// Nothing over a limit, but not what the profile asks.
    Undecided,
    /// Not a valid run.
    Void,
}

impl Outcome {
    /// As documents write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Undecided => "undecided",
            Self::Void => "void",
        }
    }
}

/// How a share was taken over a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Of the slice with the largest share.
    WorstSlice,
    /// Of the slices after the profile's first hours, together.
    SteadyState,
    /// Of the whole run, the trailing partial slice included.
    Overall,
}

/// The share found beyond a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundShare {
    /// How it was taken.
    pub statistic: Statistic,
    /// The profile's time.
    pub threshold_us: u64,
    /// The edge of the log that stands for it.
    pub read_at_us: u64,
    /// Rounded as ACT does.
    pub share_pct: String,
    /// Operations at or over the edge.
    pub over_count: u64,
    /// Operations that may have been over the threshold itself: those at or over the nearest edge not above it.
    pub over_at_most_count: u64,
    /// All operations.
    pub ops_count: u64,
    /// The same as a percentage, rounded as ACT does.
    pub at_most_pct: String,
    /// The percentage allowed.
    pub limit_pct: Decimal,
    /// Whether the share is within its limit.
    pub within: bool,
    /// Whether it would be if all were over that may be.
    pub at_most_within: bool,
    /// The slice, None for more than one.
    pub slice: Option<u64>,
}

impl FoundShare {
    /// A share found at an edge, and what it is at most at the threshold itself.
    pub fn new(
        statistic: Statistic,
        limit: &Limit,
        read_at_us: u64,
        over: Share,
        at_most: Share,
        slice: Option<u64>,
    ) -> Self {
        Self {
            statistic,
            threshold_us: limit.threshold_us,
            read_at_us,
            share_pct: over.printed(),
            over_count: over.over_count,
            over_at_most_count: at_most.over_count,
            ops_count: over.ops_count,
            at_most_pct: at_most.printed(),
            limit_pct: limit.limit_pct,
            within: over.is_within(limit.limit_pct),
            at_most_within: at_most.is_within(limit.limit_pct),
            slice,
        }
    }
}

/// What the verdict would be at either end of what the log leaves open: the true shares lie between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Strict {
    /// With no more over a threshold than is certain; it is the verdict.
    pub least: Outcome,
    /// With all over a threshold that may be.
    pub most: Outcome,
}

/// A slice that is over a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The slice's number.
    pub slice: u64,
    /// The profile's time.
    pub threshold_us: u64,
    /// The edge of the log that stands for it.
    pub read_at_us: u64,
    /// Rounded as ACT does.
    pub share_pct: String,
    /// The percentage allowed.
    pub limit_pct: Decimal,
    /// Operations at or over the edge.
    pub over_count: u64,
    /// All operations.
    pub ops_count: u64,
    /// The share over its limit, two places; None where the limit allows nothing.
    pub excess_ratio: Option<String>,
    /// When the slice was.
    #[serde(skip)]
    pub start_s: u64,
    /// When the slice was.
    #[serde(skip)]
    pub end_s: u64,
}

impl Violation {
    /// The counts.
    pub fn share(&self) -> Share {
        Share {
            over_count: self.over_count,
            ops_count: self.ops_count,
        }
    }

    /// `slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %`.
    pub fn sentence(&self) -> String {
        let when = when(self.start_s, self.end_s);
        let (threshold, shown) = (time(self.threshold_us), self.share().shown_over(self.limit_pct));
        format!(
            "slice {} ({when}), reads over {threshold}: {shown} % > {} %",
            self.slice, self.limit_pct
        )
    }
}

/// A run judged under a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What was judged.
    pub outcome: Outcome,
    /// Under what.
    pub profile: ProfileName,
    /// The verdict in one sentence.
    pub headline: String,
    /// What was judged by.
    pub histogram: String,
    /// What that measures, None where the log has no such histogram.
    pub time: Option<Time>,
    /// Where thresholds were read, in words; None where the log has edges at all of them.
    pub read_at: Option<String>,
    /// How near a limit is, or how far it was passed; None without whole slices.
    pub margin: Option<Margin>,
    /// The verdict at both ends of what the log leaves open.
    pub strict: Strict,
    /// The shares found.
    pub shares: Vec<FoundShare>,
    /// The reading after the first hours, None where the run is too short.
    pub steady_state: Option<SteadyState>,
    /// The reading that comparisons take, None where it is the judged one.
    pub compared: Option<Compared>,
    /// Shares of the whole run counted at the thresholds themselves, None where nobody counted so.
    pub exact: Option<Vec<FoundShare>>,
    /// Every slice over a limit, largest excess first.
    pub violations: Vec<Violation>,
    /// Why it is not what the profile asks, or not valid.
    pub reasons: Vec<String>,
}

/// `1 ms is read at 1024 us and 8 ms at 8192 us: ...` for a log without edges at the thresholds.
pub fn read_at(edges: impl Iterator<Item = (u64, Edge)>) -> Option<String> {
    let inexact = edges.filter(|(_, edge)| !edge.is_exact());
    let parts: Vec<String> = inexact
        .map(|(threshold_us, edge)| format!("{} at {} us", time(threshold_us), edge.read_at_us))
        .collect();
    let sentence = || {
        format!(
            "read as ACT does, {}: the log has no edge at the thresholds themselves",
            listed(&parts)
        )
    };
    (!parts.is_empty()).then(sentence)
}

/// `hours 2-3` for whole hours, `10-20 s` otherwise.
pub fn when(start_s: u64, end_s: u64) -> String {
    const HOUR_S: u64 = 3600;
    if start_s.is_multiple_of(HOUR_S) && end_s.is_multiple_of(HOUR_S) {
        format!("hours {}-{}", start_s / HOUR_S, end_s / HOUR_S)
    } else {
        format!("{start_s}-{end_s} s")
    }
}

/// `64 ms` for whole milliseconds, `256 us` otherwise.
pub fn time(threshold_us: u64) -> String {
    if threshold_us.is_multiple_of(1000) {
        format!("{} ms", threshold_us / 1000)
    } else {
        format!("{threshold_us} us")
    }
}

/// `1 ms`, `1 ms and 8 ms`, `1 ms, 8 ms and 64 ms`.
pub fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_whole_hours_are_told_in_hours() {
        assert_eq!(when(7200, 10_800), "hours 2-3");
        assert_eq!(when(10, 20), "10-20 s");
        assert_eq!(when(0, 3605), "0-3605 s");
    }

    #[test]
    fn lists_end_in_and() {
        let parts = ["1 ms", "8 ms", "64 ms"].map(str::to_owned);
        assert_eq!(listed(&parts), "1 ms, 8 ms and 64 ms");
        assert_eq!(listed(&parts[..2]), "1 ms and 8 ms");
        assert_eq!(listed(&parts[..1]), "1 ms");
    }
}
