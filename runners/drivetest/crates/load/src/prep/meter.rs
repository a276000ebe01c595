//! Rate and remaining time of what is under way.

use crate::clock::{Instant, Nanos};

const NANOS_PER_S: u128 = 1_000_000_000;

/// Bytes per second; 0 over no time.
pub(super) fn bytes_per_s(bytes: u64, elapsed: Nanos) -> u64 {
    let rate = u128::from(bytes) * NANOS_PER_S / u128::from(elapsed.0.max(1));
    if elapsed.0 == 0 {
        0
    } else {
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

/// One way over all devices.
#[derive(Debug)]
pub(super) struct Meter {
    total_bytes: u64,
    begun_bytes: u64,
    begun: Instant,
    last: (Instant, u64),
}

/// What can be told at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub done_bytes: u64,
    /// None where the end is not known beforehand.
    pub total_bytes: Option<u64>,
    /// Since the last reading.
    pub bytes_per_s: u64,
    /// At the average rate since the beginning; None while nothing was done.
    pub remaining_s: Option<u64>,
}

impl Meter {
    /// Begins with what earlier runs did.
    pub fn new(now: Instant, done_bytes: u64, total_bytes: u64) -> Self {
        Self {
            total_bytes,
            begun_bytes: done_bytes,
            begun: now,
            last: (now, done_bytes),
        }
    }

    /// Takes a reading.
    pub fn read(&mut self, now: Instant, done_bytes: u64) -> Reading {
        let (before, before_bytes) = std::mem::replace(&mut self.last, (now, done_bytes));
        let average = bytes_per_s(done_bytes.saturating_sub(self.begun_bytes), now.since(self.begun));
        let remaining_bytes = self.total_bytes.saturating_sub(done_bytes);
        Reading {
            done_bytes,
            total_bytes: Some(self.total_bytes),
            bytes_per_s: bytes_per_s(done_bytes.saturating_sub(before_bytes), now.since(before)),
            remaining_s: (average > 0).then(|| remaining_bytes.div_ceil(average.max(1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_the_last_second_and_the_rest_of_the_average() {
        let start = Instant::now();
        let mut meter = Meter::new(start, 1_000, 10_000);
        let at = |seconds| start.after(Nanos::from_s(seconds));
        assert_eq!(meter.read(at(1), 2_000).bytes_per_s, 1_000);
        let second = meter.read(at(2), 5_000);
        assert_eq!(second.bytes_per_s, 3_000);
        // 4000 in 2 s are 2000/s; 5000 are left.
        assert_eq!(second.remaining_s, Some(3));
    }

    #[test]
    fn before_anything_is_done_nothing_is_foretold() {
        let start = Instant::now();
        let reading = Meter::new(start, 500, 1_000).read(start.after(Nanos::from_s(1)), 500);
        assert_eq!((reading.bytes_per_s, reading.remaining_s), (0, None));
        assert_eq!(bytes_per_s(5, Nanos(0)), 0);
    }
}
