//! Counts by bucket: bucket 0 is below 1 unit, bucket b is [2^(b-1), 2^b) units.

use serde::Serialize;

/// Number of buckets of ACT's histograms: 0 to 64 (histogram.h: MAX_BUCKETS).
pub const BUCKETS_COUNT: usize = 65;

/// Unit of bucket edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Microseconds: `microsecond-histograms: yes`.
    Us,
    /// Milliseconds: `no`, or no such key.
    Ms,
}

impl Unit {
    /// Return the unit in microseconds.
    pub fn us(self) -> u64 {
        match self {
            Self::Us => 1,
            Self::Ms => 1000,
        }
    }

    /// Return the unit as ACT prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Us => "us",
            Self::Ms => "ms",
        }
    }
}

/// A bucket whose count decreased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fall {
    /// Index of the bucket.
    pub bucket: usize,
    /// Decrease of its count.
    pub by_count: u64,
}

/// Counts of operations by bucket; the sum fits an i64, the limit of the tables.
///
/// A log uses about ten of the 65 buckets: unused buckets are neither compared nor copied.
#[derive(Debug)]
pub struct Counts {
    buckets: [u64; BUCKETS_COUNT],
    /// 0 to [`BUCKETS_COUNT`]; the bucket before it is not empty, those from it on are.
    used: usize,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            buckets: [0; BUCKETS_COUNT],
            used: 0,
        }
    }
}

impl Clone for Counts {
    fn clone(&self) -> Self {
        Self {
            buckets: self.buckets,
            used: self.used,
        }
    }

    fn clone_from(&mut self, other: &Self) {
        let longer = self.used.max(other.used);
        self.buckets[..longer].copy_from_slice(&other.buckets[..longer]);
        self.used = other.used;
    }
}

impl PartialEq for Counts {
    fn eq(&self, other: &Self) -> bool {
        self.trimmed() == other.trimmed()
    }
}

impl Eq for Counts {}

impl Counts {
    /// Set every bucket to 0.
    pub fn clear(&mut self) {
        self.buckets[..self.used].fill(0);
        self.used = 0;
    }

    /// Set the count of a bucket.
    ///
    /// # Panics
    /// Panics when `bucket` is not below [`BUCKETS_COUNT`].
    pub fn set(&mut self, bucket: usize, count: u64) {
        self.buckets[bucket] = count;
        if count > 0 {
            self.used = self.used.max(bucket + 1);
        } else if bucket + 1 == self.used {
            let last = self.buckets[..bucket].iter().rposition(|&count| count > 0);
            self.used = last.map_or(0, |last| last + 1);
        }
    }

    /// Return the number of operations in all buckets; `None` above `i64::MAX`.
    pub fn checked_sum(&self) -> Option<u64> {
        let mut counts = self.trimmed().iter();
        let sum = counts.try_fold(0_u64, |sum, &count| sum.checked_add(count))?;
        i64::try_from(sum).is_ok().then_some(sum)
    }

    /// Return the increase since an earlier dump.
    ///
    /// # Errors
    /// The first bucket that decreased: counts are cumulative, so the log is damaged.
    pub fn since(&self, earlier: &Self) -> Result<Self, Fall> {
        if let Some(fall) = self.fall_since(earlier) {
            return Err(fall);
        }
        let mut grown = Self::default();
        for (bucket, &now) in self.trimmed().iter().enumerate() {
            grown.set(bucket, now - earlier.buckets[bucket]);
        }
        Ok(grown)
    }

    /// Return the first bucket that decreased since an earlier dump; `None` if none did.
    pub fn fall_since(&self, earlier: &Self) -> Option<Fall> {
        let mut pairs = self.buckets.iter().zip(earlier.trimmed());
        let bucket = pairs.position(|(now, before)| now < before)?;
        let by_count = earlier.buckets[bucket] - self.buckets[bucket];
        Some(Fall { bucket, by_count })
    }

    /// Add other counts, bucket by bucket; `None` on overflow, which leaves some buckets added.
    pub fn add(&mut self, other: &Self) -> Option<()> {
        self.used = self.used.max(other.used);
        for (sum, count) in self.buckets.iter_mut().zip(other.trimmed()) {
            *sum = sum.checked_add(*count)?;
        }
        Some(())
    }

    /// Return the count of a bucket.
    ///
    /// # Panics
    /// Panics when `bucket` is not below [`BUCKETS_COUNT`].
    pub fn at(&self, bucket: usize) -> u64 {
        self.buckets[bucket]
    }

    /// Return the counts by bucket, without the empty buckets at the end.
    pub fn trimmed(&self) -> &[u64] {
        &self.buckets[..self.used]
    }
}

/// Counts of one histogram over a period, as JSON contains them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    ops_count: u64,
    counts: Box<[u64]>,
}

impl Tally {
    /// Copy counts; `None` if their sum exceeds `i64::MAX`.
    pub fn of(counts: &Counts) -> Option<Self> {
        Some(Self {
            ops_count: counts.checked_sum()?,
            counts: counts.trimmed().into(),
        })
    }

    /// Return the number of operations in all buckets.
    pub fn ops_count(&self) -> u64 {
        self.ops_count
    }

    /// Return the counts by bucket, without the empty buckets at the end.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Return the number of operations at or over 2^`edge` units, which ACT calls "over".
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
    fn a_decreasing_bucket_is_reported_with_its_loss() {
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
    fn a_bucket_that_is_emptied_again_is_used_no_more() {
        let mut some = counts(&[(3, 10), (64, 7)]);
        some.set(64, 0);
        assert_eq!(some, counts(&[(3, 10)]));
        assert_eq!(some.trimmed(), [0, 0, 0, 10]);
        some.set(3, 0);
        assert_eq!(some, Counts::default());
    }

    #[test]
    fn a_copy_over_longer_counts_leaves_nothing_of_them() {
        let (mut some, short) = (counts(&[(3, 10), (64, 7)]), counts(&[(1, 5)]));
        some.clone_from(&short);
        assert_eq!(some, short);
        some.set(64, 1);
        assert_eq!(some, counts(&[(1, 5), (64, 1)]));
        some.clear();
        assert_eq!(some, Counts::default());
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
    fn counts_add_up_by_bucket_up_to_the_limit_of_an_integer() {
        let of = |pairs: &[(usize, u64)]| {
            let mut counts = Counts::default();
            pairs
                .iter()
                .for_each(|&(bucket, count)| counts.set(bucket, count));
            counts
        };
        let mut sum = of(&[(1, 5)]);
        assert_eq!(sum.add(&of(&[(1, 2), (3, u64::MAX)])), Some(()));
        assert_eq!(
            (sum.trimmed(), sum.at(3)),
            ([0, 7, 0, u64::MAX].as_slice(), u64::MAX)
        );
        assert_eq!(sum.add(&of(&[(3, 1)])), None);
        sum.clear();
        assert_eq!(sum, Counts::default(), "nothing stays of what was half added");
    }

    #[test]
    fn a_sum_that_no_i64_holds_is_refused_and_the_greatest_is_not() {
        let greatest = i64::MAX.unsigned_abs();
        assert_eq!(counts(&[(0, greatest)]).checked_sum(), Some(greatest));
        assert_eq!(counts(&[(0, greatest), (9, 1)]).checked_sum(), None);
        assert_eq!(counts(&[(0, u64::MAX), (9, 1)]).checked_sum(), None);
    }
}
