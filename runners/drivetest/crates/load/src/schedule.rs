//! When requests are due: evenly spaced over the whole process, in exact arithmetic.
//!
//! Request k of a stream is due at k / rate, never at the previous one plus a period: nothing adds up, so a day's
//! last request is due where it belongs, and 2009 a second are 2009 a second whatever the number of threads.

use crate::clock::Nanos;

const NANOS_PER_S: u128 = 1_000_000_000;

/// How often: a fraction of requests and seconds, both at least 1, lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count: u64,
    seconds: u64,
}

impl Rate {
    /// `count` requests in `seconds` seconds; None when there are none.
    pub fn new(count: u64, seconds: u64) -> Option<Self> {
        if count == 0 || seconds == 0 {
            return None;
        }
        let common = greatest_common_divisor(count, seconds);
        Some(Self {
            count: count / common,
            seconds: seconds / common,
        })
    }

    /// Requests in a second, as near as a float comes.
    pub fn per_s(self) -> f64 {
        self.count as f64 / self.seconds as f64
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// Where in its first period a stream begins, in thirds: streams that share a period then never fire together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// At once.
    Start,
    /// After a third of a period.
    Third,
    /// After two thirds of a period.
    TwoThirds,
}

/// The due times of one stream of requests, from the start of the run.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    rate: Rate,
    phase: Phase,
    requests_count: u64,
}

impl Schedule {
    /// All requests that are due before `length`.
    pub fn new(rate: Rate, phase: Phase, length: Nanos) -> Self {
        // Due times in thirds of a period: (3k + phase) * seconds / (3 * count).
        let thirds = (u128::from(length.0) * 3 * u128::from(rate.count))
            .div_ceil(u128::from(rate.seconds) * NANOS_PER_S);
        let requests_count = thirds.saturating_sub(phase as u128).div_ceil(3);
        Self {
            rate,
            phase,
            requests_count: u64::try_from(requests_count).unwrap_or(u64::MAX),
        }
    }

    /// When request `k` is due, from the start; rounded down to a nanosecond.
    pub fn due(&self, k: u64) -> Nanos {
        let thirds = 3 * u128::from(k) + self.phase as u128;
        let due = thirds * u128::from(self.rate.seconds) * NANOS_PER_S / (3 * u128::from(self.rate.count));
        Nanos(u64::try_from(due).unwrap_or(u64::MAX))
    }

    /// How many requests there are.
    pub fn requests_count(&self) -> u64 {
        self.requests_count
    }

    /// How often they come.
    pub fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Nanos = Nanos(86_400_000_000_000);
    const SECOND: Nanos = Nanos(1_000_000_000);

    fn schedule(count: u64, seconds: u64, phase: Phase, length: Nanos) -> Schedule {
        Schedule::new(Rate::new(count, seconds).unwrap(), phase, length)
    }

    #[test]
    fn a_day_at_2009_a_second_has_every_request_and_no_drift() {
        let day = schedule(2009, 1, Phase::Start, DAY);
        assert_eq!(day.requests_count(), 2009 * 86_400);
        for second in [0, 1, 3_600, 43_200, 86_399] {
            assert_eq!(day.due(2009 * second), Nanos(second * SECOND.0));
        }
        assert!(day.due(day.requests_count() - 1) < DAY && day.due(day.requests_count()) == DAY);
    }

    #[test]
    fn gaps_differ_by_a_nanosecond_at_most() {
        let thirds = schedule(3, 1, Phase::Start, SECOND);
        let dues: Vec<u64> = (0..4).map(|k| thirds.due(k).0).collect();
        assert_eq!(dues, [0, 333_333_333, 666_666_666, 1_000_000_000]);
    }

    #[test]
    fn a_fractional_rate_keeps_its_fraction() {
        // 1x: 1000 writes of 85 to a block, doubled by defragmentation: 100000 / (85 * 50) a second.
        let blocks = schedule(100_000, 85 * 50, Phase::Start, DAY);
        assert_eq!(blocks.requests_count(), 2_032_942); // ceil(86400 * 100000 / 4250) = ceil(2032941.17...)
        assert_eq!(blocks.due(400), Nanos(17 * SECOND.0));
    }

    #[test]
    fn phases_are_thirds_of_a_period() {
        let due = |phase| schedule(1, 3, phase, DAY).due(1).0 / SECOND.0;
        assert_eq!(
            [due(Phase::Start), due(Phase::Third), due(Phase::TwoThirds)],
            [3, 4, 5]
        );
    }

    #[test]
    fn the_end_itself_is_not_part_of_the_run() {
        assert_eq!(schedule(1, 1, Phase::Start, SECOND).requests_count(), 1);
        assert_eq!(
            schedule(1, 1, Phase::Start, Nanos(SECOND.0 + 1)).requests_count(),
            2
        );
        assert_eq!(schedule(1, 3, Phase::Third, SECOND).requests_count(), 0);
        assert_eq!(
            schedule(1, 3, Phase::Third, Nanos(SECOND.0 + 1)).requests_count(),
            1
        );
    }

    #[test]
    fn the_largest_rates_and_lengths_stay_in_range() {
        let most = schedule(
            u64::from(u32::MAX) * 25_600,
            524_288 * 100,
            Phase::TwoThirds,
            Nanos(u64::MAX),
        );
        assert!(most.due(most.requests_count() - 1) < Nanos(u64::MAX));
    }

    #[test]
    fn a_rate_of_nothing_is_none() {
        assert_eq!((Rate::new(0, 1), Rate::new(1, 0)), (None, None));
        assert_eq!(Rate::new(4, 8), Rate::new(1, 2));
    }

    proptest::proptest! {
        #[test]
        fn the_count_is_where_due_times_reach_the_end(count in 1u64..1_000_000, seconds in 1u64..10_000,
                                                      length in 1u64..100_000_000_000_000) {
            for phase in [Phase::Start, Phase::Third, Phase::TwoThirds] {
                let all = schedule(count, seconds, phase, Nanos(length));
                let k = all.requests_count();
                proptest::prop_assert!(all.due(k).0 >= length || all.due(k).0 + 1 >= length);
                if k > 0 {
                    proptest::prop_assert!(all.due(k - 1).0 < length);
                }
            }
        }
    }
}
