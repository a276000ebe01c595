//! Joining of fragments of the same run from several files, or from several streams in one file.

use crate::finding::Findings;
use crate::ycsb::command::Command;
use crate::ycsb::common::number;
use crate::ycsb::fragment::{Dialect, Fragment};
use crate::ycsb::java::fragment::Java;
use crate::ycsb::java::status;
use crate::ycsb::rules;

/// Join two consecutive streams of one run in one file, which look like a run without rows and one with rows.
///
/// They are joined if only one has a banner, and if the last status line has as many operations as the rows. Up to 0.7
/// the banner is on the standard output; the status lines of a series are on both streams.
pub fn streams_in_one_file(fragments: &mut Vec<Fragment<Java>>) {
    let [first, second] = fragments.as_slice() else {
        return;
    };
    let is_result_first = first.own.rows_count > 0;
    let (result, other) = if is_result_first {
        (first, second)
    } else {
        (second, first)
    };
    if !are_of_one_run(result, other) {
        return;
    }
    let (begin, line, end) = (
        first.span.first_line,
        second.span.first_line,
        second.span.last_line,
    );
    let other = fragments.remove(usize::from(is_result_first));
    if let Some(result) = fragments.first_mut() {
        (result.span.first_line, result.span.last_line) = (begin, end);
        result.absorb(other);
        let sentence = "the other stream of the same run follows";
        result.span.report(&rules::STREAMS_JOINED, line, sentence);
    }
}

fn are_of_one_run(result: &Fragment<Java>, other: &Fragment<Java>) -> bool {
    let has_banner = |own: &Java| own.command.is_some() || own.version.is_some();
    let has_preamble = has_banner(&other.own) || other.own.has_loaded || other.launcher.is_some();
    let are_streams = result.own.rows_count > 0 && other.own.rows_count == 0 && has_preamble;
    let have_one_banner = !(has_banner(&result.own) && has_banner(&other.own));
    are_streams && have_one_banner && fit(result, other) && fit(result, result)
}

fn fit(rows: &Fragment<Java>, preamble: &Fragment<Java>) -> bool {
    let last = preamble.statuses.last();
    let last = last.and_then(|last| status::progress(&last.text));
    last.is_none_or(|(_, ops_count)| done(&rows.own) == Some(ops_count))
}

/// Return the completed operations: throughput times runtime.
pub fn done(own: &Java) -> Option<u64> {
    let overall = own.metric("OVERALL")?;
    let value = |name: &str| {
        let row = overall.named.iter().find(|row| row.measurement == name)?;
        number::value(&row.value)
    };
    let ops = value("Throughput(ops/sec)")? * value("RunTime(ms)")? / 1000.0;
    number::count(&format!("{:.0}", ops.round()))
}

/// Join the runs of an attachment with those of the log, in their order; report another number of runs.
pub fn companion<D: Dialect>(
    fragments: &mut Vec<Fragment<D>>,
    name: &str,
    companion: Vec<Fragment<D>>,
    findings: &mut Findings,
) {
    if fragments.is_empty() {
        *fragments = companion;
        // The lines are not in the log.
        for fragment in fragments {
            (fragment.span.first_line, fragment.span.last_line) = (0, 0);
        }
    } else if fits(fragments.len(), companion.len(), name, findings) {
        let pairs = fragments.iter_mut().zip(companion);
        pairs.for_each(|(fragment, other)| fragment.absorb(other));
    }
}

/// Set the command lines of runs from a script; a printed command line takes precedence.
pub fn commands<D>(fragments: &mut [Fragment<D>], commands: Vec<Command>, findings: &mut Findings) {
    if !commands.is_empty() && fits(fragments.len(), commands.len(), "the command file", findings) {
        for (fragment, command) in fragments.iter_mut().zip(commands) {
            fragment.launcher.get_or_insert(command);
        }
    }
}

fn fits(runs_count: usize, others_count: usize, name: &str, findings: &mut Findings) -> bool {
    if runs_count != others_count {
        let sentence = format!("the log has {runs_count} runs, but {name} has {others_count}");
        findings.add(rules::COMPANION_UNMATCHED.at(None, sentence));
    }
    runs_count == others_count
}
