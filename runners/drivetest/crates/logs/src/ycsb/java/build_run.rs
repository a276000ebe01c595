//! Construction of a YCSB run from the fragments of its files.

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::extra_operations;
use crate::ycsb::java::checks;
use crate::ycsb::java::command::{Command, Phase};
use crate::ycsb::java::fragment::{Fragment, MetricRows};
use crate::ycsb::java::measurement_type::{self, MeasurementType};
use crate::ycsb::java::metric::Metric;
use crate::ycsb::java::operations::{self, Common, Rows};
use crate::ycsb::java::output::without_twins;
use crate::ycsb::java::settings::{ConfigFile, Known, Settings};
use crate::ycsb::join;
use crate::ycsb::run::{Collections, Operation, Run, Stop, StopKind, Time, Validity};

/// Return the run of a piece that all files of the run were joined into.
pub fn run(ordinal: usize, mut fragment: Fragment, configs: &[ConfigFile]) -> Run {
    let command = fragment.command.take().or(fragment.launcher.take());
    let settings = Settings::resolve(command.as_ref(), configs, fragment.dumped.as_ref());
    let mut findings = std::mem::take(&mut fragment.span.findings);
    without_twins(&mut fragment.statuses);
    let rows = operation_rows(&fragment, &mut findings);
    let kind = measurement_type::of(&rows, &settings, fragment.version.as_deref());
    let operations = operations(&rows, &kind, &settings);
    drop(rows);
    let mut run = requested(command.as_ref(), &settings, &fragment);
    run.ordinal = ordinal;
    run.measurement = kind.measurement;
    run.times = times(&settings, &operations);
    take_overall(&mut run, &fragment, &mut findings);
    run.threads_ran_count = threads_ran(&operations);
    run.failed_ops_count = failed(&operations);
    run.operations = operations;
    run.stop = stop(&run, &fragment);
    run.intervals = std::mem::take(&mut fragment.statuses);
    checks::all(
        &run,
        &checks::Evidence {
            fragment: &fragment,
            settings: &settings,
            kind: &kind,
        },
        &mut findings,
    );
    run.findings = findings.into_list();
    extra_operations::raw(&mut run, &fragment.raw);
    run.validity = Validity::of(&run.findings);
    run
}

fn operation_rows<'a>(fragment: &'a Fragment, findings: &mut Findings) -> Vec<Rows<'a>> {
    let mut rows = Vec::new();
    for metric in &fragment.metrics {
        if let Metric::Operation(name) = Metric::parse(&metric.name) {
            rows.push(Rows::read(name, metric, findings));
        }
    }
    rows
}

fn operations(rows: &[Rows<'_>], kind: &MeasurementType, settings: &Settings) -> Vec<Operation> {
    let has_intended = rows.iter().any(|rows| rows.name.is_intended);
    let common = Common {
        measurement: kind.measurement,
        plain_time: plain_time(settings, has_intended),
        is_first_hdr: kind.is_first_hdr,
    };
    rows.iter()
        .map(|rows| operations::operation(rows, common))
        .collect()
}

/// Return the time that operations with plain names measure.
fn plain_time(settings: &Settings, has_intended: bool) -> Option<Time> {
    if has_intended {
        return Some(Time::Service);
    }
    match settings.known("measurement.interval") {
        Known::Set("intended") => Some(Time::Response),
        Known::Set("op" | "both") | Known::Unset => Some(Time::Service),
        Known::Set(_) | Known::Unknown => None,
    }
}

fn times(settings: &Settings, operations: &[Operation]) -> Option<Time> {
    let has_both = operations
        .iter()
        .any(|operation| operation.time == Some(Time::Response))
        && operations
            .iter()
            .any(|operation| operation.time == Some(Time::Service));
    if has_both {
        return Some(Time::Both);
    }
    plain_time(settings, false)
}

/// Return the configuration, as far as it is known.
fn requested(command: Option<&Command>, settings: &Settings, fragment: &Fragment) -> Run {
    let phase = command.map(|command| command.phase);
    let set = |name: &str| settings.get(name).map(str::to_owned);
    let is_some_target = |target: &String| number::value(target).is_some_and(|ops| ops > 0.0);
    let limit_s = || settings.whole_number("maxexecutiontime", None);
    Run {
        tool: "ycsb",
        tool_version: fragment
            .version
            .clone()
            .filter(|version| version != HIDDEN_VERSION),
        first_line: fragment.span.first_line,
        last_line: fragment.span.last_line,
        phase,
        workload: command.and_then(Command::workload).map(str::to_owned),
        binding: command
            .and_then(|command| command.binding.clone())
            .or_else(|| set("db")),
        command_line: command.map(|command| command.text.clone()),
        properties: settings.pairs(),
        missing_files: settings.missing_files.clone(),
        threads_count: settings.whole_number("threadcount", Some(1)),
        target_ops_per_s: set("target").filter(is_some_target),
        record_count: settings.whole_number("recordcount", None),
        record_bytes: record_bytes(settings),
        operation_count: requested_operations(settings, phase),
        time_limit_s: fragment.limit_s.or_else(limit_s),
        request_distribution: set("requestdistribution"),
        ..Run::default()
    }
}

/// Version that every release up to 0.7 reports.
/// Source: YCSB 0.1.4 to 0.7.0, Client.main(): "YCSB Client 0.1".
pub const HIDDEN_VERSION: &str = "0.1";

/// Return the requested operations: a load inserts `insertcount` records, or all of them.
pub fn requested_operations(settings: &Settings, phase: Option<Phase>) -> Option<u64> {
    if phase != Some(Phase::Load) {
        return settings.whole_number("operationcount", Some(0));
    }
    let inserts = settings.whole_number("insertcount", None);
    inserts.or_else(|| settings.whole_number("recordcount", None))
}

/// Return the bytes of a record's values, if the number and length of fields are known.
pub fn record_bytes(settings: &Settings) -> Option<u64> {
    let is_constant = match settings.known("fieldlengthdistribution") {
        Known::Set(distribution) => distribution == "constant",
        Known::Unset => true,
        Known::Unknown => false,
    };
    let fields = settings.whole_number("fieldcount", None)?;
    let bytes = settings.whole_number("fieldlength", None)?;
    fields.checked_mul(bytes).filter(|_| is_constant)
}

fn take_overall(run: &mut Run, fragment: &Fragment, findings: &mut Findings) {
    for metric in &fragment.metrics {
        match Metric::parse(&metric.name) {
            Metric::Overall => take_totals(run, metric, findings),
            Metric::Collections => take_collections(run, metric, findings),
            _ => {}
        }
    }
    run.done_ops_count = join::done(fragment);
}

fn take_totals(run: &mut Run, metric: &MetricRows, findings: &mut Findings) {
    for row in &metric.named {
        let value = Some(row.value.clone()).filter(|value| number::is_number(value));
        match row.measurement.as_str() {
            "RunTime(ms)" => run.runtime_ms = value,
            "Throughput(ops/sec)" => run.throughput_ops_per_s = value,
            _ => findings.add(operations::unknown(&metric.name, row)),
        }
    }
}

fn take_collections(run: &mut Run, metric: &MetricRows, findings: &mut Findings) {
    let collections = run.collections.get_or_insert_with(Collections::default);
    for row in &metric.named {
        let value = Some(row.value.clone()).filter(|value| number::is_number(value));
        match row.measurement.as_str() {
            "Count" => collections.count = value,
            "Time(ms)" => collections.time_ms = value,
            "Time(%)" => collections.time_pct = value,
            _ => findings.add(operations::unknown(&metric.name, row)),
        }
    }
}

/// Return the threads that ran to their end: each cleans up once. 0.1.4 does not print it.
fn threads_ran(operations: &[Operation]) -> Option<u64> {
    let is_cleanup = |operation: &&Operation| operation.name == "CLEANUP" && !operation.is_intended_twin;
    let cleanup = operations.iter().find(is_cleanup);
    cleanup.and_then(|operation| operation.ops_count)
}

/// Return the failed operations: from their own rows, and up to 0.5 from the statuses.
fn failed(operations: &[Operation]) -> Option<u64> {
    let counted = || operations.iter().filter(|operation| operation.is_counted);
    counted().next()?;
    let own_rows: u64 = counted()
        .filter(|operation| !checks::is_good(&operation.outcome))
        .filter_map(|operation| operation.ops_count)
        .fold(0, u64::saturating_add);
    let statuses: u64 = counted()
        .flat_map(|operation| &operation.returns)
        .filter(|(status, _)| !checks::is_good(status))
        .fold(0, |sum, (_, count)| sum.saturating_add(*count));
    Some(own_rows.max(statuses))
}

fn stop(run: &Run, fragment: &Fragment) -> Stop {
    let message = |kind, message: Option<&super::fragment::Message>| Stop {
        kind,
        line: message
            .filter(|message| message.place.part.is_none())
            .map(|message| message.place.line),
        text: message.map_or_else(String::new, |message| message.text.clone()),
    };
    let exception = fragment.exceptions.first.as_ref();
    match (&run.runtime_ms, run.done_ops_count) {
        (None, _) if fragment.rows_count > 0 => message(StopKind::Cut, None),
        (None, _) if exception.is_some() => message(StopKind::Crashed, exception),
        (None, _) => last_word(fragment),
        (Some(_), Some(0)) => message(StopKind::NotStarted, exception.or(fragment.errors.first.as_ref())),
        (Some(_), _) if checks::hit_limit(run, fragment) => Stop {
            kind: StopKind::TimeLimit,
            line: fragment
                .limit_hit
                .as_ref()
                .filter(|place| place.part.is_none())
                .map(|place| place.line),
            text: String::new(),
        },
        (Some(_), _) => message(StopKind::Finished, None),
    }
}

fn last_word(fragment: &Fragment) -> Stop {
    let last = fragment.statuses.last();
    let here = last.filter(|status| status.place.part.is_none());
    Stop {
        kind: StopKind::Interrupted,
        line: here.map(|status| status.place.line),
        text: last.map_or_else(String::new, |status| super::output::shown(&status.text)),
    }
}
