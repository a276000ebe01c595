//! Reader of YCSB outputs with their attachments.

use crate::finding::{Finding, Findings, rule};
use crate::reader::{Part, Role};
use crate::text::Line;
use crate::text::decode::Encoding;
use crate::text::repair::header_anchor::Dialect;
use crate::text::repair::noise_limit;
use crate::text::stream::{Each, Text};
use crate::ycsb::common::limits::{MemoryBudget, RUNS_MAX};
use crate::ycsb::common::properties::Properties;
use crate::ycsb::common::spectrum::Spectrum;
use crate::ycsb::dispatch::OutputFile;
use crate::ycsb::extra_operations;
use crate::ycsb::go;
use crate::ycsb::hdr;
use crate::ycsb::java::build_run;
use crate::ycsb::java::command::Command;
use crate::ycsb::java::fragment::Fragment;
use crate::ycsb::java::settings::ConfigFile;
use crate::ycsb::join;
use crate::ycsb::rules;
use crate::ycsb::run::Run;
use crate::ycsb::secrets;

/// Maximum size of a command or properties file in bytes.
const SCRIPT_BYTES_MAX: usize = 256 << 10;

/// Maximum number of configuration files.
const CONFIGS_MAX: usize = 16;

/// Maximum number of HDR files of 100 KB to 2 MB each: a dozen metrics of several clients.
const HDR_FILES_MAX: usize = 64;

/// Result of reading.
#[derive(Debug)]
pub struct Read {
    /// Findings that do not belong to a single run.
    pub findings: Vec<Finding>,
    /// The runs in their order.
    pub runs: Vec<Run>,
    /// The lines of the log.
    pub lines_count: u64,
    /// Text encoding.
    pub encoding: Encoding,
    /// Line at which reading stopped because of too many short lines; `None` otherwise.
    pub flooded_line: Option<u64>,
}

/// Current file.
#[derive(Debug)]
enum Open {
    /// Output of YCSB.
    Output(Box<Text>, Box<OutputFile>),
    /// Histograms.
    Hdr(Box<hdr::file::Reader>),
    /// A script or a properties file.
    Script(Vec<u8>),
    /// A file without information about the run.
    Nothing,
}

/// Reader of a log and its attachments.
#[derive(Debug)]
pub struct Reader {
    role: Role,
    name: String,
    open: Open,
    logs_count: usize,
    flooded_line: Option<u64>,
    budget: MemoryBudget,
    has_begun: bool,
    has_go_begun: bool,
    spectra: Vec<Spectrum>,
    lines_count: u64,
    encoding: Encoding,
    findings: Findings,
    log: Vec<Fragment>,
    companions: Vec<(String, Vec<Fragment>)>,
    commands: Vec<Command>,
    hdr_files: Vec<hdr::file::HdrFile>,
    span: Option<hdr::file::Span>,
    go_log: Vec<go::fragment::Fragment>,
    go_companions: Vec<(String, Vec<go::fragment::Fragment>)>,
    go_commands: Vec<Command>,
    configs: Vec<ConfigFile>,
}

fn output(logs_count: usize, companion: Option<&str>) -> Open {
    Open::Output(
        Box::new(Text::with_share(logs_count).of(Dialect::Ycsb)),
        Box::new(OutputFile::new(companion)),
    )
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            role: Role::Log,
            name: String::new(),
            open: output(1, None),
            logs_count: 1,
            flooded_line: None,
            budget: MemoryBudget::default(),
            has_begun: false,
            has_go_begun: false,
            spectra: Vec::new(),
            lines_count: 0,
            encoding: Encoding::default(),
            findings: Findings::default(),
            log: Vec::new(),
            companions: Vec::new(),
            commands: Vec::new(),
            hdr_files: Vec::new(),
            span: None,
            go_log: Vec::new(),
            go_companions: Vec::new(),
            go_commands: Vec::new(),
            configs: Vec::new(),
        }
    }
}

impl Reader {
    /// Return a reader whose memory limit is its share of the limit for all logs of an archive.
    pub fn with_share(logs_count: usize) -> Self {
        Self {
            budget: MemoryBudget::share(logs_count),
            logs_count,
            open: output(logs_count, None),
            ..Self::default()
        }
    }

    /// Start a file.
    pub fn begin(&mut self, part: Part<'_>) {
        self.close();
        self.role = part.role;
        part.name.clone_into(&mut self.name);
        let companion = (part.role != Role::Log).then_some(part.name);
        self.open = match part.role {
            Role::Log | Role::Stderr | Role::Export | Role::Other => output(self.logs_count, companion),
            Role::Command | Role::Config => Open::Script(Vec::new()),
            Role::Hdr => Open::Hdr(Box::new(hdr::file::Reader::new(part.name, self.span))),
            Role::SideFile => Open::Nothing,
        };
    }

    /// Restrict HDR intervals to a time range of the run. Call it before the first HDR file.
    pub fn set_span(&mut self, span: hdr::file::Span) {
        self.span = Some(span);
    }

    /// Return whether a line of YCSB or go-ycsb was read.
    pub fn has_begun(&self) -> bool {
        let now = matches!(&self.open, Open::Output(_, output) if output.has_begun());
        self.has_begun || self.has_go_begun || now
    }

    /// Read the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.open {
            Open::Output(text, output) => {
                text.push(
                    bytes,
                    &mut Each(|line: Line<'_>| output.take(line, &mut self.budget)),
                );
            }
            Open::Hdr(reader) => reader.push(bytes),
            Open::Script(text) => {
                let wanted = SCRIPT_BYTES_MAX - text.len();
                text.extend_from_slice(&bytes[..bytes.len().min(wanted)]);
            }
            Open::Nothing => {}
        }
    }

    /// Add a finding of the caller about the file.
    pub fn add_finding(&mut self, finding: Finding) {
        self.findings.add(finding);
    }

    fn close(&mut self) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Output(mut text, mut output) => {
                let lines_count =
                    text.finish(&mut Each(|line: Line<'_>| output.take(line, &mut self.budget)));
                self.note_flood(text.flooded_line());
                if self.role == Role::Log {
                    self.encoding = text.encoding();
                    text.findings()
                        .into_iter()
                        .for_each(|finding| self.findings.add(finding));
                }
                self.close_output(*output, lines_count);
            }
            Open::Hdr(reader) => self.close_hdr(*reader),
            Open::Script(bytes) => self.close_script(&String::from_utf8_lossy(&bytes)),
            Open::Nothing => {}
        }
    }

    fn note_flood(&mut self, line: Option<u64>) {
        let Some(at) = line else { return };
        if self.role == Role::Log {
            self.flooded_line = line;
        } else {
            let sentence = format!("{}: {}", self.name, noise_limit::sentence(at));
            self.findings.add(rule::LINES_FLOOD.at(None, sentence));
        }
    }

    fn close_hdr(&mut self, reader: hdr::file::Reader) {
        let (file, findings) = reader.finish();
        findings
            .into_iter()
            .for_each(|finding| self.findings.add(finding));
        if self.hdr_files.len() < HDR_FILES_MAX {
            self.hdr_files.push(file);
        } else {
            let sentence = format!(
                "{} is ignored: at most {HDR_FILES_MAX} HDR files are read",
                file.name
            );
            self.findings.add(rules::HDR_UNREADABLE.at(None, sentence));
        }
    }

    fn close_output(&mut self, printed: OutputFile, lines_count: u64) {
        self.has_begun |= printed.java.has_begun();
        self.has_go_begun |= printed.go.has_begun();
        if let Some(spectrum) = printed.spectrum.filter(|_| self.spectra.len() < HDR_FILES_MAX) {
            self.spectra.push(spectrum);
        }
        if let Some(line) = printed.act_line.filter(|_| self.role == Role::Log) {
            let sentence = "expected only output of YCSB; a log of ACT begins here, which is not read";
            self.findings.add(rule::OTHER_PROGRAM.at(line, sentence));
        }
        let (fragments, left_out) = printed.java.finish(lines_count);
        let (go_fragments, go_left_out) = printed.go.finish();
        if let Some(line) = left_out.or(go_left_out) {
            let sentence =
                format!("too many runs: those from line {line} on are ignored; the limit is {RUNS_MAX}");
            let here = Some(line).filter(|_| self.role == Role::Log);
            self.findings.add(rule::TOO_MANY_RUNS.at(here, sentence));
        }
        if self.role == Role::Log {
            self.lines_count += lines_count;
            self.log.extend(fragments);
            self.go_log.extend(go_fragments);
            return;
        }
        let name = std::mem::take(&mut self.name);
        if !fragments.is_empty() {
            self.companions.push((name.clone(), fragments));
        }
        if !go_fragments.is_empty() {
            self.go_companions.push((name, go_fragments));
        }
    }

    fn close_script(&mut self, text: &str) {
        if self.role == Role::Command {
            self.commands
                .extend(Command::of_script(text).into_iter().take(RUNS_MAX));
            self.go_commands
                .extend(go::command::of_script(text).into_iter().take(RUNS_MAX));
        } else if self.configs.len() < CONFIGS_MAX {
            self.configs.push(ConfigFile {
                name: std::mem::take(&mut self.name),
                properties: Properties::parse(text),
            });
        }
    }

    /// End the log and its attachments.
    pub fn finish(mut self) -> Read {
        self.close();
        let mut runs = if self.has_begun { self.runs() } else { Vec::new() };
        if self.has_go_begun {
            runs.extend(self.go_runs());
        }
        self.number(&mut runs);
        if !runs.is_empty() {
            extra_operations::spectra(&mut runs, std::mem::take(&mut self.spectra), &mut self.findings);
            hdr::attach::attach(&mut runs, std::mem::take(&mut self.hdr_files), &mut self.findings);
        }
        runs.iter_mut().for_each(secrets::hide);
        Read {
            findings: self.findings.into_list(),
            runs,
            lines_count: self.lines_count,
            encoding: self.encoding,
            flooded_line: self.flooded_line,
        }
    }

    fn runs(&mut self) -> Vec<Run> {
        let mut fragments = std::mem::take(&mut self.log);
        join::streams_in_one_file(&mut fragments);
        for (name, companion) in std::mem::take(&mut self.companions) {
            join::companion(&mut fragments, &name, companion, &mut self.findings);
        }
        join::commands(
            &mut fragments,
            std::mem::take(&mut self.commands),
            &mut self.findings,
        );
        let made = fragments
            .into_iter()
            .map(|fragment| build_run::run(0, fragment, &self.configs));
        made.collect()
    }

    fn go_runs(&mut self) -> Vec<Run> {
        let mut fragments = std::mem::take(&mut self.go_log);
        for (name, companion) in std::mem::take(&mut self.go_companions) {
            join::companion(&mut fragments, &name, companion, &mut self.findings);
        }
        let commands = std::mem::take(&mut self.go_commands);
        join::commands(&mut fragments, commands, &mut self.findings);
        let made = fragments
            .into_iter()
            .map(|fragment| go::build_run::run(fragment, &self.configs));
        made.collect()
    }

    fn number(&mut self, runs: &mut [Run]) {
        runs.sort_by_key(|run| run.first_line);
        runs.iter_mut()
            .enumerate()
            .for_each(|(ordinal, run)| run.ordinal = ordinal);
        if let Some(second) = runs.get(1) {
            let sentence = format!("the file holds {} runs", runs.len());
            let line = Some(second.first_line).filter(|&line| line > 0);
            self.findings.add(rule::SEVERAL_RUNS.at(line, sentence));
        }
    }
}
