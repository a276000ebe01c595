//! Margin of a run to its nearest limit.

use serde::Serialize;

use crate::judge::decimal::Decimal;
use crate::judge::profile::Limit;
use crate::judge::share::Share;
use crate::judge::verdict::{time, when};
use crate::judge::views::{LimitEdge, Part, worst_part};

/// Smallest relative margin of a slice to a limit, or the largest excess if limits are exceeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Margin {
    /// Number of the slice.
    pub slice: u64,
    /// Threshold of the profile.
    pub threshold_us: u64,
    /// Percentage, rounded like ACT.
    pub share_pct: String,
    /// Allowed percentage.
    pub limit_pct: Decimal,
    /// Limit minus share in percentage points with four decimal places: negative if the limit is exceeded.
    pub points: String,
    /// Share divided by limit with four decimal places; `None` for a limit of 0.
    pub ratio: Option<String>,
    #[serde(skip)]
    when: (u64, u64),
}

impl Margin {
    /// Return the margin of some slices; `None` without operations.
    pub fn of(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>]) -> Option<Self> {
        let worst = limit_edges.iter().filter_map(|limit_edge| {
            let part = worst_part(limit_edge, parts)?;
            Some((limit_edge.limit, part.slice, limit_edge.edge.over(part.tally)))
        });
        let used = |limit: &Limit, share: Share| {
            let of_zero = if share.over_count > 0 { f64::INFINITY } else { 0.0 };
            share.excess(limit.limit_pct).unwrap_or(of_zero)
        };
        let (limit, slice, share) = worst.max_by(|one, two| {
            // Of equal shares the first one counts, as in the headline.
            let by_threshold = || two.0.threshold_us.cmp(&one.0.threshold_us);
            used(one.0, one.2)
                .total_cmp(&used(two.0, two.2))
                .then_with(by_threshold)
        })?;
        Some(Self {
            slice: slice.number,
            threshold_us: limit.threshold_us,
            share_pct: share.printed(),
            limit_pct: limit.limit_pct,
            points: points(share, limit.limit_pct),
            ratio: share.excess(limit.limit_pct).map(|ratio| format!("{ratio:.4}")),
            when: (slice.start_s, slice.end_s),
        })
    }

    /// Return whether the limit is exceeded.
    pub fn is_broken(&self) -> bool {
        self.points.starts_with('-')
    }

    /// Return `reads over 1 ms in slice 4 (hours 3-4): 4.83 %, 0.1700 percentage points below the limit of 5 %`.
    pub fn sentence(&self) -> String {
        let (start_s, end_s) = self.when;
        let (points, relation) = match self.points.strip_prefix('-') {
            Some(points) => (points, "above"),
            None => (self.points.as_str(), "below"),
        };
        let (threshold, when) = (time(self.threshold_us), when(start_s, end_s));
        format!(
            "reads over {threshold} in slice {} ({when}): {} %, {points} percentage points {relation} the limit of {} %",
            self.slice, self.share_pct, self.limit_pct
        )
    }
}

/// Return ten-thousandths of a point, rounded away from zero, so that an exceeded limit never appears as met.
fn points(share: Share, limit_pct: Decimal) -> String {
    let scale = i128::from(limit_pct.scale());
    let denominator = i128::from(share.ops_count) * scale;
    let allowed = i128::from(limit_pct.digits()) * i128::from(share.ops_count);
    let numerator = allowed - i128::from(share.over_count) * 100 * scale;
    let least = (numerator.abs() * 10_000 + denominator - 1) / denominator.max(1);
    let sign = if numerator < 0 { "-" } else { "" };
    format!("{sign}{}.{:04}", least / 10_000, least % 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points_of(over_count: u64, ops_count: u64, limit: &str) -> String {
        let share = Share {
            over_count,
            ops_count,
        };
        points(share, Decimal::parse(limit).unwrap())
    }

    #[test]
    fn points_are_what_is_left_and_negative_beyond() {
        assert_eq!(points_of(0, 100, "5"), "5.0000");
        assert_eq!(
            points_of(20, 6000, "0.1"),
            "-0.2334",
            "a third of a percent less a tenth"
        );
        assert_eq!(points_of(50, 1000, "5"), "0.0000");
    }

    #[test]
    fn a_share_over_by_less_than_is_shown_is_still_below_zero() {
        assert_eq!(points_of(50_000_001, 1_000_000_000, "5"), "-0.0001");
        assert_eq!(points_of(49_999_999, 1_000_000_000, "5"), "0.0001");
    }

    #[test]
    fn the_greatest_counts_do_not_overflow() {
        let most = i64::MAX.unsigned_abs();
        assert_eq!(points_of(most, most, "0.000000001"), "-100.0000");
    }
}
