//! Reader of YCSB outputs with their attachments.

use std::mem;

use crate::finding::{Finding, Findings, rule};
use crate::reader::{Part, Reading, Role};
use crate::text::Line;
use crate::text::decode::Encoding;
use crate::text::repair::header_anchor::Dialect as TextDialect;
use crate::text::repair::noise_limit;
use crate::text::stream::Text;
use crate::ycsb::command::Command;
use crate::ycsb::common::properties::Properties;
use crate::ycsb::common::spectrum::{self, Spectrum};
use crate::ycsb::extra_operations;
use crate::ycsb::fragment::{Dialect, Fragment, MemoryBudget, RUNS_MAX};
use crate::ycsb::go;
use crate::ycsb::hdr;
use crate::ycsb::java;
use crate::ycsb::join;
use crate::ycsb::rules;
use crate::ycsb::run::Run;
use crate::ycsb::secrets;
use crate::ycsb::settings::ConfigFile;

/// Maximum size of a command or properties file in bytes.
const SCRIPT_BYTES_MAX: usize = 256 << 10;

/// Maximum number of configuration files.
const CONFIGS_MAX: usize = 16;

/// Maximum number of HDR files of 100 KB to 2 MB each: a dozen metrics of several clients.
const HDR_FILES_MAX: usize = 64;

/// An output, for the readers of both programs: each line goes to the reader of its program.
#[derive(Debug)]
struct OutputFile {
    java: java::output::Output,
    go: go::output::Output,
    /// Name of an attachment; the log is never a spectrum.
    name: Option<String>,
    spectrum: Option<Spectrum>,
    /// Line at which a log of ACT begins, which is not read.
    act_line: Option<u64>,
}

impl OutputFile {
    fn new(part: Option<&str>) -> Self {
        Self {
            java: java::output::Output::new(part),
            go: go::output::Output::new(part),
            name: part.map(str::to_owned),
            spectrum: None,
            act_line: None,
        }
    }

    fn take(&mut self, line: Line<'_>, budget: &mut MemoryBudget) {
        if self.is_of_spectrum(line) {
            return;
        }
        if line.text.starts_with(b"ACT version ") || line.text.starts_with(b"Aerospike act ") {
            self.act_line.get_or_insert(line.number);
        }
        if !self.go.take(line, budget) {
            self.java.take(line, budget);
        }
    }

    fn is_of_spectrum(&mut self, line: Line<'_>) -> bool {
        let Some(name) = &self.name else { return false };
        let text = String::from_utf8_lossy(line.text);
        match &mut self.spectrum {
            Some(spectrum) => spectrum.take(&text, line.number),
            None if spectrum::is_head(&text) => self.spectrum = Some(Spectrum::new(name)),
            None => return false,
        }
        true
    }
}

/// Current file.
#[derive(Debug, Default)]
enum Open {
    /// Output of YCSB.
    Output(Box<Text>, Box<OutputFile>),
    /// Histograms.
    Hdr(Box<hdr::file::Reader>),
    /// A script or a properties file.
    Script(Vec<u8>),
    /// A file without information about the run.
    #[default]
    Nothing,
}

impl Open {
    fn output(logs_count: usize, companion: Option<&str>) -> Self {
        let text = Text::with_share(logs_count).of(TextDialect::Ycsb);
        Self::Output(Box::new(text), Box::new(OutputFile::new(companion)))
    }
}

/// What the files contain about the runs of one program.
#[derive(Debug, Default)]
struct Program<D> {
    has_begun: bool,
    log: Vec<Fragment<D>>,
    companions: Vec<(String, Vec<Fragment<D>>)>,
    commands: Vec<Command>,
}

impl<D: Dialect> Program<D> {
    /// Add the runs of a file, which is an attachment if it has a name.
    fn add(&mut self, fragments: Vec<Fragment<D>>, companion: Option<&str>) {
        match companion {
            None => self.log.extend(fragments),
            Some(_) if fragments.is_empty() => {}
            Some(name) => self.companions.push((name.to_owned(), fragments)),
        }
    }

    fn add_commands(&mut self, script: &str) {
        let commands = D::commands(script).into_iter();
        self.commands.extend(commands.take(RUNS_MAX));
    }

    fn runs(self, configs: &[ConfigFile], findings: &mut Findings) -> Vec<Run> {
        if !self.has_begun {
            return Vec::new();
        }
        let mut fragments = self.log;
        D::join_streams(&mut fragments);
        for (name, companion) in self.companions {
            join::companion(&mut fragments, &name, companion, findings);
        }
        join::commands(&mut fragments, self.commands, findings);
        let fragments = fragments.into_iter();
        fragments.map(|fragment| D::run(fragment, configs)).collect()
    }
}

/// Reader of a log and its attachments.
#[derive(Debug, Default)]
pub struct Reader {
    role: Role,
    name: String,
    open: Open,
    logs_count: usize,
    flooded_line: Option<u64>,
    budget: MemoryBudget,
    spectra: Vec<Spectrum>,
    lines_count: u64,
    encoding: Encoding,
    findings: Findings,
    hdr_files: Vec<hdr::file::HdrFile>,
    span: Option<hdr::file::Span>,
    java: Program<java::fragment::Java>,
    go: Program<go::fragment::Go>,
    configs: Vec<ConfigFile>,
}

impl Reader {
    /// Return a reader whose memory limit is its share of the limit for all logs of an archive.
    pub fn with_share(logs_count: usize) -> Self {
        Self {
            open: Open::output(logs_count, None),
            logs_count,
            budget: MemoryBudget::share(logs_count),
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
            Role::Log | Role::Stderr | Role::Export | Role::Other => Open::output(self.logs_count, companion),
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
        let now = matches!(&self.open, Open::Output(_, file) if file.java.has_begun() || file.go.has_begun());
        self.java.has_begun || self.go.has_begun || now
    }

    /// Read the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.open {
            Open::Output(text, output) => {
                text.push(bytes, &mut |line: Line<'_>| output.take(line, &mut self.budget));
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
        match mem::take(&mut self.open) {
            Open::Output(mut text, mut output) => {
                let lines_count = text.finish(&mut |line: Line<'_>| output.take(line, &mut self.budget));
                self.note_flood(text.flooded_line());
                if self.role == Role::Log {
                    self.encoding = text.encoding();
                    self.findings.add_all(text.findings());
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
        self.findings.add_all(findings);
        if self.hdr_files.len() < HDR_FILES_MAX {
            return self.hdr_files.push(file);
        }
        let sentence = format!(
            "{} is ignored: at most {HDR_FILES_MAX} HDR files are read",
            file.name
        );
        self.findings.add(rules::HDR_UNREADABLE.at(None, sentence));
    }

    fn close_output(&mut self, printed: OutputFile, lines_count: u64) {
        self.java.has_begun |= printed.java.has_begun();
        self.go.has_begun |= printed.go.has_begun();
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
        let name = mem::take(&mut self.name);
        let companion = (self.role != Role::Log).then_some(name.as_str());
        if companion.is_none() {
            self.lines_count += lines_count;
        }
        self.java.add(fragments, companion);
        self.go.add(go_fragments, companion);
    }

    fn close_script(&mut self, text: &str) {
        if self.role == Role::Command {
            self.java.add_commands(text);
            self.go.add_commands(text);
        } else if self.configs.len() < CONFIGS_MAX {
            self.configs.push(ConfigFile {
                name: mem::take(&mut self.name),
                properties: Properties::parse(text),
            });
        }
    }

    /// End the log and its attachments. Return also the line at which reading stopped because of too many short lines.
    pub fn finish(mut self) -> (Reading, Option<u64>) {
        self.close();
        let mut runs = self.java.runs(&self.configs, &mut self.findings);
        runs.extend(self.go.runs(&self.configs, &mut self.findings));
        number(&mut runs, &mut self.findings);
        if !runs.is_empty() {
            extra_operations::spectra(&mut runs, self.spectra, &mut self.findings);
            hdr::attach::attach(&mut runs, self.hdr_files, &mut self.findings);
        }
        runs.iter_mut().for_each(secrets::hide);
        let reading = Reading {
            findings: self.findings.into_list(),
            ycsb_runs: runs,
            lines_count: self.lines_count,
            encoding: self.encoding,
            ..Reading::default()
        };
        (reading, self.flooded_line)
    }
}

/// Number the runs of both programs in the order of their lines.
fn number(runs: &mut [Run], findings: &mut Findings) {
    runs.sort_by_key(|run| run.first_line);
    for (ordinal, run) in runs.iter_mut().enumerate() {
        run.ordinal = ordinal;
    }
    if let Some(second) = runs.get(1) {
        let sentence = format!("the file holds {} runs", runs.len());
        let line = Some(second.first_line).filter(|&line| line > 0);
        findings.add(rule::SEVERAL_RUNS.at(line, sentence));
    }
}
