//! Shares of operations at or over a threshold: comparison with a limit, rounding, and the exact counts of drivetest.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::judge::decimal::Decimal;

/// Maximum number of decimal places, if ACT's two would hide that a share exceeds its limit.
const PLACES_SHOWN_MAX: usize = 9;

/// Number of operations over a threshold, and of all operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Operations at or over the threshold.
    pub over_count: u64,
    /// All operations.
    pub ops_count: u64,
}

impl Share {
    /// Add two shares. Counts of one run never exceed `i64::MAX`, so real logs do not saturate.
    pub fn plus(self, other: Self) -> Self {
        Self {
            over_count: self.over_count.saturating_add(other.over_count),
            ops_count: self.ops_count.saturating_add(other.ops_count),
        }
    }

    /// Return whether at most `limit_pct` percent were over; a share equal to its limit is within it.
    ///
    /// In integers: over x 100 x 10^d <= limit x 10^d x ops, where d is the limit's places. No product
    /// reaches 2^128: counts are below 2^64, 100 x 10^9 is below 2^37, the limit's digits are below 2^60.
    /// A share of 0 operations is within any limit; the judge handles that case.
    pub fn is_within(self, limit_pct: Decimal) -> bool {
        let (found, allowed) = self.sides(limit_pct);
        found <= allowed
    }

    /// Return the share divided by its limit; `None` for a limit of 0.
    pub fn excess(self, limit_pct: Decimal) -> Option<f64> {
        let (found, allowed) = self.sides(limit_pct);
        (allowed > 0).then(|| found as f64 / allowed as f64)
    }

    /// Compare two shares exactly; a share of 0 operations is the smallest.
    pub fn compare(self, other: Self) -> Ordering {
        let cross = |one: Self, two: Self| u128::from(one.over_count) * u128::from(two.ops_count);
        let is_some = |share: Self| share.ops_count > 0;
        let by_share = cross(self, other).cmp(&cross(other, self));
        by_share.then(is_some(self).cmp(&is_some(other)))
    }

    /// Return the percentage as ACT computes it before rounding; 0 without operations.
    ///
    /// Source: aerospike/act, analysis/act_latency.py, bucket_percentages_over().
    pub fn pct(self) -> f64 {
        match self.ops_count {
            0 => 0.0,
            ops_count => self.over_count as f64 * 100.0 / ops_count as f64,
        }
    }

    /// Return the percentage with two places, as ACT prints it: half to even on the exact double, like Python 3.
    pub fn printed(self) -> String {
        format!("{:.2}", self.pct())
    }

    /// Return the percentage with two or more places, as many as show that it exceeds a limit.
    pub fn shown_over(self, limit_pct: Decimal) -> String {
        let is_over = |text: &String| Decimal::parse(text).is_some_and(|shown| shown.is_above(limit_pct));
        let mut texts = (2..=PLACES_SHOWN_MAX).map(|places| format!("{:.places$}", self.pct()));
        texts.find(is_over).unwrap_or_else(|| self.printed())
    }

    fn sides(self, limit_pct: Decimal) -> (u128, u128) {
        let found = u128::from(self.over_count) * 100 * u128::from(limit_pct.scale());
        (found, u128::from(limit_pct.digits()) * u128::from(self.ops_count))
    }
}

/// Round to a number of places like `round` of Python 3: half to even on the exact double.
pub fn rounded(value: f64, places: usize) -> f64 {
    format!("{value:.places$}").parse().unwrap_or(value)
}

/// Reads of a whole run, and how many of them were at or over each threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactCounts {
    ops_count: u64,
    over_counts: BTreeMap<u64, u64>,
}

#[derive(Deserialize)]
struct EndRecord {
    record: String,
    reads_count: u64,
    over: BTreeMap<String, u64>,
}

impl ExactCounts {
    /// Parse the end record of a side file (docs/reference/formats.md, `drivecert.side/1`).
    ///
    /// `None` for any other record, and if more reads are over a threshold than there are reads.
    ///
    /// ```
    /// use drivetest_logs::judge::share::ExactCounts;
    /// let line = br#"{"record": "end", "reason": "finished", "reads_count": 1000, "over": {"1000": 51}}"#;
    /// assert_eq!(ExactCounts::parse(line).and_then(|exact| exact.share(1000)).map(|share| share.over_count), Some(51));
    /// ```
    pub fn parse(line: &[u8]) -> Option<Self> {
        let end: EndRecord = serde_json::from_slice(line).ok()?;
        let over = end.over.iter();
        let over = over.map(|(time, &count)| Some((time.parse().ok()?, count)));
        let counts = Self {
            ops_count: end.reads_count,
            over_counts: over.collect::<Option<_>>()?,
        };
        let is_sound = counts.over_counts.values().all(|&over| over <= counts.ops_count);
        (end.record == "end" && is_sound).then_some(counts)
    }

    /// Return the number of reads.
    pub fn ops_count(&self) -> u64 {
        self.ops_count
    }

    /// Return every threshold with its share; empty without reads.
    pub fn shares(&self) -> impl Iterator<Item = (u64, Share)> {
        let times = self.over_counts.keys().copied();
        times.filter_map(|time| Some((time, self.share(time)?)))
    }

    /// Return the share at or over a threshold; `None` if it was not counted, or without reads.
    pub fn share(&self, threshold_us: u64) -> Option<Share> {
        let (over_count, ops_count) = (*self.over_counts.get(&threshold_us)?, self.ops_count);
        (ops_count > 0).then_some(Share {
            over_count,
            ops_count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(over_count: u64, ops_count: u64) -> Share {
        Share {
            over_count,
            ops_count,
        }
    }

    fn limit(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn verdict_vectors_are_met() {
        let vectors = include_str!("../../../../../../tests/data/verdict_vectors.jsonl");
        for line in vectors.lines() {
            let vector: serde_json::Value = serde_json::from_str(line).unwrap();
            let count = |key: &str| vector[key].as_u64().unwrap();
            let found = share(count("over_count"), count("ops_count"));
            let within = found.is_within(limit(vector["limit_pct"].as_str().unwrap()));
            assert_eq!(within, vector["within"].as_bool().unwrap(), "{line}");
            if let Some(printed) = vector["share_pct"].as_str() {
                assert_eq!(found.printed(), printed, "{line}");
            }
        }
        assert!(vectors.lines().count() >= 100);
    }

    #[test]
    fn rounding_is_half_to_even_on_the_exact_double() {
        assert_eq!(share(1, 800).printed(), "0.12", "0.125 is exact, and 2 is even");
        assert_eq!(share(3, 800).printed(), "0.38", "0.375 is exact, and 8 is even");
        assert_eq!(rounded(0.25, 1), 0.2);
        assert_eq!(rounded(0.35, 1), 0.3, "the double is below 0.35");
        assert_eq!(rounded(2000.05, 1), 2000.0, "the double is below 2000.05");
    }

    #[test]
    fn a_share_over_its_limit_by_less_than_rounding_shows_it() {
        assert_eq!(share(50_001, 1_000_000).printed(), "5.00");
        assert_eq!(share(50_001, 1_000_000).shown_over(limit("5")), "5.0001");
        assert_eq!(share(20, 6000).shown_over(limit("0.1")), "0.33");
    }

    #[test]
    fn shares_are_ordered_exactly() {
        assert_eq!(share(1, 3).compare(share(2, 6)), Ordering::Equal);
        assert_eq!(share(1, 3).compare(share(333_333, 1_000_000)), Ordering::Greater);
        assert_eq!(share(0, 5).compare(share(0, 0)), Ordering::Greater);
    }

    #[test]
    fn excess_is_found_over_allowed() {
        assert_eq!(share(10, 100).excess(limit("5")), Some(2.0));
        assert_eq!(share(10, 100).excess(limit("0")), None);
    }

    #[test]
    fn only_a_sound_end_record_is_taken() {
        let parse = |text: &str| ExactCounts::parse(text.as_bytes());
        assert!(parse(r#"{"record": "end", "reads_count": 51, "over": {"1000": 51}}"#).is_some());
        assert_eq!(
            parse(r#"{"record": "end", "reads_count": 50, "over": {"1000": 51}}"#),
            None
        );
        assert_eq!(
            parse(r#"{"record": "interval", "reads_count": 51, "over": {"1000": 51}}"#),
            None
        );
        assert_eq!(parse("no json"), None);
    }

    #[test]
    fn a_time_that_was_not_counted_has_no_share() {
        let exact = ExactCounts::parse(br#"{"record": "end", "reads_count": 9, "over": {"1000": 0}}"#);
        assert_eq!(exact.unwrap().share(8000), None);
    }
}
