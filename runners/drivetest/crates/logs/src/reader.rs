//! Reader of logs with their attachments, which detects by the content whether ACT, drivetest, YCSB or go-ycsb wrote them.
//!
//! The readers of ACT and of YCSB both receive every byte, until one of them recognizes its format. Then only that one
//! receives the rest, so that the other costs no time.

use serde::Serialize;

use crate::act;
use crate::finding::{Finding, rule};
use crate::read_error::{FLOOD, ReadError};
use crate::text::decode::Encoding;
use crate::text::repair::noise_limit;
use crate::ycsb;

pub use crate::act::reader::{Options, SLICE_S_DEFAULT};

/// Role of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Log: standard output of the program, or both streams.
    #[default]
    Log,
    /// Standard error of the program.
    Stderr,
    /// Command line that started the program.
    Command,
    /// Configuration or properties file.
    Config,
    /// Side file of drivetest.
    SideFile,
    /// Histograms of YCSB (`.hdr`).
    Hdr,
    /// Results in a file instead of standard output.
    Export,
    /// Any other file.
    Other,
}

/// Name and role of the next file.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Name, only a label.
    pub name: &'a str,
    /// Role.
    pub role: Role,
}

/// Result of reading a log with its attachments.
#[derive(Debug, Default)]
pub struct Reading {
    /// Reason why nothing could be read; there are no runs then.
    pub error: Option<ReadError>,
    /// Findings that do not belong to a single run.
    pub findings: Vec<Finding>,
    /// Runs of ACT and drivetest in their order.
    pub runs: Vec<act::run::Run>,
    /// Runs of YCSB and go-ycsb in their order.
    pub ycsb_runs: Vec<ycsb::run::Run>,
    /// Number of lines of the log, without attachments.
    pub lines_count: u64,
    /// Text encoding of the log.
    pub encoding: Encoding,
}

impl Reading {
    /// Add a finding about the end of the readable part to the last run.
    fn add_damage(&mut self, finding: Finding) {
        if let Some(run) = self.runs.last_mut() {
            run.findings.push(finding);
        } else if let Some(run) = self.ycsb_runs.last_mut() {
            run.add_damage(finding);
        }
    }

    /// Report that reading stopped at too many short lines: without a run it is an error, after a run a finding.
    fn stop_at_flood(&mut self, line: u64) {
        if self.error.is_some() {
            let got = format!("{line} lines with fewer; the rest is not read");
            self.error = Some(FLOOD.at(line, got));
        }
        self.add_damage(rule::LINES_FLOOD.at(line, noise_limit::sentence(line)));
    }

    /// Set the file inside an archive, and the number of YCSB runs before these in the archive.
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

/// Reader that receives the bytes of a log, then those of its attachments, in chunks of any size.
#[derive(Debug, Default)]
pub struct LogReader {
    act: Option<act::reader::LogReader>,
    ycsb: Option<ycsb::reader::Reader>,
    side_file: act::side_file::SideFile,
    sidecars: ycsb::sidecar::Sidecars,
    role: Role,
}

impl LogReader {
    /// Return a reader at the start of a log.
    pub fn new(options: Options) -> Self {
        Self::with_share(options, 1)
    }

    /// Return a reader for one of several logs, which share the memory limit of one reader.
    pub fn with_share(options: Options, logs_count: usize) -> Self {
        Self {
            act: Some(act::reader::LogReader::with_share(options, logs_count)),
            ycsb: Some(ycsb::reader::Reader::with_share(logs_count)),
            ..Self::default()
        }
    }

    /// Set the sinks for the intervals of ACT's runs. Call it before the first bytes.
    ///
    /// If a time range is requested, HDR intervals of YCSB outside it are excluded too, for example a warm-up.
    pub fn set_sinks(&mut self, wanted: act::slices::sinks::SinkOptions) {
        if let (Some(series), Some(ycsb)) = (&wanted.series, &mut self.ycsb)
            && (series.from_s > 0 || series.to_s < u64::MAX)
        {
            let (from_s, to_s) = (series.from_s, series.to_s);
            ycsb.set_span(ycsb::hdr::file::Span { from_s, to_s });
        }
        if let Some(act) = &mut self.act {
            act.set_sinks(wanted);
        }
    }

    /// Set the number of ACT runs before these in an archive. Call it before the first bytes.
    pub fn begin_runs_at(&mut self, ordinal: usize) {
        if let Some(act) = &mut self.act {
            act.begin_runs_at(ordinal);
        }
    }

    /// Return the ordinal of the next run of ACT, after all bytes of the log; `None` if it is not a log of ACT.
    pub fn next_ordinal(&mut self) -> Option<usize> {
        self.act.as_mut().map(act::reader::LogReader::next_ordinal)
    }

    /// Begin a file: the log first, then its attachments. Bytes before the first call belong to the log.
    pub fn begin(&mut self, part: Part<'_>) {
        self.role = part.role;
        self.sidecars.begin(part);
        if let Some(ycsb) = &mut self.ycsb {
            ycsb.begin(part);
        }
    }

    /// Read the next decompressed bytes of the current file.
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

    /// Drop the reader that is not needed; the first line of ACT takes precedence.
    fn settle(&mut self) {
        if self.act.as_ref().is_some_and(act::reader::LogReader::has_begun) {
            self.ycsb = None;
        } else if self.ycsb.as_ref().is_some_and(ycsb::reader::Reader::has_begun) {
            self.act = None;
        }
    }

    /// Add a finding of the caller about the file.
    pub fn add_finding(&mut self, finding: Finding) {
        if let Some(act) = &mut self.act {
            act.add_finding(finding.clone());
        }
        if let Some(ycsb) = &mut self.ycsb {
            ycsb.add_finding(finding);
        }
    }

    /// End a log that could not be read to its end; add the finding to the last run.
    pub fn finish_damaged(self, finding: Finding) -> Reading {
        let mut reading = self.finish();
        let line = Some(reading.lines_count);
        reading.add_damage(Finding { line, ..finding });
        reading
    }

    /// End the log and its attachments.
    pub fn finish(mut self) -> Reading {
        // The format of a short log may be known only now, for example from a last line without line end.
        self.next_ordinal();
        self.settle();
        let ycsb = self.ycsb.take().map(ycsb::reader::Reader::finish);
        let of_act = self.act.as_ref().and_then(act::reader::LogReader::flooded_line);
        let flooded_line = of_act.or(ycsb.as_ref().and_then(|(_, flooded_line)| *flooded_line));
        let mut reading = self.reading(ycsb.map(|(reading, _)| reading));
        if let Some(line) = flooded_line {
            reading.stop_at_flood(line);
        }
        reading
    }

    fn reading(self, ycsb: Option<Reading>) -> Reading {
        if let Some(mut reading) = ycsb.filter(|reading| !reading.ycsb_runs.is_empty()) {
            let (telemetry, left_out) = self.sidecars.telemetry();
            let unused = ycsb::run::give_telemetry(&mut reading.ycsb_runs, telemetry);
            reading.findings.extend(left_out.or(unused));
            return reading;
        }
        // Without a reader of ACT there is output of YCSB without a run.
        let without_run = || act::reader::LogReader::new(Options::default());
        let mut reading = self.act.unwrap_or_else(without_run).finish();
        reading.findings.extend(self.side_file.join(&mut reading.runs));
        reading
    }
}
