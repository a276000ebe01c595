//! Content of one file about one run of YCSB or go-ycsb, and the runs of one file while it is read.

use std::sync::Arc;

use crate::finding::{Finding, Findings, Rule};
use crate::ycsb::command::Command;
use crate::ycsb::common::properties::Properties;
use crate::ycsb::common::raw::Raw;
use crate::ycsb::rules;
use crate::ycsb::run::Run;
use crate::ycsb::settings::ConfigFile;

/// Maximum number of runs read from one file; a sweep has a few dozen.
pub const RUNS_MAX: usize = 512;

/// Remaining memory for all files, so that a hostile file cannot exhaust memory.
#[derive(Debug, Default)]
pub struct MemoryBudget {
    /// Number of rows, about 100 bytes each.
    pub rows: usize,
    /// Bytes of status lines.
    pub status_bytes: usize,
    /// Bytes of command lines and properties.
    pub word_bytes: usize,
    /// Number of runs; the findings of each are limited.
    pub runs: usize,
}

impl MemoryBudget {
    /// Return the share of one of several logs, which together have the limit of one.
    pub fn share(logs_count: usize) -> Self {
        let logs_count = logs_count.max(1);
        Self {
            rows: 250_000 / logs_count,
            status_bytes: (24 << 20) / logs_count,
            word_bytes: (4 << 20) / logs_count,
            runs: RUNS_MAX.div_ceil(logs_count),
        }
    }
}

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

    /// Return the line in the log; `None` in an attachment.
    pub fn log_line(&self) -> Option<u64> {
        self.part.is_none().then_some(self.line)
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

impl MessageCount {
    /// Count a message.
    pub fn add(&mut self, message: Message) {
        self.first.get_or_insert(message);
        self.count += 1;
    }

    /// Use the larger count: both streams print the same traces, so the counts do not add up.
    fn absorb(&mut self, other: Self) {
        if self.count < other.count {
            *self = other;
        }
    }
}

/// A status line or an interval block, parsed when needed: as text, those of a day need little memory.
#[derive(Clone, Debug)]
pub struct StatusText {
    /// Where.
    pub place: Place,
    /// As printed.
    pub text: Box<str>,
}

/// Lines of one run in one file, with the findings about them.
#[derive(Debug, Default)]
pub struct LineSpan {
    /// The companion's name, None in the log.
    pub part: Option<Arc<str>>,
    /// The first line; 0 before the first.
    pub first_line: u64,
    /// The last line.
    pub last_line: u64,
    /// Findings of reading.
    pub findings: Findings,
}

impl LineSpan {
    /// Return the place of a line of this file.
    pub fn place(&self, line: u64) -> Place {
        Place {
            part: self.part.clone(),
            line,
        }
    }

    /// Add a finding at a line.
    pub fn report(&mut self, rule: &Rule, line: u64, sentence: &str) {
        let finding = self.place(line).finding(rule, sentence);
        self.findings.add(finding);
    }
}

/// A program whose outputs are read: what only it prints about a run, and how its runs are built.
pub trait Dialect: Default {
    /// Return the commands of a script that start the program, in their order.
    fn commands(script: &str) -> Vec<Command>;

    /// Add what another file of the same run contains; return whether its rows replace these.
    fn absorb(&mut self, other: Self) -> bool;

    /// Join the streams of one run that one file contains.
    fn join_streams(_fragments: &mut Vec<Fragment<Self>>) {}

    /// Return the run of a fragment that all its files were joined into.
    fn run(fragment: Fragment<Self>, configs: &[ConfigFile]) -> Run;
}

/// Content of one file about one run.
#[derive(Debug, Default)]
pub struct Fragment<D> {
    /// Lines of the fragment, with the findings about them.
    pub span: LineSpan,
    /// The command line of a launcher or a script.
    pub launcher: Option<Command>,
    /// The block in which all properties were printed.
    pub dumped: Option<Properties>,
    /// Exceptions or panics of the program.
    pub crashes: MessageCount,
    /// Errors of the binding or of operations.
    pub errors: MessageCount,
    /// The status lines, or the interval blocks.
    pub statuses: Vec<StatusText>,
    /// Latencies of single operations.
    pub raw: Raw,
    /// The last row, where no line end follows it.
    pub open_row: Option<Place>,
    /// What only this program prints.
    pub own: D,
}

impl<D: Dialect> Fragment<D> {
    /// Return a fragment that begins at a line.
    fn at(part: Option<&Arc<str>>, line: u64) -> Self {
        Self {
            span: LineSpan {
                part: part.cloned(),
                first_line: line,
                last_line: line,
                ..LineSpan::default()
            },
            ..Self::default()
        }
    }

    /// Return a message at a line, for a sentence.
    pub fn message(&self, text: &str, line: u64) -> Message {
        Message {
            place: self.span.place(line),
            text: shown(text),
        }
    }

    /// Store a status line or block, unless the memory is used up; `what` names such texts.
    pub fn store_status(&mut self, place: Place, text: &str, what: &str, status_bytes: &mut usize) {
        let size = text.len() + size_of::<StatusText>();
        let Some(left) = status_bytes.checked_sub(size) else {
            let sentence = format!("too many {what}: this one and those after it are ignored");
            let finding = place.finding(&rules::TOO_MANY_STATUS_LINES, &sentence);
            return self.span.findings.add(finding);
        };
        *status_bytes = left;
        let text = text.into();
        self.statuses.push(StatusText { place, text });
    }

    /// Add the content of another file about the same run; existing values take precedence.
    pub fn absorb(&mut self, other: Self) {
        self.launcher = self.launcher.take().or(other.launcher);
        self.dumped = self.dumped.take().or(other.dumped);
        if self.own.absorb(other.own) {
            self.open_row = other.open_row;
        }
        if self.statuses.is_empty() {
            self.statuses = other.statuses;
        }
        if self.raw.operations().is_empty() {
            self.raw = other.raw;
        }
        self.crashes.absorb(other.crashes);
        self.errors.absorb(other.errors);
        self.span.findings.add_all(other.span.findings.into_list());
    }
}

/// The runs of one file, while it is read.
#[derive(Debug, Default)]
pub struct FileRuns<D> {
    part: Option<Arc<str>>,
    /// The runs so far.
    pub fragments: Vec<Fragment<D>>,
    /// Whether the last line belongs to a block of properties.
    pub in_dump: bool,
    /// Line at which the limit of runs was reached.
    pub left_out: Option<u64>,
}

impl<D: Dialect> FileRuns<D> {
    /// Start an attachment with a name, or the log with `None`.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            part: part.map(|name| shown(name).into()),
            ..Self::default()
        }
    }

    /// Return whether the last run has a property; false before the first run.
    pub fn last_is(&self, wanted: impl FnOnce(&Fragment<D>) -> bool) -> bool {
        self.fragments.last().is_some_and(wanted)
    }

    /// Return the run that a line belongs to; it begins here if it is the first one.
    pub fn current(&mut self, line: u64) -> &mut Fragment<D> {
        if self.fragments.is_empty() {
            self.fragments.push(Fragment::at(self.part.as_ref(), line));
        }
        let last = self.fragments.len() - 1;
        &mut self.fragments[last]
    }

    /// Begin the next run if the line does not belong to the last one; return false if there are too many runs.
    pub fn begin_if(&mut self, is_new: bool, line: u64, budget: &mut MemoryBudget) -> bool {
        if !is_new {
            return true;
        }
        let Some(left) = budget.runs.checked_sub(1) else {
            self.left_out = Some(line);
            return false;
        };
        budget.runs = left;
        self.in_dump = false;
        self.fragments.push(Fragment::at(self.part.as_ref(), line));
        true
    }

    /// End a line of the current run.
    pub fn end_line(&mut self, line: u64) {
        if let Some(fragment) = self.fragments.last_mut() {
            fragment.span.last_line = line;
        }
    }

    /// Add a finding at a line of the current run.
    pub fn report(&mut self, rule: &Rule, line: u64, sentence: &str) {
        self.current(line).span.report(rule, line, sentence);
    }
}

/// Return a text, cut to the length for a sentence.
pub fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    let visible = text.chars().filter(|letter| !letter.is_control());
    let shown: String = visible.take(SHOWN_MAX).collect();
    if shown.len() == text.len() {
        shown
    } else {
        format!("{shown}...")
    }
}

/// Return whether a line of stars is the head (true) or the end (false) of a block of properties; `None` for other stars.
pub fn stars(line: &str) -> Option<bool> {
    match line.trim_matches('*').trim() {
        "properties" => Some(true),
        "" => Some(false),
        _ => None,
    }
}
