//! Checks of times: what was measured, and consistency with throughput and threads.

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::java::checks::{Evidence, counts};
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run, StopKind, Time};

/// Add the findings about times and rates.
pub fn check(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if !matches!(run.stop.kind, StopKind::Finished | StopKind::TimeLimit) {
        return;
    }
    in_flight(run, findings);
    if evidence.settings.has_command() && !evidence.settings.is_unreadable("target") {
        coordinated_omission(run, findings);
        target(run, findings);
    }
}

fn coordinated_omission(run: &Run, findings: &mut Findings) {
    match (&run.target_ops_per_s, run.times) {
        (None, Some(Time::Service)) => {
            let sentence = "without a target, each operation starts when the previous one ends, so a stall delays only a few operations";
            findings.add(rules::CLOSED_LOOP.at(None, sentence));
        }
        (None, Some(Time::Response | Time::Both)) => {
            let sentence = "intended times were requested without a target: they equal the service times";
            findings.add(rules::INTENDED_WITHOUT_TARGET.at(None, sentence));
        }
        (Some(target), Some(Time::Service)) => {
            let sentence = format!(
                "the target is {target} operations/s, but only service times are measured, without waiting time"
            );
            findings.add(rules::INTENDED_TIMES_MISSING.at(None, sentence));
        }
        _ => {}
    }
}

/// Add a finding if the target was not reached.
pub fn target(run: &Run, findings: &mut Findings) {
    /// The runtime includes opening and closing the database, so a short run misses its target slightly.
    const REACHED_RATIO: f64 = 0.95;
    let target = run.target_ops_per_s.as_deref().and_then(number::value);
    let reached = run.throughput_ops_per_s.as_deref().and_then(number::value);
    if let Some((target, reached)) = target
        .zip(reached)
        .filter(|(target, reached)| *reached < target * REACHED_RATIO)
    {
        let sentence = format!("expected {target} operations/s; got {reached:.1}");
        findings.add(rules::TARGET_NOT_REACHED.at(None, sentence));
    }
}

/// Check Little's law: operations x mean time is the time that threads spent, and a thread runs one operation at once.
/// Source: J. D. C. Little, A proof for the queuing formula L = lambda W (1961).
pub fn in_flight(run: &Run, findings: &mut Findings) {
    let threads = run.threads_count.or(run.threads_ran_count);
    let runtime_ms = run.runtime_ms.as_deref().and_then(number::value);
    let spent_us = run.counted().map(spent_us).sum::<Option<f64>>();
    let (Some(threads), Some(runtime_ms), Some(spent_us)) = (threads, runtime_ms, spent_us) else {
        return;
    };
    if spent_us > room_us(threads, runtime_ms) {
        let in_flight = spent_us / (runtime_ms.max(1.0) * 1000.0);
        let sentence = format!(
            "throughput x mean time gives {in_flight:.1} concurrent operations; the run has {threads} threads"
        );
        findings.add(rules::MORE_IN_FLIGHT.at(None, sentence));
    }
}

/// Return the microseconds that all operations took; `None` if they are not service times, or lack a mean.
fn spent_us(operation: &Operation) -> Option<f64> {
    let ops_count = operation.ops_count?;
    if ops_count == 0 {
        return Some(0.0);
    }
    let mean_us = operation.mean_us.as_deref().and_then(number::value)?;
    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    let spent = ops_count as f64 * mean_us;
    counts::has_service_time(operation).then_some(spent)
}

/// Return the maximum time of threads: the runtime is truncated to whole milliseconds, a mean of HdrHistogram with three digits may be
/// 0.05 % above the truth, and times in microseconds are cut, never rounded up.
fn room_us(threads: u64, runtime_ms: f64) -> f64 {
    const MEAN_TOLERANCE: f64 = 1.001;
    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    let threads = threads as f64;
    threads * (runtime_ms + 1.0) * 1000.0 * MEAN_TOLERANCE
}
