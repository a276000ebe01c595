//! The interval record: counts, times and telemetry of a report interval.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;

use super::{Percentiles, Totals};
use crate::clock::{Nanos, rfc3339};
use crate::engine::counters::EngineCounts;
use crate::report::rounded::{Rounded, rate};
use crate::schedule::stream::ActHistogram;
use crate::stats::operation_stats::{OperationStats, of, times_of};
use crate::telemetry;

/// One operation in an interval.
#[derive(Debug, Serialize)]
pub struct OperationInterval {
    /// Completed in the interval.
    count: u64,
    #[serde(rename = "asked_per_s")]
    requested_per_s: Option<Rounded>,
    achieved_per_s: String,
    /// Submitted less than half a period after the previous request; null if the arrivals are not even.
    catch_up_count: Option<u64>,
    /// Due time to submission.
    lateness: Percentiles,
    /// Wait for a free slot of the device.
    backlog: Percentiles,
    /// The rest of the lateness: the delay of the generator itself.
    generator_lateness: Percentiles,
    /// Submission to completion.
    service: Percentiles,
    /// Due time to completion.
    response: Percentiles,
}

impl OperationInterval {
    fn of(stats: &OperationStats, length: Nanos) -> Self {
        Self {
            count: stats.interval_count,
            requested_per_s: Rounded::new(stats.requested_per_s, 6),
            achieved_per_s: rate(stats.interval_count, length),
            catch_up_count: stats.interval_catch_up_count,
            lateness: Percentiles::of(&stats.interval.lateness),
            backlog: Percentiles::of(&stats.interval.backlog),
            generator_lateness: Percentiles::of(&stats.interval.generator_lateness),
            service: Percentiles::of(&stats.interval.service),
            response: Percentiles::of(&stats.interval.response),
        }
    }
}

/// The record.
#[derive(Debug, Serialize)]
pub struct Interval {
    record: &'static str,
    label_s: u64,
    at: String,
    elapsed_ns: u64,
    length_ns: u64,
    #[serde(flatten)]
    totals: Totals,
    achieved_reads_per_s: String,
    lag_max_ns: u64,
    service: Percentiles,
    response: Percentiles,
    operations: BTreeMap<&'static str, OperationInterval>,
    engine_counters: EngineCounts,
    telemetry: telemetry::Record,
}

impl Interval {
    /// Creates the record of an interval that ended `elapsed` after the start and was `length` long.
    pub fn new(
        label_s: u64,
        elapsed: Nanos,
        length: Nanos,
        operation_stats: &[OperationStats],
        engine_counters: EngineCounts,
        telemetry: telemetry::Record,
    ) -> Self {
        let reads = |pick| Percentiles::of(&times_of(operation_stats, ActHistogram::Reads, pick));
        let reads_count = of(operation_stats, ActHistogram::Reads)
            .map(|stats| stats.interval_count)
            .sum();
        let operation =
            |stats: &OperationStats| (stats.operation.name(), OperationInterval::of(stats, length));
        Self {
            record: "interval",
            label_s,
            at: rfc3339(SystemTime::now()),
            elapsed_ns: elapsed.0,
            length_ns: length.0,
            totals: Totals::of(operation_stats),
            achieved_reads_per_s: rate(reads_count, length),
            lag_max_ns: operation_stats
                .iter()
                .map(|stats| stats.interval.lateness.longest().0)
                .max()
                .unwrap_or(0),
            service: reads(|stats| &stats.interval.service),
            response: reads(|stats| &stats.interval.response),
            operations: operation_stats.iter().map(operation).collect(),
            engine_counters,
            telemetry,
        }
    }
}
