//! Reader of YCSB's output: lines to fragments, one per run in the file.

use std::sync::Arc;

use crate::text::{LINE_BYTES_MAX, Line};
use crate::ycsb::common::limits::MemoryBudget;
use crate::ycsb::common::properties::{self, Properties};
use crate::ycsb::common::raw::{Clock, RawRow};
use crate::ycsb::common::span::LineSpan;
use crate::ycsb::java::command::Command;
use crate::ycsb::java::fragment::{Fragment, Message, StatusText};
use crate::ycsb::java::json::{Found, Objects};
use crate::ycsb::java::line_kind::{self, LineKind};
use crate::ycsb::java::row::{Row, Shape};
use crate::ycsb::java::status;
use crate::ycsb::rules;

/// Reader of one file.
#[derive(Debug, Default)]
pub struct Output {
    part: Option<Arc<str>>,
    fragments: Vec<Fragment>,
    objects: Objects,
    in_dump: bool,
    has_begun: bool,
    /// Line at which the limit of runs was reached.
    left_out: Option<u64>,
    /// Elapsed seconds and operations of the last status line.
    progress: Option<(u64, u64)>,
}

impl Output {
    /// Start an attachment with a name, or the log with `None`.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            part: part.map(|name| shown(name).into()),
            ..Self::default()
        }
    }

    /// Return whether a line that only YCSB prints was read.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Read a line.
    pub fn take(&mut self, line: Line<'_>, budget: &mut MemoryBudget) {
        if self.left_out.is_some() {
            return;
        }
        let text = String::from_utf8_lossy(line.text);
        if self.objects.takes(&text) {
            self.take_json(&text, line, budget);
        } else {
            self.drop_open_object(line.number);
            self.take_text(&text, line, budget);
        }
        if let Some(fragment) = self.fragments.last_mut() {
            fragment.span.last_line = line.number;
        }
    }

    /// End the file; return its fragments, and the line at which the limit of runs was reached.
    pub fn finish(mut self, lines_count: u64) -> (Vec<Fragment>, Option<u64>) {
        self.drop_open_object(lines_count);
        (self.fragments, self.left_out)
    }

    fn drop_open_object(&mut self, line: u64) {
        if self.objects.let_go().is_some() {
            let sentence = "an object of the JSON exporter is incomplete before this line";
            self.current_fragment(line)
                .span
                .report(&rules::RESULT_CUT, line, sentence);
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
            self.current_fragment(line.number)
                .span
                .report(&rules::ROW_UNREADABLE, line.number, &sentence);
        }
    }

    fn take_text(&mut self, text: &str, line: Line<'_>, budget: &mut MemoryBudget) {
        if self.in_dump && self.take_property(text, budget) {
            return;
        }
        match line_kind::of(text) {
            LineKind::Row(Shape::Row(row)) => self.take_row(row, line, budget),
            LineKind::Row(Shape::Broken) => self.take_broken_row(text, line),
            LineKind::Status(elapsed_s, ops_count) => {
                self.take_status(text, line.number, (elapsed_s, ops_count), budget)
            }
            LineKind::StatusRest => self.take_status_rest(text, budget),
            LineKind::Other => {}
            LineKind::Frame => {
                self.has_begun = true;
                self.current_fragment(line.number);
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

    /// Read a single operation, which precedes the rows of its run.
    fn take_raw(&mut self, row: RawRow<'_>, line: u64, budget: &mut MemoryBudget) {
        let has_rows = self
            .fragments
            .last()
            .is_some_and(|fragment| fragment.rows_count > 0);
        if has_rows && !self.begin_fragment(line, budget) {
            return;
        }
        self.current_fragment(line).raw.take(row, Clock::Milliseconds);
    }

    fn take_preamble(&mut self, sign: LineKind<'_>, line: u64, budget: &mut MemoryBudget) {
        self.has_begun = true;
        let begins = self.fragments.last().is_none_or(|fragment| match sign {
            LineKind::Launcher(_) => fragment.launcher.is_some() || fragment.command.is_some() || fragment.version.is_some(),
            LineKind::CommandLine(_) => fragment.command.is_some() || fragment.has_loaded,
            LineKind::Banner(_) => fragment.version.is_some() || fragment.has_loaded,
            _ => fragment.has_loaded,
        } || fragment.rows_count > 0);
        if begins && !self.begin_fragment(line, budget) {
            return;
        }
        let bytes = match &sign {
            LineKind::Launcher(command) => command.text.len(),
            LineKind::CommandLine(arguments) => arguments.len(),
            _ => 0,
        };
        let Some(left) = budget.word_bytes.checked_sub(bytes) else {
            self.left_out = Some(line);
            return;
        };
        budget.word_bytes = left;
        let fragment = self.current_fragment(line);
        match sign {
            LineKind::Launcher(command) => fragment.launcher = Some(*command),
            LineKind::CommandLine(arguments) => fragment.command = Some(Command::printed(arguments)),
            LineKind::Banner(version) => fragment.version = Some(version_of_banner(version)),
            _ => fragment.has_loaded = true,
        }
    }

    fn take_word(&mut self, sign: &LineKind<'_>, text: &str, line: u64) {
        let fragment = self.current_fragment(line);
        let message = Message {
            place: fragment.span.place(line),
            text: shown(text),
        };
        match sign {
            LineKind::Limit(seconds) => fragment.limit_s = Some(*seconds),
            LineKind::LimitHit => fragment.limit_hit = Some(message.place),
            LineKind::PercentilesFellBack => _ = fragment.percentiles_fell_back.get_or_insert(message),
            LineKind::ExporterFellBack => _ = fragment.exporter_fell_back.get_or_insert(message),
            LineKind::Exception if is_of_a_fall_back(fragment, text) => {}
            LineKind::Exception => fragment.exceptions.add(|| message),
            LineKind::Error => fragment.errors.add(|| message),
            _ => {}
        }
    }

    fn take_row(&mut self, row: Row<'_>, line: Line<'_>, budget: &mut MemoryBudget) {
        let is_first = row.metric == "OVERALL" && row.measurement == "RunTime(ms)";
        self.has_begun |= row.metric == "OVERALL" || row.measurement == "Operations";
        let has_rows = self
            .fragments
            .last()
            .is_some_and(|fragment| fragment.rows_count > 0);
        if is_first && has_rows && !self.begin_fragment(line.number, budget) {
            return;
        }
        let fragment = self.current_fragment(line.number);
        fragment.take_row(row, line.number, &mut budget.rows);
        fragment.open_row = (!line.ended).then(|| fragment.span.place(line.number));
    }

    fn take_broken_row(&mut self, text: &str, line: Line<'_>) {
        if line.ended {
            return self.report_unreadable(text, line.number);
        }
        let sentence = format!("the output ends inside a row: '{}'", shown(text));
        self.current_fragment(line.number)
            .span
            .report(&rules::RESULT_CUT, line.number, &sentence);
    }

    fn report_unreadable(&mut self, text: &str, line: u64) {
        let sentence = format!("expected '[METRIC], MEASUREMENT, NUMBER'; got '{}'", shown(text));
        self.current_fragment(line)
            .span
            .report(&rules::ROW_UNREADABLE, line, &sentence);
    }

    fn take_status(&mut self, text: &str, line: u64, progress: (u64, u64), budget: &mut MemoryBudget) {
        self.has_begun = true;
        let (elapsed_s, ops_count) = progress;
        let falls = self
            .progress
            .is_some_and(|(elapsed, ops)| elapsed_s < elapsed && ops_count < ops);
        let after_rows = self
            .fragments
            .last()
            .is_some_and(|fragment| fragment.rows_count > 0);
        if (falls || (after_rows && elapsed_s == 0)) && !self.begin_fragment(line, budget) {
            return;
        }
        self.progress = Some(progress);
        if let Some(left) = budget
            .status_bytes
            .checked_sub(text.len() + size_of::<StatusText>())
        {
            budget.status_bytes = left;
            let fragment = self.current_fragment(line);
            let place = fragment.span.place(line);
            fragment.statuses.push(StatusText {
                place,
                text: text.into(),
            });
        } else {
            let sentence = "too many status lines: this one and those after it are ignored";
            self.current_fragment(line)
                .span
                .report(&rules::TOO_MANY_STATUS_LINES, line, sentence);
        }
    }

    fn take_status_rest(&mut self, text: &str, budget: &mut MemoryBudget) {
        let last = self
            .fragments
            .last_mut()
            .and_then(|fragment| fragment.statuses.last_mut());
        let Some((last, left)) = last.zip(budget.status_bytes.checked_sub(text.len() + 1)) else {
            return;
        };
        budget.status_bytes = left;
        last.text = format!("{} {text}", last.text).into();
    }

    /// Return the block also begins go-ycsb's outputs, which name no client and print no rows.
    fn begin_dump(&mut self, is_head: bool, line: u64) {
        if is_head && !self.fragments.is_empty() {
            self.in_dump = true;
            self.current_fragment(line)
                .dumped
                .get_or_insert_with(Properties::default);
        } else {
            self.in_dump = false;
        }
    }

    fn take_property(&mut self, text: &str, budget: &mut MemoryBudget) -> bool {
        let Some(left) = budget.word_bytes.checked_sub(text.len()) else {
            return false;
        };
        budget.word_bytes = left;
        let dumped = self
            .fragments
            .last_mut()
            .and_then(|fragment| fragment.dumped.as_mut());
        let property = properties::printed(text);
        if let Some((dumped, (name, value))) = dumped.zip(property) {
            dumped.set(name, value);
        }
        self.in_dump &= property.is_some();
        property.is_some()
    }

    fn begin_fragment(&mut self, line: u64, budget: &mut MemoryBudget) -> bool {
        let Some(left) = budget.runs.checked_sub(1) else {
            self.left_out = Some(line);
            return false;
        };
        budget.runs = left;
        self.progress = None;
        self.in_dump = false;
        self.fragments.push(Fragment {
            span: LineSpan::at(self.part.as_ref(), line),
            ..Fragment::default()
        });
        true
    }

    fn current_fragment(&mut self, line: u64) -> &mut Fragment {
        if self.fragments.is_empty() {
            self.fragments.push(Fragment {
                span: LineSpan::at(self.part.as_ref(), line),
                ..Fragment::default()
            });
        }
        let last = self.fragments.len() - 1;
        &mut self.fragments[last]
    }
}

/// Return whether an exception only reports unreadable percentiles or a missing exporter.
fn is_of_a_fall_back(fragment: &Fragment, text: &str) -> bool {
    let of_percentiles =
        fragment.percentiles_fell_back.is_some() && text.starts_with("java.lang.NumberFormatException");
    let of_exporter = fragment.exporter_fell_back.is_some() && text.contains("ClassNotFoundException");
    of_percentiles || of_exporter
}

fn version_of_banner(version: &str) -> String {
    version.chars().take(64).collect()
}

/// Return a text, cut to the length for a sentence.
pub fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    let last: String = text
        .chars()
        .filter(|letter| !letter.is_control())
        .take(SHOWN_MAX)
        .collect();
    let is_whole = last.len() == text.len();
    if is_whole { last } else { format!("{last}...") }
}

/// Remove status lines that both streams printed, by elapsed seconds and operations.
pub fn without_twins(statuses: &mut Vec<StatusText>) {
    statuses.dedup_by_key(|status| status::progress(&status.text));
}
