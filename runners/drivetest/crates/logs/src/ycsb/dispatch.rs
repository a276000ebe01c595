//! One file for the readers of both programs: each line goes to the reader of its program.

use crate::text::Line;
use crate::ycsb::common::limits::MemoryBudget;
use crate::ycsb::common::spectrum::{self, Spectrum};
use crate::ycsb::go;
use crate::ycsb::java::output::Output;

/// Content of a file for both programs.
#[derive(Debug)]
pub struct OutputFile {
    /// Runs of YCSB.
    pub java: Output,
    /// Runs of go-ycsb.
    pub go: go::output::Output,
    /// Name of an attachment; the log is never a spectrum.
    name: Option<String>,
    /// Percentile spectrum, if the file is one.
    pub spectrum: Option<Spectrum>,
    /// Line at which a log of ACT begins, which is not read.
    pub act_line: Option<u64>,
}

impl OutputFile {
    /// Start an attachment with a name, or the log with `None`.
    pub fn new(part: Option<&str>) -> Self {
        Self {
            java: Output::new(part),
            go: go::output::Output::new(part),
            name: part.map(str::to_owned),
            spectrum: None,
            act_line: None,
        }
    }

    /// Return whether a line of either program was read.
    pub fn has_begun(&self) -> bool {
        self.java.has_begun() || self.go.has_begun()
    }

    /// Read a line.
    pub fn take(&mut self, line: Line<'_>, budget: &mut MemoryBudget) {
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
