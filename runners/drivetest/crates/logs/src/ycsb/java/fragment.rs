//! Content of one file about one YCSB run.

use std::sync::Arc;

use crate::finding::{Finding, Rule};
use crate::ycsb::common::properties::Properties;
use crate::ycsb::common::raw::Raw;
use crate::ycsb::common::span::LineSpan;
use crate::ycsb::java::command::Command;
use crate::ycsb::java::row::Row;
use crate::ycsb::join::JoinFragment;
use crate::ycsb::rules;

/// Maximum number of stored metrics of a run; real runs have a few dozen.
const METRICS_MAX: usize = 256;

/// Maximum number of stored rows of a metric, without those named by numbers.
const NAMED_ROWS_MAX: usize = 512;

/// A place in a file: of the log itself, or of a companion, which is then named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The companion's name.
    pub part: Option<Arc<str>>,
    /// From 1.
    pub line: u64,
}

impl Place {
    /// Return a finding at this place. Lines of attachments are in the sentence, because `line` refers to the log.
    pub fn finding(&self, rule: &Rule, sentence: &str) -> Finding {
        match &self.part {
            None => rule.at(self.line, sentence),
            Some(part) => rule.at(None, format!("{part}, line {}: {sentence}", self.line)),
        }
    }
}

/// Message of the program with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Where.
    pub place: Place,
    /// What.
    pub text: String,
}

/// First message of a kind, and the number of such messages.
#[derive(Clone, Debug, Default)]
pub struct MessageCount {
    /// First message.
    pub first: Option<Message>,
    /// Number of messages.
    pub count: u64,
}

/// A row whose measurement has a name.
#[derive(Clone, Debug)]
pub struct NamedRow {
    /// As printed.
    pub measurement: String,
    /// As printed.
    pub value: String,
    /// Where.
    pub place: Place,
}

/// A row named by a number.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The number.
    pub key: u64,
    /// Whether the count is beyond the number (`>1000`).
    pub is_beyond: bool,
    /// As printed.
    pub value: Box<str>,
}

/// The rows of one metric.
#[derive(Clone, Debug)]
pub struct MetricRows {
    /// As printed.
    pub name: String,
    /// Place of its first row.
    pub place: Place,
    /// Rows with names.
    pub named: Vec<NamedRow>,
    /// Rows with numbers.
    pub cells: Vec<Cell>,
}

/// A status line, parsed when needed: as text, the lines of a day need little memory.
#[derive(Clone, Debug)]
pub struct StatusText {
    /// Where.
    pub place: Place,
    /// As printed.
    pub text: Box<str>,
}

/// Content of one file about one run.
#[derive(Debug, Default)]
pub struct Fragment {
    /// Lines of the fragment, with the findings about them.
    pub span: LineSpan,
    /// The command line that a launcher printed.
    pub launcher: Option<Command>,
    /// The command line that YCSB printed.
    pub command: Option<Command>,
    /// Version in the banner.
    pub version: Option<String>,
    /// The block in which a database printed all properties.
    pub dumped: Option<Properties>,
    /// `Loading workload...` was seen.
    pub has_loaded: bool,
    /// The rows, by metric in their order.
    pub metrics: Vec<MetricRows>,
    /// Rows that were seen, kept or not.
    pub rows_count: u64,
    /// The last row, where no line end follows it.
    pub open_row: Option<Place>,
    /// The status lines.
    pub statuses: Vec<StatusText>,
    /// `Maximum execution time specified as: N secs`.
    pub limit_s: Option<u64>,
    /// `Maximum time elapsed. ...`.
    pub limit_hit: Option<Place>,
    /// `Couldn't read hdrhistogram.percentiles value ...`.
    pub percentiles_fell_back: Option<Message>,
    /// `Could not find exporter ...`.
    pub exporter_fell_back: Option<Message>,
    /// Exceptions.
    pub exceptions: MessageCount,
    /// Errors of the binding.
    pub errors: MessageCount,
    /// Latencies of single operations.
    pub raw: Raw,
}

impl Fragment {
    /// Return the rows of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricRows> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// Return whether anything of a run's preamble is there.
    pub fn has_preamble(&self) -> bool {
        self.command.is_some() || self.version.is_some() || self.has_loaded || self.launcher.is_some()
    }

    /// Read a row; report it if the memory budget is used up.
    pub fn take_row(&mut self, row: Row<'_>, line: u64, rows_left: &mut usize) {
        self.rows_count += 1;
        let Some(left) = rows_left.checked_sub(1) else {
            return self.report_full_budget(line);
        };
        *rows_left = left;
        let place = self.span.place(line);
        let at = self.metrics.iter().position(|metric| metric.name == row.metric);
        let at = match at {
            Some(at) => at,
            None if self.metrics.len() >= METRICS_MAX => return self.report_full_budget(line),
            None => {
                self.metrics.push(MetricRows {
                    name: row.metric.to_owned(),
                    place: place.clone(),
                    named: Vec::new(),
                    cells: Vec::new(),
                });
                self.metrics.len() - 1
            }
        };
        match cell(row) {
            Some(cell) => self.metrics[at].cells.push(cell),
            None => self.take_named(at, row, place),
        }
    }

    fn take_named(&mut self, at: usize, row: Row<'_>, place: Place) {
        let named = &mut self.metrics[at].named;
        if let Some(same) = named.iter().find(|known| known.measurement == row.measurement) {
            let sentence = format!("[{}], {} occurs twice", row.metric, row.measurement);
            let finding = if same.value == row.value {
                place.finding(&rules::ROW_REPEATED, &sentence)
            } else {
                let values = format!("{sentence}: {} and {}", same.value, row.value);
                place.finding(&rules::ROWS_CONFLICT, &values)
            };
            return self.span.findings.add(finding);
        }
        if named.len() >= NAMED_ROWS_MAX {
            return self.report_full_budget(place.line);
        }
        named.push(NamedRow {
            measurement: row.measurement.to_owned(),
            value: row.value.to_owned(),
            place,
        });
    }

    fn report_full_budget(&mut self, line: u64) {
        let sentence = "too many rows: this one and similar ones are ignored";
        self.span.report(&rules::TOO_MANY_ROWS, line, sentence);
    }
}

impl JoinFragment for Fragment {
    fn absorb(&mut self, other: Self) {
        self.launcher = self.launcher.take().or(other.launcher);
        self.command = self.command.take().or(other.command);
        self.version = self.version.take().or(other.version);
        self.dumped = self.dumped.take().or(other.dumped);
        self.has_loaded |= other.has_loaded;
        self.limit_s = self.limit_s.or(other.limit_s);
        self.limit_hit = self.limit_hit.take().or(other.limit_hit);
        self.percentiles_fell_back = self.percentiles_fell_back.take().or(other.percentiles_fell_back);
        self.exporter_fell_back = self.exporter_fell_back.take().or(other.exporter_fell_back);
        if self.raw.operations().is_empty() {
            self.raw = other.raw;
        }
        if self.metrics.is_empty() {
            (self.metrics, self.rows_count, self.open_row) =
                (other.metrics, other.rows_count, other.open_row);
        }
        if self.statuses.is_empty() {
            self.statuses = other.statuses;
        }
        self.exceptions.absorb(other.exceptions);
        self.errors.absorb(other.errors);
        self.span.absorb(other.span);
    }

    fn take_command(&mut self, command: Command) {
        self.launcher.get_or_insert(command);
    }

    fn forget_lines(&mut self) {
        self.span.forget_lines();
    }
}

impl MessageCount {
    /// Count a message.
    pub fn add(&mut self, message: impl FnOnce() -> Message) {
        self.first.get_or_insert_with(message);
        self.count += 1;
    }

    /// Use the larger count: both streams print the same traces, so the counts do not add up.
    pub fn absorb(&mut self, other: Self) {
        if self.count < other.count {
            *self = other;
        }
    }
}

fn cell(row: Row<'_>) -> Option<Cell> {
    let (is_beyond, key) = match row.measurement.strip_prefix('>') {
        Some(key) => (true, key),
        None => (false, row.measurement),
    };
    let only_digits = key.bytes().all(|byte| byte.is_ascii_digit());
    let key = key.parse().ok().filter(|_| only_digits)?;
    Some(Cell {
        key,
        is_beyond,
        value: row.value.into(),
    })
}
