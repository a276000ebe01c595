//! Counts by bucket: bucket 0 is below 1 unit, bucket b is [2^(b-1), 2^b) units.

use serde::Serialize;

/// Buckets that ACT's histograms have: 0 to 64 (histogram.h: MAX_BUCKETS).
pub const BUCKETS_COUNT: usize = 65;

/// The unit of a histogram's edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Microseconds: `microsecond-histograms: yes`.
    Us,
    /// Milliseconds: `no`, or no such key.
    Ms,
}

impl Unit {
    /// The unit as upstream prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Us => "us",
            Self::Ms => "ms",
        }
    }
}

/// A bucket that holds less than it did before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fall {
    /// Which bucket.
    pub bucket: usize,
    /// By how much its count went down.
    pub by_count: u64,
}

/// Counts of operations by bucket; the sum fits an i64, as the tables that keep it do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts([u64; BUCKETS_COUNT]);

impl Default for Counts {
    fn default() -> Self {
        Self([0; BUCKETS_COUNT])
    }
}

impl Counts {
    /// Empties every bucket.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Sets a bucket's count.
    ///
    /// # Panics
    /// Panics when `bucket` is not below [`BUCKETS_COUNT`].
    pub fn set(&mut self, bucket: usize, count: u64) {
        self.0[bucket] = count;
    }

    /// The number of operations in all buckets; None when no i64 holds it.
    pub fn checked_sum(&self) -> Option<u64> {
        let sum = self
            .0
            .iter()
            .try_fold(0_u64, |sum, &count| sum.checked_add(count))?;
        i64::try_from(sum).is_ok().then_some(sum)
    }

    /// What came since an earlier dump.
    ///
    /// # Errors
    /// The first bucket that went down: counts are cumulative, so the log is damaged.
    pub fn since(&self, earlier: &Self) -> Result<Self, Fall> {
        let mut grown = Self::default();
        for (bucket, (now, before)) in self.0.iter().zip(&earlier.0).enumerate() {
            grown.0[bucket] = now.checked_sub(*before).ok_or_else(|| Fall {
                bucket,
                by_count: before - now,
            })?;
        }
        Ok(grown)
    }

    /// The first bucket that went down since an earlier dump, None where none did.
    pub fn fall_since(&self, earlier: &Self) -> Option<Fall> {
        if self.0.iter().zip(&earlier.0).all(|(now, before)| now >= before) {
            return None;
        }
        self.since(earlier).err()
    }

    /// The counts by bucket, without the empty buckets at the end.
    pub fn trimmed(&self) -> &[u64] {
        let used = self
            .0
            .iter()
            .rposition(|&count| count > 0)
            .map_or(0, |last| last + 1);
        &self.0[..used]
    }
}

/// The counts of one histogram over some time, as they are handed out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    ops_count: u64,
    counts: Box<[u64]>,
}

impl Tally {
    /// Takes over the counts; None when their sum is no i64.
    pub fn of(counts: &Counts) -> Option<Self> {
        Some(Self {
            ops_count: counts.checked_sum()?,
            counts: counts.trimmed().into(),
        })
    }

    /// The number of operations in all buckets.
    pub fn ops_count(&self) -> u64 {
        self.ops_count
    }

    /// The counts by bucket, without the empty buckets at the end.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of operations at or over 2^`edge` units, which is what ACT calls over it.
    pub fn over_count(&self, edge: u32) -> u64 {
        self.counts.iter().skip(edge as usize + 1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(usize, u64)]) -> Counts {
        let mut counts = Counts::default();
        pairs
            .iter()
            .for_each(|&(bucket, count)| counts.set(bucket, count));
        counts
    }

    #[test]
    fn the_difference_of_two_dumps_is_what_came_between() {
        let grown = counts(&[(3, 10), (5, 7)]).since(&counts(&[(3, 4)])).unwrap();
        assert_eq!(grown.trimmed(), [0, 0, 0, 6, 0, 7]);
    }

    #[test]
    fn a_bucket_that_goes_down_is_told_with_its_loss() {
        let (now, before) = (counts(&[(1, 5), (2, 1)]), counts(&[(1, 5), (2, 3)]));
        assert_eq!(
            now.since(&before),
            Err(Fall {
                bucket: 2,
                by_count: 2
            })
        );
        assert_eq!(
            now.fall_since(&before),
            Some(Fall {
                bucket: 2,
                by_count: 2
            })
        );
        assert_eq!(before.fall_since(&now), None);
    }

    #[test]
    fn over_an_edge_counts_from_the_bucket_that_begins_there() {
        let tally = Tally::of(&counts(&[(10, 100), (11, 7), (64, 1)])).unwrap();
        assert_eq!(tally.over_count(9), 108, "512 units: bucket 10 is [512, 1024)");
        assert_eq!(tally.over_count(10), 8, "1024 units: bucket 11 is [1024, 2048)");
        assert_eq!(tally.over_count(63), 1);
        assert_eq!(tally.over_count(64), 0);
    }

    #[test]
    fn a_sum_that_no_i64_holds_is_refused_and_the_greatest_is_not() {
        let greatest = i64::MAX.unsigned_abs();
        assert_eq!(counts(&[(0, greatest)]).checked_sum(), Some(greatest));
        assert_eq!(counts(&[(0, greatest), (9, 1)]).checked_sum(), None);
        assert_eq!(counts(&[(0, u64::MAX), (9, 1)]).checked_sum(), None);
    }
}
