//! Puts together what several files hold of the same runs of go-ycsb.

use crate::finding::Findings;
use crate::ycsb::command::Command;
use crate::ycsb::go::piece::Piece;
use crate::ycsb::rules;

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

/// Gives each run its command line from a script.
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
        piece.command = Some(command);
    }
}
