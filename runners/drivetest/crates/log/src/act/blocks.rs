//! The blocks of a run: lines to examined blocks, in order, to slices.

use crate::act::block::{Block, HISTOGRAMS_MAX, Names, Odd};
use crate::act::dumps::Dumps;
use crate::act::family::{Grammar, Workload};
use crate::act::header::Header;
use crate::act::line::{Kind, kind};
use crate::act::settings::Settings;
use crate::act::slices::Slicer;
use crate::act::stop::shown;
use crate::finding::{Finding, Findings, rule};
use crate::text::lines::Line;
use crate::unreadable::{HEADER_UNREADABLE, ReadError};

/// The blocks of a run while they are read.
#[derive(Debug)]
pub struct Blocks {
    /// How its lines look.
    pub grammar: &'static Grammar,
    /// Who wrote it.
    pub workload: Workload,
    /// What was asked.
    pub settings: Settings,
    /// The histograms.
    pub names: Names,
    block: Block,
    /// What passed.
    pub dumps: Dumps,
    /// Its slices.
    pub slicer: Slicer,
}

/// What blocks need to know to begin.
pub struct Begin<'a> {
    /// The header before them.
    pub header: &'a Header,
    /// How their lines look.
    pub grammar: &'static Grammar,
    /// Who wrote them.
    pub workload: Workload,
    /// Where the first begins.
    pub line: u64,
    /// The asked length of a slice.
    pub slice_s: u64,
    /// Counts that may be kept.
    pub room: usize,
}

impl Blocks {
    /// The blocks that follow a header, in slices of `slice_s`.
    ///
    /// # Errors
    /// A header without a usable report interval.
    pub fn new(begin: Begin<'_>) -> Result<Self, ReadError> {
        let Begin {
            header,
            grammar,
            workload,
            line,
            slice_s,
            room,
        } = begin;
        let settings = Settings::of(header);
        let Some(interval_s) = settings.report_interval_s else {
            return Err(HEADER_UNREADABLE.at(line, "a header without it"));
        };
        let counted_reads_per_s = settings
            .counted_reads_per_s
            .filter(|_| workload == Workload::Storage);
        Ok(Self {
            grammar,
            workload,
            names: Names::new(header.names.lines.clone()),
            block: Block::default(),
            dumps: Dumps::new(interval_s, counted_reads_per_s),
            slicer: Slicer::new(slice_s, interval_s, room),
            settings,
        })
    }

    /// Takes a line of the blocks; false when it is something else.
    pub fn take(&mut self, line: Line<'_>, findings: &mut Findings) -> bool {
        match kind(line.text, self.grammar.interval_word) {
            Kind::Blank => {}
            Kind::Interval(label_s) => {
                if self.block.first_line > 0 {
                    self.end_block(findings);
                }
                self.block.begin(line.number, label_s);
            }
            Kind::Tag { name, total } => {
                if let Some(odd) = self.block.tag(line.number, name, total, &mut self.names) {
                    findings.add(odd_finding(odd, line.number, name));
                }
            }
            Kind::Buckets => self.block.buckets(line.number, line.text),
            Kind::Other => return false,
        }
        true
    }

    /// Passes over a line that is something else.
    pub fn pass_over(&mut self, line: u64) {
        self.block.noise(line);
    }

    fn end_block(&mut self, findings: &mut Findings) {
        self.block.examine(&self.names);
        if self.dumps.accept(&self.block, &self.names, findings) {
            self.slicer.take(&self.block, self.names.count(), findings);
        }
    }

    /// Ends the last block; Some when the log was cut inside it and it is not used.
    pub fn end_last_block(&mut self, findings: &mut Findings) -> Option<()> {
        self.block.examine(&self.names);
        if !self
            .block
            .ends_whole(&self.names, self.dumps.intervals_count == 0)
        {
            return Some(());
        }
        self.end_block(findings);
        None
    }
}

/// Whether an unended last line is the beginning of an interval line: the log was cut there.
pub fn is_torn_interval(text: &[u8], grammar: &Grammar) -> bool {
    !text.is_empty() && (grammar.interval_word.starts_with(text) || text.starts_with(grammar.interval_word))
}

fn odd_finding(odd: Odd, line: u64, name: &[u8]) -> Finding {
    let name = shown(name);
    match odd {
        Odd::Unlisted => rule::HISTOGRAM_UNLISTED.at(
            line,
            format!("{name}: expected a name of HISTOGRAM NAMES; it is not listed"),
        ),
        Odd::TooMany => rule::TOO_MANY_HISTOGRAMS.at(
            line,
            format!("{name}: expected at most {HISTOGRAMS_MAX} histograms; not read"),
        ),
    }
}
