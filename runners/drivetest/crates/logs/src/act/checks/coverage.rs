//! Coverage of a run by complete slices and intervals, and its load as a whole multiple.

use crate::act::run::Run;
use crate::finding::{Finding, rule};

/// Return the findings about slices, intervals and load.
pub fn of_run(run: &Run, requested_slice_s: u64) -> Vec<Finding> {
    let found = [
        trailing(run),
        lengthened(run, requested_slice_s),
        off_interval(run),
        nx(run),
    ];
    found.into_iter().flatten().collect()
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
