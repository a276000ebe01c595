//! A capacity limit: a fixed number of parallel servers with a fixed service time, so that the maximum rate is known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// Servers that take requests in the order of arrival. Their maximum rate is `count / service`.
#[derive(Debug, Clone)]
pub struct Servers {
    service: Duration,
    free_at: BinaryHeap<Reverse<Instant>>,
}

impl Servers {
    /// Creates `count` servers (at least one) that need `service` for each request.
    pub fn new(count: usize, service: Duration, now: Instant) -> Self {
        let free_at = (0..count.max(1)).map(|_| Reverse(now)).collect();
        Self { service, free_at }
    }

    /// Returns when a request that arrived at `arrived` is finished. Calls must be in the order of arrival.
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
    fn an_idle_server_starts_a_request_immediately() {
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
    fn a_request_waits_for_the_first_free_server() {
        let start = Instant::now();
        let mut servers = Servers::new(2, MS, start);
        let done: Vec<_> = (0..5).map(|_| servers.serve(start) - start).collect();
        assert_eq!(done, [MS, MS, 2 * MS, 2 * MS, 3 * MS]);
    }
}
