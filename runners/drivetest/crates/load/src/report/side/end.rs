//! The end record: how a run ended, with its totals.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;

use super::{Over, Percentiles, Totals, over};
use crate::Outcome;
use crate::clock::{Instant, Nanos, rfc3339};
use crate::engine::counters::EngineCounts;
use crate::report::rounded::{Rounded, rate};
use crate::schedule::stream::ActHistogram;
use crate::stats::operation_stats::{OperationStats, times_of};
use crate::stats::rate_check::RateCheck;
use crate::telemetry::DiskRecord;

/// Requests of one operation that failed in the same way on one device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorCount {
    /// Name in the configuration.
    pub device: String,
    /// The operation.
    pub operation: &'static str,
    /// The error number; EIO if the device ended early.
    pub errno: i32,
    /// Whether the device ended early without an error.
    pub is_early_end: bool,
    /// Number of requests.
    pub count: u64,
}

/// One operation over the whole run.
#[derive(Debug, Serialize)]
struct OperationEnd {
    /// Due until the end of the run, at the requested rate.
    #[serde(rename = "asked_count")]
    due_count: u64,
    count: u64,
    failed_count: u64,
    #[serde(rename = "asked_per_s")]
    requested_per_s: Option<Rounded>,
    achieved_per_s: String,
    catch_up_count: Option<u64>,
    service_over: Over,
    response_over: Over,
    lateness: Percentiles,
    backlog: Percentiles,
    generator_lateness: Percentiles,
    service: Percentiles,
    response: Percentiles,
}

impl OperationEnd {
    fn of(stats: &OperationStats, elapsed: Nanos) -> Self {
        let total = &stats.total;
        Self {
            due_count: stats.due_count(elapsed),
            count: stats.done_count,
            failed_count: stats.failed_count,
            requested_per_s: Rounded::new(stats.requested_per_s, 6),
            achieved_per_s: rate(stats.done_count, elapsed),
            catch_up_count: stats.catch_up_count,
            service_over: over(&total.service),
            response_over: over(&total.response),
            lateness: Percentiles::of(&total.lateness),
            backlog: Percentiles::of(&total.backlog),
            generator_lateness: Percentiles::of(&total.generator_lateness),
            service: Percentiles::of(&total.service),
            response: Percentiles::of(&total.response),
        }
    }
}

/// The totals of a run. The default is that of a run that did not start.
#[derive(Debug, Default)]
pub struct RunTotals {
    /// Start of the run; None if it did not start.
    pub start: Option<Instant>,
    /// Length of the run.
    pub elapsed: Nanos,
    /// Statistics of every operation.
    pub operation_stats: Vec<OperationStats>,
    /// None if the run did not start.
    pub rate_check: Option<RateCheck>,
    /// Large blocks that the tomb raiders read; None without tomb raiders.
    pub tomb_raider_reads_count: Option<u64>,
    /// None if the run did not start.
    pub engine_counters: Option<EngineCounts>,
    /// Failed requests.
    pub errors: Vec<ErrorCount>,
    /// The disks at the end.
    pub disks: Vec<DiskRecord>,
}

/// A disk at the end of the run.
#[derive(Debug, Serialize)]
pub struct DeviceEnd {
    disk: String,
    devices: Vec<String>,
    temperature: Option<crate::telemetry::Temperature>,
}

/// The end record.
#[derive(Debug, Serialize)]
pub struct End {
    record: &'static str,
    reason: &'static str,
    text: String,
    at: String,
    start_monotonic_ns: Option<u64>,
    elapsed_ns: u64,
    #[serde(flatten)]
    totals: Totals,
    achieved_reads_per_s: String,
    over: Over,
    service: Percentiles,
    response: Percentiles,
    operations: BTreeMap<&'static str, OperationEnd>,
    tomb_raider_reads_count: Option<u64>,
    engine_counters: Option<EngineCounts>,
    rate: Option<RateCheck>,
    errors: Vec<ErrorCount>,
    disks: Vec<DeviceEnd>,
}

impl End {
    /// Creates the record of a run that ended like this.
    pub fn new(outcome: &Outcome, run_totals: &RunTotals) -> Self {
        let (reason, text) = outcome.reason();
        let elapsed = run_totals.elapsed;
        let reads = |pick| times_of(&run_totals.operation_stats, ActHistogram::Reads, pick);
        let service = reads(|stats| &stats.total.service);
        let response = reads(|stats| &stats.total.response);
        let totals = Totals::of(&run_totals.operation_stats);
        let operation = |stats: &OperationStats| (stats.operation.name(), OperationEnd::of(stats, elapsed));
        let disk = |disk: &DiskRecord| DeviceEnd {
            disk: disk.disk.clone(),
            devices: disk.devices.clone(),
            temperature: disk.temperature.clone(),
        };
        Self {
            record: "end",
            reason,
            text: text.to_owned(),
            at: rfc3339(SystemTime::now()),
            start_monotonic_ns: run_totals.start.map(|start| start.since(Instant::ZERO).0),
            elapsed_ns: elapsed.0,
            totals,
            achieved_reads_per_s: rate(totals.reads_count, elapsed),
            over: over(&service),
            service: Percentiles::of(&service),
            response: Percentiles::of(&response),
            operations: run_totals.operation_stats.iter().map(operation).collect(),
            tomb_raider_reads_count: run_totals.tomb_raider_reads_count,
            engine_counters: run_totals.engine_counters.clone(),
            rate: run_totals.rate_check.clone(),
            errors: run_totals.errors.clone(),
            disks: run_totals.disks.iter().map(disk).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_did_not_start_has_nulls_and_not_zeros() {
        let value = serde_json::to_value(End::new(
            &Outcome::Refused("why".to_owned()),
            &RunTotals::default(),
        ))
        .unwrap();
        assert_eq!(
            value["over"],
            serde_json::json!({"1000": 0, "8000": 0, "64000": 0})
        );
        assert_eq!(
            (&value["reason"], &value["text"]),
            (&"refused".into(), &"why".into())
        );
        assert!(value["rate"].is_null() && value["service"]["p50_ns"].is_null());
    }
}
