//! Waiting times between the attempts of a request.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The attempts of a request: how long to wait before the next one, and when to give up.
#[derive(Debug)]
pub struct Backoff {
    patience: Duration,
    since: Instant,
    next: Duration,
}

impl Backoff {
    /// Starts with the first attempt. `patience` is the time without success after which the client gives up.
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            since: Instant::now(),
            next: FIRST,
        }
    }

    /// Starts again: bytes arrived.
    pub fn reset(&mut self) {
        *self = Self::new(self.patience);
    }

    /// Returns how long to wait before the next attempt: at least what the register requires. `None` to give up.
    pub fn wait(&mut self, required: Option<Duration>) -> Option<Duration> {
        let wait = jittered(self.next, jitter()).max(required.unwrap_or_default());
        self.next = (self.next * 2).min(LONGEST);
        let total = self.since.elapsed().checked_add(wait);
        total.is_some_and(|total| total <= self.patience).then_some(wait)
    }
}

/// Returns a wait of 75 % to 125 %, so that the hosts of a lab do not return all at the same moment.
fn jittered(wait: Duration, thousandths: u32) -> Duration {
    wait * (750 + thousandths / 2) / 1000
}

/// Returns a number below 1000 that differs between hosts.
fn jitter() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.subsec_micros() % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut backoff = Backoff::new(Duration::from_secs(100_000));
        let waits: Vec<u64> = (0..10)
            .filter_map(|_| backoff.wait(None))
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
            .collect();
        for (wait, expected) in waits.iter().zip([1, 2, 4, 8, 16, 32, 60, 60, 60, 60]) {
            assert!((750 * expected..=1250 * expected).contains(wait), "{waits:?}");
        }
        assert_eq!(waits.len(), 10);
    }

    #[test]
    fn the_longer_one_of_the_own_wait_and_that_of_the_register_counts() {
        let mut backoff = Backoff::new(Duration::from_secs(100));
        let required = Duration::from_secs(7);
        assert_eq!(backoff.wait(Some(required)), Some(required));
        assert!(backoff.wait(Some(Duration::ZERO)) > Some(Duration::from_secs(1)));
        assert_eq!(backoff.wait(Some(Duration::MAX)), None);
    }

    #[test]
    fn a_wait_beyond_the_patience_gives_up() {
        let mut backoff = Backoff::new(Duration::from_secs(10));
        assert_eq!(backoff.wait(Some(Duration::from_secs(11))), None);
        assert!(backoff.wait(Some(Duration::from_secs(9))).is_some());
    }

    #[test]
    fn jitter_stays_within_a_quarter() {
        let second = Duration::from_secs(1);
        assert_eq!(jittered(second, 0), Duration::from_millis(750));
        assert_eq!(jittered(second, 999), Duration::from_millis(1249));
    }
}
