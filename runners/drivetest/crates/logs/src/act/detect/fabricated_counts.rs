//! Counts that end in 0 far more often than chance lets them: figures that were written by hand or by a rule.
//!
//! A cumulative count that grew by at least 30 since the dump before ends in any digit: with a tenth of Poisson's
//! variance (see `repeats`) its deviation is 1.7, so that no digit has a chance above 0.24, whatever the mean; let it be
//! 0.35. The fullest bucket is left out, because the rate fixes it. Of 60 such counts, 45 end in 0 with a chance below
//! 10^-9; where all are of one device's run of a day, the share of nine in ten below is rarer still.

use crate::act::blocks::histogram::Counts;
use crate::finding::{Finding, rule};

/// Operations that a bucket must have gained for its last digit to say something.
const GROWN_MIN: u64 = 30;

/// Counts that must be seen before the run is told of.
const SEEN_MIN: u64 = 60;

/// Counts or dumps after which only every sixteenth dump is looked at: a long run tells as much by a part of them.
const SEEN_ENOUGH: u64 = 1000;

/// The last digits of one histogram's counts.
#[derive(Debug)]
pub struct RoundCountDetector {
    name: String,
    last: Option<Counts>,
    dumps_count: u64,
    seen_count: u64,
    round_count: u64,
    first_line: u64,
}

impl RoundCountDetector {
    /// The histogram of a name.
    pub fn new(name: String) -> Self {
        Self {
            name,
            last: None,
            dumps_count: 0,
            seen_count: 0,
            round_count: 0,
            first_line: 0,
        }
    }

    /// Takes the next dump.
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
                self.first_line = if self.round_count == 1 {
                    line
                } else {
                    self.first_line
                };
            }
        }
        last.clone_from(now);
    }

    /// What is told where chance does not explain it.
    pub fn report(&self) -> Option<Finding> {
        let Self {
            name,
            seen_count,
            round_count,
            ..
        } = self;
        (*seen_count >= SEEN_MIN && round_count * 10 >= seen_count * 9).then(|| {
            let sentence = format!(
                "{name}: of {seen_count} counts that grew, {round_count} end in 0; about one in ten is expected; look here"
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
    fn counts_that_all_end_in_0_are_told() {
        assert!(is_reported(50, 61));
        assert!(!is_reported(50, 60), "59 are too few");
    }

    #[test]
    fn a_long_run_is_told_by_a_part_of_its_counts() {
        assert!(is_reported(50, 86_400));
    }

    #[test]
    fn counts_of_any_digit_and_small_ones_are_not() {
        assert!(!is_reported(53, 500));
        assert!(!is_reported(20, 500));
    }
}
