//! Bucket edges of a log at a threshold, and the shares beyond them.

use crate::act::blocks::histogram::{Tally, Unit};
use crate::act::semantics::Edges;
use crate::judge::share::Share;

/// Bucket edges of a log at a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Bucket at the smallest edge not below the threshold: operations in it or above are certainly over.
    first_bucket: usize,
    /// Bucket at the largest edge not above the threshold: operations below it are certainly not over.
    first_bucket_below: usize,
    /// First of the two edges in microseconds.
    pub read_at_us: u64,
}

impl Edge {
    /// Return the edge for a threshold, as ACT chooses it; `None` if the log has none.
    ///
    /// In microsecond logs, 1 ms is read at 1024 us. Source: aerospike/act, README ("1ms ... 1024us"). ACT 1.x has no edge
    /// at 1 ms: the threshold is read at 2 ms, like the first column of its own analysis.
    pub fn of(threshold_us: u64, unit: Unit, edges: Edges) -> Option<Self> {
        let power_of = |number: u64| number.is_power_of_two().then(|| number.trailing_zeros());
        let whole_ms = threshold_us.is_multiple_of(1000).then_some(threshold_us / 1000);
        let milliseconds = whole_ms.and_then(power_of);
        match (unit, milliseconds) {
            (Unit::Ms, Some(0)) if edges == Edges::Act1 => Some(Self {
                first_bucket: 1,
                first_bucket_below: 0,
                read_at_us: 2000,
            }),
            (Unit::Ms, Some(power)) => Self::exact(power, threshold_us, edges),
            (Unit::Ms, None) => None,
            (Unit::Us, Some(power)) => Some(Self {
                first_bucket: power as usize + 11,
                first_bucket_below: power as usize + 10,
                read_at_us: 1024_u64.checked_shl(power)?,
            }),
            (Unit::Us, None) => Self::exact(power_of(threshold_us)?, threshold_us, edges),
        }
    }

    fn exact(power: u32, threshold_us: u64, edges: Edges) -> Option<Self> {
        let first_bucket = edges.bucket_below(power)? as usize + 1;
        Some(Self {
            first_bucket,
            first_bucket_below: first_bucket,
            read_at_us: threshold_us,
        })
    }

    /// Return the share that is certainly over the threshold, which decides verdicts.
    pub fn over(self, tally: &Tally) -> Share {
        beyond(tally, self.first_bucket)
    }

    /// Return the maximum share over the threshold.
    pub fn at_most(self, tally: &Tally) -> Share {
        beyond(tally, self.first_bucket_below)
    }

    /// Return whether the log has an edge at the threshold itself.
    pub fn is_exact(self) -> bool {
        self.first_bucket == self.first_bucket_below
    }
}

fn beyond(tally: &Tally, first_bucket: usize) -> Share {
    Share {
        over_count: tally.counts().iter().skip(first_bucket).sum(),
        ops_count: tally.ops_count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::blocks::histogram::Counts;
    use crate::judge::decimal::Decimal;

    fn tally(vector: &serde_json::Value) -> Option<Tally> {
        let mut counts = Counts::default();
        for (bucket, count) in vector["counts"].as_array()?.iter().enumerate() {
            counts.set(bucket, count.as_u64()?);
        }
        Tally::of(&counts)
    }

    #[test]
    fn verdict_vectors_of_histograms_are_met() {
        let vectors = include_str!("../../../../../../tests/data/verdict_vectors.jsonl");
        let mut met = 0;
        for line in vectors.lines() {
            let vector: serde_json::Value = serde_json::from_str(line).unwrap();
            let Some(tally) = tally(&vector) else { continue };
            let unit = if vector["unit"] == "us" {
                Unit::Us
            } else {
                Unit::Ms
            };
            let edges = if vector["buckets"] == "1.x" {
                Edges::Act1
            } else {
                Edges::Act
            };
            let edge = Edge::of(vector["threshold_us"].as_u64().unwrap(), unit, edges).unwrap();
            let limit = Decimal::parse(vector["limit_pct"].as_str().unwrap()).unwrap();
            let (over, at_most) = (edge.over(&tally), edge.at_most(&tally));
            assert_eq!(vector["read_at_us"], edge.read_at_us, "{line}");
            assert_eq!(vector["over_count"], over.over_count, "{line}");
            assert_eq!(vector["over_at_most_count"], at_most.over_count, "{line}");
            assert_eq!(vector["within"], over.is_within(limit), "{line}");
            assert_eq!(vector["at_most_within"], at_most.is_within(limit), "{line}");
            met += 1;
        }
        assert!(met >= 50, "{met}");
    }

    #[test]
    fn a_threshold_between_edges_of_a_millisecond_log_has_none() {
        assert_eq!(Edge::of(3000, Unit::Ms, Edges::Act), None);
        assert_eq!(Edge::of(500, Unit::Ms, Edges::Act), None);
        assert!(Edge::of(256, Unit::Us, Edges::Act).unwrap().is_exact());
    }
}
