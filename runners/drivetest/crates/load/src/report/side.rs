//! The records of the side file.

use std::collections::BTreeMap;
use std::time::SystemTime;

use drivetest_device::{Warning, hex};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::rounded::{Rounded, rate};
use crate::Outcome;
use crate::clock::{Instant, Nanos, rfc3339};
use crate::engine::EngineSelection;
use crate::engine::counters::EngineCounts;
use crate::engine::setup::Setup;
use crate::host::Host;
use crate::run::LoadRun;
use crate::schedule::stream::ActHistogram;
use crate::stats::histogram::Histogram;
use crate::stats::operation_stats::{OperationStats, of, times_of};
use crate::stats::rate_check::RateCheck;
use crate::stats::recorder::RequestTimes;
use crate::telemetry::{DiskRecord, Record};

/// The last commit that changed this program, with `-dirty` after uncommitted changes; None if the builder did not set it.
const REVISION: Option<&str> = option_env!("DRIVETEST_REVISION");

/// The fields of a record, in their order: a reader recognises a side file by its first fields.
#[derive(Debug)]
pub struct SideRecord(Vec<(&'static str, Value)>);

impl Serialize for SideRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

macro_rules! record {
    ($($name:literal: $value:expr),* $(,)?) => {
        SideRecord(vec![$(($name, json!($value))),*])
    };
}

/// Returns the record before the first request.
pub fn start(
    run: &LoadRun<'_>,
    selection: Option<&EngineSelection>,
    host: &Host,
    devices: &[Value],
    warnings: &[Warning],
    setup: Option<&Setup>,
) -> SideRecord {
    let config = &run.config;
    let requested = |histogram: ActHistogram| {
        let rates = config.rates().into_iter();
        let of = rates.filter(|(operation, _)| operation.histogram() == Some(histogram));
        of.map(|(_, rate)| rate.per_s()).sum::<f64>()
    };
    record! {
        "record": "start", "schema": "drivecert.side/1", "program_version": env!("CARGO_PKG_VERSION"),
        "program_revision": REVISION.filter(|revision| !revision.is_empty()),
        "config_text": String::from_utf8_lossy(run.config_file),
        "config_sha256": hex(&Sha256::digest(run.config_file)),
        "arrivals": config.arrivals.name(), "coalesce_us": config.coalesce_us,
        "engine": selection.map_or(config.engine.name(), |selection| selection.engine.name()),
        "engine_reason": selection.map_or("", |selection| &selection.reason),
        "workers": selection.and_then(|selection| selection.engine.workers()),
        "setup": setup, "service_threads": config.service_threads, "seed": run.seed, "started_at": rfc3339(SystemTime::now()),
        "host": host, "devices": devices, "warnings": warnings,
        "asked": json!({
            "reads_per_s": requested(ActHistogram::Reads).to_string(),
            "large_block_reads_per_s": format!("{:.6}", requested(ActHistogram::LargeBlockReads)),
            "large_block_writes_per_s": format!("{:.6}", requested(ActHistogram::LargeBlockWrites)),
        }),
    }
}

/// Returns the record of an interval that ended `elapsed` after the start and was `length` long.
pub fn interval(
    label_s: u64,
    (elapsed, length): (Nanos, Nanos),
    operation_stats: &[OperationStats],
    engine_counters: &EngineCounts,
    telemetry: &Record,
) -> SideRecord {
    let reads = |pick| Percentiles::of(&times_of(operation_stats, ActHistogram::Reads, pick));
    let reads_count = of(operation_stats, ActHistogram::Reads).map(|stats| stats.interval_count);
    let operations = operation_stats.iter().map(|stats| {
        let counts = (stats.interval_count, stats.interval_catch_up_count);
        (
            stats.operation.name(),
            operation(stats, counts, &stats.interval, length),
        )
    });
    let lags = operation_stats
        .iter()
        .map(|stats| stats.interval.lateness.longest().0);
    let mut record = record! {
        "record": "interval", "label_s": label_s, "at": rfc3339(SystemTime::now()), "elapsed_ns": elapsed.0,
        "length_ns": length.0, "achieved_reads_per_s": rate(reads_count.sum(), length),
        "lag_max_ns": lags.max().unwrap_or(0), "service": reads(|stats| &stats.interval.service),
        "response": reads(|stats| &stats.interval.response), "operations": operations.collect::<BTreeMap<_, _>>(),
        "engine_counters": engine_counters, "telemetry": telemetry,
    };
    record.0.extend(totals_of(operation_stats));
    record
}

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

/// Returns the record of a run that ended like this.
pub fn end(outcome: &Outcome, totals: &RunTotals) -> SideRecord {
    let (reason, text) = outcome.reason();
    let (elapsed, operation_stats) = (totals.elapsed, &totals.operation_stats);
    let reads = |pick| times_of(operation_stats, ActHistogram::Reads, pick);
    let service = reads(|stats| &stats.total.service);
    let response = reads(|stats| &stats.total.response);
    let operations = operation_stats.iter().map(|stats| {
        let counts = (stats.done_count, stats.catch_up_count);
        let mut record = operation(stats, counts, &stats.total, elapsed);
        record["asked_count"] = stats.due_count(elapsed).into();
        record["failed_count"] = stats.failed_count.into();
        record["service_over"] = json!(over(&stats.total.service));
        record["response_over"] = json!(over(&stats.total.response));
        (stats.operation.name(), record)
    });
    let disk = |disk: &DiskRecord| json!({"disk": disk.disk, "devices": disk.devices, "temperature": disk.temperature});
    let mut record = record! {
        "record": "end", "reason": reason, "text": text, "at": rfc3339(SystemTime::now()),
        "start_monotonic_ns": totals.start.map(|start| start.since(Instant::ZERO).0), "elapsed_ns": elapsed.0,
        "achieved_reads_per_s": rate(done_count(operation_stats, ActHistogram::Reads), elapsed),
        "over": over(&service), "service": Percentiles::of(&service), "response": Percentiles::of(&response),
        "operations": operations.collect::<BTreeMap<_, _>>(),
        "tomb_raider_reads_count": totals.tomb_raider_reads_count, "engine_counters": totals.engine_counters,
        "rate": totals.rate_check, "errors": totals.errors,
        "disks": totals.disks.iter().map(disk).collect::<Vec<_>>(),
    };
    record.0.extend(totals_of(operation_stats));
    record
}

/// Returns what the records of an interval and of the end report about an operation. The first count is that of completed
/// requests. The second is of those submitted less than half a period after the previous request; null if the arrivals
/// are not even.
fn operation(
    stats: &OperationStats,
    (count, catch_up_count): (u64, Option<u64>),
    times: &RequestTimes,
    length: Nanos,
) -> Value {
    json!({
        "count": count, "asked_per_s": Rounded::new(stats.requested_per_s, 6),
        "achieved_per_s": rate(count, length), "catch_up_count": catch_up_count,
        "lateness": Percentiles::of(&times.lateness), "backlog": Percentiles::of(&times.backlog),
        "generator_lateness": Percentiles::of(&times.generator_lateness),
        "service": Percentiles::of(&times.service), "response": Percentiles::of(&times.response),
    })
}

/// Returns the numbers of requests completed since the start of the run. Reads are those of records or index pages.
fn totals_of(operation_stats: &[OperationStats]) -> [(&'static str, Value); 3] {
    let count = |name, histogram| (name, done_count(operation_stats, histogram).into());
    [
        count("reads_count", ActHistogram::Reads),
        count("large_block_reads_count", ActHistogram::LargeBlockReads),
        count("large_block_writes_count", ActHistogram::LargeBlockWrites),
    ]
}

fn done_count(operation_stats: &[OperationStats], histogram: ActHistogram) -> u64 {
    of(operation_stats, histogram).map(|stats| stats.done_count).sum()
}

/// Thresholds of the operational-database profile, ms.
const THRESHOLDS_MS: [u64; 3] = [1, 8, 64];

/// Percentiles of a histogram; null if there are too few times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// Exact.
    pub min_ns: Option<u64>,
    /// Within 0.1 %, like the percentiles.
    pub mean_ns: Option<u64>,
    /// From 2 times.
    pub p50_ns: Option<u64>,
    /// From 10 times.
    pub p90_ns: Option<u64>,
    /// From 100 times.
    pub p99_ns: Option<u64>,
    /// 99.9 %, from 1,000 times.
    pub p999_ns: Option<u64>,
    /// 99.99 %, from 10,000 times.
    pub p9999_ns: Option<u64>,
    /// 99.999 %, from 100,000 times.
    pub p99999_ns: Option<u64>,
    /// Exact.
    pub max_ns: Option<u64>,
}

impl Percentiles {
    /// Computes the percentiles. All are null if nothing is counted.
    pub fn of(times: &Histogram) -> Self {
        let at = |per_100_000| times.percentile(per_100_000).map(|time| time.0);
        Self {
            min_ns: times.shortest().map(|time| time.0),
            mean_ns: times.mean().map(|time| time.0),
            p50_ns: at(50_000),
            p90_ns: at(90_000),
            p99_ns: at(99_000),
            p999_ns: at(99_900),
            p9999_ns: at(99_990),
            p99999_ns: at(99_999),
            max_ns: times.shortest().map(|_| times.longest().0),
        }
    }
}

/// Threshold (us) and number of times at or over it, exact to the nanosecond.
pub type Over = BTreeMap<u64, u64>;

/// Returns the counts over the thresholds of the rules.
pub fn over(times: &Histogram) -> Over {
    THRESHOLDS_MS
        .iter()
        .map(|ms| (ms * 1_000, times.at_or_over(Nanos::from_ms(*ms))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_counted_is_null_and_not_zero() {
        let value = serde_json::to_value(Percentiles::of(&Histogram::default())).unwrap();
        assert_eq!(value.as_object().unwrap().len(), 9);
        assert!(
            value
                .as_object()
                .unwrap()
                .values()
                .all(serde_json::Value::is_null)
        );
    }

    #[test]
    fn a_percentile_with_too_few_times_is_null() {
        let mut times = Histogram::default();
        (1..=100).for_each(|us| times.record(Nanos(us * 1_000)));
        let found = Percentiles::of(&times);
        assert_eq!((found.min_ns, found.max_ns), (Some(1_000), Some(100_000)));
        assert!(found.p99_ns.is_some_and(|ns| (99_000..99_100).contains(&ns)));
        assert_eq!((found.p999_ns, found.p99999_ns), (None, None));
    }

    #[test]
    fn counts_over_a_threshold_include_the_threshold() {
        let mut times = Histogram::default();
        for ns in [999_999, 1_000_000, 8_000_000, 64_000_000] {
            times.record(Nanos(ns));
        }
        assert_eq!(
            over(&times),
            BTreeMap::from([(1_000, 3), (8_000, 2), (64_000, 1)])
        );
    }

    #[test]
    fn a_run_that_did_not_start_has_nulls_and_not_zeros() {
        let record = end(&Outcome::Refused("why".to_owned()), &RunTotals::default());
        let text = serde_json::to_string(&record).unwrap();
        assert!(
            text.starts_with(r#"{"record":"end","reason":"refused""#),
            "{text}"
        );
        let value = serde_json::to_value(&record).unwrap();
        assert_eq!(value["over"], json!({"1000": 0, "8000": 0, "64000": 0}));
        assert_eq!(
            (&value["reason"], &value["text"]),
            (&"refused".into(), &"why".into())
        );
        assert!(value["rate"].is_null() && value["service"]["p50_ns"].is_null());
    }

    #[test]
    fn hashes_are_lower_case_hex() {
        // `printf abc | sha256sum`
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&Sha256::digest("abc")), expected);
    }
}
