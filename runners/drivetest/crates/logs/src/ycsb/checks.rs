//! Checks that apply to runs of YCSB and of go-ycsb. Findings that decide make a run invalid; its exit status never does.

use crate::finding::{Findings, Rule};
use crate::ycsb::command::Phase;
use crate::ycsb::common::number;
use crate::ycsb::fragment::{MessageCount, Place, shown};
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run, Time, ops_of};
use crate::ycsb::settings::Settings;

/// Add a finding about the exceptions, panics or errors of a program; `what` names them.
pub fn messages(messages: &MessageCount, rule: &Rule, what: &str, findings: &mut Findings) {
    if let Some(first) = &messages.first {
        let sentence = format!("{what}: {}; the first: {}", messages.count, first.text);
        findings.add(first.place.finding(rule, &sentence));
    }
}

/// Add a finding about a last row that may have lost digits.
pub fn open_row(place: &Place, findings: &mut Findings) {
    let sentence = "the last row has no line end, so its value may be truncated";
    findings.add(place.finding(&rules::LAST_ROW_OPEN, sentence));
}

/// Add a finding if operations failed.
pub fn failed(run: &Run, findings: &mut Findings) {
    let Some(failed) = run.failed_ops_count.filter(|&failed| failed > 0) else {
        return;
    };
    let made = ops_of(run.counted());
    let share = if made >= failed {
        percent(failed, made)
    } else {
        "100.00".to_owned()
    };
    let sentence = format!(
        "{failed} of {made} operations failed ({share} %); the times of successful operations exclude the failed ones"
    );
    findings.add(rules::OPERATIONS_FAILED.at(None, sentence));
}

/// Return a share in percent with two decimal places.
fn percent(part: u64, whole: u64) -> String {
    let hundredths = (u128::from(part) * 20_000 / u128::from(whole)).div_ceil(2);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Add findings for settings that cannot be read.
pub fn options(settings: &Settings, findings: &mut Findings) {
    for (name, value) in settings.unreadable() {
        let sentence = format!("{name}: expected a finite number; got '{}'", shown(value));
        findings.add(rules::OPTION_UNREADABLE.at(None, sentence));
    }
}

/// Add a finding if workload D ran with another distribution.
pub fn distribution(run: &Run, findings: &mut Findings) {
    let is_d = run.workload.as_deref() == Some("d") && run.phase == Some(Phase::Run);
    let other = run.request_distribution.as_deref();
    if let Some(other) = other.filter(|&other| is_d && other != "latest") {
        let sentence =
            format!("workload D ran with requestdistribution={other}, so it did not read the latest records");
        findings.add(rules::LATEST_REPLACED.at(None, sentence));
    }
}

/// Add a finding if the target was not reached.
pub fn target(run: &Run, findings: &mut Findings) {
    /// The runtime includes opening and closing the database, so a short run misses its target slightly.
    const REACHED_RATIO: f64 = 0.95;
    let target = run.target_ops_per_s.as_deref().and_then(number::value);
    let reached = run.throughput_ops_per_s.as_deref().and_then(number::value);
    if let (Some(target), Some(reached)) = (target, reached)
        && reached < target * REACHED_RATIO
    {
        let sentence = format!("the target is {target} operations/s, but the run reached {reached:.1}");
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
            "throughput x mean time gives {in_flight:.1} concurrent operations, but the run has {threads} threads"
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
    (operation.time == Some(Time::Service)).then_some(spent)
}

/// Return the maximum time of threads: the runtime is truncated to whole milliseconds, a mean of HdrHistogram with three digits may be
/// 0.05 % above the truth, and times in microseconds are cut, never rounded up.
fn room_us(threads: u64, runtime_ms: f64) -> f64 {
    const MEAN_TOLERANCE: f64 = 1.001;
    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    let threads = threads as f64;
    threads * (runtime_ms + 1.0) * 1000.0 * MEAN_TOLERANCE
}

/// Add a finding if too few operations lie beyond a percentile, for each operation that is counted or composite.
pub fn samples(run: &Run, composite: &str, findings: &mut Findings) {
    let judged = |operation: &&Operation| operation.is_counted || operation.name == composite;
    let operations = run.operations.iter().filter(judged);
    operations.for_each(|operation| few_samples(operation, findings));
}

fn few_samples(operation: &Operation, findings: &mut Findings) {
    /// Minimum number of samples beyond a percentile.
    const BEYOND_MIN: f64 = 10.0;
    let Some(ops_count) = operation.ops_count.filter(|&count| count > 0) else {
        return;
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of samples against a few")]
    let beyond = |share: f64| ops_count as f64 * (100.0 - share) / 100.0;
    // A product of decimals may miss the whole number by a rounding.
    let is_thin = |share: &f64| *share < 100.0 && beyond(*share) < BEYOND_MIN * (1.0 - 1e-9);
    let shares = operation.percentiles.iter().map(|(share, _)| share);
    let thin = shares.filter(|share| number::value(share).as_ref().is_some_and(is_thin));
    let thin: Vec<String> = thin.map(|share| format!("p{share}")).take(16).collect();
    if !thin.is_empty() {
        let time = if operation.is_intended_twin {
            " (response)"
        } else {
            ""
        };
        let (name, outcome, thin) = (&operation.name, &operation.outcome, thin.join(", "));
        let sentence = format!(
            "{name}{time}, {outcome}: {ops_count} operations are too few to measure {thin}: fewer than 10 operations lie beyond such a percentile"
        );
        findings.add(rules::FEW_SAMPLES.at(None, sentence));
    }
}

/// Add a finding if the first interval is outside the range of the others, and a third away from their median.
pub fn warm_up(run: &Run, findings: &mut Findings) {
    const INTERVALS_MIN: usize = 6;
    const AWAY_RATIO: f64 = 1.0 / 3.0;
    let printed = run.statuses().filter(|status| status.elapsed_s > 0);
    let rates = printed.filter_map(|status| number::value(&status.ops_per_s?));
    let mut rates: Vec<f64> = rates.collect();
    // The last interval is shorter.
    rates.pop();
    let Some((first, rest)) = rates.split_first().filter(|_| rates.len() >= INTERVALS_MIN) else {
        return;
    };
    let mut rest = rest.to_vec();
    rest.sort_by(f64::total_cmp);
    let (lowest, middle, highest) = (rest[0], rest[rest.len() / 2], rest[rest.len() - 1]);
    let is_outside = *first < lowest || *first > highest;
    if is_outside && (first - middle).abs() > middle * AWAY_RATIO {
        let sentence = format!(
            "the first interval has {first} operations/s, but the median of the other intervals is {middle}"
        );
        findings.add(rules::WARM_UP.at(None, sentence));
    }
}

/// Sentence about a run without a target.
pub const CLOSED_LOOP: &str = "without a target, each operation starts when the previous one ends, so a stall delays only one operation of each thread";

/// Return the sentence about a run with a target that measures no response times.
pub fn only_service_times(target: &str) -> String {
    format!("the target is {target} operations/s, but only service times are measured, without waiting time")
}
