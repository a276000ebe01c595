//! What the drive does to a request: rules that decide from the request's number alone, so that a run can be repeated.

use std::time::Duration;

const MILLION: u64 = 1_000_000;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// A share of requests that is answered after a stated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// Of a million requests.
    pub per_million: u32,
    /// How long the answer is held.
    pub held: Duration,
}

/// Requests that fail: every `every`-th (0: none by number), and all that touch `region`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// The system's error number.
    pub errno: i32,
    /// 1 fails all.
    pub every: u64,
    /// Bytes from (included) to (not included).
    pub region: Option<(u64, u64)>,
}

/// The rules for one operation.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Only requests of this length are subject to the rules and counted; None: all.
    pub length: Option<u32>,
    /// How long an answer is held that no delay befalls.
    pub base: Duration,
    /// Disjoint shares; what is over a million in all never happens.
    pub delays: Vec<Delay>,
    /// Which fail.
    pub failing: Vec<Failing>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// How long its answer is held.
    pub held: Duration,
    /// Which of the delays befell it.
    pub delay: Option<usize>,
    /// The error it is answered with.
    pub errno: Option<i32>,
}

impl Rules {
    /// Whether a request is subject to the rules.
    pub fn watches(&self, length: u32) -> bool {
        self.length.is_none_or(|only| only == length)
    }

    /// What becomes of request `k` (from 0) at these bytes.
    pub fn fate(&self, seed: u64, k: u64, offset: u64, length: u32) -> Fate {
        let delay = self.delay(draw(seed, k));
        let held = delay.map_or(self.base, |ordinal| self.delays[ordinal].held);
        let end = offset + u64::from(length);
        let errno = self
            .failing
            .iter()
            .find(|failing| failing.hits(k, offset, end))
            .map(|failing| failing.errno);
        Fate { held, delay, errno }
    }

    fn delay(&self, draw: u64) -> Option<usize> {
        let mut edge = 0;
        self.delays.iter().position(|delay| {
            edge += u64::from(delay.per_million);
            draw < edge
        })
    }
}

impl Failing {
    fn hits(&self, k: u64, offset: u64, end: u64) -> bool {
        let by_number = self.every > 0 && (k + 1).is_multiple_of(self.every);
        by_number || self.region.is_some_and(|(from, to)| offset < to && end > from)
    }
}

/// A number below a million for request `k`, all equally likely.
/// Source: Vigna, "xorshift128+ and beyond": the finaliser of MurmurHash3 (variant 13), over a Weyl sequence.
fn draw(seed: u64, k: u64) -> u64 {
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
            held: Duration::from_millis(ms),
        };
        Rules {
            base: Duration::from_micros(100),
            delays: delays.iter().map(delay).collect(),
            ..Rules::default()
        }
    }

    #[test]
    fn the_shares_are_those_that_were_stated() {
        let rules = of(&[(50_000, 2), (10_000, 10), (1_000, 80)]);
        let mut counts = [0_i64; 3];
        for k in 0..1_000_000 {
            if let Some(ordinal) = rules.fate(7, k, 0, 512).delay {
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
    fn a_share_of_all_and_of_none_are_exact() {
        assert!((0..10_000).all(|k| of(&[(1_000_000, 2)]).fate(1, k, 0, 512).delay == Some(0)));
        assert!((0..10_000).all(|k| of(&[(0, 2)]).fate(1, k, 0, 512).delay.is_none()));
    }

    #[test]
    fn what_no_delay_befalls_is_held_for_the_base() {
        assert_eq!(of(&[]).fate(1, 3, 0, 512).held, Duration::from_micros(100));
        assert_eq!(
            of(&[(1_000_000, 9)]).fate(1, 3, 0, 512).held,
            Duration::from_millis(9)
        );
    }

    #[test]
    fn the_same_request_has_the_same_fate_and_another_seed_another() {
        let rules = of(&[(500_000, 2)]);
        let fates = |seed| {
            (0..64)
                .map(|k| rules.fate(seed, k, 0, 512).delay)
                .collect::<Vec<_>>()
        };
        assert_eq!(fates(1), fates(1));
        assert_ne!(fates(1), fates(2));
    }

    #[test]
    fn every_third_fails_and_the_region_on_both_edges() {
        let failing = |every, region| Rules {
            failing: vec![Failing {
                errno: 5,
                every,
                region,
            }],
            ..Rules::default()
        };
        let third: Vec<bool> = (0..6)
            .map(|k| failing(3, None).fate(0, k, 0, 512).errno.is_some())
            .collect();
        assert_eq!(third, [false, false, true, false, false, true]);
        let fails = |offset| failing(0, Some((1_024, 2_048))).fate(0, 0, offset, 512).errno == Some(5);
        assert_eq!([512, 513, 2_047, 2_048].map(fails), [false, true, true, false]);
    }

    #[test]
    fn only_the_length_that_is_watched_counts() {
        let rules = Rules {
            length: Some(1_536),
            ..Rules::default()
        };
        assert_eq!((rules.watches(1_536), rules.watches(512)), (true, false));
        assert!(Rules::default().watches(512));
    }
}
