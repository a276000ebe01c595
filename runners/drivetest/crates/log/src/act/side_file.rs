//! The side file of drivetest beside its log: its end record counts reads at each threshold, without bucket edges.

use crate::act::meaning::judged;
use crate::act::run::Run;
use crate::finding::{Finding, rule};
use crate::judge::exact::ExactCounts;

/// Bytes of a line that are kept; the end record has less than 2 KiB.
const LINE_BYTES_MAX: usize = 65_536;

/// Takes the bytes of a side file and keeps what its end record counts.
#[derive(Debug, Default)]
pub struct SideFile {
    line: Vec<u8>,
    counts: Option<ExactCounts>,
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

    /// Gives its counts to the run that it belongs to: drivetest's, the only one of the log, with as many reads. A run
    /// that ended early has counted more than its log's last whole block tells; those counts are of no use here.
    pub fn join(mut self, runs: &mut [Run]) -> Option<Finding> {
        self.end_line();
        let counts = self.counts?;
        match runs {
            [run] if is_of(&counts, run) => {
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
        self.counts = ExactCounts::parse(&self.line).or(self.counts.take());
        self.line.clear();
    }
}

fn is_of(counts: &ExactCounts, run: &Run) -> bool {
    run.asked.generator == "drivetest" && reads_count(run).is_some_and(|reads| counts.ops_count() >= reads)
}

fn reads_count(run: &Run) -> Option<u64> {
    Some(judged(run)?.tally.ops_count())
}
