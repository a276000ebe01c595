//! The extremes of a run's intervals: what a mean over hours hides.

use super::decimal::Decimal;
use super::side::times::over;
use crate::clock::Nanos;
use crate::schedule::stream::ActHistogram;
use crate::stats::operation_stats::{OperationStats, times_of};
use crate::telemetry::Record;

/// Processors that are busier than this leave too little to wake up in time.
const BUSY_PCT: f64 = 90.0;

/// Processor time that another machine had.
const STOLEN_PCT: f64 = 1.0;

/// An interval by its worst figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slowest {
    /// Label of the interval.
    pub label_s: u64,
    /// The latest answer of a read in it, from when it was due.
    pub response: Nanos,
    /// Reads that were answered 64 ms or more after they were due.
    pub late_count: u64,
    /// Reads in it.
    pub count: u64,
}

/// A drive at its hottest.
#[derive(Debug, Clone, PartialEq)]
pub struct Hottest {
    /// The kernel's name for it.
    pub disk: String,
    /// Degrees Celsius.
    pub celsius: Decimal,
    /// Where it warns.
    pub limit_celsius: Option<Decimal>,
}

/// What was worst in a run.
#[derive(Debug, Default)]
pub struct Worst {
    /// The interval with the latest read.
    pub slowest: Option<Slowest>,
    /// The drive nearest to its limit, or the hottest where none tells one.
    pub hottest: Option<Hottest>,
    /// Intervals in which the processors were too busy.
    pub busy_count: u64,
    /// Intervals in which the hypervisor gave processors to others.
    pub stolen_count: u64,
    /// All intervals.
    pub intervals_count: u64,
}

impl Worst {
    /// Takes the next interval.
    pub fn take(&mut self, label_s: u64, operation_stats: &[OperationStats], telemetry: &Record) {
        self.intervals_count += 1;
        self.take_reads(label_s, operation_stats);
        self.take_cpu(telemetry);
        self.take_temperatures(telemetry);
    }

    fn take_reads(&mut self, label_s: u64, operation_stats: &[OperationStats]) {
        let response = times_of(operation_stats, ActHistogram::Reads, |stats| {
            &stats.interval.response
        });
        if response.count() == 0 {
            return;
        }
        if self
            .slowest
            .is_none_or(|slowest| response.longest() > slowest.response)
        {
            self.slowest = Some(Slowest {
                label_s,
                response: response.longest(),
                late_count: over(&response).get(&64_000).copied().unwrap_or(0),
                count: response.count(),
            });
        }
    }

    fn take_cpu(&mut self, telemetry: &Record) {
        let Some(cpu) = &telemetry.cpu else { return };
        let is_over = |pct: Option<Decimal>, most: f64| pct.is_some_and(|pct| pct.value() > most);
        self.busy_count += u64::from(is_over(cpu.busy_pct, BUSY_PCT));
        self.stolen_count += u64::from(is_over(cpu.steal_pct, STOLEN_PCT));
    }

    fn take_temperatures(&mut self, telemetry: &Record) {
        for disk in &telemetry.disks {
            let Some(temperature) = &disk.temperature else {
                continue;
            };
            let Some(celsius) = temperature.celsius else {
                continue;
            };
            let found = Hottest {
                disk: disk.disk.clone(),
                celsius,
                limit_celsius: temperature.limit_celsius,
            };
            if self
                .hottest
                .as_ref()
                .is_none_or(|hottest| found.room() < hottest.room())
            {
                self.hottest = Some(found);
            }
        }
    }
}

impl Hottest {
    /// Degrees below the limit; of drives without one, those below an arbitrary high one.
    fn room(&self) -> f64 {
        self.limit_celsius.map_or(1_000.0, Decimal::value) - self.celsius.value()
    }

    /// Whether it is at or over a limit, else over the one that it tells.
    pub fn is_over(&self, limit_celsius: Option<f64>) -> bool {
        let limit = limit_celsius.or(self.limit_celsius.map(Decimal::value));
        limit.is_some_and(|limit| self.celsius.value() >= limit)
    }
}
