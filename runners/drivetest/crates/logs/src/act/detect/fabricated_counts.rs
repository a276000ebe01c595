//! Detector of counts that end in 0 far more often than by chance: figures written by hand or computed by a rule.
//!
//! A cumulative count that increased by at least 30 since the previous dump may end in any digit. With a tenth of
//! Poisson's variance (see `duplicate_intervals`) its deviation is 1.7, so no digit has a probability above 0.24 for any
//! mean; the detector assumes 0.35. The fullest bucket is excluded, because the rate determines it. Of 60 such counts, 45
//! end in 0 with a probability below 10^-9. The share of nine in ten that is used here is even less likely.

use crate::act::blocks::histogram::Counts;
use crate::finding::{Finding, rule};

/// Minimum increase of a bucket for its last digit to be random.
const GROWN_MIN: u64 = 30;

/// Minimum number of counts for a finding.
const SEEN_MIN: u64 = 60;

/// Number of counts or dumps after which only every sixteenth dump is examined: a sample of a long run suffices.
const SEEN_ENOUGH: u64 = 1000;

/// Detector for one histogram.
#[derive(Debug, Default)]
pub struct RoundCountDetector {
    name: String,
    last: Option<Counts>,
    dumps_count: u64,
    seen_count: u64,
    round_count: u64,
    first_line: u64,
}

impl RoundCountDetector {
    /// Return a detector for the histogram with a name.
    pub fn new(name: String) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// Add the next dump.
    pub fn take(&mut self, line: u64, now: &Counts) {
        self.dumps_count += 1;
        let is_enough = self.seen_count.max(self.dumps_count) > SEEN_ENOUGH;
        if is_enough && !self.dumps_count.is_multiple_of(16) {
            return;
        }
        let Some(last) = &mut self.last else {
            self.last = Some(now.clone());
            return;
        };
        let (counts, before) = (now.trimmed(), last.trimmed());
        let fullest = (0..counts.len()).max_by_key(|&bucket| counts[bucket]);
        for (bucket, &count) in counts.iter().enumerate() {
            let grown = count.saturating_sub(before.get(bucket).copied().unwrap_or(0));
            if Some(bucket) == fullest || grown < GROWN_MIN {
                continue;
            }
            self.seen_count += 1;
            if count.is_multiple_of(10) {
                self.round_count += 1;
                if self.round_count == 1 {
                    self.first_line = line;
                }
            }
        }
        last.clone_from(now);
    }

    /// Return a finding if chance does not explain the last digits.
    pub fn report(&self) -> Option<Finding> {
        let (name, seen_count, round_count) = (&self.name, self.seen_count, self.round_count);
        (seen_count >= SEEN_MIN && round_count * 10 >= seen_count * 9).then(|| {
            let sentence = format!(
                "{name}: of {seen_count} increased counts, {round_count} end in 0; about one in ten is expected"
            );
            rule::COUNTS_ROUND.at(self.first_line, sentence)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_reported(grown: u64, dumps: u64) -> bool {
        let mut round = RoundCountDetector::new("reads".to_owned());
        for at in 1..=dumps {
            let mut counts = Counts::default();
            counts.set(3, at * 2001);
            counts.set(4, at * grown);
            round.take(at, &counts);
        }
        round.report().is_some()
    }

    #[test]
    fn counts_that_all_end_in_0_are_reported() {
        assert!(is_reported(50, 61));
        assert!(!is_reported(50, 60), "59 are too few");
    }

    #[test]
    fn a_sample_of_a_long_run_suffices() {
        assert!(is_reported(50, 86_400));
    }

    #[test]
    fn other_and_small_counts_are_not_reported() {
        assert!(!is_reported(53, 500));
        assert!(!is_reported(20, 500));
    }
}
