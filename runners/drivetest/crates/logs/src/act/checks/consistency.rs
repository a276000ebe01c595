//! Consistency of the figures with the duration of the run: limits that no valid run exceeds on any drive, coverage by
//! complete slices and intervals, and the load as a whole multiple.

use crate::act::blocks::histogram::Unit;
use crate::act::checks::{is_closed_loop, whole};
use crate::act::run::{Histogram, Run};
use crate::finding::{Finding, rule};

/// Allowed delay of a label behind the clock, and time for completions after the last block, in seconds.
const CLOCK_SLACK_S: f64 = 60.0;

/// Allowed ratio of the real duration of a run to its labels.
const CLOCK_RATIO: f64 = 1.1;

/// Return the findings about inconsistent figures.
pub fn of_run(run: &Run) -> Vec<Finding> {
    let beyond = run
        .histograms
        .iter()
        .filter_map(|histogram| beyond_run(run, histogram));
    longer(run).into_iter().chain(beyond).chain(busy(run)).collect()
}

/// Check the last label: it is the first multiple of the interval that is not below the duration.
///
/// Source: aerospike/act, src/storage/act_storage.c, act_storage(): no block begins after the run's time.
fn longer(run: &Run) -> Option<Finding> {
    let (requested_s, interval_s) = (run.requested_duration_s?, run.report_interval_s?);
    let last_s = requested_s.div_ceil(interval_s).checked_mul(interval_s)?;
    let reached_s = run.reached_s;
    let sentence = format!("the last block: expected 'after {last_s} sec'; got 'after {reached_s} sec'");
    (reached_s > last_s).then(|| rule::LONGER_THAN_REQUESTED.at(run.last_line, sentence))
}

/// Check the longest operation: none can last longer than the run.
fn beyond_run(run: &Run, histogram: &Histogram) -> Option<Finding> {
    let bucket = histogram.tally.counts().len().checked_sub(1)?;
    let least_s = least_us(bucket, histogram.unit) / 1e6;
    let (name, count, ran_s) = (&histogram.name, histogram.tally.counts()[bucket], run.reached_s);
    let sentence =
        || format!("{name}: {count} operations took at least {least_s:.0} s; the run lasted {ran_s} s");
    (least_s > longest_s(run)).then(|| rule::LATENCY_BEYOND_RUN.at(run.last_line, sentence()))
}

/// Check the total time of operations: threads of a closed loop issue one request after the other.
fn busy(run: &Run) -> Vec<Finding> {
    let threads = whole(run, "service-threads").filter(|_| is_closed_loop(run));
    let service = threads.and_then(|threads| threads.checked_add(whole(run, "cache-threads").unwrap_or(0)));
    let (reads, writes) = ("large-block-reads", "large-block-writes");
    let groups = [
        (&["reads", "writes"][..], service, "service threads"),
        (&[reads], run.device_count, "threads for large-block reads"),
        (&[writes], run.device_count, "threads for large-block writes"),
    ];
    let findings = groups.into_iter().filter_map(|(names, threads, what)| {
        let histograms = names.iter().filter_map(|name| run.histogram(name));
        let taken_s: f64 = histograms.map(|found| least_total_us(found) / 1e6).sum();
        let (threads, ran_s, names) = (threads?, run.reached_s, names.join(" and "));
        let sentence = format!(
            "{names}: operations took at least {taken_s:.0} s in total; {threads} {what} had {ran_s} s each"
        );
        let is_beyond = taken_s > threads as f64 * longest_s(run);
        is_beyond.then(|| rule::BUSY_BEYOND_THREADS.at(run.last_line, sentence))
    });
    findings.collect()
}

/// Return the longest time that the run may have lasted by its labels.
fn longest_s(run: &Run) -> f64 {
    run.reached_s as f64 * CLOCK_RATIO + CLOCK_SLACK_S
}

/// Return the lower edge of a bucket in microseconds.
fn least_us(bucket: usize, unit: Unit) -> f64 {
    let power = bucket
        .checked_sub(1)
        .map(|power| i32::try_from(power).unwrap_or(i32::MAX));
    power.map_or(0.0, |power| 2_f64.powi(power)) * unit.us() as f64
}

fn least_total_us(histogram: &Histogram) -> f64 {
    let counts = histogram.tally.counts().iter().enumerate();
    let least = counts.map(|(bucket, &count)| count as f64 * least_us(bucket, histogram.unit));
    least.sum()
}

/// Return the findings about slices, intervals and load.
pub fn coverage(run: &Run, requested_slice_s: u64) -> Vec<Finding> {
    let slices = trailing(run)
        .into_iter()
        .chain(lengthened(run, requested_slice_s));
    slices.chain(off_interval(run)).chain(nx(run)).collect()
}

fn trailing(run: &Run) -> Option<Finding> {
    let (partial_s, slice_s) = (run.trailing_partial_s, run.slice_length_s?);
    let sentence = format!(
        "the last {partial_s} s are a partial slice of {slice_s} s; they count only in whole-run percentages"
    );
    (partial_s > 0).then(|| rule::TRAILING_PARTIAL.at(run.last_line, sentence))
}

fn lengthened(run: &Run, requested_slice_s: u64) -> Option<Finding> {
    let (slice_s, interval_s) = (run.slice_length_s?, run.report_interval_s?);
    let sentence = format!(
        "slices have {slice_s} s instead of {requested_slice_s} s, because the report interval is {interval_s} s"
    );
    (slice_s != requested_slice_s).then(|| rule::SLICE_LENGTHENED.at(run.first_line, sentence))
}

/// Check the duration: upstream continues to the end of the last interval, so its last label exceeds the duration.
fn off_interval(run: &Run) -> Option<Finding> {
    let (requested_s, interval_s) = (run.requested_duration_s?, run.report_interval_s?);
    let sentence = format!(
        "test-duration-sec: expected a multiple of the report interval, {interval_s} s; got {requested_s} s, and the label \
         of the last block exceeds it"
    );
    (!requested_s.is_multiple_of(interval_s))
        .then(|| rule::DURATION_OFF_INTERVAL.at(run.first_line, sentence))
}

fn nx(run: &Run) -> Option<Finding> {
    let load = run.nx_load.as_ref().filter(|load| load.contains('.'))?;
    let sentence = format!("the load is {load}x: expected a whole multiple of 2000 reads/s for each device");
    Some(rule::NX_NOT_WHOLE.at(run.first_line, sentence))
}
