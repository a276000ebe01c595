//! Reader of YCSB's output: lines to fragments, one per run in the file.

use crate::text::{LINE_BYTES_MAX, Line};
use crate::ycsb::command::Command;
use crate::ycsb::common::properties;
use crate::ycsb::common::raw::{Clock, RawRow};
use crate::ycsb::fragment::{FileRuns, MemoryBudget, StatusText, shown};
use crate::ycsb::java::fragment::{Fragment, Java};
use crate::ycsb::java::line_kind::{self, LineKind};
use crate::ycsb::java::row::{Found, Objects, Row, Shape};
use crate::ycsb::java::status;
use crate::ycsb::rules;

/// Reader of one file.
#[derive(Debug)]
pub struct Output {
    runs: FileRuns<Java>,
    objects: Objects,
    has_begun: bool,
}

impl Output {
    /// Start an attachment with a name, or the log with `None`.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            runs: FileRuns::new(part),
            objects: Objects::default(),
            has_begun: false,
        }
    }

    /// Return whether a line that only YCSB prints was read.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Read a line.
    pub fn take(&mut self, line: Line<'_>, budget: &mut MemoryBudget) {
        if self.runs.left_out.is_some() {
            return;
        }
        let text = String::from_utf8_lossy(line.text);
        if self.objects.takes(&text) {
            self.take_json(&text, line, budget);
        } else {
            self.drop_open_object(line.number);
            self.take_text(&text, line, budget);
        }
        self.runs.end_line(line.number);
    }

    /// End the file; return its fragments, and the line at which the limit of runs was reached.
    pub fn finish(mut self, lines_count: u64) -> (Vec<Fragment>, Option<u64>) {
        self.drop_open_object(lines_count);
        (self.runs.fragments, self.runs.left_out)
    }

    fn drop_open_object(&mut self, line: u64) {
        if self.objects.let_go().is_some() {
            let sentence = "an object of the JSON exporter is incomplete before this line";
            self.runs.report(&rules::RESULT_CUT, line, sentence);
        }
    }

    fn take_json(&mut self, text: &str, line: Line<'_>, budget: &mut MemoryBudget) {
        let mut objects = std::mem::take(&mut self.objects);
        objects.take(text, |found| match found {
            Found::Row(row) => {
                let row = Row {
                    metric: &row.metric,
                    measurement: &row.measurement,
                    value: &row.value,
                };
                // The object is closed, so no digit of the row is missing.
                self.take_row(row, Line { ended: true, ..line }, budget);
            }
            Found::Broken => self.report_unreadable(text, line.number),
        });
        self.objects = objects;
        if text.len() >= LINE_BYTES_MAX {
            let sentence = format!("the line is longer than {LINE_BYTES_MAX} bytes; its rest is not read");
            self.runs.report(&rules::ROW_UNREADABLE, line.number, &sentence);
        }
    }

    fn take_text(&mut self, text: &str, line: Line<'_>, budget: &mut MemoryBudget) {
        if self.runs.in_dump && self.take_property(text, budget) {
            return;
        }
        match line_kind::of(text) {
            LineKind::Row(Shape::Row(row)) => self.take_row(row, line, budget),
            LineKind::Row(Shape::Broken) => self.take_broken_row(text, line),
            LineKind::Status(progress) => self.take_status(text, line.number, progress, budget),
            LineKind::StatusRest => self.take_status_rest(text, budget),
            LineKind::Other => {}
            LineKind::Frame => {
                self.has_begun = true;
                self.runs.current(line.number);
            }
            LineKind::Stars { is_head } => self.begin_dump(is_head, line.number),
            LineKind::RawLatency(row) => self.take_raw(row, line.number, budget),
            preamble @ (LineKind::Launcher(_)
            | LineKind::CommandLine(_)
            | LineKind::Banner(_)
            | LineKind::Loading) => {
                self.take_preamble(preamble, line.number, budget);
            }
            word => self.take_word(&word, text, line.number),
        }
    }

    fn has_rows(&self) -> bool {
        self.runs.last_is(|fragment| fragment.own.rows_count > 0)
    }

    /// Read a single operation, which precedes the rows of its run.
    fn take_raw(&mut self, row: RawRow<'_>, line: u64, budget: &mut MemoryBudget) {
        if self.runs.begin_if(self.has_rows(), line, budget) {
            self.runs.current(line).raw.take(row, Clock::Milliseconds);
        }
    }

    fn take_preamble(&mut self, kind: LineKind<'_>, line: u64, budget: &mut MemoryBudget) {
        self.has_begun = true;
        let is_next = self.runs.fragments.last().is_none_or(|fragment| {
            let own = &fragment.own;
            let is_known = match kind {
                LineKind::Launcher(_) => {
                    fragment.launcher.is_some() || own.command.is_some() || own.version.is_some()
                }
                LineKind::CommandLine(_) => own.command.is_some() || own.has_loaded,
                LineKind::Banner(_) => own.version.is_some() || own.has_loaded,
                _ => own.has_loaded,
            };
            is_known || own.rows_count > 0
        });
        if !self.runs.begin_if(is_next, line, budget) {
            return;
        }
        let bytes = match &kind {
            LineKind::Launcher(command) => command.text.len(),
            LineKind::CommandLine(arguments) => arguments.len(),
            _ => 0,
        };
        let Some(left) = budget.word_bytes.checked_sub(bytes) else {
            self.runs.left_out = Some(line);
            return;
        };
        budget.word_bytes = left;
        let fragment = self.runs.current(line);
        match kind {
            LineKind::Launcher(command) => fragment.launcher = Some(*command),
            LineKind::CommandLine(arguments) => fragment.own.command = Some(Command::printed(arguments)),
            LineKind::Banner(version) => fragment.own.version = Some(version.chars().take(64).collect()),
            _ => fragment.own.has_loaded = true,
        }
    }

    fn take_word(&mut self, kind: &LineKind<'_>, text: &str, line: u64) {
        let fragment = self.runs.current(line);
        let message = fragment.message(text, line);
        let own = &mut fragment.own;
        match kind {
            LineKind::Limit(seconds) => own.limit_s = Some(*seconds),
            LineKind::LimitHit => own.limit_hit = Some(message.place),
            LineKind::PercentilesFellBack => _ = own.percentiles_fell_back.get_or_insert(message),
            LineKind::ExporterFellBack => _ = own.exporter_fell_back.get_or_insert(message),
            LineKind::Exception if is_of_a_fall_back(own, text) => {}
            LineKind::Exception => fragment.crashes.add(message),
            LineKind::Error => fragment.errors.add(message),
            _ => {}
        }
    }

    fn take_row(&mut self, row: Row<'_>, line: Line<'_>, budget: &mut MemoryBudget) {
        let is_first = row.metric == "OVERALL" && row.measurement == "RunTime(ms)";
        self.has_begun |= row.metric == "OVERALL" || row.measurement == "Operations";
        let is_next = is_first && self.has_rows();
        if !self.runs.begin_if(is_next, line.number, budget) {
            return;
        }
        let fragment = self.runs.current(line.number);
        fragment.take_row(row, line.number, &mut budget.rows);
        fragment.open_row = (!line.ended).then(|| fragment.span.place(line.number));
    }

    fn take_broken_row(&mut self, text: &str, line: Line<'_>) {
        if line.ended {
            return self.report_unreadable(text, line.number);
        }
        let sentence = format!("the output ends inside a row: '{}'", shown(text));
        self.runs.report(&rules::RESULT_CUT, line.number, &sentence);
    }

    fn report_unreadable(&mut self, text: &str, line: u64) {
        let sentence = format!("expected '[METRIC], MEASUREMENT, NUMBER'; got '{}'", shown(text));
        self.runs.report(&rules::ROW_UNREADABLE, line, &sentence);
    }

    fn take_status(&mut self, text: &str, line: u64, progress: (u64, u64), budget: &mut MemoryBudget) {
        self.has_begun = true;
        let (elapsed_s, ops_count) = progress;
        let is_next = self.runs.last_is(|last| {
            let before = last.own.progress;
            let falls = before.is_some_and(|(elapsed, ops)| elapsed_s < elapsed && ops_count < ops);
            falls || last.own.rows_count > 0 && elapsed_s == 0
        });
        if !self.runs.begin_if(is_next, line, budget) {
            return;
        }
        let fragment = self.runs.current(line);
        fragment.own.progress = Some(progress);
        let place = fragment.span.place(line);
        fragment.store_status(place, text, "status lines", &mut budget.status_bytes);
    }

    fn take_status_rest(&mut self, text: &str, budget: &mut MemoryBudget) {
        let last = self.runs.fragments.last_mut();
        let last = last.and_then(|fragment| fragment.statuses.last_mut());
        let Some((last, left)) = last.zip(budget.status_bytes.checked_sub(text.len() + 1)) else {
            return;
        };
        budget.status_bytes = left;
        last.text = format!("{} {text}", last.text).into();
    }

    /// Begin a block of properties. It also begins go-ycsb's outputs, which name no client and print no rows.
    fn begin_dump(&mut self, is_head: bool, line: u64) {
        self.runs.in_dump = is_head && !self.runs.fragments.is_empty();
        if self.runs.in_dump {
            self.runs.current(line).dumped.get_or_insert_default();
        }
    }

    fn take_property(&mut self, text: &str, budget: &mut MemoryBudget) -> bool {
        let Some(left) = budget.word_bytes.checked_sub(text.len()) else {
            return false;
        };
        budget.word_bytes = left;
        let last = self.runs.fragments.last_mut();
        let dumped = last.and_then(|fragment| fragment.dumped.as_mut());
        let property = properties::printed(text);
        if let Some((dumped, (name, value))) = dumped.zip(property) {
            dumped.set(name, value);
        }
        self.runs.in_dump &= property.is_some();
        property.is_some()
    }
}

/// Return whether an exception only reports unreadable percentiles or a missing exporter.
fn is_of_a_fall_back(own: &Java, text: &str) -> bool {
    let of_percentiles =
        own.percentiles_fell_back.is_some() && text.starts_with("java.lang.NumberFormatException");
    let of_exporter = own.exporter_fell_back.is_some() && text.contains("ClassNotFoundException");
    of_percentiles || of_exporter
}

/// Remove status lines that both streams printed, by elapsed seconds and operations.
pub fn without_twins(statuses: &mut Vec<StatusText>) {
    statuses.dedup_by_key(|status| status::progress(&status.text));
}
