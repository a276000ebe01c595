//! Checks of a YCSB run. Findings that decide make it invalid; the exit status of YCSB never does.

mod counts;
mod percentiles;
mod result;
mod setup;

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::java::fragment::Fragment;
use crate::ycsb::java::measurement::MeasurementType;
use crate::ycsb::java::status;
use crate::ycsb::run::{Run, StopKind, Time};
use crate::ycsb::settings::Settings;
use crate::ycsb::{checks, rules};

/// Sources of a run.
pub struct Evidence<'a> {
    /// Content of its files.
    pub fragment: &'a Fragment,
    /// Configuration.
    pub settings: &'a Settings,
    /// Type of its measurement.
    pub kind: &'a MeasurementType,
}

/// Add the findings of all checks.
pub fn all(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    result::check(run, evidence, findings);
    counts::check(run, evidence, findings);
    setup::check(run, evidence, findings);
    percentiles::check(run, evidence, findings);
    if matches!(run.stop.kind, StopKind::Finished | StopKind::TimeLimit) {
        checks::in_flight(run, findings);
        if evidence.settings.has_command() && !evidence.settings.is_unreadable("target") {
            coordinated_omission(run, findings);
            checks::target(run, findings);
        }
    }
    last_line(run, findings);
    checks::warm_up(run, findings);
    comma_decimals(run, findings);
}

fn coordinated_omission(run: &Run, findings: &mut Findings) {
    match (&run.target_ops_per_s, run.times) {
        (None, Some(Time::Service)) => {
            findings.add(rules::CLOSED_LOOP.at(None, checks::CLOSED_LOOP));
        }
        (None, Some(Time::Response | Time::Both)) => {
            let sentence = "the run measured intended times without a target, so the intended times equal the service times";
            findings.add(rules::INTENDED_WITHOUT_TARGET.at(None, sentence));
        }
        (Some(target), Some(Time::Service)) => {
            findings.add(rules::INTENDED_TIMES_MISSING.at(None, checks::only_service_times(target)));
        }
        _ => {}
    }
}

/// Check the last status line: it is of the end, but 0.1.4 prints it before the last operations are counted.
fn last_line(run: &Run, findings: &mut Findings) {
    let last = run.statuses().last();
    let Some((last, done)) = last.zip(run.done_ops_count.filter(|&done| done > 0)) else {
        return;
    };
    let count = last.ops_count;
    if count > done || (count < done && run.intervals.len() > 1 && is_end(run, last.elapsed_s)) {
        let sentence = format!("the last status line has {count} operations; the result has {done}");
        findings.add(rules::STATUS_DIFFERS.at(None, sentence));
    }
}

/// Return whether a status line was printed at the end of the run.
fn is_end(run: &Run, elapsed_s: u64) -> bool {
    let runtime_ms = run.runtime_ms.as_deref().and_then(number::count);
    runtime_ms.is_some_and(|runtime_ms| elapsed_s > runtime_ms / 1000)
}

fn comma_decimals(run: &Run, findings: &mut Findings) {
    let mut lines = run.intervals.iter();
    if let Some(line) = lines.find(|line| status::has_comma_decimals(&line.text)) {
        let sentence =
            "decimals have a comma instead of a point, because of the language of the Java virtual machine";
        findings.add(line.place.finding(&rules::COMMA_DECIMALS, sentence));
    }
}

/// Return whether an outcome or a status is a success.
/// Source: YCSB, Status.isOk(); numbers up to 0.4, 0 for success.
pub fn is_good(status: &str) -> bool {
    matches!(status, "ok" | "OK" | "BATCHED_OK" | "0")
}

/// Return whether the time limit ended the run: by YCSB's message, or else by the runtime.
pub fn hit_limit(run: &Run, fragment: &Fragment) -> bool {
    let limit_s = run.time_limit_s.filter(|&limit_s| limit_s > 0);
    let limit_ms = limit_s.map(|limit_s| limit_s.saturating_mul(1000));
    let runtime_ms = run.runtime_ms.as_deref().and_then(number::count);
    let counts = run.done_ops_count.zip(run.operation_count);
    let is_short = counts.is_none_or(|(done, requested)| done < requested);
    let by_time = is_short && limit_ms.zip(runtime_ms).is_some_and(|(limit, ran)| ran >= limit);
    fragment.own.limit_hit.is_some() || by_time
}
