//! Latencies of single operations or of histograms, as counts by value: exact until there are too many values.

use std::collections::BTreeMap;

use crate::ycsb::run::Operation;

/// Maximum number of different exact values; real runs in microseconds have about ten thousand.
const VALUES_MAX: usize = 65_536;

/// Values beyond this many significant bits are rounded up to the end of their bucket once there are too many:
/// 2^11 buckets from one power of two to the next are HdrHistogram's three decimal digits.
const SIGNIFICANT_BITS: u32 = 11;

/// Reported percentiles.
pub const SHARES: [(&str, u64); 6] = [
    ("50", 5_000),
    ("90", 9_000),
    ("95", 9_500),
    ("99", 9_900),
    ("99.9", 9_990),
    ("99.99", 9_999),
];

/// Denominator of `SHARES`.
const WHOLE: u64 = 10_000;

/// Counts by value, microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    counts: BTreeMap<u64, u64>,
    ops_count: u64,
    sum_us: u128,
    /// Exact minimum and maximum, also if values are rounded.
    ends_us: Option<(u64, u64)>,
    is_rounded: bool,
}

impl Latencies {
    /// Add operations that took the same time.
    pub fn add(&mut self, latency_us: u64, count: u64) {
        if count == 0 {
            return;
        }
        let (least, greatest) = self.ends_us.unwrap_or((latency_us, latency_us));
        self.ends_us = Some((least.min(latency_us), greatest.max(latency_us)));
        self.ops_count = self.ops_count.saturating_add(count);
        let taken_us = u128::from(latency_us) * u128::from(count);
        self.sum_us = self.sum_us.saturating_add(taken_us);
        let value = if self.is_rounded {
            bucket_end(latency_us)
        } else {
            latency_us
        };
        let sum = self.counts.entry(value).or_default();
        *sum = sum.saturating_add(count);
        if self.counts.len() > VALUES_MAX && !self.is_rounded {
            self.round();
        }
    }

    /// Add the counts of other latencies; nothing is averaged.
    pub fn merge(&mut self, others: &Self) {
        if others.is_rounded && !self.is_rounded {
            self.round();
        }
        let sum_us = self.sum_us.saturating_add(others.sum_us);
        for (&value, &count) in &others.counts {
            self.add(value, count);
        }
        // Rounded values know neither the sum nor the ends.
        self.sum_us = sum_us;
        if let Some((least, greatest)) = others.ends_us {
            let mine = self.ends_us.unwrap_or((least, greatest));
            self.ends_us = Some((mine.0.min(least), mine.1.max(greatest)));
        }
    }

    fn round(&mut self) {
        self.is_rounded = true;
        for (value, count) in std::mem::take(&mut self.counts) {
            let sum = self.counts.entry(bucket_end(value)).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// Return whether these and others together are no more operations than an i64 counts; no run makes as many.
    pub fn has_room_for(&self, others: &Self) -> bool {
        let sum = self.ops_count.checked_add(others.ops_count);
        sum.is_some_and(|sum| i64::try_from(sum).is_ok())
    }

    /// Return the number of operations.
    pub fn ops_count(&self) -> u64 {
        self.ops_count
    }

    /// Return the least and the greatest; `None` without any.
    pub fn ends_us(&self) -> Option<(u64, u64)> {
        self.ends_us
    }

    /// Return whether values were rounded up, by less than 0.1 %.
    pub fn is_rounded(&self) -> bool {
        self.is_rounded
    }

    /// Return the mean with one decimal; `None` without any.
    pub fn mean_us(&self) -> Option<String> {
        let twentieths = self.sum_us.saturating_mul(20);
        let tenths = twentieths.checked_div(u128::from(self.ops_count))?.div_ceil(2);
        Some(format!("{}.{}", tenths / 10, tenths % 10))
    }

    /// Return the least value that a share of all do not exceed, for each of `SHARES`; empty without any.
    /// Source: HdrHistogram, AbstractHistogram.getValueAtPercentile().
    pub fn percentiles_us(&self) -> Vec<(&'static str, u64)> {
        let shares = SHARES.iter();
        let found = shares.filter_map(|&(name, share)| Some((name, self.value_at(share)?)));
        found.collect()
    }

    /// Return an operation with the count, the maximum and the percentiles; `from` names the source.
    pub fn operation(&self, from: &'static str, named: Operation) -> Operation {
        let percentiles = self.percentiles_us().into_iter();
        let percentiles = percentiles.map(|(share, value)| (share.to_owned(), value.to_string()));
        Operation {
            ops_count: Some(self.ops_count),
            max_us: self.ends_us.map(|(_, greatest)| greatest.to_string()),
            percentiles: percentiles.collect(),
            from,
            ..named
        }
    }

    /// Return the values at the ranks next to a share, which releases of HdrHistogram round to differently: up to 2.1.4 to the
    /// nearer, after it up. `None` for a share that is not in `SHARES`, or without operations.
    pub fn around_us(&self, name: &str) -> Option<(u64, u64)> {
        let (_, share) = SHARES.iter().find(|(known, _)| *known == name)?;
        let below = u128::from(self.ops_count) * u128::from(*share) / u128::from(WHOLE);
        Some((self.at_rank(below)?, self.value_at(*share)?))
    }

    fn value_at(&self, share: u64) -> Option<u64> {
        self.at_rank((u128::from(self.ops_count) * u128::from(share)).div_ceil(u128::from(WHOLE)))
    }

    /// Return the value of the operation at a rank, from 1.
    fn at_rank(&self, rank: u128) -> Option<u64> {
        let (_, greatest) = self.ends_us?;
        let mut seen = 0_u128;
        let reached = self.counts.iter().find(|&(_, &count)| {
            seen += u128::from(count);
            seen >= rank.max(1)
        });
        reached.map(|(&value, _)| value.min(greatest))
    }
}

/// Return the greatest value that shares the significant bits.
fn bucket_end(value: u64) -> u64 {
    let bits = u64::BITS - value.leading_zeros();
    let shift = bits.saturating_sub(SIGNIFICANT_BITS);
    value | ((1_u64 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        values.into_iter().for_each(|value| latencies.add(value, 1));
        latencies
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let percentiles = of(1..=10_000).percentiles_us();
        let expected = [5_000, 9_000, 9_500, 9_900, 9_990, 9_999];
        assert_eq!(
            percentiles.iter().map(|(_, value)| *value).collect::<Vec<_>>(),
            expected
        );
        assert_eq!(of([7]).percentiles_us()[0], ("50", 7));
        assert!(of([]).percentiles_us().is_empty());
    }

    #[test]
    fn a_share_between_two_ranks_has_both_their_values() {
        let percentiles = of((1..=15).map(|value| value * 100));
        assert_eq!(percentiles.around_us("50"), Some((700, 800)));
        assert_eq!(percentiles.around_us("99.99"), Some((1400, 1500)));
        assert_eq!(percentiles.around_us("75"), None);
    }

    #[test]
    fn the_mean_is_rounded_to_a_tenth() {
        assert_eq!(of([1, 2]).mean_us().as_deref(), Some("1.5"));
        assert_eq!(of([1, 1, 2]).mean_us().as_deref(), Some("1.3"));
        assert_eq!(of([1, 2, 2]).mean_us().as_deref(), Some("1.7"));
        assert_eq!(of([]).mean_us(), None);
    }

    #[test]
    fn counts_are_added_and_percentiles_come_from_their_sum() {
        let (mut quick, slow) = (of(vec![1; 99]), of(vec![1000; 101]));
        quick.merge(&slow);
        assert_eq!(quick.percentiles_us()[0], ("50", 1000));
        assert_eq!((quick.ops_count(), quick.ends_us()), (200, Some((1, 1000))));
        assert_eq!(quick.mean_us().as_deref(), Some("505.5"));
        let mut none = Latencies::default();
        none.merge(&slow);
        assert_eq!(none, slow);
        none.merge(&Latencies::default());
        assert_eq!(none, slow);
    }

    #[test]
    fn too_many_values_are_rounded_up_by_less_than_a_thousandth() {
        let most = VALUES_MAX as u64;
        assert!(!of(1..=most).is_rounded());
        let rounded = of((1..=most + 1).chain([u64::MAX]));
        assert!(rounded.is_rounded() && rounded.counts.len() < 10_000);
        let (_, percentiles) = rounded.percentiles_us()[3];
        let truth = (most + 2) * 99 / 100 + 1;
        assert!(
            percentiles >= truth && percentiles <= truth + truth / 1000,
            "{percentiles} {truth}"
        );
        assert_eq!(rounded.ends_us(), Some((1, u64::MAX)));
    }

    #[test]
    fn there_is_room_for_what_an_i64_counts() {
        let of_many = |count: u64| {
            let mut latencies = Latencies::default();
            latencies.add(u64::MAX, count);
            latencies
        };
        let most = i64::MAX.unsigned_abs();
        assert!(of_many(most - 1).has_room_for(&of_many(1)));
        assert!(!of_many(most).has_room_for(&of_many(1)));
        let mut saturated = of_many(u64::MAX);
        saturated.add(u64::MAX, u64::MAX);
        assert!(!of_many(0).has_room_for(&saturated));
    }

    #[test]
    fn buckets_end_below_the_next() {
        assert_eq!([2047, 2048, 2049, 4096].map(bucket_end), [2047, 2049, 2049, 4099]);
        assert_eq!(bucket_end(u64::MAX), u64::MAX);
        assert_eq!(bucket_end(0), 0);
    }
}
