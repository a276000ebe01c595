//! Clocks: monotonic time, sleeping until a time, and wall-clock time as text.

use std::time::SystemTime;

use jiff::Timestamp;
use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOS_PER_S: u64 = 1_000_000_000;

/// A duration in nanoseconds, up to 584 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Returns that many seconds.
    pub const fn from_s(seconds: u64) -> Self {
        Self(seconds * NANOS_PER_S)
    }

    /// Returns that many microseconds.
    pub const fn from_us(microseconds: u64) -> Self {
        Self(microseconds * 1_000)
    }

    /// Returns that many milliseconds.
    pub const fn from_ms(milliseconds: u64) -> Self {
        Self(milliseconds * 1_000_000)
    }
}

/// A time on CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// The zero of the clock: the boot, on Linux.
    pub const ZERO: Self = Self(0);

    /// Returns the current time.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Monotonic);
        // Neither part is ever negative on this clock.
        Self(time.tv_sec as u64 * NANOS_PER_S + time.tv_nsec as u64)
    }

    /// Returns the time `length` later.
    pub fn after(self, length: Nanos) -> Self {
        Self(self.0.saturating_add(length.0))
    }

    /// Returns the time `length` earlier.
    pub fn before(self, length: Nanos) -> Self {
        Self(self.0.saturating_sub(length.0))
    }

    /// Returns the time since `earlier`, or 0 if that is in the future.
    pub fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// Sleeps until this time. Returns early if a signal arrives.
    pub fn sleep_until(self) {
        let at = Timespec {
            tv_sec: (self.0 / NANOS_PER_S) as i64,
            tv_nsec: (self.0 % NANOS_PER_S) as _,
        };
        // The caller checks the clock again, interrupted or not.
        let _ = clock_nanosleep_absolute(SleepClock::Monotonic, &at);
    }
}

/// Returns a time as RFC 3339 in UTC with milliseconds. Times before 1970 become 1970.
pub fn rfc3339(at: SystemTime) -> String {
    let at = Timestamp::try_from(at)
        .unwrap_or_default()
        .max(Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // Each pair from `date -u -d @SECONDS`.
        let pairs = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ];
        for (seconds, text) in pairs {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        assert_eq!(
            rfc3339(UNIX_EPOCH + Duration::from_micros(1_999_999)),
            "1970-01-01T00:00:01.999Z"
        );
        assert_eq!(
            rfc3339(UNIX_EPOCH - Duration::from_secs(1)),
            "1970-01-01T00:00:00.000Z"
        );
    }
}
