//! Reads what YCSB printed, with its companions, to runs.

use crate::finding::{Finding, Findings};
use crate::reader::{Part, Role};
use crate::text::lines::Lines;
use crate::ycsb::run::Run;

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

/// Takes the bytes of a log and its companions.
#[derive(Debug, Default)]
pub struct Reader {
    role: Role,
    lines: Lines,
    findings: Findings,
    runs: Vec<Run>,
}

impl Reader {
    /// Begins a file.
    pub fn begin(&mut self, part: Part<'_>) {
        self.role = part.role;
    }

    /// Whether anything of YCSB was seen.
    pub fn has_begun(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes, |_| {});
    }

    /// Adds what the caller knows of the file.
    pub fn add_finding(&mut self, finding: Finding) {
        self.findings.add(finding);
    }

    /// Ends the log and its companions.
    pub fn finish(mut self) -> Read {
        let lines_count = self.lines.finish(|_| {});
        Read {
            findings: self.findings.into_list(),
            runs: self.runs,
            lines_count,
        }
    }
}
