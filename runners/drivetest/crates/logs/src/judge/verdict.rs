//! Verdicts in the JSON document (docs/reference/formats.md), and the formats of times in sentences.

use serde::Serialize;

use crate::act::semantics::Time;
use crate::judge::decimal::Decimal;
use crate::judge::margin::Margin;
use crate::judge::profile::{Limit, ProfileName};
use crate::judge::share::Share;
use crate::judge::views::{Compared, LimitEdge, SteadyState};

/// Outcome of a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The run matches the profile, and exceeds no limit.
    Pass,
    /// A slice exceeds a limit, or the load could not be sustained.
    Fail,
    /// The run exceeds no limit, but does not match the profile.
    Undecided,
    /// The run is not valid.
    Void,
}

/// Part of a run that a share covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The slice with the largest share.
    WorstSlice,
    /// All slices after the first hours, as the profile defines them.
    SteadyState,
    /// The whole run, including the partial slice at its end.
    Overall,
}

/// Share over a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundShare {
    /// Part of the run.
    pub statistic: Statistic,
    /// Threshold of the profile.
    pub threshold_us: u64,
    /// Bucket edge of the log that is used for the threshold.
    pub read_at_us: u64,
    /// Percentage, rounded like ACT.
    pub share_pct: String,
    /// Operations at or over the edge.
    pub over_count: u64,
    /// Maximum number of operations over the threshold: those at or over the nearest edge not above it.
    pub over_at_most_count: u64,
    /// All operations.
    pub ops_count: u64,
    /// Maximum percentage, rounded like ACT.
    pub at_most_pct: String,
    /// Allowed percentage.
    pub limit_pct: Decimal,
    /// Whether the share is within its limit.
    pub within: bool,
    /// Whether the maximum share is within its limit.
    pub at_most_within: bool,
    /// Number of the slice; `None` for more than one.
    pub slice: Option<u64>,
}

impl FoundShare {
    /// Return a share at an edge, with the maximum share at the threshold itself.
    pub fn new(
        statistic: Statistic,
        limit: &Limit,
        read_at_us: u64,
        (over, at_most): (Share, Share),
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

/// Outcomes for the minimum and maximum of the shares; the true shares are between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Strict {
    /// Outcome for the certain shares, which is the verdict.
    pub least: Outcome,
    /// Outcome for the maximum shares.
    pub most: Outcome,
}

/// Slice that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Number of the slice.
    pub slice: u64,
    /// Threshold of the profile.
    pub threshold_us: u64,
    /// Bucket edge of the log that is used for the threshold.
    pub read_at_us: u64,
    /// Percentage, rounded like ACT.
    pub share_pct: String,
    /// Allowed percentage.
    pub limit_pct: Decimal,
    /// Operations at or over the edge.
    pub over_count: u64,
    /// All operations.
    pub ops_count: u64,
    /// Share divided by its limit with two decimal places; `None` for a limit of 0.
    pub excess_ratio: Option<String>,
    /// Start of the slice.
    #[serde(skip)]
    pub start_s: u64,
    /// End of the slice.
    #[serde(skip)]
    pub end_s: u64,
}

impl Violation {
    /// Return the counts as a share.
    pub fn share(&self) -> Share {
        Share {
            over_count: self.over_count,
            ops_count: self.ops_count,
        }
    }

    /// Return `slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %`.
    pub fn sentence(&self) -> String {
        let (slice, when, limit_pct) = (self.slice, when(self.start_s, self.end_s), self.limit_pct);
        let (threshold, shown) = (time(self.threshold_us), self.share().shown_over(limit_pct));
        format!("slice {slice} ({when}), reads over {threshold}: {shown} % > {limit_pct} %")
    }
}

/// Verdict on a run under a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Outcome.
    pub outcome: Outcome,
    /// Profile.
    pub profile: ProfileName,
    /// The verdict in one sentence.
    pub headline: String,
    /// Name of the judged histogram.
    pub histogram: String,
    /// Time that the histogram measures; `None` if the log has no such histogram.
    pub time: Option<Time>,
    /// Sentence about the bucket edges; `None` if the log has edges at all thresholds.
    pub read_at: Option<String>,
    /// Margin to the nearest limit; `None` without complete slices.
    pub margin: Option<Margin>,
    /// Outcomes for the minimum and maximum of the shares.
    pub strict: Strict,
    /// Shares over the thresholds.
    pub shares: Vec<FoundShare>,
    /// Shares after the first hours; `None` if the run is too short.
    pub steady_state: Option<SteadyState>,
    /// Shares for comparisons; `None` if the judged histogram is used for them.
    pub compared: Option<Compared>,
    /// Shares of the whole run by exact counts; `None` without a side file that has them.
    pub exact: Option<Vec<FoundShare>>,
    /// All slices that exceed a limit, largest excess first.
    pub violations: Vec<Violation>,
    /// Reasons why the run does not match the profile, or is not valid.
    pub reasons: Vec<String>,
}

/// Return the sentence for a log without edges at the thresholds: `1 ms at 1024 us and 8 ms at 8192 us`.
pub fn read_at(limit_edges: &[LimitEdge<'_>]) -> Option<String> {
    let inexact = limit_edges.iter().filter(|at| !at.edge.is_exact());
    let parts = inexact.map(|at| format!("{} at {} us", time(at.limit.threshold_us), at.edge.read_at_us));
    let parts = listed(&parts.collect::<Vec<_>>());
    (!parts.is_empty()).then(|| {
        format!(
            "the log lacks bucket edges at thresholds of the profile, so drivetest, like ACT, reads {parts}"
        )
    })
}

/// Return a time range: `hours 2-3` for whole hours, `10-20 s` otherwise.
pub fn when(start_s: u64, end_s: u64) -> String {
    const HOUR_S: u64 = 3600;
    if start_s.is_multiple_of(HOUR_S) && end_s.is_multiple_of(HOUR_S) {
        format!("hours {}-{}", start_s / HOUR_S, end_s / HOUR_S)
    } else {
        format!("{start_s}-{end_s} s")
    }
}

/// Return a time: `64 ms` for whole milliseconds, `256 us` otherwise.
pub fn time(threshold_us: u64) -> String {
    if threshold_us.is_multiple_of(1000) {
        format!("{} ms", threshold_us / 1000)
    } else {
        format!("{threshold_us} us")
    }
}

/// Return a list: `1 ms`, `1 ms and 8 ms`, `1 ms, 8 ms and 64 ms`.
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
    fn slices_of_whole_hours_are_shown_in_hours() {
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
