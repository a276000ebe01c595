//! Checks of the counts: completed against requested operations, and sums.

use crate::finding::Findings;
use crate::ycsb::checks;
use crate::ycsb::command::Phase;
use crate::ycsb::java::build_run::HIDDEN_VERSION;
use crate::ycsb::java::checks::{Evidence, hit_limit, is_good};
use crate::ycsb::java::fragment::Fragment;
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run, ops_of};

/// Add the findings about counts.
pub fn check(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    checks::failed(run, findings);
    verified(run, findings);
    empty(run, findings);
    let Some(done) = run.done_ops_count.filter(|&done| done > 0) else {
        return;
    };
    add_up(run, done, findings);
    requested(run, done, evidence, findings);
    threads(run, evidence, findings);
}

fn verified(run: &Run, findings: &mut Findings) {
    let is_verify = |operation: &&Operation| operation.name == "VERIFY";
    let verify = run.operations.iter().filter(is_verify);
    let returns = verify.flat_map(|operation| &operation.returns);
    for (status, count) in returns.filter(|(status, _)| !is_good(status)) {
        let sentence = format!("the check of the data that was read returned {status} {count} times");
        findings.add(rules::VERIFICATION_FAILED.at(None, sentence));
    }
}

fn empty(run: &Run, findings: &mut Findings) {
    let is_empty = |operation: &&Operation| operation.ops_count == Some(0);
    for operation in run.operations.iter().filter(is_empty) {
        let name = &operation.name;
        let sentence = format!("{name} reports 0 operations; its latency values are meaningless");
        findings.add(rules::EMPTY_OPERATION.at(None, sentence));
    }
}

/// Return the number of operations with some statuses.
fn returned(operation: &Operation, wanted: fn(&str) -> bool) -> u64 {
    let counts = operation.returns.iter().filter(|(status, _)| wanted(status));
    counts.fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

/// Return whether the statuses of an operation add up to its successes, or up to 0.5 to its operations.
pub fn returns_add_up(operation: &Operation) -> bool {
    let Some(ops_count) = operation.ops_count.filter(|_| !operation.returns.is_empty()) else {
        return true;
    };
    returned(operation, is_good) == ops_count || returned(operation, |_| true) == ops_count
}

/// Check the sum: successful and failed operations are done; the parts of a read-modify-write count once.
///
/// In a load, a failed insert that was retried, or that ended its thread, is not counted.
fn add_up(run: &Run, done: u64, findings: &mut Findings) {
    let composites = run.operations.iter();
    let composite = ops_of(composites.filter(|operation| is_plain_composite(operation)));
    let printed = ops_of(run.counted()).saturating_sub(composite);
    let is_failed_insert =
        |operation: &&Operation| operation.name == "INSERT" && !is_good(&operation.outcome);
    let failed_inserts = ops_of(run.counted().filter(is_failed_insert));
    let adds_up = (printed.saturating_sub(failed_inserts)..=printed).contains(&done);
    if !adds_up && run.counted().next().is_some() {
        let sentence = format!("throughput x runtime gives {done} operations, but the rows have {printed}");
        findings.add(rules::OPERATIONS_DO_NOT_ADD_UP.at(None, sentence));
    }
    let odd = |operation: &&Operation| !returns_add_up(operation);
    for operation in run.operations.iter().filter(odd) {
        let (name, count) = (&operation.name, operation.ops_count.unwrap_or_default());
        let sentence = format!("{name}: the statuses do not add up to its {count} operations");
        findings.add(rules::OPERATIONS_DO_NOT_ADD_UP.at(None, sentence));
    }
}

/// Return whether an operation is a read-modify-write with its own count, not the intended times of another.
fn is_plain_composite(operation: &Operation) -> bool {
    let twin = matches!(operation.recorder, Some("histogram" | "raw"));
    operation.name == "READ-MODIFY-WRITE" && !operation.is_intended_twin && !twin
}

fn requested(run: &Run, done: u64, evidence: &Evidence<'_>, findings: &mut Findings) {
    let is_load = run.phase == Some(Phase::Load);
    if hit_limit(run, evidence.fragment) && run.operation_count != Some(done) {
        return limited(run, done, is_load, findings);
    }
    let Some(requested) = run.operation_count else {
        if evidence.settings.has_command() {
            let sentence =
                "the requested number of operations is neither on the command line nor in an attached file";
            findings.add(rules::REQUESTED_COUNT_UNKNOWN.at(None, sentence));
        }
        return;
    };
    // From 0.18 on, without a count, only the time limit ends a run.
    let is_unlimited = requested == 0 && !is_load;
    let inserted = if is_load { inserted(run) } else { done };
    if inserted != requested && !is_unlimited {
        let what = if is_load {
            "successful inserts"
        } else {
            "operations"
        };
        let sentence = format!("the configuration requests {requested} {what}; the result has {inserted}");
        findings.add(rules::OPERATION_COUNT_DIFFERS.at(None, sentence));
    }
}

/// Return the successful inserts by the statuses, or else by the rows.
fn inserted(run: &Run) -> u64 {
    let inserts = || run.counted().filter(|operation| operation.name == "INSERT");
    if inserts().any(|operation| !operation.returns.is_empty()) {
        let counts = inserts().map(|operation| returned(operation, is_good));
        counts.fold(0, u64::saturating_add)
    } else {
        ops_of(inserts().filter(|operation| operation.outcome == "ok"))
    }
}

fn limited(run: &Run, done: u64, is_load: bool, findings: &mut Findings) {
    let limit = run
        .time_limit_s
        .map(|limit_s| format!(" of {limit_s} s"))
        .unwrap_or_default();
    let requested = run
        .operation_count
        .map(|count| format!(" of {count} requested"))
        .unwrap_or_default();
    let sentence = format!("the time limit{limit} ended the run after {done} operations{requested}");
    let rule = match is_load {
        true => &rules::LOAD_CUT,
        false => &rules::TIME_LIMIT_HIT,
    };
    findings.add(rule.at(run.stop.line, sentence));
}

fn threads(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let Some(requested) = run.threads_count else {
        if evidence.settings.has_command() {
            let sentence = "the number of threads is neither on the command line nor in an attached file";
            findings.add(rules::THREADS_UNKNOWN.at(None, sentence));
        }
        return;
    };
    match run.threads_ran_count {
        Some(ran) if ran != requested => {
            let sentence =
                format!("expected {requested} threads; by the rows of CLEANUP, {ran} ran to their end");
            findings.add(rules::THREADS_DIFFER.at(None, sentence));
        }
        Some(_) => {}
        None => cleanup_missing(evidence.fragment, findings),
    }
}

/// Check for rows of CLEANUP, which every release except 0.1.4 prints.
fn cleanup_missing(fragment: &Fragment, findings: &mut Findings) {
    let sentence = "the rows of CLEANUP, with the number of threads that ran to their end, are missing";
    match fragment.own.version.as_deref() {
        Some(HIDDEN_VERSION) => {}
        Some(_) => findings.add(rules::RESULT_CUT.at(Some(fragment.span.last_line), sentence)),
        None => findings.add(rules::THREADS_UNKNOWN.at(None, sentence)),
    }
}
