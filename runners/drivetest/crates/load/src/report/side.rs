//! The records of the side file, schema `drivecert.side/1` (docs/formats.md).

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cells::Times;
use crate::clock::Nanos;
use crate::config::Config;
use crate::engine::Choice;
use crate::host::Host;
use crate::recorder::Tally;
use crate::stream::{Histogram, Operation};
use crate::timestamp::rfc3339;

/// The first record.
#[derive(Debug, Serialize)]
pub struct Start<'a> {
    record: &'static str,
    schema: &'static str,
    program_version: &'static str,
    config_text: &'a str,
    config_sha256: String,
    arrivals: &'static str,
    engine: &'static str,
    engine_reason: String,
    workers: Option<usize>,
    service_threads: u32,
    seed: u64,
    started_at: String,
    host: &'a Host,
    devices: &'a [Value],
    asked: Asked,
}

#[derive(Debug, Serialize)]
struct Asked {
    reads_per_s: String,
    large_block_reads_per_s: String,
    large_block_writes_per_s: String,
}

impl<'a> Start<'a> {
    /// What is known before the first request.
    pub fn new(
        config: &Config,
        config_text: &'a str,
        seed: u64,
        host: &'a Host,
        devices: &'a [Value],
        choice: Option<&Choice>,
    ) -> Self {
        let asked = |histogram: Histogram| {
            let rates = config.rates().into_iter();
            let of = rates.filter(|(operation, _)| operation.histogram() == Some(histogram));
            of.map(|(_, rate)| rate.per_s()).sum::<f64>()
        };
        Self {
            record: "start",
            schema: "drivecert.side/1",
            program_version: env!("CARGO_PKG_VERSION"),
            config_text,
            config_sha256: hex(&Sha256::digest(config_text)),
            arrivals: config.arrivals.word(),
            engine: choice.map_or(config.engine.word(), |choice| choice.engine.word()),
            engine_reason: choice.map(|choice| choice.reason.clone()).unwrap_or_default(),
            workers: choice.and_then(|choice| choice.engine.workers()),
            service_threads: config.service_threads,
            seed,
            started_at: rfc3339(SystemTime::now()),
            host,
            devices,
            asked: Asked {
                reads_per_s: asked(Histogram::Reads).to_string(),
                large_block_reads_per_s: format!("{:.6}", asked(Histogram::LargeBlockReads)),
                large_block_writes_per_s: format!("{:.6}", asked(Histogram::LargeBlockWrites)),
            },
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Requests completed since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Of records.
    pub reads_count: u64,
    /// Of large blocks.
    pub large_block_reads_count: u64,
    /// Of large blocks.
    pub large_block_writes_count: u64,
}

impl Totals {
    /// Counted up from the streams.
    pub fn of(tallies: &[(Operation, Tally)]) -> Self {
        let count = |histogram| {
            tallies
                .iter()
                .filter(|(operation, _)| operation.histogram() == Some(histogram))
                .map(|(_, tally)| tally.count())
                .sum()
        };
        Self {
            reads_count: count(Histogram::Reads),
            large_block_reads_count: count(Histogram::LargeBlockReads),
            large_block_writes_count: count(Histogram::LargeBlockWrites),
        }
    }
}

/// Percentiles of a set of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    p50_ns: u64,
    p99_ns: u64,
    p999_ns: u64,
    max_ns: u64,
}

impl Percentiles {
    /// Zeros when nothing is counted.
    pub fn of(times: &Times) -> Self {
        let at = |per_mille| times.percentile(per_mille).0;
        Self {
            p50_ns: at(500),
            p99_ns: at(990),
            p999_ns: at(999),
            max_ns: times.longest().0,
        }
    }
}

/// One report interval.
#[derive(Debug, Serialize)]
pub struct Interval {
    record: &'static str,
    label_s: u64,
    at: String,
    elapsed_ns: u64,
    #[serde(flatten)]
    totals: Totals,
    achieved_reads_per_s: String,
    lag_max_ns: u64,
    service: Percentiles,
    response: Percentiles,
}

/// The reads of an interval.
#[derive(Debug, Clone, Copy)]
pub struct IntervalReads<'a> {
    /// How long the interval was.
    pub length: Nanos,
    /// The latest submission behind its due time, of any stream.
    pub lag: Nanos,
    /// Service times.
    pub service: &'a Times,
    /// Response times.
    pub response: &'a Times,
}

impl Interval {
    /// An interval that ended `elapsed` after the start.
    pub fn new(label_s: u64, elapsed: Nanos, totals: Totals, reads: IntervalReads<'_>) -> Self {
        Self {
            record: "interval",
            label_s,
            at: rfc3339(SystemTime::now()),
            elapsed_ns: elapsed.0,
            totals,
            achieved_reads_per_s: rate(reads.service.count(), reads.length),
            lag_max_ns: reads.lag.0,
            service: Percentiles::of(reads.service),
            response: Percentiles::of(reads.response),
        }
    }
}

/// The last record.
#[derive(Debug, Serialize)]
pub struct End {
    record: &'static str,
    reason: &'static str,
    text: String,
    at: String,
    elapsed_ns: u64,
    #[serde(flatten)]
    totals: Totals,
    achieved_reads_per_s: String,
    over: BTreeMap<u64, u64>,
    service: Percentiles,
    response: Percentiles,
}

impl End {
    /// A run that ended for that reason after `elapsed`, with all its reads.
    pub fn new(reason: &'static str, text: &str, elapsed: Nanos, totals: Totals, reads: &Tally) -> Self {
        // The thresholds of the operational-database profile.
        let over = [1, 8, 64].map(|ms| (ms * 1_000, reads.service.at_or_over(Nanos::from_ms(ms))));
        Self {
            record: "end",
            reason,
            text: text.to_owned(),
            at: rfc3339(SystemTime::now()),
            elapsed_ns: elapsed.0,
            totals,
            achieved_reads_per_s: rate(totals.reads_count, elapsed),
            over: over.into_iter().collect(),
            service: Percentiles::of(&reads.service),
            response: Percentiles::of(&reads.response),
        }
    }
}

/// Requests in a second as a decimal with three places, rounded down; "0.000" for no time.
fn rate(count: u64, length: Nanos) -> String {
    let thousandths = (u128::from(count) * 1_000 * 1_000_000_000)
        .checked_div(u128::from(length.0))
        .unwrap_or(0);
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimals_without_a_float() {
        assert_eq!(rate(120_000, Nanos::from_s(60)), "2000.000");
        assert_eq!(rate(1, Nanos::from_s(3)), "0.333");
        assert_eq!(rate(5, Nanos(0)), "0.000");
        assert_eq!(rate(u64::MAX, Nanos::from_s(1)), "18446744073709551615.000");
    }

    #[test]
    fn hashes_are_lower_case_hex() {
        // `printf abc | sha256sum`
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&Sha256::digest("abc")), expected);
    }

    #[test]
    fn the_end_record_has_the_fields_of_the_schema() {
        let end = End::new(
            "finished",
            "",
            Nanos::from_s(1),
            Totals::default(),
            &Tally::new(1),
        );
        let value = serde_json::to_value(&end).unwrap();
        assert_eq!(
            value["over"],
            serde_json::json!({"1000": 0, "8000": 0, "64000": 0})
        );
        for field in [
            "reason",
            "text",
            "at",
            "elapsed_ns",
            "reads_count",
            "achieved_reads_per_s",
            "service",
            "response",
        ] {
            assert!(!value[field].is_null(), "{field}");
        }
    }
}
