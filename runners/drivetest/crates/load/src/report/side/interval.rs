//! One report interval: what came of what was asked, how long it took, and what the host and the drives tell of it.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;

use super::Totals;
use super::times::Percentiles;
use crate::account::{Account, of, times_of};
use crate::clock::Nanos;
use crate::report::decimal::{Decimal, rate};
use crate::stream::Histogram;
use crate::telemetry;
use crate::timestamp::rfc3339;

/// One operation in an interval.
#[derive(Debug, Serialize)]
pub struct OperationInterval {
    /// Completed in it.
    count: u64,
    asked_per_s: Option<Decimal>,
    achieved_per_s: String,
    /// Due to submitted.
    lateness: Percentiles,
    /// Submitted to completed.
    service: Percentiles,
    /// Due to completed.
    response: Percentiles,
}

impl OperationInterval {
    fn of(account: &Account, length: Nanos) -> Self {
        Self {
            count: account.interval_count,
            asked_per_s: Decimal::new(account.asked_per_s, 6),
            achieved_per_s: rate(account.interval_count, length),
            lateness: Percentiles::of(&account.interval.lateness),
            service: Percentiles::of(&account.interval.service),
            response: Percentiles::of(&account.interval.response),
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
    length_ns: u64,
    #[serde(flatten)]
    totals: Totals,
    achieved_reads_per_s: String,
    lag_max_ns: u64,
    service: Percentiles,
    response: Percentiles,
    operations: BTreeMap<&'static str, OperationInterval>,
    telemetry: telemetry::Record,
}

impl Interval {
    /// An interval that ended `elapsed` after the start and was `length` long.
    pub fn new(
        label_s: u64,
        elapsed: Nanos,
        length: Nanos,
        accounts: &[Account],
        telemetry: telemetry::Record,
    ) -> Self {
        let reads = |pick| Percentiles::of(&times_of(accounts, Histogram::Reads, pick));
        let reads_count = of(accounts, Histogram::Reads)
            .map(|account| account.interval_count)
            .sum();
        let operation =
            |account: &Account| (account.operation.word(), OperationInterval::of(account, length));
        Self {
            record: "interval",
            label_s,
            at: rfc3339(SystemTime::now()),
            elapsed_ns: elapsed.0,
            length_ns: length.0,
            totals: Totals::of(accounts),
            achieved_reads_per_s: rate(reads_count, length),
            lag_max_ns: accounts
                .iter()
                .map(|account| account.interval.lateness.longest().0)
                .max()
                .unwrap_or(0),
            service: reads(|account| &account.interval.service),
            response: reads(|account| &account.interval.response),
            operations: accounts.iter().map(operation).collect(),
            telemetry,
        }
    }
}
