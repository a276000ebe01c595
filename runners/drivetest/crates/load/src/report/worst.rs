//! The extremes of a run's intervals, which averages over hours hide.

use super::rounded::Rounded;
use crate::clock::Nanos;
use crate::schedule::stream::ActHistogram;
use crate::stats::operation_stats::{OperationStats, times_of};
use crate::telemetry::Record;

/// Above this, too little processor time is left for threads to wake up on time.
const BUSY_PCT: f64 = 90.0;

/// Processor time that the hypervisor gave to other machines.
const STOLEN_PCT: f64 = 1.0;

/// The interval with the slowest read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slowest {
    /// Label of the interval.
    pub label_s: u64,
    /// Longest response time of a read.
    pub response: Nanos,
    /// Reads with a response time of 64 ms or more.
    pub late_count: u64,
    /// Reads in the interval.
    pub count: u64,
}

/// The highest temperature of a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Hottest {
    /// The kernel's name of the drive.
    pub disk: String,
    /// Degrees Celsius.
    pub celsius: Rounded,
    /// The drive's own warning limit.
    pub limit_celsius: Option<Rounded>,
}

/// The worst values of a run.
#[derive(Debug, Default)]
pub struct Worst {
    /// The interval with the slowest read.
    pub slowest: Option<Slowest>,
    /// The drive closest to its limit; without limits, the hottest drive.
    pub hottest: Option<Hottest>,
    /// Intervals in which the processors were too busy.
    pub busy_count: u64,
    /// Intervals in which the hypervisor took processor time.
    pub stolen_count: u64,
    /// All intervals.
    pub intervals_count: u64,
}

impl Worst {
    /// Adds an interval.
    pub fn add(&mut self, label_s: u64, operation_stats: &[OperationStats], telemetry: &Record) {
        self.intervals_count += 1;
        self.add_reads(label_s, operation_stats);
        self.add_cpu(telemetry);
        self.hottest = Hottest::of(telemetry, self.hottest.take());
    }

    fn add_reads(&mut self, label_s: u64, operation_stats: &[OperationStats]) {
        let response = times_of(operation_stats, ActHistogram::Reads, |stats| {
            &stats.interval.response
        });
        let is_slower = |slowest: Slowest| response.longest() > slowest.response;
        if response.count() > 0 && self.slowest.is_none_or(is_slower) {
            self.slowest = Some(Slowest {
                label_s,
                response: response.longest(),
                late_count: response.at_or_over(Nanos::from_ms(64)),
                count: response.count(),
            });
        }
    }

    fn add_cpu(&mut self, telemetry: &Record) {
        let Some(cpu) = &telemetry.cpu else { return };
        let is_over = |pct: Option<Rounded>, most: f64| pct.is_some_and(|pct| pct.value() > most);
        self.busy_count += u64::from(is_over(cpu.busy_pct, BUSY_PCT));
        self.stolen_count += u64::from(is_over(cpu.steal_pct, STOLEN_PCT));
    }
}

impl Hottest {
    /// Returns the drive closest to its limit, of those in a sample and an earlier one.
    pub fn of(telemetry: &Record, earlier: Option<Self>) -> Option<Self> {
        let reported = telemetry.disks.iter().filter_map(|disk| {
            let temperature = disk.temperature.as_ref()?;
            Some(Self {
                disk: disk.disk.clone(),
                celsius: temperature.celsius?,
                limit_celsius: temperature.limit_celsius,
            })
        });
        let all = earlier.into_iter().chain(reported);
        all.min_by(|one, other| one.margin().total_cmp(&other.margin()))
    }

    /// Returns the degrees below the limit. Drives without a limit count from an arbitrary high one.
    fn margin(&self) -> f64 {
        self.limit_celsius.map_or(1_000.0, Rounded::value) - self.celsius.value()
    }
}
