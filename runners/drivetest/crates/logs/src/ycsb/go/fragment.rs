//! Content of one file about one go-ycsb run.

use crate::ycsb::common::properties::Properties;
use crate::ycsb::common::raw::Raw;
use crate::ycsb::common::span::LineSpan;
use crate::ycsb::go::row::Row;
use crate::ycsb::java::command::Command;
use crate::ycsb::java::fragment::{Message, MessageCount, Place, StatusText};
use crate::ycsb::join::JoinFragment;
use crate::ycsb::rules;

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

/// Content of one file about one run.
#[derive(Debug, Default)]
pub struct Fragment {
    /// Lines of the fragment, with the findings about them.
    pub span: LineSpan,
    /// From a script.
    pub command: Option<Command>,
    /// The printed block.
    pub dumped: Option<Properties>,
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
    /// Panics of the program.
    pub panics: MessageCount,
    /// `operation err: ...`.
    pub errors: MessageCount,
    /// The block that came last; after `Run finished` it is the result.
    pub block: Vec<PlacedRow>,
    /// The blocks before it, as text.
    pub statuses: Vec<StatusText>,
    /// The head of single operations was seen.
    pub has_csv: bool,
    /// Single operations.
    pub raw: Raw,
    /// The last row, where no line end follows it.
    pub open_row: Option<Place>,
}

impl Fragment {
    /// Read a row of the block; a repeated operation begins the next block, unless the run has finished.
    pub fn take_row(&mut self, row: Row, line: u64, status_bytes: &mut usize) {
        let place = self.span.place(line);
        let same = self
            .block
            .iter()
            .find(|known| known.row.operation == row.operation);
        if let Some(same) = same {
            if self.finished.is_some() {
                let rule = if same.row == row {
                    &rules::ROW_REPEATED
                } else {
                    &rules::ROWS_CONFLICT
                };
                let sentence = format!("{} occurs twice in the final block", row.operation);
                return self.span.findings.add(place.finding(rule, &sentence));
            }
            self.end_block(status_bytes);
        }
        if self.block.len() >= BLOCK_ROWS_MAX {
            let sentence =
                format!("expected at most {BLOCK_ROWS_MAX} operations in a block; the others are ignored");
            return self
                .span
                .findings
                .add(place.finding(&rules::TOO_MANY_ROWS, &sentence));
        }
        self.block.push(PlacedRow { row, place });
    }

    /// Store the block as an interval.
    pub fn end_block(&mut self, status_bytes: &mut usize) {
        let block = std::mem::take(&mut self.block);
        let Some(first) = block.first() else { return };
        let place = first.place.clone();
        let text: String = block.iter().map(|placed| placed.row.written()).collect();
        let Some(left) = status_bytes.checked_sub(text.len() + size_of::<StatusText>()) else {
            let sentence = "too many interval blocks: this one and those after it are ignored";
            return self
                .span
                .findings
                .add(place.finding(&rules::TOO_MANY_STATUS_LINES, sentence));
        };
        *status_bytes = left;
        self.statuses.push(StatusText {
            place,
            text: text.into(),
        });
    }
}

impl JoinFragment for Fragment {
    fn absorb(&mut self, other: Self) {
        self.dumped = self.dumped.take().or(other.dumped);
        self.distribution = self.distribution.take().or(other.distribution);
        self.is_sure |= other.is_sure;
        self.signal = self.signal.take().or(other.signal);
        self.refused = self.refused.take().or(other.refused);
        // A file with only a block contains the final block.
        let here = self.finished.is_some() || other.finished.is_none();
        if self.block.is_empty() || !here {
            (self.block, self.open_row) = (other.block, other.open_row);
        }
        self.finished = self.finished.take().or(other.finished);
        if self.statuses.is_empty() {
            self.statuses = other.statuses;
        }
        if self.raw.operations().is_empty() {
            self.raw = other.raw;
        }
        self.has_csv |= other.has_csv;
        self.panics.absorb(other.panics);
        self.errors.absorb(other.errors);
        self.span.absorb(other.span);
    }

    fn take_command(&mut self, command: Command) {
        self.command = Some(command);
    }

    fn forget_lines(&mut self) {
        self.span.forget_lines();
    }
}
