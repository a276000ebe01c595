//! Operations in addition to the printed rows: from percentile spectra and single latencies.

use crate::finding::{Finding, Findings};
use crate::ycsb::common::number;
use crate::ycsb::common::raw::{Raw, RawOperation};
use crate::ycsb::common::spectrum::{self, Spectrum};
use crate::ycsb::java::metric::{Metric, Recorder};
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run, Time, Validity};

/// Return the name that a program gave an operation's metric.
fn printed_name(run: &Run, operation: &Operation) -> String {
    match (operation.outcome.as_str(), run.tool) {
        ("ok", _) => operation.name.clone(),
        ("failed", "go-ycsb") => format!("{}_ERROR", operation.name),
        ("failed", _) => format!("{}-FAILED", operation.name),
        (status, _) => format!("{}-{status}", operation.name),
    }
}

/// Add percentile spectra to their runs; report those that match none.
pub fn spectra(runs: &mut [Run], spectra: Vec<Spectrum>, findings: &mut Findings) {
    for spectrum in spectra {
        let fitting = runs.iter().enumerate().filter_map(|(at, run)| {
            let operation = printed(run, &spectrum)?;
            (runs.len() == 1 || operation.ops_count == spectrum.ops_count).then_some((at, operation))
        });
        let fitting: Vec<_> = fitting.take(2).collect();
        let [(at, operation)] = fitting[..] else {
            let name = &spectrum.name;
            let sentence = format!("{name}: it does not match an operation of exactly one run");
            findings.add(rules::HDR_UNMATCHED.at(None, sentence));
            continue;
        };
        let of_it = of_spectrum(operation, &spectrum);
        let found = compare(operation, &spectrum);
        runs[at].operations.push(of_it);
        runs[at].findings.extend(found);
        runs[at].validity = Validity::of(&runs[at].findings);
    }
}

fn printed<'a>(run: &'a Run, spectrum: &Spectrum) -> Option<&'a Operation> {
    let is_row = |operation: &&Operation| operation.from == "rows" && !operation.is_intended_twin;
    let rows = run.operations.iter().filter(is_row);
    let named = rows.map(|operation| (printed_name(run, operation), operation));
    let named: Vec<_> = named.collect();
    let metric = spectrum::metric_of(&spectrum.name, named.iter().map(|(name, _)| name.as_str()))?;
    let (_, operation) = named.iter().find(|(name, _)| name == metric)?;
    Some(*operation)
}

fn of_spectrum(printed: &Operation, spectrum: &Spectrum) -> Operation {
    Operation {
        name: printed.name.clone(),
        outcome: printed.outcome.clone(),
        time: printed.time,
        ops_count: spectrum.ops_count,
        max_us: spectrum.max.clone(),
        percentiles: spectrum.percentiles.clone(),
        from: "hgrm",
        ..Operation::default()
    }
}

fn compare(printed: &Operation, spectrum: &Spectrum) -> Option<Finding> {
    let (name, rows) = (&spectrum.name, &printed.name);
    if let Some(line) = spectrum.unreadable {
        let sentence = format!("{name}, line {line}: expected a row of a percentile spectrum");
        return Some(rules::HDR_UNREADABLE.at(None, sentence));
    }
    let max = |max: &Option<String>| max.as_deref().and_then(number::count);
    let same = printed.ops_count == spectrum.ops_count && max(&printed.max_us) == max(&spectrum.max);
    let sentence = format!("{name}: its operations differ from the rows of {rows}");
    (!same).then(|| rules::HDR_DIFFERS.at(None, sentence))
}

/// Add operations from the single latencies of a YCSB run, in addition to the summary.
pub fn raw(run: &mut Run, raw: &Raw) {
    if raw.operations().is_empty() {
        return;
    }
    let time = run.times.filter(|time| *time != Time::Both);
    for operation in raw.operations() {
        let Metric::Operation(name) = Metric::parse(&operation.name) else {
            continue;
        };
        let intended = name.is_intended.then_some(Time::Response);
        let named = Operation {
            name: name.operation,
            outcome: name.outcome,
            time: intended.or(time).or(run.times.and(Some(Time::Service))),
            recorder: name.recorder.map(Recorder::measurement),
            is_intended_twin: name.is_intended,
            ..Operation::default()
        };
        let of_raw = raw.operation(operation, named);
        let found = differs(run, &of_raw);
        run.findings.extend(found);
        run.operations.push(of_raw);
    }
    report(run, raw);
}

/// Return a finding if the summary has another number of operations.
fn differs(run: &Run, of_raw: &Operation) -> Option<Finding> {
    let is_twin = |printed: &&Operation| {
        printed.from == "rows"
            && (&printed.name, &printed.outcome) == (&of_raw.name, &of_raw.outcome)
            && printed.is_intended_twin == of_raw.is_intended_twin
    };
    let printed = run.operations.iter().find(is_twin)?;
    let (rows, single) = (printed.ops_count?, of_raw.ops_count?);
    let name = &of_raw.name;
    let sentence =
        format!("{name}: expected {rows} single operations, the count of the summary; got {single}");
    (rows != single).then(|| rules::RAW_DIFFERS.at(None, sentence))
}

/// Report single operations that are rounded or not stored.
pub fn report(run: &mut Run, raw: &Raw) {
    let is_rounded = |operation: &&RawOperation| operation.latencies.is_rounded();
    let rounded = raw.operations().iter().filter(is_rounded);
    let rounded: Vec<&str> = rounded.map(|operation| operation.name.as_str()).collect();
    if !rounded.is_empty() {
        let what = "more than 65536 different latencies; percentiles are rounded up by less than 0.1 %";
        let sentence = format!("{}: {what}", rounded.join(", "));
        run.findings.push(rules::LATENCIES_ROUNDED.at(None, sentence));
    }
    if raw.passed_over_count > 0 {
        let count = raw.passed_over_count;
        let sentence = format!(
            "expected at most 64 kinds of single operations; {count} operations of other kinds are ignored"
        );
        run.findings.push(rules::TOO_MANY_ROWS.at(None, sentence));
    }
    if raw.has_lost_seconds() {
        let sentence = "single operations cover too many seconds: the counts by second are omitted";
        run.findings.push(rules::TOO_MANY_ROWS.at(None, sentence));
    }
}
