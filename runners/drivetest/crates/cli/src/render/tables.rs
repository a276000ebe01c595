//! Summary and slice table of an ACT run.

use drivetest_logs::act::blocks::histogram::{Tally, Unit};
use drivetest_logs::act::run::Run;
use drivetest_logs::act::semantics::judged;
use drivetest_logs::act::stop::StopKind;
use drivetest_logs::finding::{counted, rule};
use drivetest_logs::judge::share::Share;

use super::findings::findings_text;
use super::side_file;
use crate::output::code;

/// Findings that say that the load in the log differs from the header.
const RATE_FINDINGS: [&str; 3] = [
    rule::RATE_BELOW_REQUESTED.id,
    rule::RATE_ABOVE_REQUESTED.id,
    rule::HEADER_DIFFERS.id,
];

/// Returns the requested load. Omits what the header does not state.
fn requested_load(run: &Run) -> String {
    let rate = |value: &Option<String>, what: &str| value.as_ref().map(|rate| format!("{rate} {what}/s"));
    let rates = [
        rate(&run.requested_reads_per_s, "reads"),
        rate(&run.requested_writes_per_s, "writes"),
    ];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    let rates = match rates.is_empty() {
        true => "an unknown rate".to_owned(),
        false => rates.join(" and "),
    };
    let devices = run.device_count.map(|count| counted(count, "device"));
    let devices = devices.unwrap_or_else(|| "an unknown number of devices".to_owned());
    // A load that was not sustained is not claimed as Nx.
    let mut ids = run.findings.iter().map(|finding| finding.id);
    let is_sustained = run.stop.kind != StopKind::Overload && ids.all(|id| !RATE_FINDINGS.contains(&id));
    let load = run.nx_load.as_ref().filter(|_| is_sustained);
    let load = load.map_or_else(String::new, |load| format!("{load}x: "));
    format!("{load}{rates} requested on {devices}")
}

/// Returns the summary of a run: program, load, slice table, side file, verdict and findings.
pub fn run_summary(run: &Run) -> String {
    let (tool, version) = (run.origin.tool, &run.origin.tool_version);
    let mut text = format!("{tool} {version}, {}\n", requested_load(run));
    let stop = code(&run.stop.kind);
    let requested = run
        .requested_duration_s
        .map(|duration_s| format!("{duration_s} s"));
    let requested = requested.unwrap_or_else(|| "an unknown duration".to_owned());
    text.push_str(&format!(
        "  {stop}: the log covers {} s of {requested} in lines {}-{}\n",
        run.reached_s, run.first_line, run.last_line
    ));
    text.push_str(&slice_table(run));
    text.push_str(&side_file::summary(run));
    if let Some(verdict) = &run.verdict {
        text.push_str(&format!("  {}\n", verdict.headline));
    }
    text + &findings_text(&run.findings)
}

/// Returns the shares of the reads, or of the first histogram, above 1, 8 and 64 ms. Omits edges that the log does not have.
fn slice_table(run: &Run) -> String {
    let Some(histogram) = judged(run).or(run.histograms.first()) else {
        return String::new();
    };
    let powers: [u32; 3] = match histogram.unit {
        Unit::Us => [10, 13, 16],
        Unit::Ms => [0, 3, 6],
    };
    let bucket_below = |power| histogram.meaning.edges.bucket_below(power);
    let mut text = format!("  {:>5} {:>15} {:>14}", "slice", "seconds", histogram.name);
    for power in powers.into_iter().filter(|&power| bucket_below(power).is_some()) {
        let edge = format!("% > {} {}", 1_u64 << power, histogram.unit.name());
        text.push_str(&format!(" {edge:>13}"));
    }
    text.push('\n');
    let mut row = |name: &str, seconds: &str, tally: &Tally| {
        let ops_count = tally.ops_count();
        text.push_str(&format!("  {name:>5} {seconds:>15} {ops_count:>14}"));
        for bucket in powers.into_iter().filter_map(bucket_below) {
            let share = Share {
                over_count: tally.over_count(bucket),
                ops_count,
            };
            text.push_str(&format!(" {:>13}", share.printed()));
        }
        text.push('\n');
    };
    for slice in &run.slices {
        if let Some(tally) = slice.tally(histogram.ordinal) {
            let seconds = format!("{}-{}", slice.start_s, slice.end_s);
            row(&slice.number.to_string(), &seconds, tally);
        }
    }
    row("all", &format!("0-{}", run.reached_s), &histogram.tally);
    text
}
