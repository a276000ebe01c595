//! Progress of a preparation: log, records, and snapshots for a person.

use std::io;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Value, json};

use crate::clock::{Instant, Nanos, rfc3339};
use crate::progress::Snapshot;
use crate::report::output::Outputs;

/// Period of the progress records.
const PROGRESS_PERIOD: Nanos = Nanos::from_s(1);

/// The outputs of a preparation.
pub(super) struct ProgressReporter<'a> {
    pub outputs: &'a mut Outputs,
    /// Whether the records are also printed on standard error.
    pub prints_records: bool,
}

impl ProgressReporter<'_> {
    /// Appends a line to the log.
    pub fn log(&mut self, line: &str) -> io::Result<()> {
        self.outputs.log(&format!("{line}\n"))
    }

    /// Writes a record of these fields with its kind and the current time.
    pub fn record(&mut self, kind: &str, mut record: Value) -> io::Result<()> {
        record["record"] = kind.into();
        record["at"] = rfc3339(SystemTime::now()).into();
        if self.prints_records {
            self.outputs.print_status(&format!("{record}\n"));
        }
        self.outputs.side(&record)
    }

    /// Reports the progress.
    pub fn progress(&mut self, phase: &'static str, sample: MeterSample) -> io::Result<()> {
        self.outputs.show(Snapshot::Prep(phase, sample));
        let mut fields = json!(sample);
        fields["phase"] = phase.into();
        self.record("progress", fields)
    }
}

const NANOS_PER_S: u128 = 1_000_000_000;

/// Returns bytes per second, or 0 without elapsed time.
pub(super) fn bytes_per_s(bytes: u64, elapsed: Nanos) -> u64 {
    let rate = u128::from(bytes) * NANOS_PER_S / u128::from(elapsed.0.max(1));
    if elapsed.0 == 0 {
        0
    } else {
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

/// Measures the rate of writing to all devices.
#[derive(Debug)]
pub(crate) struct Meter {
    /// None if the total is unknown.
    total_bytes: Option<u64>,
    start_bytes: u64,
    start: Instant,
    last: (Instant, u64),
}

/// Progress at one point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MeterSample {
    /// Bytes that were written to all devices, also by earlier runs.
    pub done_bytes: u64,
    /// None if the total is unknown.
    pub total_bytes: Option<u64>,
    /// Since the last sample.
    pub bytes_per_s: u64,
    /// At the average rate since the start; None if that or the total is unknown.
    pub remaining_s: Option<u64>,
}

impl Meter {
    /// Starts with the bytes of earlier runs.
    pub fn new(now: Instant, done_bytes: u64, total_bytes: Option<u64>) -> Self {
        Self {
            total_bytes,
            start_bytes: done_bytes,
            start: now,
            last: (now, done_bytes),
        }
    }

    /// Returns whether the last sample is a period ago.
    pub fn is_due(&self, now: Instant) -> bool {
        now.since(self.last.0) >= PROGRESS_PERIOD
    }

    /// Takes a sample.
    pub fn read(&mut self, now: Instant, done_bytes: u64) -> MeterSample {
        let (before, before_bytes) = std::mem::replace(&mut self.last, (now, done_bytes));
        let average = bytes_per_s(done_bytes.saturating_sub(self.start_bytes), now.since(self.start));
        let remaining_bytes = self.total_bytes.map(|total| total.saturating_sub(done_bytes));
        MeterSample {
            done_bytes,
            total_bytes: self.total_bytes,
            bytes_per_s: bytes_per_s(done_bytes.saturating_sub(before_bytes), now.since(before)),
            remaining_s: remaining_bytes
                .filter(|_| average > 0)
                .map(|bytes| bytes.div_ceil(average)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_second_and_the_remaining_time_uses_the_average() {
        let start = Instant::now();
        let mut meter = Meter::new(start, 1_000, Some(10_000));
        let at = |seconds| start.after(Nanos::from_s(seconds));
        assert_eq!(meter.read(at(1), 2_000).bytes_per_s, 1_000);
        let second = meter.read(at(2), 5_000);
        assert_eq!(second.bytes_per_s, 3_000);
        // 4000 in 2 s are 2000/s; 5000 remain.
        assert_eq!(second.remaining_s, Some(3));
    }

    #[test]
    fn there_is_no_remaining_time_before_the_first_write() {
        let start = Instant::now();
        let sample = Meter::new(start, 500, Some(1_000)).read(start.after(Nanos::from_s(1)), 500);
        assert_eq!((sample.bytes_per_s, sample.remaining_s), (0, None));
        assert_eq!(bytes_per_s(5, Nanos(0)), 0);
    }
}
