//! Checks of the status lines.

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::java::status;
use crate::ycsb::rules;
use crate::ycsb::run::Run;

/// Add the findings about status lines.
pub fn check(run: &Run, findings: &mut Findings) {
    last_line(run, findings);
    warm_up(run, findings);
    let comma = run
        .intervals
        .iter()
        .find(|line| status::has_comma_decimals(&line.text));
    if let Some(line) = comma {
        let sentence = "decimals have a comma, because of the language of the Java virtual machine";
        findings.add(line.place.finding(&rules::COMMA_DECIMALS, sentence));
    }
}

/// Check the last status line: it is of the end, but 0.1.4 prints it before the last operations are counted.
fn last_line(run: &Run, findings: &mut Findings) {
    let last = run.statuses().last();
    let Some((last, done)) = last.zip(run.done_ops_count.filter(|&done| done > 0)) else {
        return;
    };
    if last.ops_count > done
        || (last.ops_count < done && run.intervals.len() > 1 && is_end(run, last.elapsed_s))
    {
        let sentence = format!(
            "the last status line has {} operations; the result has {done}",
            last.ops_count
        );
        findings.add(rules::STATUS_DIFFERS.at(None, sentence));
    }
}

/// Return whether a status line was printed at the end of the run.
fn is_end(run: &Run, elapsed_s: u64) -> bool {
    let runtime_ms = run.runtime_ms.as_deref().and_then(number::count);
    runtime_ms.is_some_and(|runtime_ms| elapsed_s > runtime_ms / 1000)
}

/// Return the rates of the intervals, except for the last one, which is shorter.
fn rates(run: &Run) -> Vec<f64> {
    let printed = run.statuses().filter(|status| status.elapsed_s > 0);
    let mut rates: Vec<f64> = printed
        .filter_map(|status| number::value(&status.ops_per_s?))
        .collect();
    rates.pop();
    rates
}

/// Add a finding if the first interval is outside the range of the others, and a third away from their median.
pub fn warm_up(run: &Run, findings: &mut Findings) {
    const INTERVALS_MIN: usize = 6;
    const AWAY_RATIO: f64 = 1.0 / 3.0;
    let rates = rates(run);
    let Some((first, rest)) = rates.split_first().filter(|_| rates.len() >= INTERVALS_MIN) else {
        return;
    };
    let mut rest = rest.to_vec();
    rest.sort_by(f64::total_cmp);
    let (lowest, middle, highest) = (rest[0], rest[rest.len() / 2], rest[rest.len() - 1]);
    let is_outside = *first < lowest || *first > highest;
    if is_outside && (first - middle).abs() > middle * AWAY_RATIO {
        let sentence =
            format!("the first interval has {first} operations/s; the median of the others is {middle}");
        findings.add(rules::WARM_UP.at(None, sentence));
    }
}
