//! Puts together what several files, or several streams in one file, hold of the same runs.

use crate::finding::Findings;
use crate::ycsb::command::Command;
use crate::ycsb::number;
use crate::ycsb::piece::Piece;
use crate::ycsb::rules;
use crate::ycsb::status;

/// Both streams after each other in one file look like a run without a preamble and one without rows. They are one
/// where nothing speaks against it: the last status line tells as many operations as the rows.
pub fn streams_in_one_file(pieces: &mut Vec<Piece>) {
    let [rows, preamble] = pieces.as_slice() else {
        return;
    };
    let is_rows_alone = !rows.has_preamble() && rows.statuses.is_empty();
    let is_preamble_alone = preamble.has_preamble() && preamble.rows_count == 0;
    if !is_rows_alone || !is_preamble_alone || !fit(rows, preamble) {
        return;
    }
    if let (Some(preamble), Some(rows)) = (pieces.pop(), pieces.last_mut()) {
        let line = preamble.first_line;
        rows.last_line = preamble.last_line;
        rows.absorb(preamble);
        rows.tell(
            &rules::STREAMS_JOINED,
            line,
            "the other stream follows the rows of the same run",
        );
    }
}

fn fit(rows: &Piece, preamble: &Piece) -> bool {
    let last = preamble
        .statuses
        .last()
        .and_then(|last| status::progress(&last.text));
    last.is_none_or(|(_, ops_count)| done(rows) == Some(ops_count))
}

/// Operations done: throughput times runtime.
pub fn done(piece: &Piece) -> Option<u64> {
    let overall = piece.metric("OVERALL")?;
    let value = |name: &str| {
        let row = overall.named.iter().find(|row| row.measurement == name)?;
        number::value(&row.value)
    };
    let ops = value("Throughput(ops/sec)")? * value("RunTime(ms)")? / 1000.0;
    number::count(&format!("{:.0}", ops.round()))
}

/// Joins a companion's runs with the log's, in their order; a companion with another number of runs fits none.
pub fn companion(pieces: &mut Vec<Piece>, name: &str, companion: Vec<Piece>, findings: &mut Findings) {
    if pieces.is_empty() {
        *pieces = companion;
        pieces
            .iter_mut()
            .for_each(|piece| (piece.first_line, piece.last_line) = (0, 0));
        return;
    }
    if pieces.len() != companion.len() {
        let sentence = format!(
            "the log holds {} runs and {name} {}",
            pieces.len(),
            companion.len()
        );
        findings.add(rules::COMPANION_UNMATCHED.at(None, sentence));
        return;
    }
    let pairs = pieces.iter_mut().zip(companion);
    pairs.for_each(|(piece, other)| piece.absorb(other));
}

/// Gives each run its command line from a script; what YCSB printed itself is worth more.
pub fn commands(pieces: &mut [Piece], commands: Vec<Command>, findings: &mut Findings) {
    if commands.is_empty() {
        return;
    }
    if commands.len() != pieces.len() {
        let sentence = format!(
            "the log holds {} runs and the command file {}",
            pieces.len(),
            commands.len()
        );
        findings.add(rules::COMPANION_UNMATCHED.at(None, sentence));
        return;
    }
    for (piece, command) in pieces.iter_mut().zip(commands) {
        piece.launcher.get_or_insert(command);
    }
}
