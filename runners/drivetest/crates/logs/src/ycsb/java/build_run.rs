//! Construction of a YCSB run from the fragments of its files.

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::extra_operations;
use crate::ycsb::fragment::{Place, shown};
use crate::ycsb::java::checks;
use crate::ycsb::java::fragment::Fragment;
use crate::ycsb::java::measurement::{self, MeasurementType};
use crate::ycsb::java::metric::Metric;
use crate::ycsb::java::operations::{self, Rows};
use crate::ycsb::java::output::without_twins;
use crate::ycsb::join;
use crate::ycsb::run::{Operation, Run, Stop, StopKind, Time, Validity, ops_of};
use crate::ycsb::settings::{ConfigFile, Known, Settings};

/// Return the run of a fragment that all files of the run were joined into.
pub fn run(mut fragment: Fragment, configs: &[ConfigFile]) -> Run {
    let command = fragment.own.command.take().or(fragment.launcher.take());
    let command = command.as_ref();
    let settings = Settings::resolve(command, configs, fragment.dumped.as_ref());
    let mut findings = std::mem::take(&mut fragment.span.findings);
    without_twins(&mut fragment.statuses);
    let rows = operation_rows(&fragment, &mut findings);
    let kind = measurement::type_of(&rows, &settings, fragment.own.version.as_deref());
    let operations = operations(&rows, &kind, &settings);
    let phase = command.map(|command| command.phase);
    let mut run = Run::configured("ycsb", &fragment.span, command, &settings, phase);
    let version = fragment.own.version.clone();
    run.tool_version = version.filter(|version| version != HIDDEN_VERSION);
    run.binding = run.binding.or_else(|| settings.get("db").map(str::to_owned));
    let configured_limit_s = || settings.whole_number("maxexecutiontime", None);
    run.time_limit_s = fragment.own.limit_s.or_else(configured_limit_s);
    run.measurement = kind.measurement;
    run.times = times(&settings, &operations);
    take_overall(&mut run, &fragment, &mut findings);
    run.threads_ran_count = threads_ran(&operations);
    run.failed_ops_count = failed(&operations);
    run.operations = operations;
    run.stop = stop(&run, &fragment);
    run.intervals = std::mem::take(&mut fragment.statuses);
    let evidence = checks::Evidence {
        fragment: &fragment,
        settings: &settings,
        kind: &kind,
    };
    checks::all(&run, &evidence, &mut findings);
    run.findings = findings.into_list();
    extra_operations::raw(&mut run, &fragment.raw);
    run.validity = Validity::of(&run.findings);
    run
}

fn operation_rows<'a>(fragment: &'a Fragment, findings: &mut Findings) -> Vec<Rows<'a>> {
    let mut rows = Vec::new();
    for metric in &fragment.own.metrics {
        if let Metric::Operation(name) = Metric::parse(&metric.name) {
            rows.push(Rows::read(name, metric, findings));
        }
    }
    rows
}

fn operations(rows: &[Rows<'_>], kind: &MeasurementType, settings: &Settings) -> Vec<Operation> {
    let has_intended = rows.iter().any(|rows| rows.name.is_intended);
    let plain_time = plain_time(settings, has_intended);
    let operations = rows
        .iter()
        .map(|rows| operations::operation(rows, *kind, plain_time));
    operations.collect()
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
    let has = |time: Time| operations.iter().any(|operation| operation.time == Some(time));
    match has(Time::Response) && has(Time::Service) {
        true => Some(Time::Both),
        false => plain_time(settings, false),
    }
}

/// Version that every release up to 0.7 reports.
/// Source: YCSB 0.1.4 to 0.7.0, Client.main(): "YCSB Client 0.1".
pub const HIDDEN_VERSION: &str = "0.1";

/// Read the totals of the run and its garbage collections.
fn take_overall(run: &mut Run, fragment: &Fragment, findings: &mut Findings) {
    for metric in &fragment.own.metrics {
        let is_overall = match Metric::parse(&metric.name) {
            Metric::Overall => true,
            Metric::Collections => false,
            Metric::Machine | Metric::Operation(_) => continue,
        };
        if !is_overall {
            run.collections.get_or_insert_default();
        }
        for row in &metric.named {
            let place = match (row.measurement.as_str(), &mut run.collections) {
                ("RunTime(ms)", _) if is_overall => &mut run.runtime_ms,
                ("Throughput(ops/sec)", _) if is_overall => &mut run.throughput_ops_per_s,
                ("Count", Some(collections)) if !is_overall => &mut collections.count,
                ("Time(ms)", Some(collections)) if !is_overall => &mut collections.time_ms,
                ("Time(%)", Some(collections)) if !is_overall => &mut collections.time_pct,
                _ => {
                    findings.add(operations::unknown(&metric.name, row));
                    continue;
                }
            };
            *place = Some(row.value.clone()).filter(|value| number::is_number(value));
        }
    }
    run.done_ops_count = join::done(&fragment.own);
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
    let own_rows = ops_of(counted().filter(|operation| !checks::is_good(&operation.outcome)));
    let returns = counted().flat_map(|operation| &operation.returns);
    let bad = returns
        .filter(|(status, _)| !checks::is_good(status))
        .map(|(_, count)| *count);
    Some(own_rows.max(bad.fold(0, u64::saturating_add)))
}

fn stop(run: &Run, fragment: &Fragment) -> Stop {
    let exception = fragment.crashes.first.as_ref();
    match (&run.runtime_ms, run.done_ops_count) {
        (None, _) if fragment.own.rows_count > 0 => Stop::new(StopKind::Cut, None),
        (None, _) if exception.is_some() => Stop::new(StopKind::Crashed, exception),
        (None, _) => {
            let last = fragment.statuses.last();
            Stop {
                kind: StopKind::Interrupted,
                line: last.and_then(|status| status.place.log_line()),
                text: last.map_or_else(String::new, |status| shown(&status.text)),
            }
        }
        (Some(_), Some(0)) => Stop::new(StopKind::NotStarted, exception.or(fragment.errors.first.as_ref())),
        (Some(_), _) if checks::hit_limit(run, fragment) => Stop {
            line: fragment.own.limit_hit.as_ref().and_then(Place::log_line),
            ..Stop::new(StopKind::TimeLimit, None)
        },
        (Some(_), _) => Stop::new(StopKind::Finished, None),
    }
}
