//! How a run ended (finished, short, cut, interrupted, crashed), from the messages of the program and from the missing
//! parts of the log.

use serde::Serialize;

use crate::act::grammar::error_messages::{MessageKind, RATE_NOT_SUSTAINED, accompanies, classify};
use crate::finding::{Finding, Findings, counted, rule};

/// Kind of end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopKind {
    /// The run reached the requested duration.
    Finished,
    /// The load could not be sustained.
    #[serde(rename = "cannot-keep-up")]
    Overload,
    /// A signal stopped the program, and the program reported it.
    Interrupted,
    /// Operations failed and the run ended early.
    IoError,
    /// The crash handler wrote a trace.
    Crashed,
    /// The file ends inside a line or a block.
    Cut,
    /// The file ends after a whole block, before the requested duration and without a message.
    Short,
    /// The program reported an error before the first block.
    NotStarted,
}

/// How a run ended, with the message of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// Kind of end.
    pub kind: StopKind,
    /// Line number of the message; `None` without a message.
    pub line: Option<u64>,
    /// Text of the message.
    pub text: String,
}

impl Stop {
    fn new(kind: StopKind, message: Option<&Message>) -> Self {
        Self {
            kind,
            line: message.map(|message| message.line),
            text: message.map_or_else(String::new, |message| message.text.clone()),
        }
    }
}

#[derive(Clone, Debug)]
struct Message {
    line: u64,
    text: String,
}

/// Messages of the program, collected while a run is read.
#[derive(Debug, Default)]
pub struct ProgramMessages {
    overload: Option<Message>,
    crash: Option<Message>,
    interrupted: Option<Message>,
    io_error: Option<Message>,
    /// Operations that failed.
    pub io_errors_count: u64,
    error: Option<Message>,
    errors: Vec<Message>,
    errors_count: u64,
    noise: Option<Message>,
    noise_count: u64,
    other_program: Option<Message>,
    scheduler: Option<Message>,
    rate_not_sustained: Option<Message>,
}

/// Extent of the run that the log contains.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// Number of blocks read.
    pub intervals_count: u64,
    /// Label of the last block.
    pub reached_s: u64,
    /// Requested duration; `None` if the header does not state it.
    pub requested_s: Option<u64>,
    /// Line number at which the log was cut inside a block; `None` if it was not.
    pub cut_line: Option<u64>,
    /// Last line of the run.
    pub last_line: u64,
    /// Operations in the histograms, each counted once; `None` without histograms.
    pub ops_count: Option<u64>,
}

/// Stored error lines.
const ERRORS_MAX: usize = 5;

/// Maximum stored length of a line.
const TEXT_CHARS_MAX: usize = 200;

impl ProgramMessages {
    /// Add a line that is neither header nor figures.
    pub fn add(&mut self, line: u64, text: &[u8]) {
        let message = || Message {
            line,
            text: shown(text),
        };
        let first = match classify(text) {
            MessageKind::Overload => &mut self.overload,
            MessageKind::Crash => &mut self.crash,
            MessageKind::Interrupted => &mut self.interrupted,
            MessageKind::Scheduler => &mut self.scheduler,
            MessageKind::RateNotSustained => &mut self.rate_not_sustained,
            MessageKind::Trace => return,
            MessageKind::IoError => {
                self.io_errors_count += 1;
                &mut self.io_error
            }
            MessageKind::Error => return self.add_error(message()),
            MessageKind::Noise if accompanies(text) => return,
            MessageKind::Noise => {
                self.noise_count += 1;
                if is_of_ycsb(text) {
                    self.other_program.get_or_insert_with(message);
                }
                &mut self.noise
            }
        };
        first.get_or_insert_with(message);
    }

    /// Return whether a message explains why there is no block.
    pub fn explains_no_start(&self) -> bool {
        self.error.is_some() || self.crash.is_some() || self.interrupted.is_some() || self.io_error.is_some()
    }

    /// Return how the run ended.
    pub fn stop(&self, extent: &Extent) -> Stop {
        let has_reached = |requested_s: u64| extent.reached_s >= requested_s;
        let is_finished = extent.requested_s.is_some_and(has_reached) && extent.intervals_count > 0;
        let messages = [
            (StopKind::Overload, &self.overload),
            (StopKind::Crashed, &self.crash),
            (StopKind::Interrupted, &self.interrupted),
        ];
        if let Some((kind, message)) = messages.into_iter().find(|(_, message)| message.is_some()) {
            Stop::new(kind, message.as_ref())
        } else if extent.cut_line.is_some() {
            Stop {
                line: extent.cut_line,
                ..Stop::new(StopKind::Cut, None)
            }
        } else if extent.intervals_count == 0 && self.error.is_some() {
            Stop::new(StopKind::NotStarted, self.error.as_ref())
        } else if is_finished {
            Stop::new(StopKind::Finished, None)
        } else if let Some(message) = &self.io_error {
            Stop::new(StopKind::IoError, Some(message))
        } else {
            Stop::new(StopKind::Short, None)
        }
    }

    /// Add the findings about the end of the run.
    pub fn report(&self, stop: &Stop, extent: &Extent, findings: &mut Findings) {
        findings.add_all(ending(stop, extent));
        if let Some(Message { line, text }) = &self.io_error {
            let failed = self.io_errors_count;
            let of_all = extent.ops_count.map_or_else(String::new, |ops| {
                let all = ops.saturating_add(failed);
                format!(" of {all} ({:.2} %)", failed as f64 * 100.0 / all as f64)
            });
            let operations = counted(failed, "operation");
            let sentence = format!("{operations} failed{of_all}; the first: {text}");
            findings.add(rule::IO_ERRORS.at(*line, sentence));
        }
        if let Some(Message { line, text }) = &self.scheduler {
            findings.add(rule::SCHEDULER_NOT_SET.at(*line, text));
        }
        if let Some(Message { line, text }) = &self.rate_not_sustained {
            let sentence = text.strip_prefix(RATE_NOT_SUSTAINED).unwrap_or(text);
            findings.add_unless_known(rule::RATE_BELOW_REQUESTED.at(*line, sentence));
        }
        self.report_errors(stop, findings);
        if let Some(Message { line, text }) = &self.other_program {
            findings.add(of_other_program(*line, text));
        }
        if let Some(Message { line, text }) = &self.noise {
            let sentence = format!(
                "{} lines of the log come from other programs; the first line: {text}",
                self.noise_count
            );
            findings.add(rule::NOISE.at(*line, sentence));
        }
    }

    fn report_errors(&self, stop: &Stop, findings: &mut Findings) {
        if stop.kind == StopKind::NotStarted {
            return;
        }
        for Message { line, text } in &self.errors {
            findings.add(rule::ERROR_LINE.at(*line, text));
        }
        if self.errors_count > ERRORS_MAX as u64 {
            let line = self.errors.first().map(|message| message.line);
            let sentence = format!("the log has {} error lines in total", self.errors_count);
            findings.add(rule::ERROR_LINE.at(line, sentence));
        }
    }

    fn add_error(&mut self, message: Message) {
        self.errors_count += 1;
        self.error.get_or_insert_with(|| message.clone());
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(message);
        }
    }
}

/// Return whether only YCSB or go-ycsb prints such a line.
pub fn is_of_ycsb(text: &[u8]) -> bool {
    const SIGNS: [&[u8]; 3] = [b"[OVERALL], ", b"YCSB Client ", b"Run finished, takes "];
    SIGNS.iter().any(|sign| text.starts_with(sign))
}

/// Return the finding that a log of ACT contains output of YCSB, which is not read.
pub fn of_other_program(line: u64, text: &str) -> Finding {
    let sentence = format!("expected only a log of ACT; this output of YCSB is not read: {text}");
    rule::OTHER_PROGRAM.at(line, sentence)
}

fn ending(stop: &Stop, extent: &Extent) -> Option<Finding> {
    let requested = extent.requested_s.map(|requested_s| format!("{requested_s} s"));
    let requested = requested.unwrap_or_else(|| "an unknown time".to_owned());
    let after = format!("after {} s of {requested}", extent.reached_s);
    let (line, text) = (stop.line, &stop.text);
    Some(match stop.kind {
        StopKind::Finished => return None,
        StopKind::Overload => {
            rule::CANNOT_KEEP_UP.at(line, format!("the test stopped itself {after}: {text}"))
        }
        StopKind::Interrupted => {
            rule::INTERRUPTED.at(line, format!("the test was interrupted {after}: {text}"))
        }
        StopKind::Crashed => rule::CRASHED.at(line, format!("the program crashed {after}: {text}")),
        StopKind::IoError => rule::SHORT.at(
            extent.last_line,
            format!("the log ends {after}, after I/O errors of the device"),
        ),
        StopKind::Short => {
            let sentence = format!("the log ends {after}, and the program gives no reason");
            rule::SHORT.at(extent.last_line, sentence)
        }
        StopKind::NotStarted => {
            rule::NOT_STARTED.at(line, format!("the program ended before its first report: {text}"))
        }
        StopKind::Cut => {
            let sentence =
                format!("the log ends inside a line or a block; the last whole block of the log is {after}");
            rule::CUT.at(line, sentence)
        }
    })
}

/// Return a line for display: of limited length, without control characters.
pub fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(TEXT_CHARS_MAX * 4)]);
    let visible = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    text.chars().take(TEXT_CHARS_MAX).map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(reached_s: u64) -> Extent {
        Extent {
            intervals_count: reached_s,
            reached_s,
            requested_s: Some(60),
            cut_line: None,
            last_line: 99,
            ops_count: None,
        }
    }

    fn kind_after(lines: &[&str], extent: &Extent) -> StopKind {
        let mut messages = ProgramMessages::default();
        (1..)
            .zip(lines)
            .for_each(|(line, text)| messages.add(line, text.as_bytes()));
        messages.stop(extent).kind
    }

    #[test]
    fn a_run_of_the_requested_duration_is_finished_and_one_second_less_is_short() {
        assert_eq!(kind_after(&[], &extent(60)), StopKind::Finished);
        assert_eq!(kind_after(&[], &extent(61)), StopKind::Finished);
        assert_eq!(kind_after(&[], &extent(59)), StopKind::Short);
    }

    #[test]
    fn a_run_of_unknown_duration_is_never_finished() {
        let unknown = Extent {
            requested_s: None,
            ..extent(u64::MAX)
        };
        assert_eq!(kind_after(&[], &unknown), StopKind::Short);
    }

    #[test]
    fn messages_take_precedence_over_the_duration() {
        assert_eq!(kind_after(&["SIGSEGV received"], &extent(60)), StopKind::Crashed);
        let both = ["ERROR: large block reads can't keep up", "SIGSEGV received"];
        assert_eq!(kind_after(&both, &extent(14)), StopKind::Overload);
        assert_eq!(
            kind_after(&["drivetest: stopped by signal TERM"], &extent(14)),
            StopKind::Interrupted
        );
    }

    #[test]
    fn io_errors_end_a_run_only_where_it_ended_early() {
        let error = ["ERROR: reading /dev/a: 5 'Input/output error'"];
        assert_eq!(kind_after(&error, &extent(14)), StopKind::IoError);
        assert_eq!(kind_after(&error, &extent(60)), StopKind::Finished);
    }

    #[test]
    fn failed_operations_are_reported_as_a_share_of_all() {
        let mut messages = ProgramMessages::default();
        messages.add(7, b"ERROR: reading /dev/a: 5 'Input/output error'");
        let mut findings = Findings::default();
        let extent = Extent {
            ops_count: Some(399),
            ..extent(60)
        };
        messages.report(&messages.stop(&extent), &extent, &mut findings);
        let sentence = &findings.into_list()[0].sentence;
        assert!(
            sentence.starts_with("1 operation failed of 400 (0.25 %); the first: ERROR"),
            "{sentence}"
        );
    }

    #[test]
    fn an_error_without_a_block_is_a_run_that_never_started() {
        assert_eq!(
            kind_after(&["ERROR: load config too small"], &extent(0)),
            StopKind::NotStarted
        );
        assert_eq!(
            kind_after(&["ERROR: load config too small"], &extent(60)),
            StopKind::Finished
        );
    }
}
