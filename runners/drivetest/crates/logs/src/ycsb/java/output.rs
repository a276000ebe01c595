//! What YCSB printed, line by line, to pieces: one for each run that the file holds.

use std::sync::Arc;

use crate::text::{LINE_BYTES_MAX, Line};
use crate::ycsb::common::limits::Room;
use crate::ycsb::common::properties::{self, Properties};
use crate::ycsb::common::raw::{Clock, RawRow};
use crate::ycsb::common::span::Stretch;
use crate::ycsb::java::command::Command;
use crate::ycsb::java::fragment::{Piece, Said, StatusText};
use crate::ycsb::java::json::{Found, Objects};
use crate::ycsb::java::line_kind::{self, Sign};
use crate::ycsb::java::row::{Row, Shape};
use crate::ycsb::java::status;
use crate::ycsb::rules;

/// Reads one file.
#[derive(Debug, Default)]
pub struct Output {
    part: Option<Arc<str>>,
    pieces: Vec<Piece>,
    objects: Objects,
    in_dump: bool,
    has_begun: bool,
    /// The line at which there was no room for another run.
    left_out: Option<u64>,
    /// Elapsed seconds and operations of the last status line.
    progress: Option<(u64, u64)>,
}

impl Output {
    /// Begins a companion, or with None the log.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            part: part.map(|name| shown(name).into()),
            ..Self::default()
        }
    }

    /// Whether anything that only YCSB prints was seen.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Takes a line.
    pub fn take(&mut self, line: Line<'_>, room: &mut Room) {
        if self.left_out.is_some() {
            return;
        }
        let text = String::from_utf8_lossy(line.text);
        if self.objects.takes(&text) {
            self.take_json(&text, line, room);
        } else {
            self.let_go_of_object(line.number);
            self.take_text(&text, line, room);
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.stretch.last_line = line.number;
        }
    }

    /// Ends the file: its runs, and the line from which on runs were left out.
    pub fn finish(mut self, lines_count: u64) -> (Vec<Piece>, Option<u64>) {
        self.let_go_of_object(lines_count);
        (self.pieces, self.left_out)
    }

    fn let_go_of_object(&mut self, line: u64) {
        if self.objects.let_go().is_some() {
            let sentence = "an object of the JSON exporter breaks off before this line";
            self.piece_now(line)
                .stretch
                .tell(&rules::RESULT_CUT, line, sentence);
        }
    }

    fn take_json(&mut self, text: &str, line: Line<'_>, room: &mut Room) {
        let mut objects = std::mem::take(&mut self.objects);
        objects.take(text, |found| match found {
            Found::Row(row) => {
                let row = Row {
                    metric: &row.metric,
                    measurement: &row.measurement,
                    value: &row.value,
                };
                // Its object was closed: no digit of it is missing.
                self.take_row(row, Line { ended: true, ..line }, room);
            }
            Found::Broken => self.tell_unreadable(text, line.number),
        });
        self.objects = objects;
        if text.len() >= LINE_BYTES_MAX {
            let sentence =
                format!("the line is longer than {LINE_BYTES_MAX} bytes; the rest of it is not read");
            self.piece_now(line.number)
                .stretch
                .tell(&rules::ROW_UNREADABLE, line.number, &sentence);
        }
    }

    fn take_text(&mut self, text: &str, line: Line<'_>, room: &mut Room) {
        if self.in_dump && self.take_property(text, room) {
            return;
        }
        match line_kind::of(text) {
            Sign::Row(Shape::Row(row)) => self.take_row(row, line, room),
            Sign::Row(Shape::Broken) => self.take_broken_row(text, line),
            Sign::Status(elapsed_s, ops_count) => {
                self.take_status(text, line.number, (elapsed_s, ops_count), room)
            }
            Sign::StatusRest => self.take_status_rest(text, room),
            Sign::Other => {}
            Sign::Frame => {
                self.has_begun = true;
                self.piece_now(line.number);
            }
            Sign::Stars { is_head } => self.begin_dump(is_head, line.number),
            Sign::RawLatency(row) => self.take_raw(row, line.number, room),
            preamble @ (Sign::Launcher(_) | Sign::CommandLine(_) | Sign::Banner(_) | Sign::Loading) => {
                self.take_preamble(preamble, line.number, room);
            }
            word => self.take_word(&word, text, line.number),
        }
    }

    /// Single operations stand before the rows of their run: standard output is written last.
    fn take_raw(&mut self, row: RawRow<'_>, line: u64, room: &mut Room) {
        let has_rows = self.pieces.last().is_some_and(|piece| piece.rows_count > 0);
        if has_rows && !self.begin_piece(line, room) {
            return;
        }
        self.piece_now(line).raw.take(row, Clock::Milliseconds);
    }

    fn take_preamble(&mut self, sign: Sign<'_>, line: u64, room: &mut Room) {
        self.has_begun = true;
        let begins = self.pieces.last().is_none_or(|piece| match sign {
            Sign::Launcher(_) => piece.launcher.is_some() || piece.command.is_some() || piece.version.is_some(),
            Sign::CommandLine(_) => piece.command.is_some() || piece.has_loaded,
            Sign::Banner(_) => piece.version.is_some() || piece.has_loaded,
            _ => piece.has_loaded,
        } || piece.rows_count > 0);
        if begins && !self.begin_piece(line, room) {
            return;
        }
        let bytes = match &sign {
            Sign::Launcher(command) => command.text.len(),
            Sign::CommandLine(arguments) => arguments.len(),
            _ => 0,
        };
        let Some(left) = room.word_bytes.checked_sub(bytes) else {
            self.left_out = Some(line);
            return;
        };
        room.word_bytes = left;
        let piece = self.piece_now(line);
        match sign {
            Sign::Launcher(command) => piece.launcher = Some(*command),
            Sign::CommandLine(arguments) => piece.command = Some(Command::printed(arguments)),
            Sign::Banner(version) => piece.version = Some(sign_version(version)),
            _ => piece.has_loaded = true,
        }
    }

    fn take_word(&mut self, sign: &Sign<'_>, text: &str, line: u64) {
        let piece = self.piece_now(line);
        let said = Said {
            place: piece.stretch.place(line),
            text: shown(text),
        };
        match sign {
            Sign::Limit(seconds) => piece.limit_s = Some(*seconds),
            Sign::LimitHit => piece.limit_hit = Some(said.place),
            Sign::PercentilesFellBack => _ = piece.percentiles_fell_back.get_or_insert(said),
            Sign::ExporterFellBack => _ = piece.exporter_fell_back.get_or_insert(said),
            Sign::Exception if is_of_a_fall_back(piece, text) => {}
            Sign::Exception => piece.exceptions.add(|| said),
            Sign::Error => piece.errors.add(|| said),
            _ => {}
        }
    }

    fn take_row(&mut self, row: Row<'_>, line: Line<'_>, room: &mut Room) {
        let is_first = row.metric == "OVERALL" && row.measurement == "RunTime(ms)";
        self.has_begun |= row.metric == "OVERALL" || row.measurement == "Operations";
        let has_rows = self.pieces.last().is_some_and(|piece| piece.rows_count > 0);
        if is_first && has_rows && !self.begin_piece(line.number, room) {
            return;
        }
        let piece = self.piece_now(line.number);
        piece.take_row(row, line.number, &mut room.rows);
        piece.open_row = (!line.ended).then(|| piece.stretch.place(line.number));
    }

    fn take_broken_row(&mut self, text: &str, line: Line<'_>) {
        if line.ended {
            return self.tell_unreadable(text, line.number);
        }
        let sentence = format!("the output ends inside a row: '{}'", shown(text));
        self.piece_now(line.number)
            .stretch
            .tell(&rules::RESULT_CUT, line.number, &sentence);
    }

    fn tell_unreadable(&mut self, text: &str, line: u64) {
        let sentence = format!("expected '[METRIC], MEASUREMENT, NUMBER'; got '{}'", shown(text));
        self.piece_now(line)
            .stretch
            .tell(&rules::ROW_UNREADABLE, line, &sentence);
    }

    fn take_status(&mut self, text: &str, line: u64, progress: (u64, u64), room: &mut Room) {
        self.has_begun = true;
        let (elapsed_s, ops_count) = progress;
        let falls = self
            .progress
            .is_some_and(|(elapsed, ops)| elapsed_s < elapsed && ops_count < ops);
        let after_rows = self.pieces.last().is_some_and(|piece| piece.rows_count > 0);
        if (falls || (after_rows && elapsed_s == 0)) && !self.begin_piece(line, room) {
            return;
        }
        self.progress = Some(progress);
        if let Some(left) = room
            .status_bytes
            .checked_sub(text.len() + size_of::<StatusText>())
        {
            room.status_bytes = left;
            let piece = self.piece_now(line);
            let place = piece.stretch.place(line);
            piece.statuses.push(StatusText {
                place,
                text: text.into(),
            });
        } else {
            let sentence =
                "expected no more status lines than are kept; this one and those after it are passed over";
            self.piece_now(line)
                .stretch
                .tell(&rules::TOO_MANY_STATUS_LINES, line, sentence);
        }
    }

    fn take_status_rest(&mut self, text: &str, room: &mut Room) {
        let last = self.pieces.last_mut().and_then(|piece| piece.statuses.last_mut());
        let Some((last, left)) = last.zip(room.status_bytes.checked_sub(text.len() + 1)) else {
            return;
        };
        room.status_bytes = left;
        last.text = format!("{} {text}", last.text).into();
    }

    /// The block also begins go-ycsb's outputs, which name no client and print no rows.
    fn begin_dump(&mut self, is_head: bool, line: u64) {
        if is_head && !self.pieces.is_empty() {
            self.in_dump = true;
            self.piece_now(line)
                .dumped
                .get_or_insert_with(Properties::default);
        } else {
            self.in_dump = false;
        }
    }

    fn take_property(&mut self, text: &str, room: &mut Room) -> bool {
        let Some(left) = room.word_bytes.checked_sub(text.len()) else {
            return false;
        };
        room.word_bytes = left;
        let dumped = self.pieces.last_mut().and_then(|piece| piece.dumped.as_mut());
        let property = properties::printed(text);
        if let Some((dumped, (name, value))) = dumped.zip(property) {
            dumped.set(name, value);
        }
        self.in_dump &= property.is_some();
        property.is_some()
    }

    fn begin_piece(&mut self, line: u64, room: &mut Room) -> bool {
        let Some(left) = room.runs.checked_sub(1) else {
            self.left_out = Some(line);
            return false;
        };
        room.runs = left;
        self.progress = None;
        self.in_dump = false;
        self.pieces.push(Piece {
            stretch: Stretch::at(self.part.as_ref(), line),
            ..Piece::default()
        });
        true
    }

    fn piece_now(&mut self, line: u64) -> &mut Piece {
        if self.pieces.is_empty() {
            self.pieces.push(Piece {
                stretch: Stretch::at(self.part.as_ref(), line),
                ..Piece::default()
            });
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }
}

/// What YCSB throws when it cannot read the percentiles or find the exporter is no more than that.
fn is_of_a_fall_back(piece: &Piece, text: &str) -> bool {
    let of_percentiles =
        piece.percentiles_fell_back.is_some() && text.starts_with("java.lang.NumberFormatException");
    let of_exporter = piece.exporter_fell_back.is_some() && text.contains("ClassNotFoundException");
    of_percentiles || of_exporter
}

fn sign_version(version: &str) -> String {
    version.chars().take(64).collect()
}

/// As much of a text as a sentence needs.
pub fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    let kept: String = text
        .chars()
        .filter(|letter| !letter.is_control())
        .take(SHOWN_MAX)
        .collect();
    let is_whole = kept.len() == text.len();
    if is_whole { kept } else { format!("{kept}...") }
}

/// Status lines that both streams printed, once each: by elapsed seconds and operations.
pub fn without_twins(statuses: &mut Vec<StatusText>) {
    statuses.dedup_by_key(|status| status::progress(&status.text));
}
