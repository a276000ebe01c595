//! Checks of percentiles: their names, completeness and number of samples.

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::java::checks::Evidence;
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run};

/// Minimum number of samples beyond a percentile.
const BEYOND_MIN: f64 = 10.0;

/// Add the findings about percentiles.
pub fn check(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if evidence.kind.is_first_hdr {
        let sentence = "this version prints the 90th percentile as the 95th";
        findings.add(rules::PERCENTILE_IS_P90.at(None, sentence));
    }
    if run
        .operations
        .iter()
        .any(|operation| operation.percentiles_floor_us.is_some())
    {
        let sentence = "percentiles are whole milliseconds, rounded down";
        findings.add(rules::PERCENTILES_FLOORED.at(None, sentence));
    }
    fell_back(run, evidence, findings);
    rows_missing(run, findings);
    let judged = |operation: &&Operation| operation.is_counted || operation.name == "READ-MODIFY-WRITE";
    run.operations
        .iter()
        .filter(judged)
        .for_each(|operation| samples(operation, findings));
}

/// Return the percentiles of the command line, as decimals without trailing zeros.
fn requested(evidence: &Evidence<'_>) -> Vec<String> {
    let list = evidence.settings.get("hdrhistogram.percentiles").unwrap_or("");
    list.split(',')
        .map(str::trim)
        .filter(|share| !share.is_empty())
        .map(plain)
        .collect()
}

/// `99.0` and `99` are one.
fn plain(share: &str) -> String {
    if share.contains('.') {
        share.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        share.to_owned()
    }
}

fn fell_back(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if let Some(message) = &evidence.fragment.percentiles_fell_back {
        return findings.add(
            message
                .place
                .finding(&rules::PERCENTILES_FELL_BACK, &message.text),
        );
    }
    let is_hdr = run
        .measurement
        .is_some_and(|measurement| measurement.starts_with("hdrhistogram"));
    let printed = run
        .counted()
        .find(|operation| is_hdr && !operation.percentiles.is_empty());
    let Some(printed) = printed else { return };
    let lacking = lacking(printed, evidence);
    if !lacking.is_empty() {
        let found: Vec<&str> = printed
            .percentiles
            .iter()
            .map(|(share, _)| share.as_str())
            .take(16)
            .collect();
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
    requested
        .filter(|share| !is_reported(share) && !has(share))
        .take(16)
        .collect()
}

/// Return all operations of one recorder have the same percentiles; the histogram leaves out what lies beyond its buckets.
fn rows_missing(run: &Run, findings: &mut Findings) {
    let timed = || {
        run.operations
            .iter()
            .filter(|operation| operation.ops_count.is_some_and(|count| count > 0))
    };
    let is_histogram = |operation: &Operation| operation.recorder.or(run.measurement) == Some("histogram");
    for operation in timed() {
        let mut wanted: Vec<&str> = if is_histogram(operation) {
            vec!["95", "99"]
        } else {
            Vec::new()
        };
        let others = timed().filter(|other| other.recorder == operation.recorder);
        wanted.extend(
            others
                .flat_map(|other| &other.percentiles)
                .map(|(share, _)| share.as_str()),
        );
        let has = |share: &str| operation.percentiles.iter().any(|(found, _)| found == share);
        if let Some(lacking) = wanted.into_iter().find(|share| !has(share)) {
            let sentence = format!("{} lacks the row of percentile {lacking}", operation.name);
            findings.add(rules::PERCENTILE_ROW_MISSING.at(None, sentence));
        }
    }
}

/// Return whether enough operations lie beyond each percentile.
pub fn samples(operation: &Operation, findings: &mut Findings) {
    let Some(ops_count) = operation.ops_count.filter(|&count| count > 0) else {
        return;
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of samples against a few")]
    let beyond = |share: f64| ops_count as f64 * (100.0 - share) / 100.0;
    // A product of decimals may miss the whole number by a rounding.
    let is_thin = |share: &f64| *share < 100.0 && beyond(*share) < BEYOND_MIN * (1.0 - 1e-9);
    let shares = operation
        .percentiles
        .iter()
        .filter(|(share, _)| number::value(share).as_ref().is_some_and(is_thin));
    let thin: Vec<String> = shares.map(|(share, _)| format!("p{share}")).take(16).collect();
    if !thin.is_empty() {
        let time = if operation.is_intended_twin {
            " (response)"
        } else {
            ""
        };
        let sentence = format!(
            "{}{time}, {}: fewer than 10 of {ops_count} operations are beyond {}",
            operation.name,
            operation.outcome,
            thin.join(", ")
        );
        findings.add(rules::FEW_SAMPLES.at(None, sentence));
    }
}
