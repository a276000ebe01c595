//! A run of YCSB as it was read (docs/formats.md).

use serde::Serialize;

use crate::finding::Finding;

/// One execution, read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Its place in the file, from 0.
    pub ordinal: usize,
    /// What a reader should know.
    pub findings: Vec<Finding>,
}

impl Run {
    /// Adds a finding on the bytes themselves: what came after them is not known.
    pub fn add_damage(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}
