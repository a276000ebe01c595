//! The one entry: takes a log with its companions, tells by its content what it is, and gives what was read.
//!
//! Until one of them knows its own, the recognisers of ACT and of YCSB both see every byte; from then on only that one
//! does, so that a log of either kind costs nothing for the other.

use crate::act;
use crate::finding::{Finding, rule};
use crate::read_error::{FLOOD, ReadError};
use crate::text::decode::Encoding;
use crate::text::repair::noise_limit;
use crate::ycsb;

pub use crate::act::reader::{Options, SLICE_S_DEFAULT};

/// What a file is to the log it comes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The log itself: what the program printed, standard output or both streams.
    #[default]
    Log,
    /// What it printed on standard error.
    Stderr,
    /// The command line that started it.
    Command,
    /// A configuration or properties file that it was given.
    Config,
    /// A side file of drivetest.
    SideFile,
    /// Histograms of YCSB (`.hdr`).
    Hdr,
    /// Results that were written to a file instead of standard output.
    Export,
    /// Anything else.
    Other,
}

/// A file that begins.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its name, only a label.
    pub name: &'a str,
    /// What it is to the log.
    pub role: Role,
}

/// What was read of a log with its companions.
#[derive(Debug)]
pub struct Reading {
    /// Why nothing could be read; there are no runs then.
    pub error: Option<ReadError>,
    /// What concerns no single run.
    pub findings: Vec<Finding>,
    /// The runs of ACT and drivetest in their order.
    pub runs: Vec<act::run::Run>,
    /// The runs of YCSB in their order.
    pub ycsb_runs: Vec<ycsb::run::Run>,
    /// The lines of the log, without its companions.
    pub lines_count: u64,
    /// How the letters of the log are stored.
    pub encoding: Encoding,
}

impl Reading {
    /// Adds what was found at the end of what could be read; the last run bears it.
    fn add_damage(&mut self, finding: Finding) {
        if let Some(run) = self.runs.last_mut() {
            run.findings.push(finding);
        } else if let Some(run) = self.ycsb_runs.last_mut() {
            run.add_damage(finding);
        }
    }

    /// Says that reading stopped at a flood of short lines: alone it is no log, behind a run it may hide more of it.
    fn stop_at_flood(&mut self, line: u64) {
        if self.error.is_some() {
            let got = format!("{line} lines with fewer; they were read no further");
            self.error = Some(FLOOD.at(line, got));
        }
        self.add_damage(rule::LINES_FLOOD.at(line, noise_limit::sentence(line)));
    }

    /// Says that the log is a file of an archive in which so many runs of YCSB stand before these.
    pub fn be_of_member(&mut self, name: &str, ycsb_runs_before: usize) {
        for run in &mut self.runs {
            run.member = Some(name.to_owned());
        }
        for run in &mut self.ycsb_runs {
            run.ordinal += ycsb_runs_before;
            run.member = Some(name.to_owned());
        }
        for finding in &mut self.findings {
            finding.member = Some(name.to_owned());
        }
    }
}

/// Takes the bytes of a log, then those of its companions, in chunks of any size.
#[derive(Debug)]
pub struct LogReader {
    act: Option<act::reader::LogReader>,
    ycsb: Option<ycsb::reader::Reader>,
    side_file: act::side_file::SideFile,
    sidecars: ycsb::sidecar::Sidecars,
    role: Role,
}

impl LogReader {
    /// A reader at the start of a log.
    pub fn new(options: Options) -> Self {
        Self::with_share(options, 1)
    }

    /// A reader of one of several logs, whose readers together keep no more than the reader of one.
    pub fn with_share(options: Options, logs_count: usize) -> Self {
        Self {
            act: Some(act::reader::LogReader::with_share(options, logs_count)),
            ycsb: Some(ycsb::reader::Reader::with_share(logs_count)),
            side_file: act::side_file::SideFile::default(),
            sidecars: ycsb::sidecar::Sidecars::default(),
            role: Role::Log,
        }
    }

    /// Says what else is made of the intervals of ACT's runs; to be called before any bytes come. Where a part of the
    /// run is asked for, HDR intervals of YCSB outside it are left out, as to leave out a warm-up.
    pub fn want(&mut self, wanted: act::slices::sinks::SinkOptions) {
        let span = wanted
            .series
            .filter(|series| series.from_s > 0 || series.to_s < u64::MAX);
        if let Some(span) = span {
            self.set_span(span.from_s, span.to_s);
        }
        if let Some(act) = &mut self.act {
            act.want(wanted);
        }
    }

    fn set_span(&mut self, from_s: u64, to_s: u64) {
        if let Some(ycsb) = &mut self.ycsb {
            ycsb.set_span(ycsb::hdr::file::Span { from_s, to_s });
        }
    }

    /// Says how many runs of ACT stand before these in an archive; to be called before any bytes come.
    pub fn begin_runs_at(&mut self, ordinal: usize) {
        if let Some(act) = &mut self.act {
            act.begin_runs_at(ordinal);
        }
    }

    /// The ordinal of the next run of ACT, when all bytes of the log have come; None where it is no log of ACT.
    pub fn next_ordinal(&mut self) -> Option<usize> {
        self.act.as_mut().map(act::reader::LogReader::next_ordinal)
    }

    /// Begins a file: the log first, then what belongs to it. Bytes that come before any beginning are the log's.
    pub fn begin(&mut self, part: Part<'_>) {
        self.role = part.role;
        self.sidecars.begin(part);
        if let Some(ycsb) = &mut self.ycsb {
            ycsb.begin(part);
        }
    }

    /// Takes the next bytes of the file that began last, decompressed.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Some(act) = self.act.as_mut().filter(|_| self.role == Role::Log) {
            act.push(bytes);
        }
        if let Some(ycsb) = &mut self.ycsb {
            ycsb.push(bytes);
        }
        if self.role == Role::SideFile && self.act.is_some() {
            self.side_file.push(bytes);
        }
        if self.role == Role::SideFile && self.ycsb.is_some() {
            self.sidecars.push(bytes);
        }
        self.settle();
    }

    /// Lets go of the recogniser that is not needed; ACT's first line is the stronger sign.
    fn settle(&mut self) {
        if self.act.as_ref().is_some_and(act::reader::LogReader::has_begun) {
            self.ycsb = None;
        } else if self.ycsb.as_ref().is_some_and(ycsb::reader::Reader::has_begun) {
            self.act = None;
        }
    }

    /// Adds what the caller knows of the file.
    pub fn add_finding(&mut self, finding: Finding) {
        if let Some(act) = &mut self.act {
            act.add_finding(finding.clone());
        }
        if let Some(ycsb) = &mut self.ycsb {
            ycsb.add_finding(finding);
        }
    }

    /// Ends a log whose bytes could not be had to their end; the last run bears the finding.
    pub fn finish_damaged(self, finding: Finding) -> Reading {
        let mut reading = self.finish();
        let line = Some(reading.lines_count);
        reading.add_damage(Finding { line, ..finding });
        reading
    }

    /// Ends the log and its companions.
    pub fn finish(mut self) -> Reading {
        // A short log is told apart only now; the end of a file without a line end may be what tells.
        self.next_ordinal();
        self.settle();
        let ycsb = self.ycsb.take().map(ycsb::reader::Reader::finish);
        let of_act = self.act.as_ref().and_then(act::reader::LogReader::flooded_line);
        let flooded_line = of_act.or(ycsb.as_ref().and_then(|ycsb| ycsb.flooded_line));
        let mut reading = self.reading(ycsb);
        if let Some(line) = flooded_line {
            reading.stop_at_flood(line);
        }
        reading
    }

    fn reading(self, ycsb: Option<ycsb::reader::Read>) -> Reading {
        match (self.act, ycsb) {
            (_, Some(mut ycsb)) if !ycsb.runs.is_empty() => {
                let (telemetry, left_out) = self.sidecars.telemetry();
                let unused = ycsb::run::give_telemetry(&mut ycsb.runs, telemetry);
                ycsb.findings.extend(left_out.or(unused));
                Reading {
                    error: None,
                    findings: ycsb.findings,
                    runs: Vec::new(),
                    ycsb_runs: ycsb.runs,
                    lines_count: ycsb.lines_count,
                    encoding: ycsb.encoding,
                }
            }
            (act, _) => {
                let mut reading = of_act(act.map(act::reader::LogReader::finish));
                reading.findings.extend(self.side_file.join(&mut reading.runs));
                reading
            }
        }
    }
}

/// Without a reader of ACT there would be a run of YCSB.
fn of_act(reading: Option<act::reader::Reading>) -> Reading {
    let reading = reading.unwrap_or_else(|| act::reader::LogReader::new(Options::default()).finish());
    Reading {
        error: reading.error,
        findings: reading.findings,
        runs: reading.runs,
        ycsb_runs: Vec::new(),
        lines_count: reading.lines_count,
        encoding: reading.encoding,
    }
}
