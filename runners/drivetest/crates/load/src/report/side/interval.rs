//! The interval record: counts, times and telemetry of a report interval.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;

use super::{OperationRecord, Percentiles, Totals};
use crate::clock::{Nanos, rfc3339};
use crate::engine::counters::EngineCounts;
use crate::report::rounded::rate;
use crate::schedule::stream::ActHistogram;
use crate::stats::operation_stats::{OperationStats, of, times_of};
use crate::telemetry;

/// The record of one report interval.
#[derive(Debug, Serialize)]
pub struct Interval<'a> {
    record: &'static str,
    /// Planned end of the interval, seconds after the start. The log has the same label.
    label_s: u64,
    /// Time of this record, RFC 3339.
    at: String,
    /// End of the interval, since the start of the run.
    elapsed_ns: u64,
    /// Length of the interval.
    length_ns: u64,
    /// Completed reads of the interval per second, as a decimal.
    achieved_reads_per_s: String,
    /// Latest submission after its due time, of any operation. This is the public name of the lateness.
    lag_max_ns: u64,
    /// Submission to completion of the interval's reads.
    service: Percentiles,
    /// Due time to completion of the interval's reads.
    response: Percentiles,
    /// Each operation in the interval, by its name.
    operations: BTreeMap<&'static str, OperationRecord>,
    /// What the engine did in the interval.
    engine_counters: &'a EngineCounts,
    /// The host and the drives in the interval.
    telemetry: &'a telemetry::Record,
    #[serde(flatten)]
    totals: Totals,
}

impl<'a> Interval<'a> {
    /// Creates the record of an interval that ended `elapsed` after the start and was `length` long.
    pub fn new(
        label_s: u64,
        (elapsed, length): (Nanos, Nanos),
        operation_stats: &[OperationStats],
        engine_counters: &'a EngineCounts,
        telemetry: &'a telemetry::Record,
    ) -> Self {
        let reads = |pick| Percentiles::of(&times_of(operation_stats, ActHistogram::Reads, pick));
        let reads_count = of(operation_stats, ActHistogram::Reads).map(|stats| stats.interval_count);
        let operation = |stats: &OperationStats| {
            let counts = (stats.interval_count, stats.interval_catch_up_count);
            let record = OperationRecord::new(stats, counts, &stats.interval, length);
            (stats.operation.name(), record)
        };
        let lags = operation_stats
            .iter()
            .map(|stats| stats.interval.lateness.longest().0);
        Self {
            record: "interval",
            label_s,
            at: rfc3339(SystemTime::now()),
            elapsed_ns: elapsed.0,
            length_ns: length.0,
            achieved_reads_per_s: rate(reads_count.sum(), length),
            lag_max_ns: lags.max().unwrap_or(0),
            service: reads(|stats| &stats.interval.service),
            response: reads(|stats| &stats.interval.response),
            operations: operation_stats.iter().map(operation).collect(),
            engine_counters,
            telemetry,
            totals: Totals::of(operation_stats),
        }
    }
}
