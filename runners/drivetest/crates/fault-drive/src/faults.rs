//! Fault rules. Each depends only on the seed and the number of the request, so that a run can be repeated.

use std::time::Duration;

const MILLION: u64 = 1_000_000;

/// The direction of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// From the drive.
    Read,
    /// To the drive.
    Write,
}

/// A share of requests that is delayed by a fixed time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// Delayed requests per million.
    pub per_million: u32,
    /// Time from arrival to reply.
    pub duration: Duration,
}

/// Requests that fail: every `every`-th one, and all that overlap `region`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureRule {
    /// The error number of the reply.
    pub errno: i32,
    /// 0 fails no request by its number; 1 fails all of them.
    pub every: u64,
    /// Byte range: start (inclusive) and end (exclusive).
    pub region: Option<(u64, u64)>,
}

/// The rules for one operation.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// If set, only requests of this length, in bytes, are subject to the rules and counted.
    pub length: Option<u32>,
    /// Delay of requests that no entry of `delays` selects.
    pub base_delay: Duration,
    /// Disjoint shares. Shares beyond one million in total have no effect.
    pub delays: Vec<Delay>,
    /// Failing requests.
    pub failures: Vec<FailureRule>,
}

/// How a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Time from arrival to reply.
    pub duration: Duration,
    /// Index of the delay that applied to it.
    pub delay_index: Option<usize>,
    /// The error number of the reply.
    pub errno: Option<i32>,
}

impl Rules {
    /// Returns whether requests of this length are subject to the rules.
    pub fn applies_to(&self, length: u32) -> bool {
        self.length.is_none_or(|only| only == length)
    }

    /// Returns how request `k` (from 0) for these bytes ends.
    pub fn outcome(&self, seed: u64, k: u64, offset: u64, length: u32) -> Outcome {
        let delay_index = self.delay_index(random_below_million(seed, k));
        let duration = delay_index.map_or(self.base_delay, |index| self.delays[index].duration);
        let end = offset + u64::from(length);
        let errno = self
            .failures
            .iter()
            .find(|failures| failures.matches(k, offset, end))
            .map(|failures| failures.errno);
        Outcome {
            duration,
            delay_index,
            errno,
        }
    }

    fn delay_index(&self, random: u64) -> Option<usize> {
        let mut edge = 0;
        self.delays.iter().position(|delay| {
            edge += u64::from(delay.per_million);
            random < edge
        })
    }
}

impl FailureRule {
    fn matches(&self, k: u64, offset: u64, end: u64) -> bool {
        let by_number = self.every > 0 && (k + 1).is_multiple_of(self.every);
        by_number || self.region.is_some_and(|(from, to)| offset < to && end > from)
    }
}

/// Returns a uniformly distributed number below one million for request `k`.
/// Source: Vigna, "xorshift128+ and beyond": the finaliser of MurmurHash3 (variant 13), over a Weyl sequence.
fn random_below_million(seed: u64, k: u64) -> u64 {
    let mut bits = k
        .wrapping_add(seed)
        .wrapping_mul(0xd134_2543_de82_ef95)
        .wrapping_add(1);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    ((u128::from(bits) * u128::from(MILLION)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(delays: &[(u32, u64)]) -> Rules {
        let delay = |&(per_million, ms)| Delay {
            per_million,
            duration: Duration::from_millis(ms),
        };
        Rules {
            base_delay: Duration::from_micros(100),
            delays: delays.iter().map(delay).collect(),
            ..Rules::default()
        }
    }

    #[test]
    fn the_observed_shares_equal_the_configured_ones() {
        let rules = of(&[(50_000, 2), (10_000, 10), (1_000, 80)]);
        let mut counts = [0_i64; 3];
        for k in 0..1_000_000 {
            if let Some(ordinal) = rules.outcome(7, k, 0, 512).delay_index {
                counts[ordinal] += 1;
            }
        }
        // Five standard deviations of a binomial count.
        let near = |ordinal: usize, expected: i64, most: i64| (counts[ordinal] - expected).abs() < most;
        assert!(
            near(0, 50_000, 1_090) && near(1, 10_000, 500) && near(2, 1_000, 160),
            "{counts:?}"
        );
    }

    #[test]
    fn shares_of_all_and_of_none_are_exact() {
        assert!((0..10_000).all(|k| of(&[(1_000_000, 2)]).outcome(1, k, 0, 512).delay_index == Some(0)));
        assert!((0..10_000).all(|k| of(&[(0, 2)]).outcome(1, k, 0, 512).delay_index.is_none()));
    }

    #[test]
    fn a_request_without_a_delay_takes_the_base_delay() {
        assert_eq!(of(&[]).outcome(1, 3, 0, 512).duration, Duration::from_micros(100));
        assert_eq!(
            of(&[(1_000_000, 9)]).outcome(1, 3, 0, 512).duration,
            Duration::from_millis(9)
        );
    }

    #[test]
    fn the_outcome_depends_on_request_and_seed_only() {
        let rules = of(&[(500_000, 2)]);
        let outcomes = |seed| {
            (0..64)
                .map(|k| rules.outcome(seed, k, 0, 512).delay_index)
                .collect::<Vec<_>>()
        };
        assert_eq!(outcomes(1), outcomes(1));
        assert_ne!(outcomes(1), outcomes(2));
    }

    #[test]
    fn every_third_request_fails_and_regions_are_exact_at_both_edges() {
        let failures = |every, region| Rules {
            failures: vec![FailureRule {
                errno: 5,
                every,
                region,
            }],
            ..Rules::default()
        };
        let third: Vec<bool> = (0..6)
            .map(|k| failures(3, None).outcome(0, k, 0, 512).errno.is_some())
            .collect();
        assert_eq!(third, [false, false, true, false, false, true]);
        let fails = |offset| failures(0, Some((1_024, 2_048))).outcome(0, 0, offset, 512).errno == Some(5);
        assert_eq!([512, 513, 2_047, 2_048].map(fails), [false, true, true, false]);
    }

    #[test]
    fn rules_apply_to_the_selected_length_only() {
        let rules = Rules {
            length: Some(1_536),
            ..Rules::default()
        };
        assert_eq!((rules.applies_to(1_536), rules.applies_to(512)), (true, false));
        assert!(Rules::default().applies_to(512));
    }
}
