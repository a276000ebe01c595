//! A drive that can do so many requests at once and needs a fixed time for each: its highest rate is known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// Servers that take requests in the order they come; `count / service` requests a second are the most they can.
#[derive(Debug, Clone)]
pub struct Servers {
    service: Duration,
    free_at: BinaryHeap<Reverse<Instant>>,
}

impl Servers {
    /// `count` servers, at least one, that need `service` for a request.
    pub fn new(count: usize, service: Duration, now: Instant) -> Self {
        let free_at = (0..count.max(1)).map(|_| Reverse(now)).collect();
        Self { service, free_at }
    }

    /// When a request that came at `arrived` will have been served. Calls must come in the order of arrivals.
    pub fn serve(&mut self, arrived: Instant) -> Instant {
        let free = self.free_at.pop().map_or(arrived, |Reverse(at)| at);
        let done = free.max(arrived) + self.service;
        self.free_at.push(Reverse(done));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_idle_server_takes_a_request_at_once() {
        let start = Instant::now();
        let mut servers = Servers::new(2, MS, start);
        assert_eq!(
            [
                servers.serve(start),
                servers.serve(start),
                servers.serve(start + 5 * MS)
            ],
            [start + MS, start + MS, start + 6 * MS]
        );
    }

    #[test]
    fn a_request_waits_for_the_server_that_is_free_first() {
        let start = Instant::now();
        let mut servers = Servers::new(2, MS, start);
        let done: Vec<_> = (0..5).map(|_| servers.serve(start) - start).collect();
        assert_eq!(done, [MS, MS, 2 * MS, 2 * MS, 3 * MS]);
    }
}
