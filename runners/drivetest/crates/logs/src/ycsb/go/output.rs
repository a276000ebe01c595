//! Reader of go-ycsb's output: lines to fragments, one per run in the file.

use crate::text::Line;
use crate::ycsb::common::properties::{self, Properties};
use crate::ycsb::common::raw::Clock;
use crate::ycsb::fragment::{FileRuns, MemoryBudget, shown};
use crate::ycsb::go::fragment::{Fragment, Go};
use crate::ycsb::go::line_kind::{self, LineKind};
use crate::ycsb::go::row::{Shape, Table};
use crate::ycsb::rules;

/// Reader of one file.
#[derive(Debug)]
pub struct Output {
    runs: FileRuns<Go>,
    table: Table,
}

impl Output {
    /// Start an attachment with a name, or the log with `None`.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            runs: FileRuns::new(part),
            table: Table::default(),
        }
    }

    /// Return whether a line that only go-ycsb prints was read.
    pub fn has_begun(&self) -> bool {
        self.runs.fragments.iter().any(|fragment| fragment.own.is_sure)
    }

    /// Read a line; return whether only go-ycsb prints it.
    pub fn take(&mut self, line: Line<'_>, budget: &mut MemoryBudget) -> bool {
        if self.runs.left_out.is_some() {
            return false;
        }
        let text = String::from_utf8_lossy(line.text);
        if self.runs.in_dump && self.take_property(&text, budget) {
            return false;
        }
        let kind = line_kind::of(&text, &mut self.table);
        let is_own = self.take_line_kind(kind, &text, line, budget);
        self.runs.end_line(line.number);
        is_own
    }

    fn take_line_kind(
        &mut self,
        kind: LineKind<'_>,
        text: &str,
        line: Line<'_>,
        budget: &mut MemoryBudget,
    ) -> bool {
        match kind {
            LineKind::Other => return false,
            LineKind::Stars { is_head } => {
                self.take_stars(is_head, line.number, budget);
                return false;
            }
            LineKind::Csv(row) => {
                let fragment = self.runs.fragments.last_mut();
                let Some(fragment) = fragment.filter(|fragment| fragment.own.has_csv) else {
                    return false;
                };
                fragment.raw.take(row, Clock::Microseconds);
                fragment.open_row = (!line.ended).then(|| fragment.span.place(line.number));
            }
            LineKind::Frame => return self.has_begun(),
            LineKind::Distribution(name) => self.take_distribution(name, line.number, budget),
            LineKind::Rows(shapes) => {
                shapes
                    .into_iter()
                    .for_each(|shape| self.take_shape(shape, text, line, budget));
            }
            LineKind::Finished(takes_ns) => self.take_finish(takes_ns, line.number, budget),
            LineKind::CsvHead => {
                let own = &mut self.runs.current(line.number).own;
                (own.has_csv, own.is_sure) = (true, true);
            }
            LineKind::Exporting => {}
            word => return self.take_word(&word, text, line.number),
        }
        true
    }

    /// Store a message; return false, because other programs may print it too.
    fn take_word(&mut self, kind: &LineKind<'_>, text: &str, line: u64) -> bool {
        let fragment = self.runs.current(line);
        let message = fragment.message(text, line);
        match kind {
            LineKind::Signal => fragment.own.signal = Some(message),
            LineKind::Refused => _ = fragment.own.refused.get_or_insert(message),
            LineKind::Panic => fragment.crashes.add(message),
            _ => fragment.errors.add(message),
        }
        false
    }

    fn take_distribution(&mut self, name: &str, line: u64, budget: &mut MemoryBudget) {
        let is_next = |last: &Fragment| last.own.is_sure || last.dumped.is_some();
        if self.runs.begin_if(self.runs.last_is(is_next), line, budget) {
            let own = &mut self.runs.current(line).own;
            own.distribution = Some(shown(name));
            own.is_sure = true;
        }
    }

    fn take_stars(&mut self, is_head: bool, line: u64, budget: &mut MemoryBudget) {
        self.runs.in_dump = false;
        let is_next = |last: &Fragment| last.dumped.is_some() || last.own.finished.is_some();
        if is_head && self.runs.begin_if(self.runs.last_is(is_next), line, budget) {
            self.runs.in_dump = true;
            self.runs.current(line).dumped = Some(Properties::default());
        }
    }

    fn take_property(&mut self, text: &str, budget: &mut MemoryBudget) -> bool {
        let property = properties::printed(text);
        let Some((left, (name, value))) = budget.word_bytes.checked_sub(text.len()).zip(property) else {
            self.runs.in_dump = false;
            return false;
        };
        budget.word_bytes = left;
        if let Some(fragment) = self.runs.fragments.last_mut() {
            // YCSB's BasicDB prints the same block, but does not set the command.
            fragment.own.is_sure |= name == "command";
            fragment.dumped.get_or_insert_default().set(name, value);
        }
        true
    }

    fn take_shape(&mut self, shape: Shape, text: &str, line: Line<'_>, budget: &mut MemoryBudget) {
        let fragment = self.runs.current(line.number);
        if let Shape::Row(row) = shape {
            fragment.own.is_sure = true;
            fragment.take_row(row, line.number, &mut budget.status_bytes);
            fragment.open_row = (!line.ended).then(|| fragment.span.place(line.number));
            return;
        }
        let text = shown(text);
        let sentence = format!("expected 'OPERATION - Takes(s): ..., Count: ...'; got '{text}'");
        let rule = match line.ended {
            true => &rules::ROW_UNREADABLE,
            false => &rules::RESULT_CUT,
        };
        fragment.span.report(rule, line.number, &sentence);
    }

    fn take_finish(&mut self, takes_ns: Option<u64>, line: u64, budget: &mut MemoryBudget) {
        let is_next = |last: &Fragment| last.own.finished.is_some();
        if self.runs.begin_if(self.runs.last_is(is_next), line, budget) {
            let fragment = self.runs.current(line);
            fragment.own.is_sure = true;
            fragment.end_block(&mut budget.status_bytes);
            fragment.own.finished = Some((fragment.span.place(line), takes_ns));
        }
    }

    /// End the file; return its fragments, and the line at which the limit of runs was reached.
    pub fn finish(self) -> (Vec<Fragment>, Option<u64>) {
        let is_used = |fragment: &Fragment| {
            fragment.own.is_sure || fragment.own.refused.is_some() || fragment.crashes.count > 0
        };
        let fragments = self.runs.fragments.into_iter().filter(is_used);
        (fragments.collect(), self.runs.left_out)
    }
}
