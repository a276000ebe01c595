//! A verdict as it is written (docs/formats.md), and its headline.

use serde::Serialize;

use crate::judge::decimal::Decimal;
use crate::judge::profile::ProfileName;
use crate::judge::share::Share;

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

/// How a share was taken over a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Of the slice with the largest share.
    WorstSlice,
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
    /// The slice, None for the whole run.
    pub slice: Option<u64>,
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
    /// The shares found.
    pub shares: Vec<FoundShare>,
    /// Every slice over a limit, largest excess first.
    pub violations: Vec<Violation>,
    /// Why it is not what the profile asks, or not valid.
    pub reasons: Vec<String>,
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
