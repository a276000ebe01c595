//! Differences from act_latency.py, printed on standard error.

use std::path::Path;

use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::run::{Histogram, Run};
use drivetest_logs::act::slices::Slice;
use drivetest_logs::act::stop::StopKind;
use drivetest_logs::finding::{Finding, Severity, rule};
use drivetest_logs::reader::Reading;

use super::EDGES_COUNT;
use super::table::Column;
use crate::output::print_diagnostic;

/// Prints the findings of the log, and where the table of act_latency.py differs.
pub fn print(log: &Path, reading: &Reading) {
    let log = log.display();
    let runs = reading.runs.iter().flat_map(|run| &run.findings);
    let findings = runs
        .chain(&reading.findings)
        .filter(|finding| finding.severity != Severity::Note)
        // The type of the devices does not affect the table.
        .filter(|finding| finding.id != rule::DEVICE_VIRTUAL.id);
    for finding in findings {
        let line = finding.line.map_or_else(String::new, |line| format!("{line}: "));
        print_diagnostic(&format_args!("{log}:{line}{}", finding.sentence));
    }
    for sentence in reading.runs.iter().flat_map(of_run) {
        print_diagnostic(&format_args!("{log}: {sentence}"));
    }
    if reading.runs.len() > 1 {
        print_diagnostic(&format_args!("{log}: act_latency.py prints only the first run"));
    }
}

/// Prints warnings about the requested histograms.
pub fn print_columns(columns: &[Column], run: &Run) {
    for (at, Column { name, ordinal }) in columns.iter().enumerate() {
        let is_damaged = |slice: &Slice| ordinal.is_some_and(|ordinal| slice.tally(ordinal).is_none());
        let warning = if ordinal.is_none() {
            "no block has this histogram; its zeros are meaningless"
        } else if columns[..at].iter().any(|earlier| earlier.name == *name) {
            "act_latency.py cannot distinguish two histograms with the same name"
        } else if run.slices.iter().any(is_damaged) {
            "act_latency.py repeats older figures in damaged slices"
        } else {
            continue;
        };
        print_diagnostic(&format_args!("{name}: {warning}"));
    }
}

fn of_run(run: &Run) -> Vec<&'static str> {
    let has = |id: &str| run.findings.iter().any(|finding: &Finding| finding.id == id);
    let differences = [
        has(rule::SLICE_MISSING.id).then_some("act_latency.py stops at the first slice that cannot be read"),
        has(rule::NOISE_INSIDE_BLOCK.id)
            .then_some("act_latency.py may lose buckets after other lines inside a block"),
        has(rule::OLD_BUCKETS.id).then_some("act_latency.py of 1.x prints half of each threshold"),
        loses_slow(run).then_some("act_latency.py of this version omits buckets 17 and above"),
        (run.stop.kind == StopKind::Cut).then_some("act_latency.py treats a truncated block as complete"),
    ];
    differences.into_iter().flatten().collect()
}

/// Returns whether a script that adds the percentages of its 17 buckets loses operations of the run.
fn loses_slow(run: &Run) -> bool {
    let has_more = |histogram: &Histogram| histogram.tally.counts().len() > EDGES_COUNT;
    run.origin.family == Some(Family::A) && run.histograms.iter().any(has_more)
}
