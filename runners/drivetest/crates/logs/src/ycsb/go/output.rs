//! Reader of go-ycsb's output: lines to fragments, one per run in the file.

use std::sync::Arc;

use crate::text::Line;
use crate::ycsb::common::limits::MemoryBudget;
use crate::ycsb::common::properties::{self, Properties};
use crate::ycsb::common::raw::Clock;
use crate::ycsb::common::span::LineSpan;
use crate::ycsb::go::fragment::Fragment;
use crate::ycsb::go::line_kind::{self, LineKind};
use crate::ycsb::go::row::{Row, Shape, Table};
use crate::ycsb::java::fragment::Message;
use crate::ycsb::java::output::shown;
use crate::ycsb::rules;

/// Reader of one file.
#[derive(Debug, Default)]
pub struct Output {
    part: Option<Arc<str>>,
    fragments: Vec<Fragment>,
    table: Table,
    in_dump: bool,
    /// Line at which the limit of runs was reached.
    left_out: Option<u64>,
}

impl Output {
    /// Start an attachment with a name, or the log with `None`.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            part: part.map(|name| shown(name).into()),
            ..Self::default()
        }
    }

    /// Return whether a line that only go-ycsb prints was read.
    pub fn has_begun(&self) -> bool {
        self.fragments.iter().any(|fragment| fragment.is_sure)
    }

    /// Read a line; return whether only go-ycsb prints it.
    pub fn take(&mut self, line: Line<'_>, budget: &mut MemoryBudget) -> bool {
        if self.left_out.is_some() {
            return false;
        }
        let text = String::from_utf8_lossy(line.text);
        if self.in_dump && self.take_property(&text, budget) {
            return false;
        }
        let sign = line_kind::of(&text, &mut self.table);
        let is_own = self.take_line_kind(sign, &text, line, budget);
        if let Some(fragment) = self.fragments.last_mut() {
            fragment.span.last_line = line.number;
        }
        is_own
    }

    fn take_line_kind(
        &mut self,
        sign: LineKind<'_>,
        text: &str,
        line: Line<'_>,
        budget: &mut MemoryBudget,
    ) -> bool {
        match sign {
            LineKind::Other => return false,
            LineKind::Stars { is_head } => {
                self.take_stars(is_head, line.number, budget);
                return false;
            }
            LineKind::Csv(row) => {
                let Some(fragment) = self.fragments.last_mut().filter(|fragment| fragment.has_csv) else {
                    return false;
                };
                fragment.raw.take(row, Clock::Microseconds);
                fragment.open_row = (!line.ended).then(|| fragment.span.place(line.number));
            }
            LineKind::Frame => return self.has_begun(),
            LineKind::Distribution(name) => self.take_distribution(name, line.number, budget),
            LineKind::Rows(shapes) => shapes
                .into_iter()
                .for_each(|shape| self.take_shape(shape, text, line, budget)),
            LineKind::Finished(takes_ns) => self.take_finish(takes_ns, line.number, budget),
            LineKind::CsvHead => {
                let fragment = self.current_fragment(line.number);
                (fragment.has_csv, fragment.is_sure) = (true, true);
            }
            LineKind::Exporting => {}
            word => return self.take_word(&word, text, line.number),
        }
        true
    }

    /// Store a message; return false, because other programs may print it too.
    fn take_word(&mut self, sign: &LineKind<'_>, text: &str, line: u64) -> bool {
        let fragment = self.current_fragment(line);
        let message = Message {
            place: fragment.span.place(line),
            text: shown(text),
        };
        match sign {
            LineKind::Signal => fragment.signal = Some(message),
            LineKind::Refused => _ = fragment.refused.get_or_insert(message),
            LineKind::Panic => fragment.panics.add(|| message),
            _ => fragment.errors.add(|| message),
        }
        false
    }

    fn take_distribution(&mut self, name: &str, line: u64, budget: &mut MemoryBudget) {
        let begins = |fragment: &Fragment| fragment.is_sure || fragment.dumped.is_some();
        if self.fragments.last().is_some_and(begins) && !self.begin_fragment(line, budget) {
            return;
        }
        let fragment = self.current_fragment(line);
        fragment.distribution = Some(shown(name));
        fragment.is_sure = true;
    }

    fn take_stars(&mut self, is_head: bool, line: u64, budget: &mut MemoryBudget) {
        self.in_dump = false;
        if !is_head {
            return;
        }
        let begins = |fragment: &Fragment| fragment.dumped.is_some() || fragment.finished.is_some();
        if self.fragments.last().is_some_and(begins) && !self.begin_fragment(line, budget) {
            return;
        }
        self.in_dump = true;
        self.current_fragment(line).dumped = Some(Properties::default());
    }

    fn take_property(&mut self, text: &str, budget: &mut MemoryBudget) -> bool {
        let property = properties::printed(text);
        let Some((left, (name, value))) = budget.word_bytes.checked_sub(text.len()).zip(property) else {
            self.in_dump = false;
            return false;
        };
        budget.word_bytes = left;
        if let Some(fragment) = self.fragments.last_mut() {
            // YCSB's BasicDB prints the same block, but does not set the command.
            fragment.is_sure |= name == "command";
            fragment.dumped.get_or_insert_default().set(name, value);
        }
        true
    }

    fn take_shape(&mut self, shape: Shape, text: &str, line: Line<'_>, budget: &mut MemoryBudget) {
        match shape {
            Shape::Row(row) => self.take_row(row, line, budget),
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
                self.current_fragment(line.number)
                    .span
                    .report(rule, line.number, &sentence);
            }
        }
    }

    fn take_row(&mut self, row: Row, line: Line<'_>, budget: &mut MemoryBudget) {
        let fragment = self.current_fragment(line.number);
        fragment.is_sure = true;
        fragment.take_row(row, line.number, &mut budget.status_bytes);
        fragment.open_row = (!line.ended).then(|| fragment.span.place(line.number));
    }

    fn take_finish(&mut self, takes_ns: Option<u64>, line: u64, budget: &mut MemoryBudget) {
        if self
            .fragments
            .last()
            .is_some_and(|fragment| fragment.finished.is_some())
            && !self.begin_fragment(line, budget)
        {
            return;
        }
        let fragment = self.current_fragment(line);
        fragment.is_sure = true;
        fragment.end_block(&mut budget.status_bytes);
        fragment.finished = Some((fragment.span.place(line), takes_ns));
    }

    /// End the file: its runs, and the line from which on runs were left out.
    pub fn finish(self) -> (Vec<Fragment>, Option<u64>) {
        let is_used =
            |fragment: &Fragment| fragment.is_sure || fragment.refused.is_some() || fragment.panics.count > 0;
        let fragments = self.fragments.into_iter().filter(is_used);
        (fragments.collect(), self.left_out)
    }

    fn begin_fragment(&mut self, line: u64, budget: &mut MemoryBudget) -> bool {
        let Some(left) = budget.runs.checked_sub(1) else {
            self.left_out = Some(line);
            return false;
        };
        budget.runs = left;
        self.in_dump = false;
        self.fragments.push(self.piece_at(line));
        true
    }

    fn piece_at(&self, line: u64) -> Fragment {
        Fragment {
            span: LineSpan::at(self.part.as_ref(), line),
            ..Fragment::default()
        }
    }

    fn current_fragment(&mut self, line: u64) -> &mut Fragment {
        if self.fragments.is_empty() {
            self.fragments.push(self.piece_at(line));
        }
        let last = self.fragments.len() - 1;
        &mut self.fragments[last]
    }
}
