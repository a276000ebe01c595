//! Snapshots of a running load or preparation, for a person who watches it.

use std::fmt::Debug;

use crate::clock::{Instant, Nanos};
use crate::prep::MeterSample;
use crate::report::side::Over;
use crate::report::worst::Hottest;

/// Shows snapshots until it is dropped.
pub trait ProgressView: Debug {
    /// Takes the newest snapshot. Must not block, because the caller writes the log on time.
    fn show(&self, snapshot: Snapshot);
    /// Runs a write to the terminal that shows the snapshots.
    fn around_output(&self, write: &mut dyn FnMut());
}

/// The state of a run at one point in time.
#[derive(Debug, Clone)]
pub enum Snapshot {
    /// A load.
    Load(LoadProgress),
    /// The phase of a preparation and its progress, or that of a plain file which is filled before a load.
    Prep(&'static str, MeterSample),
}

/// The state of a load.
#[derive(Debug, Clone)]
pub struct LoadProgress {
    /// Start of the run.
    pub start: Instant,
    /// Length of the run.
    pub length: Nanos,
    /// The rates of all operations. Empty before the first report.
    pub operations: Vec<OperationProgress>,
    /// Reads so far.
    pub reads_count: u64,
    /// Reads so far that took 1, 8 and 64 ms or more after submission.
    pub over: Over,
    /// The drive closest to its temperature limit at the last report.
    pub hottest: Option<Hottest>,
}

/// The rates of an operation.
#[derive(Debug, Clone)]
pub struct OperationProgress {
    /// Name of the operation.
    pub name: &'static str,
    /// Requested rate, requests per second.
    pub requested_per_s: f64,
    /// Achieved rate since the previous snapshot, requests per second.
    pub achieved_per_s: f64,
    /// Whether more than 0.1 % of the requests, and more than two, are missing.
    pub is_below: bool,
}

impl OperationProgress {
    /// Creates the rates of an operation of which `done_count` requests completed in `seconds`.
    pub fn new(name: &'static str, requested_per_s: f64, done_count: u64, seconds: f64) -> Self {
        let (requested, done) = (requested_per_s * seconds, done_count as f64);
        Self {
            name,
            requested_per_s,
            achieved_per_s: done / seconds,
            is_below: requested - done > f64::max(2.0, requested / 1_000.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_below_if_more_than_two_requests_and_a_thousandth_are_missing() {
        let is_below = |requested_per_s, done_count, seconds| {
            OperationProgress::new("reads", requested_per_s, done_count, seconds).is_below
        };
        assert_eq!([is_below(23.5, 22, 1.0), is_below(23.5, 21, 1.0)], [false, true]);
        assert_eq!(
            [is_below(20_000.0, 39_961, 2.0), is_below(20_000.0, 39_959, 2.0)],
            [false, true]
        );
        assert_eq!(
            OperationProgress::new("reads", 100.0, 150, 2.0).achieved_per_s,
            75.0
        );
    }
}
