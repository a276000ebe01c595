//! Time: the monotonic clock, and sleeping until a point on it.

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOS_PER_S: u64 = 1_000_000_000;

/// A length of time in nanoseconds; 584 years fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Nanos(pub u64);

impl Nanos {
    /// That many whole seconds.
    pub const fn from_s(seconds: u64) -> Self {
        Self(seconds * NANOS_PER_S)
    }

    /// That many milliseconds.
    pub const fn from_ms(milliseconds: u64) -> Self {
        Self(milliseconds * 1_000_000)
    }
}

/// A point on CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// Now.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Monotonic);
        // Both parts are never negative on this clock.
        Self(time.tv_sec as u64 * NANOS_PER_S + time.tv_nsec as u64)
    }

    /// The point that lies `length` later.
    pub fn after(self, length: Nanos) -> Self {
        Self(self.0.saturating_add(length.0))
    }

    /// How long ago `earlier` was; 0 when it is still to come.
    pub fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// Sleeps until this point, or returns earlier when a signal comes.
    pub fn sleep_until(self) {
        let at = Timespec {
            tv_sec: (self.0 / NANOS_PER_S) as i64,
            tv_nsec: (self.0 % NANOS_PER_S) as _,
        };
        // Interrupted or not, the caller looks at the clock again.
        let _ = clock_nanosleep_absolute(SleepClock::Monotonic, &at);
    }
}
