//! ACT's histogram: bucket 0 is below 1 unit; bucket b is [2^(b-1), 2^b) units.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::Nanos;

/// Bucket 0, and one bucket for each bit of a 64-bit number of units.
pub const BUCKETS_COUNT: usize = 65;

/// A snapshot of the counts.
pub type Counts = [u64; BUCKETS_COUNT];

/// The unit of the buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// For `microsecond-histograms: yes`.
    Microsecond,
    /// For `microsecond-histograms: no`.
    Millisecond,
}

impl Unit {
    /// Returns the bucket of a time.
    pub fn bucket(self, time: Nanos) -> usize {
        let units = match self {
            Self::Microsecond => time.0 / 1_000,
            Self::Millisecond => time.0 / 1_000_000,
        };
        (u64::BITS - units.leading_zeros()) as usize
    }
}

/// Buckets with one writing thread and one reading thread. They have cache lines of their own, so that threads do not
/// slow each other down.
#[derive(Debug)]
#[repr(align(128))]
pub struct Buckets([AtomicU64; BUCKETS_COUNT]);

impl Default for Buckets {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; BUCKETS_COUNT])
    }
}

impl Buckets {
    /// Counts one time. Only the thread that owns the buckets may call this.
    pub fn add(&self, bucket: usize) {
        add_one(&self.0[bucket]);
    }

    /// Adds the current counts to `counts`.
    pub fn add_to(&self, counts: &mut Counts) {
        for (count, bucket) in counts.iter_mut().zip(&self.0) {
            *count += bucket.load(Relaxed);
        }
    }
}

/// Adds 1 to a counter with a single writer.
pub(crate) fn add_one(count: &AtomicU64) {
    add(count, 1);
}

/// Adds to a counter with a single writer. A load and a store avoid the bus lock of fetch_add.
pub(crate) fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Relaxed) + more, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microsecond_edges_are_exact_on_both_sides() {
        let bucket = |ns| Unit::Microsecond.bucket(Nanos(ns));
        assert_eq!(
            [
                bucket(0),
                bucket(999),
                bucket(1_000),
                bucket(1_999),
                bucket(2_000)
            ],
            [0, 0, 1, 1, 2]
        );
        assert_eq!([bucket(1_023_999), bucket(1_024_000)], [10, 11]);
        assert_eq!([bucket(65_535_999), bucket(65_536_000)], [16, 17]);
    }

    #[test]
    fn millisecond_edges_are_exact_on_both_sides() {
        let bucket = |ns| Unit::Millisecond.bucket(Nanos(ns));
        assert_eq!(
            [bucket(0), bucket(999_999), bucket(1_000_000), bucket(1_999_999)],
            [0, 0, 1, 1]
        );
        assert_eq!(
            [
                bucket(7_999_999),
                bucket(8_000_000),
                bucket(63_999_999),
                bucket(64_000_000)
            ],
            [3, 4, 6, 7]
        );
    }

    #[test]
    fn the_longest_possible_time_has_a_bucket() {
        assert!(Unit::Microsecond.bucket(Nanos(u64::MAX)) < BUCKETS_COUNT);
    }

    #[test]
    fn counts_of_several_threads_add_up() {
        let (one, other) = (Buckets::default(), Buckets::default());
        one.add(3);
        other.add(3);
        other.add(64);
        let mut counts = [0; BUCKETS_COUNT];
        one.add_to(&mut counts);
        other.add_to(&mut counts);
        assert_eq!((counts[3], counts[64], counts.iter().sum::<u64>()), (2, 1, 3));
    }
}
