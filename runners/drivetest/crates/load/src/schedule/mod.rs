//! Due times of requests in exact arithmetic: evenly spaced, random, or in bursts.
//!
//! Request k of a stream is due at k / rate, not at the previous due time plus a period. So no error accumulates, and
//! the rate does not depend on the number of threads. All three kinds of arrivals make the same number of requests in
//! a run.

pub mod operation;
mod poisson;
pub mod rng;
pub mod stream;

use crate::clock::Nanos;

const NANOS_PER_S: u128 = 1_000_000_000;

/// A rate as a fraction in lowest terms. Both parts are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count: u64,
    seconds: u64,
}

impl Rate {
    /// Creates the rate of `count` requests in `seconds` seconds, or None if one of them is 0.
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

    /// Returns the requests per second as a float.
    pub fn per_s(self) -> f64 {
        self.count as f64 / self.seconds as f64
    }

    /// Returns one of `parts` equal parts.
    ///
    /// # Panics
    /// If `parts` is 0, which is a bug.
    pub fn divided(self, parts: u64) -> Self {
        assert!(parts > 0, "a rate has at least one part");
        let common = greatest_common_divisor(self.count, parts);
        Self {
            count: self.count / common,
            seconds: self.seconds.saturating_mul(parts / common),
        }
    }

    /// Returns how many whole periods of this rate fit into `count` periods of `other`.
    fn periods_in(self, count: u64, other: Self) -> u128 {
        // count * (other.seconds / other.count) * (self.count / self.seconds). Fractions in lowest terms stay in
        // range.
        let (up, down) = reduced(self.count, other.count);
        let (seconds_up, seconds_down) = reduced(other.seconds, self.seconds);
        let periods = u128::from(count) * u128::from(up);
        let down = u128::from(down) * u128::from(seconds_down);
        match periods.checked_mul(u128::from(seconds_up)) {
            Some(periods) => periods / down,
            None => periods / down * u128::from(seconds_up),
        }
    }

    /// Returns the start of the period with this number, rounded down to a nanosecond.
    fn begin(self, period: u128) -> Nanos {
        let due = period * u128::from(self.seconds) * NANOS_PER_S / u128::from(self.count);
        Nanos(u64::try_from(due).unwrap_or(u64::MAX))
    }
}

fn reduced(a: u64, b: u64) -> (u64, u64) {
    let common = greatest_common_divisor(a, b);
    (a / common, b / common)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// The start of a stream within its first period, in sixths. Streams with a common period then never send together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// At 0.
    Start = 0,
    /// After a third of the period.
    Third = 2,
    /// After half the period.
    Half = 3,
    /// After two thirds of the period.
    TwoThirds = 4,
}

#[derive(Debug, Clone, Copy)]
enum Pattern {
    Even(Phase),
    /// Seed of the random positions.
    Poisson(u64),
    /// Bursts per second.
    Lockstep(Rate),
}

/// The due times of a stream, from the start of the run.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    rate: Rate,
    pattern: Pattern,
    length: Nanos,
    requests_count: u64,
}

impl Schedule {
    /// Creates evenly spaced requests that are due before `length`.
    pub fn even(rate: Rate, phase: Phase, length: Nanos) -> Self {
        // Due times in sixths of a period: (6k + phase) * seconds / (6 * count).
        let sixths = (u128::from(length.0) * 6 * u128::from(rate.count))
            .div_ceil(u128::from(rate.seconds) * NANOS_PER_S);
        let requests_count = sixths.saturating_sub(phase as u128).div_ceil(6);
        Self {
            rate,
            pattern: Pattern::Even(phase),
            length,
            requests_count: u64::try_from(requests_count).unwrap_or(u64::MAX),
        }
    }

    /// Creates the same number of requests at random times that depend on the seed.
    pub fn poisson(rate: Rate, seed: u64, length: Nanos) -> Self {
        Self {
            pattern: Pattern::Poisson(seed),
            ..Self::even(rate, Phase::Start, length)
        }
    }

    /// Creates the same number of requests in bursts. Each is due at the last burst that is not after its even due
    /// time.
    ///
    /// Source: src/storage/act_storage.c, `run_service()`: all threads compute their due times from the same start
    /// with the same period, so that N threads send N requests together and then all wait.
    pub fn lockstep(rate: Rate, bursts: Rate, length: Nanos) -> Self {
        Self {
            pattern: Pattern::Lockstep(bursts),
            ..Self::even(rate, Phase::Start, length)
        }
    }

    /// Returns when request `k` is due, from the start, rounded down to a nanosecond. Never before request `k - 1`.
    pub fn due(&self, k: u64) -> Nanos {
        match self.pattern {
            Pattern::Even(phase) => self.even_due(k, phase),
            Pattern::Poisson(seed) => self.random_due(k, seed),
            Pattern::Lockstep(bursts) => bursts.begin(bursts.periods_in(k, self.rate)),
        }
    }

    fn even_due(&self, k: u64, phase: Phase) -> Nanos {
        let sixths = 6 * u128::from(k) + phase as u128;
        let due = sixths * u128::from(self.rate.seconds) * NANOS_PER_S / (6 * u128::from(self.rate.count));
        Nanos(u64::try_from(due).unwrap_or(u64::MAX))
    }

    fn random_due(&self, k: u64, seed: u64) -> Nanos {
        let (block, rank) = (k / poisson::BLOCK, k % poisson::BLOCK);
        let first = block * poisson::BLOCK;
        let begin = self.rate.begin(u128::from(first));
        let left = self.requests_count.saturating_sub(first);
        let (count, end) = if left > poisson::BLOCK || rank >= left {
            (
                poisson::BLOCK,
                self.rate.begin(u128::from(first) + u128::from(poisson::BLOCK)),
            )
        } else {
            // The last block ends at the end of the run.
            (left, self.length)
        };
        let position = poisson::position(seed, block, rank, count);
        let after = (u128::from(end.0 - begin.0) * u128::from(position)) >> 64;
        Nanos(begin.0 + after as u64)
    }

    /// Returns the number of requests.
    pub fn requests_count(&self) -> u64 {
        self.requests_count
    }

    /// Returns the rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests;
