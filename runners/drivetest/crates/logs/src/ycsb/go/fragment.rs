//! What only go-ycsb prints about a run: its blocks and how it ended.

use crate::ycsb::command::Command;
use crate::ycsb::fragment::{self, Dialect, Message, Place};
use crate::ycsb::go::build_run;
use crate::ycsb::go::row::Row;
use crate::ycsb::rules;
use crate::ycsb::run::Run;
use crate::ycsb::settings::ConfigFile;

/// Maximum number of stored operations of a block; real blocks have a dozen.
const BLOCK_ROWS_MAX: usize = 256;

/// A row with its place.
#[derive(Clone, Debug)]
pub struct PlacedRow {
    /// The row.
    pub row: Row,
    /// Where.
    pub place: Place,
}

/// What only go-ycsb prints about a run.
#[derive(Debug, Default)]
pub struct Go {
    /// Request distribution printed before the properties.
    pub distribution: Option<String>,
    /// Something that only go-ycsb prints was seen.
    pub is_sure: bool,
    /// `Run finished`, and the duration where it can be read.
    pub finished: Option<(Place, Option<u64>)>,
    /// `Got signal ...`.
    pub signal: Option<Message>,
    /// Why it did not begin.
    pub refused: Option<Message>,
    /// The block that came last; after `Run finished` it is the result. The blocks before it are stored as text.
    pub block: Vec<PlacedRow>,
    /// The head of single operations was seen.
    pub has_csv: bool,
}

/// Content of one file about one go-ycsb run.
pub type Fragment = fragment::Fragment<Go>;

impl Dialect for Go {
    fn commands(script: &str) -> Vec<Command> {
        Command::of_go_script(script)
    }

    fn absorb(&mut self, other: Self) -> bool {
        self.distribution = self.distribution.take().or(other.distribution);
        self.is_sure |= other.is_sure;
        self.has_csv |= other.has_csv;
        self.signal = self.signal.take().or(other.signal);
        self.refused = self.refused.take().or(other.refused);
        // A file with only a block contains the final block.
        let has_final_block = self.finished.is_some() || other.finished.is_none();
        let is_replaced = self.block.is_empty() || !has_final_block;
        if is_replaced {
            self.block = other.block;
        }
        self.finished = self.finished.take().or(other.finished);
        is_replaced
    }

    fn run(fragment: Fragment, configs: &[ConfigFile]) -> Run {
        build_run::run(fragment, configs)
    }
}

impl Fragment {
    /// Read a row of the block; a repeated operation begins the next block, unless the run has finished.
    pub fn take_row(&mut self, row: Row, line: u64, status_bytes: &mut usize) {
        let place = self.span.place(line);
        let mut block = self.own.block.iter();
        if let Some(same) = block.find(|known| known.row.operation == row.operation) {
            if self.own.finished.is_some() {
                let rule = match same.row == row {
                    true => &rules::ROW_REPEATED,
                    false => &rules::ROWS_CONFLICT,
                };
                let sentence = format!("{} occurs twice in the final block", row.operation);
                return self.span.findings.add(place.finding(rule, &sentence));
            }
            self.end_block(status_bytes);
        }
        if self.own.block.len() >= BLOCK_ROWS_MAX {
            let sentence =
                format!("expected at most {BLOCK_ROWS_MAX} operations in a block; the others are ignored");
            return self.span.report(&rules::TOO_MANY_ROWS, line, &sentence);
        }
        self.own.block.push(PlacedRow { row, place });
    }

    /// Store the block as an interval.
    pub fn end_block(&mut self, status_bytes: &mut usize) {
        let block = std::mem::take(&mut self.own.block);
        let Some(first) = block.first() else { return };
        let text: String = block.iter().map(|placed| placed.row.written()).collect();
        self.store_status(first.place.clone(), &text, "interval blocks", status_bytes);
    }
}
