//! Findings that are true for a clean run, derived from its plan and not from the reading.

use std::collections::BTreeSet;

use super::go;
use super::load::{Metric, Ran};
use super::output::{self, Output};
use super::plan::{Interval, Kind, Plan, Sent};
use super::rows;

/// The ids of the findings that are true.
pub fn of(plan: &Plan, ran: &Ran, output: &Output) -> BTreeSet<&'static str> {
    let has_command = plan.has_command();
    let reported = [
        ("version-hidden", plan.hides_version()),
        ("command-line-missing", !has_command),
        ("workload-file-missing", has_command && plan.by_file),
        ("record-count-untold", has_command && !plan.prints_record_count),
        ("time-limit-hit", output::is_limited(plan, ran) && has_command),
        ("target-not-reached", has_command && is_below_target(ran)),
        ("comma-decimals", has_comma(&output.status)),
        ("streams-joined", are_joined(plan, ran)),
    ];
    let all = reported
        .into_iter()
        .chain(of_times(plan, ran))
        .chain(of_setup(plan, ran))
        .chain(of_percentiles(plan, ran));
    all.filter(|(_, is_true)| *is_true).map(|(id, _)| id).collect()
}

type Reported = (&'static str, bool);

fn of_times(plan: &Plan, ran: &Ran) -> [Reported; 3] {
    let (has_command, has_target) = (plan.has_command(), ran.target.is_some());
    let is_service = plan.interval == Interval::Op;
    [
        ("closed-loop", has_command && !has_target && is_service),
        (
            "intended-without-target",
            has_command && !has_target && !is_service,
        ),
        ("intended-times-missing", has_command && has_target && is_service),
    ]
}

fn of_setup(plan: &Plan, ran: &Ran) -> [Reported; 3] {
    let has_command = plan.has_command();
    let is_other = plan.by_file && plan.letter == 'd' && plan.distribution.is_some();
    let updates = ran.metrics.iter().any(|metric| metric.name == "UPDATE");
    let ignores = [15, 17].contains(&plan.release) && plan.has_stderr() && output::names_options_file(plan);
    [
        ("latest-replaced", has_command && is_other),
        (
            "updates-shrink-records",
            has_command && updates && plan.database.contains("Aerospike"),
        ),
        ("options-file-ignored", has_command && ignores),
    ]
}

fn of_percentiles(plan: &Plan, ran: &Ran) -> [Reported; 5] {
    let is_hdr = plan.kind == Kind::Hdr;
    let has_histogram = matches!(plan.kind, Kind::Histogram | Kind::HdrAndHistogram);
    let is_refused = plan.release < 12 && plan.percentiles.is_some_and(|list| list.contains('.'));
    let is_beyond = ran
        .metrics
        .iter()
        .any(|metric| rows::bucket_shares(plan, metric).len() < 2);
    [
        ("percentile-is-the-90th", is_hdr && plan.release < 4),
        (
            "percentiles-floored",
            has_histogram || (is_hdr && plan.release < 4),
        ),
        (
            "percentiles-fell-back",
            is_hdr && is_refused && plan.has_command(),
        ),
        ("percentile-row-missing", has_histogram && is_beyond),
        (
            "percentile-of-few-samples",
            ran.metrics.iter().any(|metric| has_few_samples(plan, metric)),
        ),
    ]
}

fn is_below_target(ran: &Ran) -> bool {
    ran.target
        .is_some_and(|target| ran.throughput() < 0.95 * target as f64)
}

/// A digit on each side of a comma.
fn has_comma(status: &str) -> bool {
    let is_decimal =
        |three: &[u8]| three[0].is_ascii_digit() && three[1] == b',' && three[2].is_ascii_digit();
    status.as_bytes().windows(3).any(is_decimal)
}

/// Return whether the standard output is first, or is second with its own banner or status lines. Without these it
/// continues the standard error.
fn are_joined(plan: &Plan, ran: &Ran) -> bool {
    let goes_back = plan.status_lines.is_some() && ran.runtime_ms >= 1000;
    let is_own = plan.hides_version() || (plan.kind == Kind::Timeseries && goes_back);
    plan.sent == Sent::OutputFirst || (plan.sent == Sent::ErrorFirst && is_own)
}

fn has_few_samples(plan: &Plan, metric: &Metric) -> bool {
    let count = metric.service.len() as u64 * metric.weight;
    let is_thin = |share: f64| (count as f64) * (100.0 - share) < 1000.0 - 1e-6;
    let shares: Vec<f64> = match plan.kind {
        Kind::Timeseries => Vec::new(),
        Kind::Raw => rows::RAW_SHARES.to_vec(),
        Kind::Histogram => rows::bucket_shares(plan, metric),
        Kind::Hdr => rows::hdr_shares(plan)
            .into_iter()
            .map(|(_, share)| share)
            .collect(),
        Kind::HdrAndHistogram => {
            let hdr = rows::hdr_shares(plan).into_iter().map(|(_, share)| share);
            hdr.chain(rows::bucket_shares(plan, metric)).collect()
        }
    };
    metric.name != "CLEANUP" && shares.into_iter().any(is_thin)
}

/// The same of a run of go-ycsb.
pub fn of_go(plan: &go::Plan, times: &go::Times, takes_us: u64) -> BTreeSet<&'static str> {
    let is_block = plan.style != go::Style::Csv;
    let few = |(_, all): (&&str, &Vec<(u64, u64)>)| (all.len() as f64) * 0.01 < 1000.0;
    let reached = plan.samples as f64 * 1e6 / takes_us as f64;
    let reported = [
        ("back-end-untold", !plan.has_command),
        ("means-truncated", is_block),
        ("total-counts-parts", plan.letter == 'f'),
        ("service-times-alone", true),
        ("percentile-of-few-samples", times.iter().any(few)),
        (
            "target-not-reached",
            plan.target.is_some_and(|target| reached < 0.95 * target as f64),
        ),
    ];
    reported
        .into_iter()
        .filter(|(_, is_true)| *is_true)
        .map(|(id, _)| id)
        .collect()
}
