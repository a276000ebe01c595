//! Checks of a go-ycsb run, which always ends with a complete-looking block and status 0.

use crate::finding::{Findings, rule};
use crate::ycsb::checks;
use crate::ycsb::command::Phase;
use crate::ycsb::common::number;
use crate::ycsb::fragment::{Place, shown};
use crate::ycsb::go::build_run::Counts;
use crate::ycsb::go::fragment::{Fragment, PlacedRow};
use crate::ycsb::go::operations::{COMPOSITE, TOTAL, is_single, share};
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run, StopKind, ops_of};
use crate::ycsb::settings::Settings;

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
    let fragment = evidence.fragment;
    result(run, evidence, findings);
    checks::messages(&fragment.crashes, &rules::EXCEPTIONS, "panics", findings);
    let what = "errors of operations";
    checks::messages(&fragment.errors, &rules::BINDING_ERRORS, what, findings);
    check_settings(run, evidence, findings);
    if fragment.own.finished.is_some() {
        block(&fragment.own.block, findings);
    }
    checks::failed(run, findings);
    if fragment.own.finished.is_some() && !run.operations.is_empty() {
        add_up(run, evidence, findings);
        requested(run, evidence, findings);
        limits(run, evidence, findings);
        checks::in_flight(run, findings);
        checks::target(run, findings);
        last_block(run, evidence, findings);
    }
    checks::samples(run, COMPOSITE, findings);
    checks::warm_up(run, findings);
}

fn result(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let fragment = evidence.fragment;
    if let Some(signal) = &fragment.own.signal {
        let sentence = format!("{}: the final block looks complete, but is not", signal.text);
        findings.add(signal.place.finding(&rule::INTERRUPTED, &sentence));
    }
    match (&fragment.own.finished, run.stop.kind) {
        (None, StopKind::NotStarted) => {
            let sentence = format!("expected a run, got: {}", run.stop.text);
            findings.add(rules::NOTHING_DONE.at(run.stop.line, sentence));
        }
        (None, _) => {
            let last = if run.stop.text.is_empty() {
                "nothing"
            } else {
                &run.stop.text
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
        checks::open_row(place, findings);
    }
}

fn no_block(evidence: &Evidence<'_>, place: &Place, findings: &mut Findings) {
    let elsewhere = evidence.settings.get("measurement.output_file");
    findings.add(match elsewhere.filter(|file| !file.is_empty()) {
        Some(file) => {
            let sentence = format!(
                "go-ycsb wrote the result to the file {}, which was not sent",
                shown(file)
            );
            place.finding(&rules::RESULT_ELSEWHERE, &sentence)
        }
        None => place.finding(&rules::NO_RESULT, "no final block follows 'Run finished'"),
    });
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
    let warm_up_s = settings.whole_number("warmuptime", Some(0)).unwrap_or(0);
    if warm_up_s > 0 && run.phase != Some(Phase::Load) {
        let sentence = format!(
            "no count includes the operations of the first {warm_up_s} s; the throughput is that of the remaining time"
        );
        findings.add(rules::WARM_UP_EXCLUDED.at(None, sentence));
    }
    let limit_s = settings.get("maxexecutiontime").and_then(number::count);
    if let Some(limit_s) = limit_s.filter(|&limit_s| limit_s > 0) {
        let sentence = format!("maxexecutiontime={limit_s} is set, but go-ycsb has no time limit");
        findings.add(rules::TIME_LIMIT_IGNORED.at(None, sentence));
    }
    let is_silent = !matches!(settings.get("silence"), Some("false"));
    if is_silent && run.failed_ops_count.is_some_and(|failed| failed > 0) {
        let sentence = "operations failed, and go-ycsb printed no reason";
        findings.add(rules::ERRORS_SILENT.at(None, sentence));
    }
    checks::options(settings, findings);
    checks::distribution(run, findings);
}

/// Return the operations in flight at the end of the warm-up; each counts by its later parts.
fn tolerance(run: &Run, evidence: &Evidence<'_>) -> u64 {
    match evidence.settings.whole_number("warmuptime", Some(0)).unwrap_or(0) {
        0 => 0,
        _ => run.threads_count.unwrap_or(1).saturating_mul(2),
    }
}

fn add_up(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let single = ops_of(run.counted().filter(|operation| operation.outcome == "ok"));
    let total = run.operations.iter().find(|operation| operation.name == TOTAL);
    let Some(total) = total.and_then(|total| total.ops_count) else {
        return;
    };
    if single.abs_diff(total) > tolerance(run, evidence) {
        let sentence = format!("the row TOTAL has {total} operations; the other rows together have {single}");
        findings.add(rules::OPERATIONS_DO_NOT_ADD_UP.at(None, sentence));
    }
    let is_composite = |operation: &&Operation| operation.name == COMPOSITE;
    let composite = ops_of(run.operations.iter().filter(is_composite));
    if composite > 0 {
        let sentence = format!(
            "TOTAL counts the read and the update of {composite} read-modify-writes: its rate differs from YCSB's throughput"
        );
        findings.add(rules::TOTAL_COUNTS_PARTS.at(None, sentence));
    }
}

fn requested(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let Some(requested) = run.operation_count else {
        if evidence.settings.has_command() {
            let sentence = "the properties lack the requested number of operations";
            findings.add(rules::REQUESTED_COUNT_UNKNOWN.at(None, sentence));
        }
        return;
    };
    let Counts {
        mut least,
        mut most,
        failed,
    } = evidence.counts;
    if run.phase == Some(Phase::Load) {
        // Failed inserts may have been retried, and are in the database only if they succeeded.
        least = least.saturating_sub(failed);
        most = least;
    }
    let batch = evidence.settings.whole_number("batch.size", Some(1)).unwrap_or(1);
    let overshoot = batch
        .saturating_sub(1)
        .saturating_mul(run.threads_count.unwrap_or(1));
    let is_too_many = least > requested.saturating_add(overshoot);
    if is_too_many || most.saturating_add(tolerance(run, evidence)) < requested {
        let got = match least == most {
            true => least.to_string(),
            false => format!("{least} to {most}"),
        };
        let sentence = format!("the properties request {requested} operations; the result has {got}");
        findings.add(rules::OPERATION_COUNT_DIFFERS.at(None, sentence));
    }
}

fn limits(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if !evidence.settings.has_command() || evidence.settings.is_unreadable("target") {
        return;
    }
    let sentence = match &run.target_ops_per_s {
        None => checks::CLOSED_LOOP.to_owned(),
        Some(target) => checks::only_service_times(target),
    };
    findings.add(rules::SERVICE_TIMES_ALONE.at(None, sentence));
}

/// Check the last interval: counts only increase, so one with more operations than the final block is of another run.
fn last_block(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let Some(last) = run.statuses().last() else { return };
    let single = ops_of(run.counted());
    if last.ops_count > single && !evidence.fragment.own.has_csv {
        let count = last.ops_count;
        let sentence = format!("the last interval has {count} operations; the final block has {single}");
        findings.add(rules::STATUS_DIFFERS.at(None, sentence));
    }
}

/// Check the final block: all its rows have the same columns, including a count.
fn block(block: &[PlacedRow], findings: &mut Findings) {
    let Some(longest) = block.iter().max_by_key(|placed| placed.row.values.len()) else {
        return;
    };
    for placed in block {
        unknown(placed, findings);
        let heads = longest.row.values.iter().map(|(head, _)| head.as_str());
        let lacking: Vec<&str> = heads.filter(|head| placed.row.get(head).is_none()).collect();
        if !lacking.is_empty() {
            let (name, lacking) = (&placed.row.operation, lacking.join(", "));
            let sentence = format!("{name} lacks {lacking}, which other rows have");
            findings.add(placed.place.finding(&rules::RESULT_CUT, &sentence));
        }
    }
    let lacks_count = longest.row.ops_count().is_none();
    if lacks_count || longest.row.rate().is_none() {
        let sentence = "the rows of the final block lack Count or OPS";
        findings.add(longest.place.finding(&rules::ROW_MISSING, sentence));
    }
    if lacks_total(block) {
        let sentence = "the row TOTAL, which this release prints after successful operations, is missing";
        findings.add(longest.place.finding(&rules::RESULT_CUT, sentence));
    }
    if block.iter().any(|placed| placed.row.get("Avg(us)").is_some()) {
        findings.add(rules::MEANS_TRUNCATED.at(None, "go-ycsb truncates mean times to whole microseconds"));
    }
}

/// Return whether TOTAL is missing: it was introduced together with the 50th percentile, before v1.0.1.
fn lacks_total(block: &[PlacedRow]) -> bool {
    let has = |wanted: &dyn Fn(&PlacedRow) -> bool| block.iter().any(wanted);
    has(&|placed| placed.row.get("50th(us)").is_some() && is_single(&placed.row.operation))
        && !has(&|placed| placed.row.operation == TOTAL)
}

fn unknown(placed: &PlacedRow, findings: &mut Findings) {
    const KNOWN: [&str; 7] = ["Takes(s)", "Count", "OPS", "QPS", "Avg(us)", "Min(us)", "Max(us)"];
    let is_known = |head: &str| KNOWN.contains(&head) || share(head).is_some();
    for (head, value) in placed.row.values.iter().filter(|(head, _)| !is_known(head)) {
        let sentence = format!("{}: {head}: {value} is an unknown value", placed.row.operation);
        findings.add(placed.place.finding(&rules::ROW_UNKNOWN, &sentence));
    }
}
