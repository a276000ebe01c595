//! Checks of a go-ycsb run, which always ends with a complete-looking block and status 0.

use crate::finding::{Findings, rule};
use crate::ycsb::common::number;
use crate::ycsb::go::block;
use crate::ycsb::go::build_run::Counts;
use crate::ycsb::go::fragment::Fragment;
use crate::ycsb::go::operations::{COMPOSITE, TOTAL};
use crate::ycsb::java::checks::{counts, intervals, percentiles, setup, times};
use crate::ycsb::java::command::Phase;
use crate::ycsb::java::output::shown;
use crate::ycsb::java::settings::Settings;
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run, StopKind};

/// Sources of a run.
pub struct Evidence<'a> {
    /// Content of its files.
    pub fragment: &'a Fragment,
    /// Configuration.
    pub settings: &'a Settings,
    /// Operation counts of its final block.
    pub counts: Counts,
}

/// Add the findings of all checks.
pub fn all(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    result(run, evidence, findings);
    message(evidence.fragment, findings);
    check_settings(run, evidence, findings);
    block::check(evidence.fragment, findings);
    counts::failed(run, findings);
    if evidence.fragment.finished.is_some() && !run.operations.is_empty() {
        add_up(run, evidence, findings);
        requested(run, evidence, findings);
        limits(run, evidence, findings);
        times::in_flight(run, findings);
        times::target(run, findings);
        last_block(run, evidence, findings);
    }
    let judged = |operation: &&Operation| operation.is_counted || operation.name == COMPOSITE;
    run.operations
        .iter()
        .filter(judged)
        .for_each(|operation| percentiles::samples(operation, findings));
    intervals::warm_up(run, findings);
}

fn result(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let fragment = evidence.fragment;
    if let Some(signal) = &fragment.signal {
        let sentence = format!("{}: the final block looks complete, but is not", signal.text);
        findings.add(signal.place.finding(&rule::INTERRUPTED, &sentence));
    }
    match (&fragment.finished, run.stop.kind) {
        (None, StopKind::NotStarted) => {
            let sentence = format!("expected a run, got: {}", run.stop.text);
            findings.add(rules::NOTHING_DONE.at(run.stop.line, sentence));
        }
        (None, _) => {
            let last = if run.stop.text.is_empty() {
                "nothing".to_owned()
            } else {
                run.stop.text.clone()
            };
            let sentence = format!("expected 'Run finished' and a final block, got {last}");
            findings.add(rules::NO_RESULT.at(run.stop.line, sentence));
        }
        (Some((place, _)), _) if run.operations.is_empty() => no_block(evidence, place, findings),
        (Some((place, None)), _) => {
            findings.add(place.finding(&rules::ROW_UNREADABLE, "the duration of the run cannot be read"));
        }
        _ => {}
    }
    if let Some(place) = &fragment.open_row {
        let sentence = "the last row has no line end, so its value may be truncated";
        findings.add(place.finding(&rules::LAST_ROW_OPEN, sentence));
    }
}

fn no_block(evidence: &Evidence<'_>, place: &crate::ycsb::java::fragment::Place, findings: &mut Findings) {
    let elsewhere = evidence
        .settings
        .get("measurement.output_file")
        .filter(|file| !file.is_empty());
    match elsewhere {
        Some(file) => {
            let sentence = format!("the final block was written to {}, which is missing", shown(file));
            findings.add(place.finding(&rules::RESULT_ELSEWHERE, &sentence));
        }
        None => {
            findings.add(place.finding(&rules::NO_RESULT, "no final block follows 'Run finished'"));
        }
    }
}

fn message(fragment: &Fragment, findings: &mut Findings) {
    let groups = [
        (&fragment.panics, &rules::EXCEPTIONS, "panics"),
        (&fragment.errors, &rules::BINDING_ERRORS, "errors of operations"),
    ];
    for (messages, rule, what) in groups {
        if let Some(first) = &messages.first {
            let sentence = format!("{what}: {}; the first: {}", messages.count, first.text);
            findings.add(first.place.finding(rule, &sentence));
        }
    }
}

fn check_settings(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let settings = evidence.settings;
    if !settings.has_command() {
        let sentence = "the block of properties is missing: threads, records, target and requested operations are unknown";
        return findings.add(rules::COMMAND_LINE_MISSING.at(None, sentence));
    }
    if run.binding.is_none() {
        let sentence = "go-ycsb prints every property except the name of the database";
        findings.add(rules::BACK_END_UNKNOWN.at(None, sentence));
    }
    let warm_up = settings
        .whole_number("warmuptime", Some(0))
        .filter(|&warm_up_s| warm_up_s > 0);
    if let Some(warm_up_s) = warm_up.filter(|_| run.phase != Some(Phase::Load)) {
        let sentence = format!(
            "operations of the first {warm_up_s} s are in no count; the throughput is that of the remaining time"
        );
        findings.add(rules::WARM_UP_EXCLUDED.at(None, sentence));
    }
    let limit = settings
        .get("maxexecutiontime")
        .and_then(number::count)
        .filter(|&limit_s| limit_s > 0);
    if let Some(limit_s) = limit {
        let sentence = format!("maxexecutiontime={limit_s} is set, but go-ycsb has no time limit");
        findings.add(rules::TIME_LIMIT_IGNORED.at(None, sentence));
    }
    let is_silent = !matches!(settings.get("silence"), Some("false"));
    if is_silent && run.failed_ops_count.is_some_and(|failed| failed > 0) {
        let sentence = "operations failed, and the program printed no reason";
        findings.add(rules::ERRORS_SILENT.at(None, sentence));
    }
    setup::options(settings, findings);
    setup::distribution(run, findings);
}

/// Return the operations in flight at the end of the warm-up; each counts by its later parts.
fn tolerance(run: &Run, evidence: &Evidence<'_>) -> u64 {
    let warm_up_s = evidence.settings.whole_number("warmuptime", Some(0)).unwrap_or(0);
    let threads = run.threads_count.unwrap_or(1);
    if warm_up_s > 0 {
        threads.saturating_mul(2)
    } else {
        0
    }
}

fn add_up(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let rows = |wanted: &dyn Fn(&&Operation) -> bool| {
        let counts = run
            .operations
            .iter()
            .filter(wanted)
            .filter_map(|operation| operation.ops_count);
        counts.fold(0_u64, u64::saturating_add)
    };
    let single = rows(&|operation| operation.is_counted && operation.outcome == "ok");
    let total = run.operations.iter().find(|operation| operation.name == TOTAL);
    let Some(total) = total.and_then(|total| total.ops_count) else {
        return;
    };
    if single.abs_diff(total) > tolerance(run, evidence) {
        let sentence = format!("TOTAL has {total} operations; the other rows have {single}");
        findings.add(rules::OPERATIONS_DO_NOT_ADD_UP.at(None, sentence));
    }
    let composite = rows(&|operation| operation.name == COMPOSITE);
    if composite > 0 {
        let sentence = format!(
            "TOTAL counts the read and the update of {composite} read-modify-writes: its rate differs from YCSB's throughput"
        );
        findings.add(rules::TOTAL_COUNTS_PARTS.at(None, sentence));
    }
}

fn requested(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let is_load = run.phase == Some(Phase::Load);
    let Some(requested) = run.operation_count else {
        if evidence.settings.has_command() {
            let sentence = "the properties lack the requested number of operations";
            findings.add(rules::REQUESTED_COUNT_UNKNOWN.at(None, sentence));
        }
        return;
    };
    let Counts { least, most, failed } = evidence.counts;
    // Failed inserts may have been retried, and are in the database only if they succeeded.
    let (least, most) = if is_load {
        (least.saturating_sub(failed), least.saturating_sub(failed))
    } else {
        (least, most)
    };
    let batch = evidence.settings.whole_number("batch.size", Some(1)).unwrap_or(1);
    let overshoot = batch
        .saturating_sub(1)
        .saturating_mul(run.threads_count.unwrap_or(1));
    let fits = least <= requested.saturating_add(overshoot)
        && most.saturating_add(tolerance(run, evidence)) >= requested;
    if !fits {
        let got = if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        };
        let sentence = format!("expected {requested} operations, the count in the properties; got {got}");
        findings.add(rules::OPERATION_COUNT_DIFFERS.at(None, sentence));
    }
}

fn limits(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if !evidence.settings.has_command() || evidence.settings.is_unreadable("target") {
        return;
    }
    let target = run.target_ops_per_s.as_deref();
    let sentence = target.map_or_else(
        || "without a target, each operation starts when the previous one ends, so a stall delays only a few operations".to_owned(),
        |target| format!("the target is {target} operations/s, but only service times are measured, without waiting time"),
    );
    findings.add(rules::SERVICE_TIMES_ALONE.at(None, sentence));
}

/// Check the last interval: counts only increase, so one with more operations than the final block is of another run.
fn last_block(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let Some(last) = run.statuses().last() else { return };
    let single = run
        .counted()
        .filter_map(|operation| operation.ops_count)
        .fold(0_u64, u64::saturating_add);
    if last.ops_count > single && !evidence.fragment.has_csv {
        let sentence = format!(
            "the last interval has {} operations; the final block has {single}",
            last.ops_count
        );
        findings.add(rules::STATUS_DIFFERS.at(None, sentence));
    }
}
