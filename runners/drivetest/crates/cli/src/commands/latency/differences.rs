//! Where act_latency.py would print something else, said on the standard error stream.

use std::path::Path;

use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::run::{Histogram, Run};
use drivetest_logs::act::stop::StopKind;
use drivetest_logs::finding::{Finding, Severity, rule};
use drivetest_logs::reader::Reading;

use super::EDGES_COUNT;
use super::table::Column;
use crate::output::print_diagnostic;

/// Tells what a reader of the table should know, and where upstream's would differ.
pub fn tell(log: &Path, reading: &Reading) {
    let log = log.display();
    let runs = reading.runs.iter().flat_map(|run| &run.findings);
    let told = runs
        .chain(&reading.findings)
        .filter(|finding| finding.severity != Severity::Note)
        // What the devices are changes nothing of a table.
        .filter(|finding| finding.id != rule::DEVICE_VIRTUAL.id);
    for finding in told {
        let line = finding.line.map_or_else(String::new, |line| format!("{line}: "));
        print_diagnostic(&format_args!("{log}:{line}{}", finding.sentence));
    }
    reading
        .runs
        .iter()
        .flat_map(of_run)
        .for_each(|sentence| print_diagnostic(&format_args!("{log}: {sentence}")));
    if reading.runs.len() > 1 {
        print_diagnostic(&format_args!("{log}: act_latency.py prints the first run only"));
    }
}

/// Tells what is odd about the histograms that were asked for.
pub fn tell_columns(columns: &[Column], run: &Run) {
    for (at, column) in columns.iter().enumerate() {
        let name = &column.name;
        if column.ordinal.is_none() {
            print_diagnostic(&format_args!(
                "{name}: no block holds this histogram; its zeros mean nothing"
            ));
        } else if columns[..at].iter().any(|earlier| earlier.name == *name) {
            print_diagnostic(&format_args!(
                "{name}: act_latency.py cannot tell two histograms of one name apart"
            ));
        } else if run
            .slices
            .iter()
            .any(|slice| column.ordinal.is_some_and(|it| slice.tally(it).is_none()))
        {
            print_diagnostic(&format_args!(
                "{name}: act_latency.py repeats older figures where it is damaged"
            ));
        }
    }
}

fn of_run(run: &Run) -> Vec<&'static str> {
    let has = |id: &str| run.findings.iter().any(|finding: &Finding| finding.id == id);
    let told = [
        has(rule::SLICE_MISSING.id).then_some("act_latency.py stops at the first slice that cannot be read"),
        has(rule::NOISE_INSIDE_BLOCK.id)
            .then_some("act_latency.py may lose buckets behind lines inside a block"),
        has(rule::OLD_BUCKETS.id).then_some("act_latency.py of 1.x prints half of each threshold"),
        loses_slow(run)
            .then_some("act_latency.py of this version leaves out what lies in bucket 17 and above"),
        (run.stop.kind == StopKind::Cut).then_some("act_latency.py takes a block that was cut as whole"),
    ];
    told.into_iter().flatten().collect()
}

/// Whether a script that sums the percentages of its 17 buckets loses operations of the run.
fn loses_slow(run: &Run) -> bool {
    let has_more = |histogram: &Histogram| histogram.tally.counts().len() > EDGES_COUNT;
    run.origin.family == Some(Family::A) && run.histograms.iter().any(has_more)
}
