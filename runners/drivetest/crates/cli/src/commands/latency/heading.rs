//! The lines of the original scripts before the table: version, slice length, the header, or what they cannot find.

use std::path::Path;

use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::header::Section;
use drivetest_logs::act::run::Run;
use serde::Serialize;

use super::old_table::has_old_buckets;

/// The lines before a table.
pub struct Heading {
    /// The lines, as the script prints them.
    pub text: String,
    /// The length of a slice, or what the log lacks, which the last line of the text names.
    pub slice_length_s: Result<u64, Missing>,
}

/// Part of a log without which there is no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The report interval.
    ReportInterval,
    /// The derived configuration or the names of the histograms.
    HeaderSection,
    /// Writes, which were requested.
    Writes,
    /// A complete slice of the requested histograms.
    Slices,
}

impl Heading {
    fn end(text: String, missing: Missing, line: &str) -> Self {
        let text = format!("{text}{line}\n");
        Self {
            text,
            slice_length_s: Err(missing),
        }
    }
}

/// Returns the lines before the table of 5.x and 6.x, also for a histogram of an older log that is requested by name.
pub fn heading(log: &Path, run: &Run, requested_slice_s: u64) -> Heading {
    let printed = &run.printed;
    let mut text = format!("{} is ACT version {}\n\n", log.display(), run.printed.version);
    let Some(slice_length_s) = slice_length_s(run, requested_slice_s) else {
        return Heading::end(text, Missing::ReportInterval, "can't find report interval");
    };
    text.push_str(&scale_and_slices(run, requested_slice_s, slice_length_s));
    text.push_str(&echo(&printed.config));
    let has_titles = run.origin.family != Some(Family::A);
    let sections = [
        (&printed.derived, "derived configuration"),
        (&printed.names, "histogram names"),
    ];
    for (section, name) in sections {
        if has_titles && section.title.is_empty() {
            return Heading::end(text, Missing::HeaderSection, &format!("can't find {name}"));
        }
        text.push_str(&echo(section));
    }
    Heading {
        text,
        slice_length_s: Ok(slice_length_s),
    }
}

/// Returns the lines before the table of 1.x to 4.0. 1.x prints neither its version nor its unit, and its script needs
/// neither.
pub fn old_heading(run: &Run, requested_slice_s: u64, writes: bool) -> Heading {
    let is_1 = has_old_buckets(run);
    let mut text = match is_1 {
        true => String::new(),
        false => format!("data is act version {}\n", run.origin.tool_version),
    };
    if let Some(line) = without_writes(run).filter(|_| writes) {
        return Heading::end(text, Missing::Writes, line);
    }
    let Some(slice_length_s) = slice_length_s(run, requested_slice_s) else {
        return Heading::end(text, Missing::ReportInterval, "can't find report interval");
    };
    let lines = scale_and_slices(run, requested_slice_s, slice_length_s);
    text.push_str(if is_1 {
        lines.trim_start_matches(NO_SCALE)
    } else {
        &lines
    });
    Heading {
        text,
        slice_length_s: Ok(slice_length_s),
    }
}

const NO_SCALE: &str = "can't find histograms' scale, assuming milliseconds\n";

/// Returns what the script for writes prints if the run has none.
///
/// Source: aerospike/act e1bc5c4, latency_calc/act_latency_w.py, main().
fn without_writes(run: &Run) -> Option<&'static str> {
    match value(run, "commit-to-device") {
        None => Some("commit-to-device not configured"),
        Some("yes") => None,
        Some(_) => Some("commit-to-device not enabled"),
    }
}

fn scale_and_slices(run: &Run, requested_slice_s: u64, slice_length_s: u64) -> String {
    let scale = value(run, "microsecond-histograms");
    let mut text = scale.map_or(NO_SCALE, |_| "").to_owned();
    if slice_length_s != requested_slice_s {
        text.push_str(&format!("analyzing time slices of {slice_length_s} seconds\n"));
    }
    text
}

fn value<'a>(run: &'a Run, key: &str) -> Option<&'a str> {
    let found = run.config.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str())
}

/// Returns the length of a slice, also for a run that never started.
fn slice_length_s(run: &Run, requested_slice_s: u64) -> Option<u64> {
    let rounded_up = |interval_s: u64| requested_slice_s.div_ceil(interval_s).saturating_mul(interval_s);
    run.slice_length_s.or(run.report_interval_s.map(rounded_up))
}

/// Returns a section and a blank line, or nothing if the log lacks it.
fn echo(section: &Section) -> String {
    let title = Some(&section.title).filter(|title| !title.is_empty());
    let lines = title.into_iter().chain(&section.lines);
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}
