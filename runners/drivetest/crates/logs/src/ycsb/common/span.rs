//! Range of lines of one run in one file, with the findings about them.

use std::sync::Arc;

use crate::finding::{Findings, Rule};
use crate::ycsb::java::fragment::Place;

/// Lines of one file.
#[derive(Debug, Default)]
pub struct LineSpan {
    /// The companion's name, None in the log.
    pub part: Option<Arc<str>>,
    /// The first line, 0 where there is none.
    pub first_line: u64,
    /// The last line.
    pub last_line: u64,
    /// Findings of reading.
    pub findings: Findings,
}

impl LineSpan {
    /// Start at a line.
    pub fn at(part: Option<&Arc<str>>, line: u64) -> Self {
        Self {
            part: part.cloned(),
            first_line: line,
            last_line: line,
            findings: Findings::default(),
        }
    }

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

    /// Add the findings of another file of the same run.
    pub fn absorb(&mut self, other: Self) {
        self.findings.add_all(other.findings.into_list());
    }

    /// Remove line numbers, because the lines are not in the log.
    pub fn forget_lines(&mut self) {
        (self.first_line, self.last_line) = (0, 0);
    }
}
