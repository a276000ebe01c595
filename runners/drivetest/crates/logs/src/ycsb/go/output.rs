//! What go-ycsb printed, line by line, to pieces: one for each run that the file holds.

use std::sync::Arc;

use crate::text::Line;
use crate::ycsb::common::limits::Room;
use crate::ycsb::common::properties::{self, Properties};
use crate::ycsb::common::raw::Clock;
use crate::ycsb::common::span::Stretch;
use crate::ycsb::go::fragment::Piece;
use crate::ycsb::go::line_kind::{self, Sign};
use crate::ycsb::go::row::{Row, Shape, Table};
use crate::ycsb::java::fragment::Said;
use crate::ycsb::java::output::shown;
use crate::ycsb::rules;

/// Reads one file.
#[derive(Debug, Default)]
pub struct Output {
    part: Option<Arc<str>>,
    pieces: Vec<Piece>,
    table: Table,
    in_dump: bool,
    /// The line at which there was no room for another run.
    left_out: Option<u64>,
}

impl Output {
    /// Begins a companion, or with None the log.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            part: part.map(|name| shown(name).into()),
            ..Self::default()
        }
    }

    /// Whether anything that only go-ycsb prints was seen.
    pub fn has_begun(&self) -> bool {
        self.pieces.iter().any(|piece| piece.is_sure)
    }

    /// Takes a line, and tells whether it is go-ycsb's alone.
    pub fn take(&mut self, line: Line<'_>, room: &mut Room) -> bool {
        if self.left_out.is_some() {
            return false;
        }
        let text = String::from_utf8_lossy(line.text);
        if self.in_dump && self.take_property(&text, room) {
            return false;
        }
        let sign = line_kind::of(&text, &mut self.table);
        let is_own = self.take_sign(sign, &text, line, room);
        if let Some(piece) = self.pieces.last_mut() {
            piece.stretch.last_line = line.number;
        }
        is_own
    }

    fn take_sign(&mut self, sign: Sign<'_>, text: &str, line: Line<'_>, room: &mut Room) -> bool {
        match sign {
            Sign::Other => return false,
            Sign::Stars { is_head } => {
                self.take_stars(is_head, line.number, room);
                return false;
            }
            Sign::Csv(row) => {
                let Some(piece) = self.pieces.last_mut().filter(|piece| piece.has_csv) else {
                    return false;
                };
                piece.raw.take(row, Clock::Microseconds);
                piece.open_row = (!line.ended).then(|| piece.stretch.place(line.number));
            }
            Sign::Frame => return self.has_begun(),
            Sign::Distribution(name) => self.take_distribution(name, line.number, room),
            Sign::Rows(shapes) => shapes
                .into_iter()
                .for_each(|shape| self.take_shape(shape, text, line, room)),
            Sign::Finished(takes_ns) => self.take_finish(takes_ns, line.number, room),
            Sign::CsvHead => {
                let piece = self.piece_now(line.number);
                (piece.has_csv, piece.is_sure) = (true, true);
            }
            Sign::Exporting => {}
            word => return self.take_word(&word, text, line.number),
        }
        true
    }

    /// What other programs may say too is not go-ycsb's alone.
    fn take_word(&mut self, sign: &Sign<'_>, text: &str, line: u64) -> bool {
        let piece = self.piece_now(line);
        let said = Said {
            place: piece.stretch.place(line),
            text: shown(text),
        };
        match sign {
            Sign::Signal => piece.signal = Some(said),
            Sign::Refused => _ = piece.refused.get_or_insert(said),
            Sign::Panic => piece.panics.add(|| said),
            _ => piece.errors.add(|| said),
        }
        false
    }

    fn take_distribution(&mut self, name: &str, line: u64, room: &mut Room) {
        let begins = |piece: &Piece| piece.is_sure || piece.dumped.is_some();
        if self.pieces.last().is_some_and(begins) && !self.begin_piece(line, room) {
            return;
        }
        let piece = self.piece_now(line);
        piece.distribution = Some(shown(name));
        piece.is_sure = true;
    }

    fn take_stars(&mut self, is_head: bool, line: u64, room: &mut Room) {
        self.in_dump = false;
        if !is_head {
            return;
        }
        let begins = |piece: &Piece| piece.dumped.is_some() || piece.finished.is_some();
        if self.pieces.last().is_some_and(begins) && !self.begin_piece(line, room) {
            return;
        }
        self.in_dump = true;
        self.piece_now(line).dumped = Some(Properties::default());
    }

    fn take_property(&mut self, text: &str, room: &mut Room) -> bool {
        let property = properties::printed(text);
        let Some((left, (name, value))) = room.word_bytes.checked_sub(text.len()).zip(property) else {
            self.in_dump = false;
            return false;
        };
        room.word_bytes = left;
        if let Some(piece) = self.pieces.last_mut() {
            // Java's BasicDB prints the same block, and sets no command.
            piece.is_sure |= name == "command";
            piece.dumped.get_or_insert_default().set(name, value);
        }
        true
    }

    fn take_shape(&mut self, shape: Shape, text: &str, line: Line<'_>, room: &mut Room) {
        match shape {
            Shape::Row(row) => self.take_row(row, line, room),
            Shape::Broken => {
                let sentence = format!(
                    "expected 'OPERATION - Takes(s): ..., Count: ...'; got '{}'",
                    shown(text)
                );
                let rule = if line.ended {
                    &rules::ROW_UNREADABLE
                } else {
                    &rules::RESULT_CUT
                };
                self.piece_now(line.number)
                    .stretch
                    .tell(rule, line.number, &sentence);
            }
        }
    }

    fn take_row(&mut self, row: Row, line: Line<'_>, room: &mut Room) {
        let piece = self.piece_now(line.number);
        piece.is_sure = true;
        piece.take_row(row, line.number, &mut room.status_bytes);
        piece.open_row = (!line.ended).then(|| piece.stretch.place(line.number));
    }

    fn take_finish(&mut self, takes_ns: Option<u64>, line: u64, room: &mut Room) {
        if self.pieces.last().is_some_and(|piece| piece.finished.is_some()) && !self.begin_piece(line, room) {
            return;
        }
        let piece = self.piece_now(line);
        piece.is_sure = true;
        piece.end_block(&mut room.status_bytes);
        piece.finished = Some((piece.stretch.place(line), takes_ns));
    }

    /// Ends the file: its runs, and the line from which on runs were left out.
    pub fn finish(self) -> (Vec<Piece>, Option<u64>) {
        let is_used = |piece: &Piece| piece.is_sure || piece.refused.is_some() || piece.panics.count > 0;
        let pieces = self.pieces.into_iter().filter(is_used);
        (pieces.collect(), self.left_out)
    }

    fn begin_piece(&mut self, line: u64, room: &mut Room) -> bool {
        let Some(left) = room.runs.checked_sub(1) else {
            self.left_out = Some(line);
            return false;
        };
        room.runs = left;
        self.in_dump = false;
        self.pieces.push(self.piece_at(line));
        true
    }

    fn piece_at(&self, line: u64) -> Piece {
        Piece {
            stretch: Stretch::at(self.part.as_ref(), line),
            ..Piece::default()
        }
    }

    fn piece_now(&mut self, line: u64) -> &mut Piece {
        if self.pieces.is_empty() {
            self.pieces.push(self.piece_at(line));
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }
}
