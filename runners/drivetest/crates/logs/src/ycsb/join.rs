//! Joining of fragments of the same run from several files, or from several streams in one file.

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::java::command::Command;
use crate::ycsb::java::fragment::Fragment;
use crate::ycsb::java::status;
use crate::ycsb::rules;

/// Content of one file about a run of either program.
pub trait JoinFragment {
    /// Add the content of another file about the same run; existing values take precedence.
    fn absorb(&mut self, other: Self);

    /// Set the command line from a script.
    fn take_command(&mut self, command: Command);

    /// Remove line numbers, because the lines are not in the log.
    fn forget_lines(&mut self);
}

/// Join two consecutive streams of one run in one file, which look like a run without rows and one with rows.
///
/// They are joined if only one has a banner, and if the last status line has as many operations as the rows. Up to 0.7
/// the banner is on the standard output; the status lines of a series are on both streams.
pub fn streams_in_one_file(fragments: &mut Vec<Fragment>) {
    let [first, second] = fragments.as_slice() else {
        return;
    };
    let is_result_first = first.rows_count > 0;
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
        result.span.first_line = begin;
        result.span.last_line = end;
        result.absorb(other);
        let sentence = "the other stream of the same run follows";
        result.span.report(&rules::STREAMS_JOINED, line, sentence);
    }
}

fn are_of_one_run(result: &Fragment, other: &Fragment) -> bool {
    let has_banner = |fragment: &Fragment| fragment.command.is_some() || fragment.version.is_some();
    let are_streams = result.rows_count > 0 && other.rows_count == 0 && other.has_preamble();
    are_streams && !(has_banner(result) && has_banner(other)) && fit(result, other) && fit(result, result)
}

fn fit(rows: &Fragment, preamble: &Fragment) -> bool {
    let last = preamble
        .statuses
        .last()
        .and_then(|last| status::progress(&last.text));
    last.is_none_or(|(_, ops_count)| done(rows) == Some(ops_count))
}

/// Return the completed operations: throughput times runtime.
pub fn done(fragment: &Fragment) -> Option<u64> {
    let overall = fragment.metric("OVERALL")?;
    let value = |name: &str| {
        let row = overall.named.iter().find(|row| row.measurement == name)?;
        number::value(&row.value)
    };
    let ops = value("Throughput(ops/sec)")? * value("RunTime(ms)")? / 1000.0;
    number::count(&format!("{:.0}", ops.round()))
}

/// Join the runs of an attachment with those of the log, in their order; report another number of runs.
pub fn companion<P: JoinFragment>(
    fragments: &mut Vec<P>,
    name: &str,
    companion: Vec<P>,
    findings: &mut Findings,
) {
    if fragments.is_empty() {
        *fragments = companion;
        fragments.iter_mut().for_each(P::forget_lines);
        return;
    }
    if fits(fragments.len(), companion.len(), name, findings) {
        let pairs = fragments.iter_mut().zip(companion);
        pairs.for_each(|(fragment, other)| fragment.absorb(other));
    }
}

/// Set the command lines of runs from a script; a printed command line takes precedence.
pub fn commands<P: JoinFragment>(fragments: &mut [P], commands: Vec<Command>, findings: &mut Findings) {
    if !commands.is_empty() && fits(fragments.len(), commands.len(), "the command file", findings) {
        let pairs = fragments.iter_mut().zip(commands);
        pairs.for_each(|(fragment, command)| fragment.take_command(command));
    }
}

fn fits(runs_count: usize, others_count: usize, name: &str, findings: &mut Findings) -> bool {
    if runs_count != others_count {
        let sentence = format!("the log has {runs_count} runs, but {name} has {others_count}");
        findings.add(rules::COMPANION_UNMATCHED.at(None, sentence));
    }
    runs_count == others_count
}
