//! The records of the side file, schema `drivecert.side/1` (docs/reference/formats.md), and the times in them: percentiles,
//! extremes, mean, and exact counts over the thresholds of the rules.

mod end;
mod interval;
mod start;

pub use end::{DeviceEnd, End, ErrorCount, RunTotals};
pub use interval::{Interval, OperationInterval};
pub use start::Start;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::clock::Nanos;
use crate::schedule::stream::ActHistogram;
use crate::stats::histogram::Histogram;
use crate::stats::operation_stats::{OperationStats, of};

/// Requests completed since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Of records or index pages.
    pub reads_count: u64,
    /// Large-block reads.
    pub large_block_reads_count: u64,
    /// Large-block writes.
    pub large_block_writes_count: u64,
}

impl Totals {
    /// Sums up all streams.
    pub fn of(operation_stats: &[OperationStats]) -> Self {
        let count = |histogram| of(operation_stats, histogram).map(|stats| stats.done_count).sum();
        Self {
            reads_count: count(ActHistogram::Reads),
            large_block_reads_count: count(ActHistogram::LargeBlockReads),
            large_block_writes_count: count(ActHistogram::LargeBlockWrites),
        }
    }
}

/// Thresholds of the operational-database profile, ms.
const THRESHOLDS_MS: [u64; 3] = [1, 8, 64];

/// Percentiles of a histogram; null if there are too few times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// Exact.
    pub min_ns: Option<u64>,
    /// Within 0.1 %, like the percentiles.
    pub mean_ns: Option<u64>,
    /// From 2 times.
    pub p50_ns: Option<u64>,
    /// From 10 times.
    pub p90_ns: Option<u64>,
    /// From 100 times.
    pub p99_ns: Option<u64>,
    /// 99.9 %, from 1,000 times.
    pub p999_ns: Option<u64>,
    /// 99.99 %, from 10,000 times.
    pub p9999_ns: Option<u64>,
    /// 99.999 %, from 100,000 times.
    pub p99999_ns: Option<u64>,
    /// Exact.
    pub max_ns: Option<u64>,
}

impl Percentiles {
    /// Computes the percentiles. All are null if nothing is counted.
    pub fn of(times: &Histogram) -> Self {
        let at = |per_100_000| times.percentile(per_100_000).map(|time| time.0);
        Self {
            min_ns: times.shortest().map(|time| time.0),
            mean_ns: times.mean().map(|time| time.0),
            p50_ns: at(50_000),
            p90_ns: at(90_000),
            p99_ns: at(99_000),
            p999_ns: at(99_900),
            p9999_ns: at(99_990),
            p99999_ns: at(99_999),
            max_ns: times.shortest().map(|_| times.longest().0),
        }
    }
}

/// Threshold (us) and number of times at or over it, exact to the nanosecond.
pub type Over = BTreeMap<u64, u64>;

/// Returns the counts over the thresholds of the rules.
pub fn over(times: &Histogram) -> Over {
    THRESHOLDS_MS
        .iter()
        .map(|ms| (ms * 1_000, times.at_or_over(Nanos::from_ms(*ms))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_counted_is_null_and_not_zero() {
        let value = serde_json::to_value(Percentiles::of(&Histogram::default())).unwrap();
        assert_eq!(value.as_object().unwrap().len(), 9);
        assert!(
            value
                .as_object()
                .unwrap()
                .values()
                .all(serde_json::Value::is_null)
        );
    }

    #[test]
    fn a_percentile_with_too_few_times_is_null() {
        let mut times = Histogram::default();
        (1..=100).for_each(|us| times.record(Nanos(us * 1_000)));
        let found = Percentiles::of(&times);
        assert_eq!((found.min_ns, found.max_ns), (Some(1_000), Some(100_000)));
        assert!(found.p99_ns.is_some_and(|ns| (99_000..99_100).contains(&ns)));
        assert_eq!((found.p999_ns, found.p99999_ns), (None, None));
    }

    #[test]
    fn counts_over_a_threshold_include_the_threshold() {
        let mut times = Histogram::default();
        for ns in [999_999, 1_000_000, 8_000_000, 64_000_000] {
            times.record(Nanos(ns));
        }
        assert_eq!(
            over(&times),
            BTreeMap::from([(1_000, 3), (8_000, 2), (64_000, 1)])
        );
    }
}
