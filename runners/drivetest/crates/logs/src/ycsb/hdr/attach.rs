//! Assignment of HDR files to runs, and comparison of their operations with the printed rows.

use crate::finding::{Finding, Findings};
use crate::ycsb::common::latencies::Latencies;
use crate::ycsb::common::number;
use crate::ycsb::hdr::file::HdrFile;
use crate::ycsb::java::metric::{Metric, OperationName, Recorder};
use crate::ycsb::rules;
use crate::ycsb::run::{Operation, Run, Time, Validity};

/// Merged histograms of one metric from all its files: one file per client.
struct Merged {
    file: HdrFile,
    names: Vec<String>,
    counts: Vec<u64>,
}

impl Merged {
    /// Return whether the number of operations in the files is unknown.
    fn is_open(&self) -> bool {
        self.file.unread_count > 0 || self.file.known_count == 0
    }

    /// Return a description of the unreadable part.
    fn unread(&self) -> String {
        match (self.file.unread_count, self.file.known_count) {
            (0, _) => "it has no histogram".to_owned(),
            (unread, known) => format!("{unread} of {} histograms cannot be read", unread + known),
        }
    }
}

/// Add HDR files to their runs; report those that match none.
pub fn attach(runs: &mut [Run], files: Vec<HdrFile>, findings: &mut Findings) {
    for merged in merge(files, findings) {
        // Metrics of the Java virtual machine are ignored, like in the rows.
        if let Metric::Operation(name) = Metric::parse(&merged.file.metric) {
            attach_one(runs, &merged, name, findings);
        }
    }
}

fn merge(files: Vec<HdrFile>, findings: &mut Findings) -> Vec<Merged> {
    let mut all: Vec<Merged> = Vec::new();
    // Overfull files were reported when they were read.
    for file in files.into_iter().filter(|file| !file.is_overfull) {
        let (name, count) = (file.name.clone(), file.latencies.ops_count());
        match all.iter_mut().find(|merged| merged.file.metric == file.metric) {
            None => all.push(Merged {
                file,
                names: vec![name],
                counts: vec![count],
            }),
            Some(merged) if !merged.file.latencies.has_room_for(&file.latencies) => {
                let sentence = format!(
                    "{name}: its counts and those of the previous files exceed 63 bits; it is ignored"
                );
                findings.add(rules::HDR_UNREADABLE.at(None, sentence));
            }
            Some(merged) => {
                merged.file.absorb(&file);
                merged.names.push(name);
                merged.counts.push(count);
            }
        }
    }
    all
}

fn attach_one(runs: &mut [Run], merged: &Merged, name: OperationName, findings: &mut Findings) {
    let of_all = merged.file.latencies.ops_count();
    let fits = |run: &Run| {
        let printed = printed(run, &name).and_then(|operation| operation.ops_count);
        printed.is_some_and(|count| count == of_all || merged.counts.contains(&count))
    };
    let at = match runs {
        [_] => Some(0),
        // An incomplete file could match the wrong run.
        _ if merged.is_open() => None,
        _ => {
            // YCSB overwrites the file in each run: it belongs to one run, which its counts identify.
            let mut fitting = runs.iter().enumerate().filter(|(_, run)| fits(run));
            let first = fitting.next().map(|(at, _)| at);
            first.filter(|_| fitting.next().is_none())
        }
    };
    let Some(run) = at.map(|at| &mut runs[at]) else {
        let (names, count) = (merged.names.join(", "), runs.len());
        let sentence = if merged.is_open() {
            let unread = merged.unread();
            format!("{names}: {unread}, so its counts do not show to which of the {count} runs it belongs")
        } else {
            format!("{names}: its counts do not match exactly one of the {count} runs")
        };
        return findings.add(rules::HDR_UNMATCHED.at(None, sentence));
    };
    let found = compare(printed(run, &name), merged);
    if merged.file.known_count > 0 {
        let operation = operation(printed(run, &name), name, &merged.file.latencies);
        run.operations.push(operation);
    }
    run.findings.extend(found);
    run.validity = Validity::of(&run.findings);
}

/// Return the printed operation of a file's metric.
fn printed<'a>(run: &'a Run, name: &OperationName) -> Option<&'a Operation> {
    let recorder = name.recorder.map(Recorder::measurement);
    run.operations.iter().find(|operation| {
        operation.from == "rows"
            && operation.name == name.operation
            && operation.outcome == name.outcome
            && operation.is_intended_twin == name.is_intended
            && (operation.recorder == recorder || operation.recorder == Some("hdrhistogram"))
    })
}

/// Return the operation of a histogram, without mean and minimum, which are exact only in the rows.
fn operation(printed: Option<&Operation>, name: OperationName, latencies: &Latencies) -> Operation {
    let time = printed.and_then(|printed| printed.time);
    let named = Operation {
        name: name.operation,
        outcome: name.outcome,
        time: time.or(name.is_intended.then_some(Time::Response)),
        is_intended_twin: name.is_intended,
        ..Operation::default()
    };
    latencies.operation("hdr", named)
}

fn compare(printed: Option<&Operation>, merged: &Merged) -> Vec<Finding> {
    let names = merged.names.join(", ");
    let metric = &merged.file.metric;
    if merged.is_open() {
        let unread = merged.unread();
        let sentence = format!(
            "{names}: {unread}: the number of operations of {metric} is unknown, so it is not compared with the rows"
        );
        return vec![rules::HDR_NOT_COMPARED.at(None, sentence)];
    }
    if merged.file.left_out_count > 0 {
        let count = merged.file.left_out_count;
        let sentence = format!("{names}: {count} intervals outside the requested time range are excluded");
        return vec![rules::HDR_CUT_TO_SPAN.at(None, sentence)];
    }
    let Some(printed) = printed else {
        let sentence = format!("{names}: the output has no rows of {metric}");
        return vec![rules::HDR_DIFFERS.at(None, sentence)];
    };
    let count = merged.file.latencies.ops_count();
    if printed.ops_count == Some(count) {
        return percentiles_differ(printed, merged, &names).into_iter().collect();
    }
    let rows = printed
        .ops_count
        .map_or_else(|| "no count".to_owned(), |rows| rows.to_string());
    let files = merged.names.len();
    if files > 1
        && printed
            .ops_count
            .is_some_and(|rows| merged.counts.contains(&rows))
    {
        let sentence = format!(
            "{metric}: {files} files are merged to {count} operations; the rows cover {rows} of them"
        );
        return vec![rules::HDR_OF_SEVERAL.at(None, sentence)];
    }
    let sentence =
        format!("{names}: expected {rows} operations of {metric}, the count of the rows; got {count}");
    vec![rules::HDR_DIFFERS.at(None, sentence)]
}

fn percentiles_differ(printed: &Operation, merged: &Merged, names: &str) -> Option<Finding> {
    let differs = printed.percentiles.iter().find_map(|(share, row)| {
        let (least, most) = merged.file.latencies.around_us(share)?;
        let row_us = number::count(row)?;
        let fits = row_us.saturating_add(bucket_us(row_us)) >= least
            && row_us <= most.saturating_add(bucket_us(most));
        (!fits).then(|| format!("p{share} is {row} us in the rows and {most} us in {names}"))
    })?;
    Some(rules::HDR_DIFFERS.at(None, format!("{}: {differs}", merged.file.metric)))
}

/// Return the width of a bucket of three digits.
fn bucket_us(value: u64) -> u64 {
    let bits = u64::BITS - value.leading_zeros();
    1 << bits.saturating_sub(11)
}
