//! Checks of the result: present, complete and of one run.

use crate::finding::Findings;
use crate::ycsb::checks;
use crate::ycsb::java::checks::Evidence;
use crate::ycsb::java::fragment::{Fragment, MetricRows};
use crate::ycsb::java::measurement::Measurement;
use crate::ycsb::java::metric::Metric;
use crate::ycsb::java::operations::Rows;
use crate::ycsb::rules;
use crate::ycsb::run::{Run, Stop, StopKind};

/// Add the findings about the whole result.
pub fn check(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let fragment = evidence.fragment;
    has_result(run, fragment, findings);
    open_row(run, fragment, findings);
    rows_missing(fragment, findings);
    cells(run, fragment, findings);
    checks::messages(&fragment.crashes, &rules::EXCEPTIONS, "exceptions", findings);
    let what = "errors of the binding";
    checks::messages(&fragment.errors, &rules::BINDING_ERRORS, what, findings);
    if let Some(message) = &fragment.own.exporter_fell_back {
        findings.add(message.place.finding(&rules::EXPORTER_FELL_BACK, &message.text));
    }
}

fn has_result(run: &Run, fragment: &Fragment, findings: &mut Findings) {
    let Stop { kind, line, text } = &run.stop;
    let (rule, sentence) = match kind {
        StopKind::Crashed => {
            let sentence =
                format!("expected [OVERALL] rows with the result, got none; the program threw {text}");
            (rules::NO_RESULT, sentence)
        }
        StopKind::Interrupted => {
            let last = run.statuses().last().map(|last| (last.ops_count, last.elapsed_s));
            let last = last.map_or_else(String::new, |(ops_count, elapsed_s)| {
                format!("; the last status line has {ops_count} operations in {elapsed_s} s")
            });
            (
                rules::NO_RESULT,
                format!("expected [OVERALL] rows with the result, got none{last}"),
            )
        }
        StopKind::Cut => {
            let sentence = "expected [OVERALL] rows with the result before the other rows, got none";
            (rules::NO_RESULT, sentence.to_owned())
        }
        StopKind::NotStarted => {
            let why = if text.is_empty() {
                String::new()
            } else {
                format!("; {text}")
            };
            (
                rules::NOTHING_DONE,
                format!("throughput is 0: no operation was completed{why}"),
            )
        }
        StopKind::Finished | StopKind::TimeLimit => return lacks_totals(run, fragment, findings),
    };
    findings.add(rule.at(*line, sentence));
}

fn lacks_totals(run: &Run, fragment: &Fragment, findings: &mut Findings) {
    if run.done_ops_count.is_none() {
        let sentence = "expected [OVERALL], RunTime(ms) and Throughput(ops/sec) with numbers";
        findings.add(rules::RESULT_CUT.at(Some(fragment.span.first_line), sentence));
    } else if run.counted().next().is_none() {
        let sentence = "operations were completed, but their rows are missing";
        findings.add(rules::RESULT_CUT.at(Some(fragment.span.last_line), sentence));
    }
}

/// Report a last row without a line end, which may have lost digits. The count of a status that adds up has not.
fn open_row(run: &Run, fragment: &Fragment, findings: &mut Findings) {
    let Some(place) = &fragment.open_row else { return };
    let mut rows = fragment.own.metrics.iter().flat_map(|metric| &metric.named);
    let last = rows.find(|row| row.place == *place);
    let adds_up = last.is_some_and(|row| row.measurement.starts_with("Return="));
    let is_sound = adds_up && run.operations.iter().all(super::counts::returns_add_up);
    if !is_sound {
        checks::open_row(place, findings);
    }
}

/// Add a finding for each operation without a count, a mean, a minimum or a maximum.
fn rows_missing(fragment: &Fragment, findings: &mut Findings) {
    for metric in &fragment.own.metrics {
        if let Metric::Operation(name) = Metric::parse(&metric.name) {
            let rows = Rows::read(name, metric, &mut Findings::default());
            missing(&rows, metric, findings);
        }
    }
}

type Wanted = (&'static str, fn(&Measurement) -> bool);

const WANTED: [Wanted; 4] = [
    ("Operations", |known| matches!(known, Measurement::Operations)),
    ("AverageLatency", |known| matches!(known, Measurement::Mean(_))),
    ("MinLatency", |known| matches!(known, Measurement::Min(_))),
    ("MaxLatency", |known| matches!(known, Measurement::Max(_))),
];

fn missing(rows: &Rows<'_>, metric: &MetricRows, findings: &mut Findings) {
    let is_return = |measurement: &Measurement| matches!(measurement, Measurement::Return(_));
    let only_returns =
        metric.cells.is_empty() && rows.known.iter().all(|(measurement, _)| is_return(measurement));
    // An operation that never succeeded has only the rows of its statuses.
    if only_returns {
        return;
    }
    let lacks = WANTED.iter().filter(|(_, wanted)| rows.find(wanted).is_none());
    let names: Vec<&str> = lacks.map(|(name, _)| *name).collect();
    if !names.is_empty() {
        let sentence = format!("[{}] lacks the row {}", metric.name, names.join(", "));
        findings.add(metric.place.finding(&rules::ROW_MISSING, &sentence));
    }
}

fn cells(run: &Run, fragment: &Fragment, findings: &mut Findings) {
    let is_known = matches!(
        run.measurement,
        Some("histogram" | "hdrhistogram" | "timeseries" | "hdrhistogram+histogram")
    );
    for metric in fragment.own.metrics.iter().filter(|_| !is_known) {
        let (name, count) = (&metric.name, metric.cells.len());
        if count > 0 && matches!(Metric::parse(name), Metric::Operation(_)) {
            let sentence = format!(
                "[{name}] has {count} rows named by numbers, but the type of the measurement is unknown"
            );
            findings.add(metric.place.finding(&rules::CELLS_UNCLEAR, &sentence));
        }
    }
}
