//! Checks of percentiles: their names, completeness and number of samples.

use crate::finding::Findings;
use crate::ycsb::checks;
use crate::ycsb::java::checks::Evidence;
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run};

/// Add the findings about percentiles.
pub fn check(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if evidence.kind.is_first_hdr {
        let sentence = "this version of YCSB prints the 90th percentile as the 95th";
        findings.add(rules::PERCENTILE_IS_P90.at(None, sentence));
    }
    let is_floored = |operation: &Operation| operation.percentiles_floor_us.is_some();
    if run.operations.iter().any(is_floored) {
        let sentence = "YCSB prints the percentiles as whole milliseconds, rounded down";
        findings.add(rules::PERCENTILES_FLOORED.at(None, sentence));
    }
    fell_back(run, evidence, findings);
    rows_missing(run, findings);
    checks::samples(run, "READ-MODIFY-WRITE", findings);
}

/// Return the percentiles of the command line, as decimals without trailing zeros.
fn requested(evidence: &Evidence<'_>) -> Vec<String> {
    let list = evidence.settings.get("hdrhistogram.percentiles").unwrap_or("");
    let shares = list.split(',').map(str::trim).filter(|share| !share.is_empty());
    shares.map(plain).collect()
}

/// Remove trailing zeros: `99.0` and `99` are the same percentile.
fn plain(share: &str) -> String {
    match share.contains('.') {
        true => share.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => share.to_owned(),
    }
}

fn fell_back(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if let Some(message) = &evidence.fragment.own.percentiles_fell_back {
        let rule = &rules::PERCENTILES_FELL_BACK;
        return findings.add(message.place.finding(rule, &message.text));
    }
    let is_hdr = run
        .measurement
        .is_some_and(|kind| kind.starts_with("hdrhistogram"));
    let mut printed = run
        .counted()
        .filter(|operation| !operation.percentiles.is_empty());
    let Some(printed) = printed.next().filter(|_| is_hdr) else {
        return;
    };
    let lacking = lacking(printed, evidence);
    if !lacking.is_empty() {
        let found = printed.percentiles.iter().take(16);
        let found: Vec<&str> = found.map(|(share, _)| share.as_str()).collect();
        let (lacking, found) = (lacking.join(", "), found.join(", "));
        let sentence = format!("expected also the requested percentiles {lacking}; got {found}");
        findings.add(rules::PERCENTILES_FELL_BACK.at(None, sentence));
    }
}

/// Return the missing requested percentiles, except for the 95th of the first HdrHistogram, which has its own finding.
fn lacking(printed: &Operation, evidence: &Evidence<'_>) -> Vec<String> {
    let is_reported = |share: &String| evidence.kind.is_first_hdr && share == "95";
    let has = |share: &String| {
        printed
            .percentiles
            .iter()
            .any(|(found, _)| plain(found) == *share)
    };
    let requested = requested(evidence).into_iter();
    let lacking = requested.filter(|share| !is_reported(share) && !has(share));
    lacking.take(16).collect()
}

/// Report operations that lack a percentile of others with the same recorder. A histogram omits percentiles beyond its
/// buckets.
fn rows_missing(run: &Run, findings: &mut Findings) {
    let has_operations = |operation: &&Operation| operation.ops_count.is_some_and(|count| count > 0);
    let timed = || run.operations.iter().filter(has_operations);
    let is_histogram = |operation: &Operation| operation.recorder.or(run.measurement) == Some("histogram");
    for operation in timed() {
        let of_histogram: &[&str] = if is_histogram(operation) {
            &["95", "99"]
        } else {
            &[]
        };
        let others = timed().filter(|other| other.recorder == operation.recorder);
        let printed = others
            .flat_map(|other| &other.percentiles)
            .map(|(share, _)| share.as_str());
        let has = |share: &str| operation.percentiles.iter().any(|(found, _)| found == share);
        if let Some(lacking) = of_histogram
            .iter()
            .copied()
            .chain(printed)
            .find(|share| !has(share))
        {
            let sentence = format!("{} lacks the row of percentile {lacking}", operation.name);
            findings.add(rules::PERCENTILE_ROW_MISSING.at(None, sentence));
        }
    }
}
