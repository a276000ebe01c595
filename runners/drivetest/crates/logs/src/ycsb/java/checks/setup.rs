//! Checks of the setup, for comparisons of runs.

use crate::finding::Findings;
use crate::ycsb::checks;
use crate::ycsb::command::Phase;
use crate::ycsb::common::number;
use crate::ycsb::fragment::shown;
use crate::ycsb::java::build_run::HIDDEN_VERSION;
use crate::ycsb::java::checks::Evidence;
use crate::ycsb::rules;
use crate::ycsb::run::Run;
use crate::ycsb::settings::Known;

/// Add the findings about the setup.
pub fn check(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    command_line(run, evidence, findings);
    checks::options(evidence.settings, findings);
    version(run, evidence, findings);
    records(run, evidence, findings);
    checks::distribution(run, findings);
    aerospike(run, evidence, findings);
    options_file(run, evidence, findings);
    collections(run, findings);
}

fn command_line(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if !evidence.settings.has_command() {
        let sentence = "the command line of YCSB is missing: workload, phase, threads, records, target and requested operations are unknown";
        findings.add(rules::COMMAND_LINE_MISSING.at(None, sentence));
    }
    if !run.missing_files.is_empty() {
        let files = run.missing_files.iter().take(8);
        let files = files.map(|file| shown(file)).collect::<Vec<_>>().join(", ");
        let sentence = format!(
            "the properties in {files} are unknown, except for those on the command line, because no such file was sent"
        );
        findings.add(rules::FILES_MISSING.at(None, sentence));
    }
}

fn version(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    if evidence.fragment.own.version.as_deref() == Some(HIDDEN_VERSION) {
        let sentence = "the banner of YCSB reports version 0.1, like every release up to 0.7";
        findings.add(rules::VERSION_HIDDEN.at(None, sentence));
    }
    let distribution = run.request_distribution.as_deref();
    let how = distribution.unwrap_or("unknown, and zipfian in most workload files");
    let zipfian = matches!(distribution, None | Some("zipfian"));
    if zipfian && run.tool_version.as_deref().is_some_and(is_fork) {
        let sentence = format!(
            "this version is the HSE fork, whose zipfian distribution differs; the distribution is {how}"
        );
        findings.add(rules::FORK_ZIPFIAN.at(None, sentence));
    }
}

/// Return whether a version is of the HSE fork: it has four numbers, upstream has three.
fn is_fork(version: &str) -> bool {
    let numbers = version.split('-').next().unwrap_or(version);
    let rest_names_it = version.contains("hse");
    numbers.split('.').count() == 4 || rest_names_it
}

fn records(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let is_run = run.phase == Some(Phase::Run);
    if is_run && evidence.settings.known("recordcount") == Known::Unknown && run.workload.is_some() {
        let sentence = "recordcount is not on the command line of the run";
        findings.add(rules::RECORD_COUNT_UNKNOWN.at(None, sentence));
    }
}

/// Source: YCSB, AerospikeClient.update(): RecordExistsAction.REPLACE_ONLY.
fn aerospike(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let binding = run.binding.as_deref().unwrap_or("").to_ascii_lowercase();
    let fields = evidence.settings.whole_number("fieldcount", Some(10));
    let write_all = evidence.settings.known("writeallfields");
    let writes_one = matches!(write_all, Known::Set("false") | Known::Unset);
    let updates = run.operations.iter().any(|operation| operation.name == "UPDATE");
    if binding.contains("aerospike") && updates && writes_one && fields.is_some_and(|fields| fields > 1) {
        let sentence = "with the aerospike binding, an update of one field replaces the whole record, and only this field remains";
        findings.add(rules::UPDATES_SHRINK_RECORDS.at(None, sentence));
    }
}

/// Source: YCSB 0.15 to 0.17.0, RocksDBClient.java knows rocksdb.dir alone.
fn options_file(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    let binding = run.binding.as_deref().unwrap_or("").to_ascii_lowercase();
    let ignores = matches!(run.tool_version.as_deref(), Some("0.15.0" | "0.16.0" | "0.17.0"));
    let file = evidence.settings.get("rocksdb.optionsfile");
    if let Some(file) = file.filter(|_| ignores && binding.contains("rocksdb")) {
        let sentence = format!("this version does not read rocksdb.optionsfile={}", shown(file));
        findings.add(rules::OPTIONS_FILE_IGNORED.at(None, sentence));
    }
}

/// Add a finding if garbage collections took a twentieth of the time, which affects percentiles.
fn collections(run: &Run, findings: &mut Findings) {
    const HEAVY_PCT: f64 = 5.0;
    let collections = run.collections.as_ref();
    let pct = collections.and_then(|collections| collections.time_pct.as_deref());
    if let Some(pct) = pct.filter(|pct| number::value(pct).is_some_and(|pct| pct >= HEAVY_PCT)) {
        let sentence = format!("garbage collections of the Java virtual machine took {pct} % of the runtime");
        findings.add(rules::COLLECTIONS_HEAVY.at(None, sentence));
    }
}
