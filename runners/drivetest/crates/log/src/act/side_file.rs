//! The side file of drivetest beside its log: its end record counts reads at each threshold, without bucket edges, and
//! tells what the log cannot: whether the rates were held, and how long requests took from when they were due.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::act::meaning::judged;
use crate::act::run::Run;
use crate::finding::{Finding, rule};
use crate::judge::exact::ExactCounts;

/// Bytes of a line that are kept; an end record tells of 128 devices and a thousand kinds of errors at most.
const LINE_BYTES_MAX: usize = 1 << 20;

/// The threshold (us) of late requests: the longest of the rules.
const LATE_US: &str = "64000";

/// So many of a thousand requests that are late for no fault of their own service are told; a second's worth always is.
const LATE_PER_MILLE: u64 = 1;

/// Takes the bytes of a side file and keeps what its end record tells.
#[derive(Debug, Default)]
pub struct SideFile {
    line: Vec<u8>,
    counts: Option<ExactCounts>,
    told: Option<EndTold>,
}

/// What later versions tell in the end record; earlier ones lack it.
#[derive(Debug, Deserialize)]
struct EndTold {
    record: String,
    rate: Option<Rate>,
    #[serde(default)]
    operations: BTreeMap<String, Operation>,
}

#[derive(Debug, Deserialize)]
struct Rate {
    is_held: bool,
    sentence: String,
}

#[derive(Debug, Deserialize)]
struct Operation {
    count: u64,
    asked_per_s: Option<String>,
    service_over: BTreeMap<String, u64>,
    response_over: BTreeMap<String, u64>,
    response: Response,
}

#[derive(Debug, Deserialize)]
struct Response {
    max_ns: Option<u64>,
}

impl SideFile {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|&byte| byte == b'\n');
        let Some(first) = pieces.next() else { return };
        self.keep(first);
        for piece in pieces {
            self.end_line();
            self.keep(piece);
        }
    }

    /// Gives what it tells to the run that it belongs to: drivetest's, the only one of the log, with as many reads. A run
    /// that ended early has counted more than its log's last whole block tells; those counts are of no use here.
    pub fn join(mut self, runs: &mut [Run]) -> Option<Finding> {
        self.end_line();
        let counts = self.counts?;
        match runs {
            [run] if is_of(&counts, run) => {
                let found = self.told.iter().flat_map(EndTold::findings);
                add_unknown(run, found.collect());
                run.exact = Some(counts).filter(|counts| Some(counts.ops_count()) == reads_count(run));
                None
            }
            _ => {
                let sentence = format!(
                    "the side file ends with {} reads; expected those of one run of drivetest that the log holds",
                    counts.ops_count()
                );
                Some(rule::SIDE_FILE_DIFFERS.at(None, sentence))
            }
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = LINE_BYTES_MAX - self.line.len();
        self.line.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn end_line(&mut self) {
        if let Some(counts) = ExactCounts::parse(&self.line) {
            self.counts = Some(counts);
            self.told = serde_json::from_slice(&self.line).ok();
        }
        self.line.clear();
    }
}

impl EndTold {
    fn findings(&self) -> Vec<Finding> {
        if self.record != "end" {
            return Vec::new();
        }
        let rate = self.rate.as_ref().filter(|rate| !rate.is_held);
        let rate = rate.map(|rate| rule::RATE_BELOW_ASKED.at(None, bounded(&rate.sentence)));
        let late: Vec<_> = self.operations.iter().filter_map(late).collect();
        let late =
            (!late.is_empty()).then(|| rule::RESPONSE_ABOVE_SERVICE.at(None, bounded(&late.join("; "))));
        rate.into_iter().chain(late).collect()
    }
}

/// What the log itself tells already is not told again.
fn add_unknown(run: &mut Run, found: Vec<Finding>) {
    for finding in found {
        if run.findings.iter().all(|known| known.id != finding.id) {
            run.findings.push(finding);
        }
    }
}

/// Requests that were answered late though their service was not slow: they waited before they were submitted.
fn late((name, operation): (&String, &Operation)) -> Option<String> {
    let of = |over: &BTreeMap<String, u64>| over.get(LATE_US).copied().unwrap_or(0);
    let (service, response) = (of(&operation.service_over), of(&operation.response_over));
    let waited = response.saturating_sub(service);
    let of_second = operation
        .asked_per_s
        .as_ref()
        .and_then(|rate| rate.parse::<f64>().ok());
    let least =
        (operation.count / 1_000 * LATE_PER_MILLE).min(of_second.map_or(u64::MAX, |rate| rate as u64));
    (waited > 0 && waited >= least).then(|| {
        let latest_s = operation.response.max_ns.unwrap_or(0) as f64 / 1e9;
        format!(
            "{name}: {response} of {} were answered 64 ms or more after they were due, {service} took as long once \
             submitted; the latest came {latest_s:.3} s after it was due",
            operation.count
        )
    })
}

/// As much of a sentence as a page shows.
fn bounded(sentence: &str) -> String {
    sentence.chars().take(1_000).collect()
}

fn is_of(counts: &ExactCounts, run: &Run) -> bool {
    run.asked.generator == "drivetest" && reads_count(run).is_some_and(|reads| counts.ops_count() >= reads)
}

fn reads_count(run: &Run) -> Option<u64> {
    Some(judged(run)?.tally.ops_count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings of an end record of 20,000 reads at 2,000 a second.
    fn found(waited: u64, rate: &str) -> Vec<(&'static str, String)> {
        let line = format!(
            r#"{{"record": "end", "reads_count": 20000, "over": {{"64000": 3}}, "rate": {rate}, "operations": {{"reads":
            {{"count": 20000, "asked_per_s": "2000.000000", "service_over": {{"64000": 3}},
            "response_over": {{"64000": {}}}, "response": {{"max_ns": 6002000000}}}}}}}}"#,
            3 + waited
        );
        let mut side = SideFile::default();
        side.push(line.replace('\n', " ").as_bytes());
        side.end_line();
        let found = side.told.map(|told| told.findings()).unwrap_or_default();
        found
            .into_iter()
            .map(|finding| (finding.id, finding.sentence))
            .collect()
    }

    #[test]
    fn requests_that_waited_before_they_were_submitted_are_told() {
        let told = "reads: 12003 of 20000 were answered 64 ms or more after they were due, 3 took as long once submitted; \
                    the latest came 6.002 s after it was due";
        assert_eq!(
            found(12_000, "null"),
            [("response-above-service", told.to_owned())]
        );
    }

    #[test]
    fn a_thousandth_must_have_waited() {
        assert_eq!((found(19, "null").len(), found(20, "null").len()), (0, 1));
    }

    #[test]
    fn a_rate_that_was_not_held_is_told_by_the_side_file() {
        let rate =
            |is_held| format!(r#"{{"is_held": {is_held}, "word": "x", "sentence": "reads: too few"}}"#);
        assert_eq!(found(0, &rate(true)), []);
        assert_eq!(
            found(0, &rate(false)),
            [("rate-below-asked", "reads: too few".to_owned())]
        );
    }

    #[test]
    fn an_end_record_of_an_earlier_version_still_counts() {
        let mut side = SideFile::default();
        side.push(br#"{"record": "end", "reason": "finished", "reads_count": 9, "over": {"1000": 1}}"#);
        side.end_line();
        assert!(side.counts.is_some_and(|counts| counts.ops_count() == 9));
        assert!(side.told.is_some_and(|told| told.findings().is_empty()));
    }
}
