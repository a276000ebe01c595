//! Reader of a log with one or more runs, and with lines of terminals, shells or crashes around them.

use std::borrow::Cow;

use crate::act::blocks::BlockOptions;
use crate::act::grammar::family_a::banner_version;
use crate::act::grammar::line::Clean;
use crate::act::header::Header;
use crate::act::run::Run;
use crate::act::run_reader::{RunReader, begins_blocks};
use crate::act::slices::COUNTS_MAX;
use crate::act::slices::sinks::SinkOptions;
use crate::act::stop::{is_of_ycsb, of_other_program, shown};
use crate::finding::{Finding, Findings, counted, rule};
use crate::read_error::{BINARY, CUT_IN_HEADER, EMPTY, HEADER_MISSING, NOT_AN_ACT_LOG, ReadError};
use crate::reader::Reading;
use crate::text::Line;
use crate::text::stream::{Sink, Text};

/// Maximum number of runs read from one file.
pub const RUNS_MAX: usize = 64;

/// Slice length of ACT's own analysis in seconds.
pub const SLICE_S_DEFAULT: u64 = 3600;

/// Options of a reader.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Requested length of a slice in seconds.
    pub slice_s: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            slice_s: SLICE_S_DEFAULT,
        }
    }
}

/// Reader that receives the bytes of a log in chunks of any size.
#[derive(Debug)]
pub struct LogReader {
    text: Text,
    runs: Runs,
}

#[derive(Debug, Default)]
struct Runs {
    options: Options,
    wanted: SinkOptions,
    first_ordinal: usize,
    current: Option<RunReader>,
    runs: Vec<Run>,
    refused: Vec<ReadError>,
    findings: Findings,
    room: usize,
    stray_block_line: Option<u64>,
    stray_lines_count: u64,
    first_stray: Option<(u64, String)>,
    other_program: Option<Finding>,
}

impl LogReader {
    /// Return a reader at the start of a log.
    pub fn new(options: Options) -> Self {
        Self::with_share(options, 1)
    }

    /// Return a reader whose memory limit is its share of the limit for all logs of an archive.
    pub fn with_share(options: Options, logs_count: usize) -> Self {
        let room = COUNTS_MAX / logs_count.max(1);
        Self {
            text: Text::with_share(logs_count),
            runs: Runs {
                options,
                room,
                ..Runs::default()
            },
        }
    }

    /// Set the sinks for the intervals of its runs.
    pub fn set_sinks(&mut self, wanted: SinkOptions) {
        self.runs.wanted = wanted;
    }

    /// Set the number of runs before these in an archive. Call it before the first bytes.
    pub fn begin_runs_at(&mut self, ordinal: usize) {
        self.runs.first_ordinal = ordinal;
    }

    /// Return the ordinal of the next run, after all bytes.
    pub fn next_ordinal(&mut self) -> usize {
        self.text.settle(&mut self.runs);
        self.runs.next_ordinal() + usize::from(self.runs.current.is_some())
    }

    /// Read the next decompressed bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let runs = &mut self.runs;
        self.text.push(bytes, runs);
    }

    /// Return whether a run has begun.
    pub fn has_begun(&self) -> bool {
        let runs = &self.runs;
        runs.current.is_some() || !runs.runs.is_empty() || !runs.refused.is_empty()
    }

    /// Return the line at which reading stopped because of too many short lines; `None` otherwise.
    pub fn flooded_line(&self) -> Option<u64> {
        self.text.flooded_line()
    }

    /// Add a finding of the caller about the file.
    pub fn add_finding(&mut self, finding: Finding) {
        self.runs.findings.add(finding);
    }

    /// End the log.
    pub fn finish(mut self) -> Reading {
        let runs = &mut self.runs;
        let lines_count = self.text.finish(runs);
        runs.findings.add_all(self.text.findings());
        self.runs.finish(lines_count, &self.text)
    }
}

impl Sink for Runs {
    fn clean(&mut self, bytes: &[u8], line: u64) -> Clean {
        let run = self.current.as_mut();
        run.map_or_else(Clean::default, |run| run.take_clean(bytes, line))
    }

    fn line(&mut self, line: Line<'_>) {
        let text = spaced(line.text);
        let is_own = self.take_spaced(Line { text: &text, ..line });
        if is_own && matches!(text, Cow::Owned(_)) {
            let sentence = "tabs where the program prints blanks; they are read as blanks";
            self.findings
                .add(rule::NON_BREAKING_SPACES.at(line.number, sentence));
        }
    }
}

impl Runs {
    fn next_ordinal(&self) -> usize {
        self.first_ordinal + self.runs.len()
    }

    /// Read a line without tabs; return whether it belongs to a run.
    fn take_spaced(&mut self, line: Line<'_>) -> bool {
        if let Some(header) = header_that_begins(line.text) {
            // The room is that before the run that ends here.
            let (slice_s, room) = (self.options.slice_s, self.room);
            self.end_run();
            let options = BlockOptions {
                slice_s,
                room,
                wanted: self.wanted.clone(),
                run: self.next_ordinal(),
            };
            self.current = Some(RunReader::new(line.number, header, options));
            return true;
        }
        if let Some(run) = &mut self.current {
            return run.take(line);
        }
        if !line.text.is_empty() {
            self.take_stray(line);
        }
        false
    }

    fn end_run(&mut self) {
        let Some(run) = self.current.take() else { return };
        if self.runs.len() + self.refused.len() >= RUNS_MAX {
            let sentence = format!("the file has more runs; only the first {RUNS_MAX} are read");
            return self.findings.add(rule::TOO_MANY_RUNS.at(None, sentence));
        }
        match run.finish() {
            Err(error) => self.refused.push(error),
            Ok((run, room)) => {
                self.room = room;
                self.runs.push(*run);
            }
        }
    }

    fn take_stray(&mut self, line: Line<'_>) {
        if begins_blocks(line.text) {
            self.stray_block_line.get_or_insert(line.number);
        }
        if is_of_ycsb(line.text) {
            let finding = || of_other_program(line.number, &shown(line.text));
            self.other_program.get_or_insert_with(finding);
        }
        self.stray_lines_count += 1;
        let stray = || (line.number, shown(line.text));
        self.first_stray.get_or_insert_with(stray);
    }

    fn finish(mut self, lines_count: u64, text: &Text) -> Reading {
        self.end_run();
        let error = self.runs.is_empty().then(|| self.error(lines_count, text.head()));
        if error.is_none() {
            self.report();
        }
        Reading {
            error,
            findings: self.findings.into_list(),
            runs: self.runs,
            lines_count,
            encoding: text.encoding(),
            ..Reading::default()
        }
    }

    fn report(&mut self) {
        let refused = self.refused.drain(..);
        let not_read = refused.map(|error| rule::RUN_NOT_READ.at(error.line, error.sentence));
        self.findings.add_all(not_read);
        if self.runs.len() > 1 {
            let second = self.runs[1].first_line;
            let sentence = format!("the file contains {} runs", self.runs.len());
            self.findings.add(rule::SEVERAL_RUNS.at(second, sentence));
        }
        self.findings.add_all(self.other_program.take());
        if let Some((line, text)) = self.first_stray.take() {
            let count = self.stray_lines_count;
            let sentence =
                format!("{count} lines of the file come before the first run; the first line: {text}");
            self.findings.add(rule::NOISE.at(line, sentence));
        }
    }

    fn error(&mut self, lines_count: u64, head: &[u8]) -> ReadError {
        if !self.refused.is_empty() {
            return self.refused.swap_remove(0);
        }
        let last_line = Some(lines_count).filter(|&count| count > 0);
        if head.iter().all(u8::is_ascii_whitespace) && self.first_stray.is_none() {
            return EMPTY.at(last_line, "an empty file");
        }
        if let Some(line) = self.stray_block_line {
            return HEADER_MISSING.at(line, "a block without a header before it");
        }
        if looks_binary(head) {
            return BINARY.at(1, "bytes that are not text");
        }
        let (line, text) = self.first_stray.take().unwrap_or((lines_count, String::new()));
        if "ACT version".starts_with(&text) && line == lines_count {
            return CUT_IN_HEADER.at(line, format!("'{text}' at the end of the log"));
        }
        let lines = counted(lines_count, "line");
        NOT_AN_ACT_LOG.at(last_line, format!("{lines} without one; the first: '{text}'"))
    }
}

/// Return the header that a line begins; `None` for any other line.
fn header_that_begins(text: &[u8]) -> Option<Header> {
    match text.strip_prefix(b"ACT version ") {
        Some(version) => Some(Header::new(&shown(version))),
        None => banner_version(text).map(|version| Header::of_banner_a(&version)),
    }
}

/// Replace tabs by blanks: no version prints tabs, and some editors turn blanks into tabs.
fn spaced(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\t', text).is_none() {
        return Cow::Borrowed(text);
    }
    let space = |&byte: &u8| if byte == b'\t' { b' ' } else { byte };
    Cow::Owned(text.iter().map(space).collect())
}

fn looks_binary(head: &[u8]) -> bool {
    let is_cut_letter = |error: &std::str::Utf8Error| error.error_len().is_none();
    let no_utf8 = std::str::from_utf8(head).is_err_and(|error| !is_cut_letter(&error));
    head.contains(&0) || no_utf8
}
