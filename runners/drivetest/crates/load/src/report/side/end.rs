//! The end record: how a run ended, with its totals.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;

use super::{OperationRecord, Over, Percentiles, Totals, over};
use crate::Outcome;
use crate::clock::{Instant, Nanos, rfc3339};
use crate::engine::counters::EngineCounts;
use crate::report::rounded::rate;
use crate::schedule::stream::ActHistogram;
use crate::stats::operation_stats::{OperationStats, times_of};
use crate::stats::rate_check::RateCheck;
use crate::telemetry::{DiskRecord, Temperature};

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

/// One operation over the whole run.
#[derive(Debug, Serialize)]
struct OperationEnd {
    #[serde(flatten)]
    operation: OperationRecord,
    /// Requests due until the end of the run, at the requested rate.
    #[serde(rename = "asked_count")]
    due_count: u64,
    /// Requests that the device did not carry out.
    failed_count: u64,
    /// Whether it reached its rate; null if no request was due.
    #[serde(rename = "is_rate_held")]
    is_rate_sustained: Option<bool>,
    /// Exact counts of requests whose service took at least so long.
    service_over: Over,
    /// Exact counts of requests whose response took at least so long.
    response_over: Over,
}

impl OperationEnd {
    fn of(stats: &OperationStats, elapsed: Nanos, rate_check: Option<&RateCheck>) -> Self {
        let counts = (stats.done_count, stats.catch_up_count);
        Self {
            operation: OperationRecord::new(stats, counts, &stats.total, elapsed),
            due_count: stats.due_count(elapsed),
            failed_count: stats.failed_count,
            is_rate_sustained: rate_check.map(|check| !check.missed.contains(&stats.operation)),
            service_over: over(&stats.total.service),
            response_over: over(&stats.total.response),
        }
    }
}

/// A disk at the end of the run.
#[derive(Debug, Serialize)]
struct DiskEnd {
    /// The kernel's name of the disk.
    disk: String,
    /// The devices of the load on this disk.
    devices: Vec<String>,
    /// Null if not reported.
    temperature: Option<Temperature>,
}

/// The end record. If the run was refused, it begins with [`REFUSED_HEAD`](super::REFUSED_HEAD).
#[derive(Debug, Serialize)]
pub struct End {
    record: &'static str,
    /// `finished`, `lag`, `device-error`, `interrupted` or `refused`.
    reason: &'static str,
    /// The reason as a sentence; empty of a finished run.
    text: String,
    /// Time of this record, RFC 3339.
    at: String,
    /// Start of the run on CLOCK_MONOTONIC; null if it did not start.
    start_monotonic_ns: Option<u64>,
    /// Length of the run.
    elapsed_ns: u64,
    /// Completed reads per second, as a decimal.
    achieved_reads_per_s: String,
    /// Exact counts of reads whose service took at least so long.
    over: Over,
    /// Submission to completion of all reads.
    service: Percentiles,
    /// Due time to completion of all reads.
    response: Percentiles,
    /// Each operation in the run, by its name.
    operations: BTreeMap<&'static str, OperationEnd>,
    /// Large blocks that the tomb raiders read; null without tomb raiders.
    tomb_raider_reads_count: Option<u64>,
    /// What the engine did in the run; null if it did not start.
    engine_counters: Option<EngineCounts>,
    /// Whether the rates were sustained; null if the run did not start.
    rate: Option<RateCheck>,
    /// Failed requests.
    errors: Vec<ErrorCount>,
    /// The disks under the devices, each once.
    disks: Vec<DiskEnd>,
    #[serde(flatten)]
    totals: Totals,
}

impl End {
    /// Creates the record of a run that ended like this.
    pub fn new(outcome: &Outcome, run: &RunTotals) -> Self {
        let (reason, text) = outcome.reason();
        let elapsed = run.elapsed;
        let reads = |pick| times_of(&run.operation_stats, ActHistogram::Reads, pick);
        let service = reads(|stats| &stats.total.service);
        let response = reads(|stats| &stats.total.response);
        let rate_check = run.rate_check.as_ref();
        let operation = |stats: &OperationStats| {
            let end = OperationEnd::of(stats, elapsed, rate_check);
            (stats.operation.name(), end)
        };
        let disk = |disk: &DiskRecord| DiskEnd {
            disk: disk.disk.clone(),
            devices: disk.devices.clone(),
            temperature: disk.temperature.clone(),
        };
        let totals = Totals::of(&run.operation_stats);
        Self {
            record: "end",
            reason,
            text: text.to_owned(),
            at: rfc3339(SystemTime::now()),
            start_monotonic_ns: run.start.map(|start| start.since(Instant::ZERO).0),
            elapsed_ns: elapsed.0,
            achieved_reads_per_s: rate(totals.reads_count, elapsed),
            over: over(&service),
            service: Percentiles::of(&service),
            response: Percentiles::of(&response),
            operations: run.operation_stats.iter().map(operation).collect(),
            tomb_raider_reads_count: run.tomb_raider_reads_count,
            engine_counters: run.engine_counters.clone(),
            rate: run.rate_check.clone(),
            errors: run.errors.clone(),
            disks: run.disks.iter().map(disk).collect(),
            totals,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Config;
    use crate::schedule::stream::{Operation, streams};
    use crate::stats::rate_check::RateVerdict;

    #[test]
    fn each_operation_states_whether_it_reached_its_rate() {
        let text = "device-names: a\ntest-duration-sec: 10\nread-reqs-per-sec: 1000\nwrite-reqs-per-sec: 500";
        let streams = streams(&Config::read(text, 1).unwrap().0, Nanos::from_s(10), 1, None);
        let is_held = |rate_check: Option<RateCheck>| {
            let totals = RunTotals {
                elapsed: Nanos::from_s(10),
                operation_stats: streams.iter().map(|stream| OperationStats::of(stream)).collect(),
                rate_check,
                ..RunTotals::default()
            };
            let end = End::new(&Outcome::Refused("why".to_owned()), &totals);
            let end = serde_json::to_value(end).unwrap();
            ["reads", "large-block-writes"].map(|name| end["operations"][name]["is_rate_held"].clone())
        };
        let check = RateCheck {
            is_sustained: false,
            verdict: RateVerdict::BelowRequested,
            sentence: String::new(),
            missed: vec![Operation::WriteBlock],
        };
        assert_eq!(is_held(Some(check)), [json!(true), json!(false)]);
        assert_eq!(is_held(None), [json!(null), json!(null)]);
    }

    #[test]
    fn a_run_that_did_not_start_has_nulls_and_not_zeros() {
        let end = End::new(&Outcome::Refused("why".to_owned()), &RunTotals::default());
        let value = serde_json::to_value(end).unwrap();
        assert_eq!(value["over"], json!({"1000": 0, "8000": 0, "64000": 0}));
        assert_eq!(
            (&value["reason"], &value["text"]),
            (&"refused".into(), &"why".into())
        );
        assert!(value["rate"].is_null() && value["service"]["p50_ns"].is_null());
    }
}
