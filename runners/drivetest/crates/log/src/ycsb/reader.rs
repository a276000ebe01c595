//! Reads what YCSB printed, with its companions, to runs.

use crate::finding::{Finding, Findings, rule};
use crate::reader::{Part, Role};
use crate::text::lines::Lines;
use crate::ycsb::assemble;
use crate::ycsb::command::Command;
use crate::ycsb::join;
use crate::ycsb::output::Output;
use crate::ycsb::piece::Piece;
use crate::ycsb::properties::Properties;
use crate::ycsb::room::{RUNS_MAX, Room};
use crate::ycsb::run::Run;
use crate::ycsb::settings::ConfigFile;

/// The longest command or properties file that is read, bytes.
const SCRIPT_BYTES_MAX: usize = 256 << 10;

/// Configuration files that are kept.
const CONFIGS_MAX: usize = 16;

/// What was read.
#[derive(Debug)]
pub struct Read {
    /// What concerns no single run.
    pub findings: Vec<Finding>,
    /// The runs in their order.
    pub runs: Vec<Run>,
    /// The lines of the log.
    pub lines_count: u64,
}

/// The file that is being read.
#[derive(Debug)]
enum Open {
    /// What YCSB printed.
    Output(Lines, Box<Output>),
    /// A script or a properties file.
    Script(Vec<u8>),
    /// What says nothing of the run.
    Nothing,
}

/// Takes the bytes of a log and its companions.
#[derive(Debug)]
pub struct Reader {
    role: Role,
    name: String,
    open: Open,
    room: Room,
    has_begun: bool,
    lines_count: u64,
    findings: Findings,
    log: Vec<Piece>,
    companions: Vec<(String, Vec<Piece>)>,
    commands: Vec<Command>,
    configs: Vec<ConfigFile>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            role: Role::Log,
            name: String::new(),
            open: Open::Output(Lines::default(), Box::new(Output::new(None))),
            room: Room::default(),
            has_begun: false,
            lines_count: 0,
            findings: Findings::default(),
            log: Vec::new(),
            companions: Vec::new(),
            commands: Vec::new(),
            configs: Vec::new(),
        }
    }
}

impl Reader {
    /// Begins a file.
    pub fn begin(&mut self, part: Part<'_>) {
        self.close();
        self.role = part.role;
        part.name.clone_into(&mut self.name);
        let companion = (part.role != Role::Log).then_some(part.name);
        self.open = match part.role {
            Role::Log | Role::Stderr | Role::Export | Role::Other => {
                Open::Output(Lines::default(), Box::new(Output::new(companion)))
            }
            Role::Command | Role::Config => Open::Script(Vec::new()),
            Role::SideFile | Role::Hdr => Open::Nothing,
        };
    }

    /// Whether anything of YCSB was seen.
    pub fn has_begun(&self) -> bool {
        let now = matches!(&self.open, Open::Output(_, output) if output.has_begun());
        self.has_begun || now
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.open {
            Open::Output(lines, output) => lines.push(bytes, |line| output.take(line, &mut self.room)),
            Open::Script(text) => {
                let wanted = SCRIPT_BYTES_MAX - text.len();
                text.extend_from_slice(&bytes[..bytes.len().min(wanted)]);
            }
            Open::Nothing => {}
        }
    }

    /// Adds what the caller knows of the file.
    pub fn add_finding(&mut self, finding: Finding) {
        self.findings.add(finding);
    }

    fn close(&mut self) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Output(mut lines, mut output) => {
                let lines_count = lines.finish(|line| output.take(line, &mut self.room));
                self.close_output(*output, lines_count);
            }
            Open::Script(bytes) => self.close_script(&String::from_utf8_lossy(&bytes)),
            Open::Nothing => {}
        }
    }

    fn close_output(&mut self, output: Output, lines_count: u64) {
        self.has_begun |= output.has_begun();
        let (pieces, left_out) = output.finish(lines_count);
        if let Some(line) = left_out {
            let sentence = format!("from line {line} on runs are left out: at most {RUNS_MAX} are kept");
            let here = Some(line).filter(|_| self.role == Role::Log);
            self.findings.add(rule::TOO_MANY_RUNS.at(here, sentence));
        }
        if self.role == Role::Log {
            self.lines_count += lines_count;
            self.log.extend(pieces);
        } else if !pieces.is_empty() {
            self.companions.push((std::mem::take(&mut self.name), pieces));
        }
    }

    fn close_script(&mut self, text: &str) {
        if self.role == Role::Command {
            self.commands
                .extend(Command::of_script(text).into_iter().take(RUNS_MAX));
        } else if self.configs.len() < CONFIGS_MAX {
            self.configs.push(ConfigFile {
                name: std::mem::take(&mut self.name),
                properties: Properties::parse(text),
            });
        }
    }

    /// Ends the log and its companions.
    pub fn finish(mut self) -> Read {
        self.close();
        let runs = if self.has_begun { self.runs() } else { Vec::new() };
        Read {
            findings: self.findings.into_list(),
            runs,
            lines_count: self.lines_count,
        }
    }

    fn runs(&mut self) -> Vec<Run> {
        let mut pieces = std::mem::take(&mut self.log);
        join::streams_in_one_file(&mut pieces);
        for (name, companion) in std::mem::take(&mut self.companions) {
            join::companion(&mut pieces, &name, companion, &mut self.findings);
        }
        join::commands(
            &mut pieces,
            std::mem::take(&mut self.commands),
            &mut self.findings,
        );
        if let Some(second) = pieces.get(1) {
            let sentence = format!("the file holds {} runs", pieces.len());
            self.findings
                .add(rule::SEVERAL_RUNS.at(Some(second.first_line).filter(|&line| line > 0), sentence));
        }
        let numbered = pieces.into_iter().enumerate();
        numbered
            .map(|(ordinal, piece)| assemble::run(ordinal, piece, &self.configs))
            .collect()
    }
}
