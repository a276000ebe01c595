//! How near a run came to a limit, or how far beyond.

use serde::Serialize;

use crate::judge::decimal::Decimal;
use crate::judge::share::Share;
use crate::judge::verdict::{time, when};
use crate::judge::views::{LimitEdge, Part, worst_part};

/// The limit that a slice came nearest to, relative to the limit; the largest excess where some are over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Margin {
    /// The slice's number.
    pub slice: u64,
    /// The profile's time.
    pub threshold_us: u64,
    /// Rounded as ACT does.
    pub share_pct: String,
    /// The percentage allowed.
    pub limit_pct: Decimal,
    /// Limit less share, percentage points, four places: below 0 where the share is over.
    pub points: String,
    /// Share over limit, four places; None where the limit allows nothing.
    pub ratio: Option<String>,
    #[serde(skip)]
    when: (u64, u64),
}

impl Margin {
    /// The margin of some slices, None where none holds operations.
    pub fn of(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>]) -> Option<Self> {
        let worst = limit_edges
            .iter()
            .filter_map(|limit_edge| Some((limit_edge, worst_part(limit_edge, parts)?)));
        let used = |limit_edge: &LimitEdge<'_>, part: &Part<'_>| {
            let share = limit_edge.edge.over(part.tally);
            share
                .excess(limit_edge.limit.limit_pct)
                .unwrap_or(if share.over_count > 0 { f64::INFINITY } else { 0.0 })
        };
        let (limit_edge, part) = worst.max_by(|one, two| {
            let (one_used, two_used) = (used(one.0, one.1), used(two.0, two.1));
            // Of equals the first counts, as it does in the headline.
            one_used
                .total_cmp(&two_used)
                .then_with(|| two.0.limit.threshold_us.cmp(&one.0.limit.threshold_us))
        })?;
        Some(Self::at(limit_edge, part))
    }

    fn at(limit_edge: &LimitEdge<'_>, part: &Part<'_>) -> Self {
        let (share, limit_pct) = (limit_edge.edge.over(part.tally), limit_edge.limit.limit_pct);
        let (slice, start_s, end_s) = part.slice;
        Self {
            slice,
            threshold_us: limit_edge.limit.threshold_us,
            share_pct: share.printed(),
            limit_pct,
            points: points(share, limit_pct),
            ratio: share.excess(limit_pct).map(|ratio| format!("{ratio:.4}")),
            when: (start_s, end_s),
        }
    }

    /// Whether the share is over the limit.
    pub fn is_broken(&self) -> bool {
        self.points.starts_with('-')
    }

    /// `reads over 1 ms in slice 4 (hours 3-4): 4.83 % of the 5 % allowed, 0.1700 points left`.
    pub fn sentence(&self) -> String {
        let (start_s, end_s) = self.when;
        let (of, left) = match self.points.strip_prefix('-') {
            Some(beyond) => ("where at most", format!("are allowed: {beyond} points beyond")),
            None => ("of the", format!("allowed, {} points left", self.points)),
        };
        format!(
            "reads over {} in slice {} ({}): {} % {of} {} % {left}",
            time(self.threshold_us),
            self.slice,
            when(start_s, end_s),
            self.share_pct,
            self.limit_pct
        )
    }
}

/// Ten-thousandths of a point, rounded away from zero, so that a share over its limit never shows as on it.
fn points(share: Share, limit_pct: Decimal) -> String {
    let scale = i128::from(limit_pct.scale());
    let denominator = i128::from(share.ops_count) * scale;
    let numerator = i128::from(limit_pct.digits()) * i128::from(share.ops_count)
        - i128::from(share.over_count) * 100 * scale;
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
