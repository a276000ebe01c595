//! The records of the side file, schema `drivecert.side/1` (docs/reference/formats.md), and the times in them:
//! percentiles, extremes, mean, and exact counts over the thresholds of the rules.

mod end;
mod interval;
mod start;

pub use end::{End, ErrorCount, RunTotals};
pub use interval::Interval;
pub use start::Start;

use std::collections::BTreeMap;

use serde::Serialize;

use super::rounded::{Rounded, rate};
use crate::clock::Nanos;
use crate::schedule::stream::ActHistogram;
use crate::stats::histogram::Histogram;
use crate::stats::operation_stats::{OperationStats, of};
use crate::stats::recorder::RequestTimes;

const SCHEMA: &str = "drivecert.side/1";

/// The first bytes of every side file of a load. Readers recognise a side file by them if its name has no known
/// extension.
pub const START_HEAD: &str = r#"{"record":"start","schema":"drivecert.side/1""#;

/// The first bytes of the end record of a refused load.
pub const REFUSED_HEAD: &str = r#"{"record":"end","reason":"refused""#;

/// Requests completed since the start of the run, on all devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct Totals {
    /// Of records or index pages.
    reads_count: u64,
    large_block_reads_count: u64,
    large_block_writes_count: u64,
}

impl Totals {
    /// Sums up all streams.
    fn of(operation_stats: &[OperationStats]) -> Self {
        let count = |histogram| of(operation_stats, histogram).map(|stats| stats.done_count).sum();
        Self {
            reads_count: count(ActHistogram::Reads),
            large_block_reads_count: count(ActHistogram::LargeBlockReads),
            large_block_writes_count: count(ActHistogram::LargeBlockWrites),
        }
    }
}

/// One operation in an interval, or in the whole run.
#[derive(Debug, Serialize)]
struct OperationRecord {
    /// Completed requests.
    count: u64,
    /// Requested rate, requests per second. Its public name is of the first release.
    #[serde(rename = "asked_per_s")]
    requested_per_s: Option<Rounded>,
    /// Completed requests per second, as a decimal.
    achieved_per_s: String,
    /// Requests with more than half a period of generator lateness that were submitted less than half a period after
    /// the previous one; null if the arrivals are not even.
    catch_up_count: Option<u64>,
    /// Due time to submission. Of each request, it is the sum of backlog and generator lateness.
    lateness: Percentiles,
    /// Wait for a free slot of the device, or for a free thread.
    backlog: Percentiles,
    /// The rest of the lateness: the delay of the generator itself.
    generator_lateness: Percentiles,
    /// Submission to completion.
    service: Percentiles,
    /// Due time to completion.
    response: Percentiles,
}

impl OperationRecord {
    /// Creates the record for a time of this length. The counts are those of completed and of catch-up requests.
    fn new(
        stats: &OperationStats,
        (count, catch_up_count): (u64, Option<u64>),
        times: &RequestTimes,
        length: Nanos,
    ) -> Self {
        Self {
            count,
            requested_per_s: Rounded::new(stats.requested_per_s, 6),
            achieved_per_s: rate(count, length),
            catch_up_count,
            lateness: Percentiles::of(&times.lateness),
            backlog: Percentiles::of(&times.backlog),
            generator_lateness: Percentiles::of(&times.generator_lateness),
            service: Percentiles::of(&times.service),
            response: Percentiles::of(&times.response),
        }
    }
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
pub(super) mod tests {
    use std::fs::File;

    use drivetest_device::opening::OpenRefusal;
    use drivetest_device::{Guard, Identity};
    use serde_json::json;

    use super::*;
    use crate::Outcome;
    use crate::config::Config;
    use crate::host::Host;
    use crate::run::LoadRun;

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

    /// A guard that accepts every device.
    struct AcceptAll;

    impl Guard for AcceptAll {
        fn check(&self, _: usize) -> Result<(), OpenRefusal> {
            Ok(())
        }

        fn check_opened(&self, _: usize, _: &File) -> Result<(), OpenRefusal> {
            Ok(())
        }

        fn identity(&self, _: usize, _: &File) -> Option<Identity> {
            None
        }
    }

    /// Returns the lines of a refused load's side file.
    pub(in crate::report) fn refused_lines() -> [String; 2] {
        let text = "device-names: /dev/a\ntest-duration-sec: 1\nread-reqs-per-sec: 1000\n";
        let run = LoadRun {
            config: Config::read(text, 1).unwrap().0,
            config_file: text.as_bytes(),
            seed: 7,
            may_destroy: false,
            guard: &AcceptAll,
        };
        let host = Host::here();
        let devices = [json!({"path": "/dev/a"})];
        let start = Start::new(&run, None, &host, &devices, &[], None);
        let end = End::new(&Outcome::Refused("mounted".to_owned()), &RunTotals::default());
        [
            serde_json::to_string(&start).unwrap(),
            serde_json::to_string(&end).unwrap(),
        ]
    }

    #[test]
    fn the_first_fields_of_a_record_identify_it() {
        let [start, end] = refused_lines();
        assert!(start.starts_with(r#"{"record":"start","schema":"drivecert.side/1","program_version":"#));
        assert!(start.starts_with(START_HEAD), "{start}");
        assert!(end.starts_with(r#"{"record":"end","reason":"refused","text":"mounted","at":"#));
        assert!(end.starts_with(REFUSED_HEAD), "{end}");
    }

    #[test]
    fn fields_of_a_record_keep_their_order() {
        let [start, end] = refused_lines();
        let names = |line: &str, names: &str| {
            let names: Vec<&str> = names.split(' ').collect();
            let places = names
                .iter()
                .map(|name| line.find(&format!("\"{name}\":")).unwrap());
            assert!(places.is_sorted(), "{line}");
            let fields: BTreeMap<String, serde_json::Value> = serde_json::from_str(line).unwrap();
            assert_eq!(fields.len(), names.len(), "{line}");
        };
        names(
            &start,
            "record schema program_version program_revision config_text config_sha256 arrivals coalesce_us engine \
             engine_reason workers setup service_threads seed started_at host devices warnings asked",
        );
        names(
            &end,
            "record reason text at start_monotonic_ns elapsed_ns achieved_reads_per_s over service response operations \
             tomb_raider_reads_count engine_counters rate errors disks reads_count large_block_reads_count \
             large_block_writes_count",
        );
        assert!(end.contains(r#""over":{"1000":0,"8000":0,"64000":0}"#), "{end}");
        assert!(
            end.contains(r#""service":{"min_ns":null,"mean_ns":null,"p50_ns":null"#),
            "{end}"
        );
    }
}
