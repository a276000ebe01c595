//! Detector of intervals with the same counts as the previous interval in every bucket: copies that fill a gap.
//!
//! Counts of latencies vary. A series is one bucket of a histogram over at least 12 intervals, with five operations or
//! more per interval; the fullest bucket is excluded, because the rate determines it. In the 1,689 series of the real
//! logs of tests/data, the variance is never below 0.62 of the mean (Poisson: 1). The detector assumes a tenth.
//!
//! Two counts with mean m and variance m/10 are equal with a probability of at most 1 / (2 sqrt(pi m / 10)). Buckets are
//! independent given the total, so the probabilities of all buckets but the fullest multiply. A run is reported if
//! that product, times the number of intervals and of histograms, is below one in 10,000.

use crate::act::blocks::histogram::Counts;
use crate::finding::{Finding, rule};

/// Minimum variance of a count relative to Poisson's.
const LEAST_DISPERSION: f64 = 0.1;

/// Maximum probability of a reported repetition.
const CHANCE_MAX: f64 = 1e-4;

/// Detector for one histogram.
#[derive(Debug, Default)]
pub struct DuplicateDetector {
    name: String,
    /// Last two dumps. `newest` is the index of the last one, so that a dump costs one copy of its used buckets.
    dumps: [Counts; 2],
    newest: usize,
    /// Operations of the last two dumps.
    ops: [u64; 2],
    intervals_count: u64,
    repeated_count: u64,
    rarest: Option<Rarest>,
}

#[derive(Clone, Copy, Debug)]
struct Rarest {
    line: u64,
    label_s: u64,
    chance_ln: f64,
}

impl DuplicateDetector {
    /// Return a detector for the histogram with a name.
    pub fn new(name: String) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// Add the next dump, with its number of operations.
    pub fn take(&mut self, line: u64, label_s: u64, now: &Counts, ops: u64) {
        self.intervals_count += 1;
        // Compare buckets only if the totals repeat: for a log of a day this saves noticeable time.
        let is_even = self.ops[0].checked_add(ops) == self.ops[1].checked_mul(2);
        self.ops = [self.ops[1], ops];
        let (first, second) = (&self.dumps[1 - self.newest], &self.dumps[self.newest]);
        if self.intervals_count > 2 && is_even && is_repeated(first, second, now) {
            self.repeated_count += 1;
            let chance_ln = second.since(first).map_or(0.0, |grown| chance_ln(&grown));
            if self.rarest.is_none_or(|rarest| chance_ln < rarest.chance_ln) {
                self.rarest = Some(Rarest {
                    line,
                    label_s,
                    chance_ln,
                });
            }
        }
        self.newest = 1 - self.newest;
        self.dumps[self.newest].clone_from(now);
    }

    /// Return a finding if chance does not explain the repetition in one of `watched` histograms.
    pub fn report(&self, watched: usize) -> Option<Finding> {
        let rarest = self.rarest?;
        let tries = (self.intervals_count as f64) * (watched as f64);
        (rarest.chance_ln + tries.ln() < CHANCE_MAX.ln()).then(|| {
            let sentence = format!(
                "{}: the interval up to {} s has the same counts as the previous one in every bucket, which happens by \
                 chance less than once in 10^{:.0}; {} intervals repeat",
                self.name,
                rarest.label_s,
                (-rarest.chance_ln / std::f64::consts::LN_10).floor(),
                self.repeated_count
            );
            rule::DUPLICATE_INTERVALS.at(rarest.line, sentence)
        })
    }
}

/// Return whether every bucket increased since the second dump as much as between the first and second.
fn is_repeated(first: &Counts, second: &Counts, now: &Counts) -> bool {
    let (first, second, now) = (first.trimmed(), second.trimmed(), now.trimmed());
    let of = |counts: &[u64], bucket: usize| counts.get(bucket).copied().unwrap_or(0);
    (0..now.len())
        .all(|bucket| of(first, bucket).checked_add(now[bucket]) == of(second, bucket).checked_mul(2))
}

/// Return the logarithm of the probability that another interval has exactly these counts.
fn chance_ln(grown: &Counts) -> f64 {
    let chance = |count: u64| {
        let variance = count as f64 * LEAST_DISPERSION;
        let chance = 1.0 / (2.0 * (std::f64::consts::PI * variance).sqrt());
        chance.min(1.0).ln()
    };
    let counts = || grown.trimmed().iter().copied().filter(|&count| count > 0);
    let fullest = counts().max().map_or(0.0, chance);
    counts().map(chance).sum::<f64>() - fullest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_reported(dumps: &[[u64; 6]]) -> bool {
        let mut repeats = DuplicateDetector::new("reads".to_owned());
        for (at, dump) in (1..).zip(dumps) {
            let mut counts = Counts::default();
            (0..)
                .zip(dump)
                .for_each(|(bucket, &count)| counts.set(bucket, count));
            repeats.take(at, at, &counts, dump.iter().sum());
        }
        repeats.report(1).is_some()
    }

    const GROWTH: [u64; 6] = [900, 4000, 700, 500, 400, 300];

    fn times(factor: u64) -> [u64; 6] {
        GROWTH.map(|count| count * factor)
    }

    #[test]
    fn an_interval_that_repeats_in_every_bucket_is_reported() {
        assert!(is_reported(&[times(1), times(2), times(3)]));
    }

    #[test]
    fn one_operation_of_difference_in_one_bucket_is_not() {
        let mut last = times(3);
        last[3] += 1;
        assert!(!is_reported(&[times(1), times(2), last]));
    }

    #[test]
    fn few_buckets_repeat_by_chance() {
        let even = |at: u64| [0, at * 2000, at, 0, 0, 0];
        assert!(
            !is_reported(&[even(1), even(2), even(3), even(4)]),
            "a drive so fast that all lie in one bucket"
        );
    }

    #[test]
    fn the_fullest_bucket_is_ignored() {
        let even = |at: u64| [0, at * 1_000_000_000_000, at * 30, 0, 0, 0];
        assert!(!is_reported(&[even(1), even(2), even(3)]), "the rate fixes it");
    }

    #[test]
    fn a_pause_repeats_nothing() {
        assert!(!is_reported(&[times(1), times(1), times(1)]));
    }

    #[test]
    fn the_more_intervals_there_are_the_rarer_a_repetition_must_be() {
        let mut repeats = DuplicateDetector::new("reads".to_owned());
        repeats.rarest = Some(Rarest {
            line: 1,
            label_s: 1,
            chance_ln: 1e-7_f64.ln(),
        });
        repeats.intervals_count = 999;
        assert!(repeats.report(1).is_some());
        repeats.intervals_count = 1001;
        assert!(repeats.report(1).is_none());
    }
}
