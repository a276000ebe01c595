//! Reader of the blocks of a run: lines to checked blocks, and these in order to slices.

pub mod block;
pub mod dumps;
pub mod histogram;

use std::borrow::Cow;

use crate::act::blocks::block::{Block, HISTOGRAMS_MAX, Names, Odd};
use crate::act::blocks::dumps::Dumps;
use crate::act::detect::Detectors;
use crate::act::grammar::bucket_line;
use crate::act::grammar::family::{Family, Grammar, Workload};
use crate::act::grammar::family_a::{self, Places};
use crate::act::grammar::line::{self, Clean, Kind, kind};
use crate::act::header::Header;
use crate::act::header::settings::{Settings, whole};
use crate::act::semantics::Edges;
use crate::act::slices::Slicer;
use crate::act::slices::sinks::{IntervalSinks, SinkOptions};
use crate::act::stop::shown;
use crate::finding::{Finding, Findings, counted, rule};
use crate::read_error::{HEADER_UNREADABLE, ReadError};
use crate::text::Line;

/// Reader of the blocks of a run.
#[derive(Debug)]
pub struct Blocks {
    /// Format of the blocks.
    pub grammar: &'static Grammar,
    /// Version family.
    pub family: Family,
    /// Workload.
    pub workload: Workload,
    /// Configuration.
    pub settings: Settings,
    /// Names of the histograms.
    pub names: Names,
    /// Queued requests at the last block.
    pub requests_queued_count: Option<u64>,
    queued_count: Option<u64>,
    places: Option<Places>,
    block: Block,
    /// Dumps so far.
    pub dumps: Dumps,
    /// Detectors of irregularities.
    pub detectors: Detectors,
    /// Slices.
    pub slicer: Slicer,
    /// Other sinks of its intervals.
    pub sinks: IntervalSinks,
}

/// How the blocks of a run are read.
#[derive(Clone, Debug, Default)]
pub struct BlockOptions {
    /// Requested length of a slice.
    pub slice_s: u64,
    /// Number of counts that may be stored.
    pub room: usize,
    /// Sinks of its intervals.
    pub wanted: SinkOptions,
    /// Index of the run in the log, from 0.
    pub run: usize,
}

impl Blocks {
    /// Return a reader for the blocks after a header.
    ///
    /// # Errors
    /// The header has no usable report interval.
    pub fn new(
        header: &Header,
        (family, workload): (Family, Workload),
        line: u64,
        options: BlockOptions,
    ) -> Result<Self, ReadError> {
        let settings = Settings::of(header);
        let Some(interval_s) = settings.report_interval_s else {
            return Err(HEADER_UNREADABLE.at(line, "a header without it"));
        };
        let (grammar, buckets) = (family.grammar(), (settings.unit, header.edges()));
        let listed = match family {
            Family::A => family_a::names(&header.config),
            Family::B | Family::C => header.names.lines.clone(),
        };
        Ok(Self {
            grammar,
            family,
            workload,
            names: Names::new(listed),
            requests_queued_count: None,
            queued_count: None,
            places: grammar.tags_depend_on_place.then(|| Places::new(&header.config)),
            block: Block::with_slack(total_slack_count(header, &settings)),
            dumps: Dumps::new(interval_s),
            detectors: Detectors::new(header),
            slicer: Slicer::new(options.slice_s, interval_s, options.room),
            sinks: IntervalSinks::new(options.wanted, options.run, buckets, interval_s),
            settings,
        })
    }

    /// Read a line; return false if it is not part of a block.
    pub fn take(&mut self, line: Line<'_>, findings: &mut Findings) -> bool {
        match kind(line.text, self.grammar.interval_word) {
            Kind::Blank => {}
            Kind::Interval(label_s) => self.begin_block(line.number, label_s, findings),
            Kind::Tag { name, total } => self.take_tag(line.number, name, total, findings),
            Kind::Buckets => self.block.buckets(line.number, line.text),
            Kind::Other => return self.take_queued(line),
        }
        true
    }

    fn take_tag(&mut self, line: u64, tag: &[u8], total: u64, findings: &mut Findings) {
        let name = match &mut self.places {
            Some(places) => places.name(tag),
            None => Cow::Borrowed(tag),
        };
        let known_count = self.names.count();
        if let Some(odd) = self.block.tag(line, &name, total, &mut self.names) {
            findings.add(odd_finding(odd, line, &name));
        }
        if self.names.count() > known_count && self.dumps.intervals_count > 0 {
            findings.add(appears_late(line, &name, self.dumps.intervals_count));
        }
    }

    /// Read a line with the number of queued requests; return false for any other line.
    fn take_queued(&mut self, line: Line<'_>) -> bool {
        let mut words = self.grammar.queued_words.iter();
        let number = words.find_map(|word| line.text.strip_prefix(*word));
        let Some((count, b"")) = number.and_then(bucket_line::number).filter(|_| line.ended) else {
            return false;
        };
        self.queued_count = Some(count);
        true
    }

    /// Read the clean lines at the start of the bytes, with the result of `take`, but faster. The first is `line`.
    pub fn take_clean(&mut self, bytes: &[u8], line: u64, findings: &mut Findings) -> Clean {
        let (mut rest, mut lines_count) = (bytes, 0);
        while let Some(after) = self.take_clean_line(rest, line + lines_count, findings) {
            (rest, lines_count) = (after, lines_count + 1);
        }
        Clean {
            bytes_count: bytes.len() - rest.len(),
            lines_count,
        }
    }

    fn take_clean_line<'a>(
        &mut self,
        text: &'a [u8],
        line: u64,
        findings: &mut Findings,
    ) -> Option<&'a [u8]> {
        match text.first()? {
            b' ' => self.block.take_clean_buckets(line, text),
            b'\n' => Some(&text[1..]),
            _ => self.take_clean_tag(line, text).or_else(|| {
                let (label_s, rest) = line::clean_interval(text, self.grammar.interval_word)?;
                self.begin_block(line, label_s, findings);
                Some(rest)
            }),
        }
    }

    /// Read a clean tag line. If tags depend on their position, every tag must go to the general parser.
    fn take_clean_tag<'a>(&mut self, line: u64, text: &'a [u8]) -> Option<&'a [u8]> {
        if self.places.as_ref().is_some_and(Places::decide) {
            return None;
        }
        self.block.take_clean_tag(line, text, &self.names)
    }

    /// Ignore a line that is not part of a block.
    pub fn ignore_line(&mut self, line: u64) {
        self.block.noise(line);
    }

    fn begin_block(&mut self, line: u64, label_s: u64, findings: &mut Findings) {
        if self.block.first_line > 0 {
            self.end_block(findings);
        }
        self.block.begin(line, label_s);
        self.queued_count = None;
        self.places.iter_mut().for_each(Places::begin);
    }

    fn end_block(&mut self, findings: &mut Findings) {
        self.block.examine(&self.names);
        if self.dumps.accept(&self.block, &self.names, findings) {
            self.detectors.take(&self.block, &self.names);
            self.slicer.take(&self.block, self.names.count(), findings);
            self.requests_queued_count = self.queued_count;
            self.sinks.take(&self.block, &self.names);
        }
    }

    /// End the last block; `Some` if the log was cut inside it, and the block is not used.
    pub fn end_last_block(&mut self, findings: &mut Findings) -> Option<()> {
        self.block.examine(&self.names);
        let is_first = self.dumps.intervals_count == 0;
        if !self.block.ends_whole(&self.names, is_first) {
            return Some(());
        }
        self.end_block(findings);
        None
    }
}

/// Return the allowed difference between a total and its buckets: 1.x counts totals separately, while requests complete.
///
/// Every thread may be between the two counters, and the requests of a tenth of a second may complete while the block is
/// printed. Source: aerospike/act fcb708a, histogram.c, histogram_dump().
fn total_slack_count(header: &Header, settings: &Settings) -> u64 {
    if header.edges() == Edges::Act {
        return 0;
    }
    let number = |key| header.config.value(key).and_then(whole);
    let (queues, each) = (number("num-queues"), number("threads-per-queue"));
    let threads = queues.unwrap_or(0).saturating_mul(each.unwrap_or(0));
    threads.saturating_add(settings.reads_per_s.unwrap_or(0) / 10)
}

/// Return whether a last line without line end is the start of an interval line: the log was cut there.
pub fn is_torn_interval(text: &[u8], grammar: &Grammar) -> bool {
    !text.is_empty() && (grammar.interval_word.starts_with(text) || text.starts_with(grammar.interval_word))
}

/// Return the finding about a histogram that appears late.
///
/// Every block contains the same histograms. The earlier blocks lost its lines, and may have its buckets in another one.
fn appears_late(line: u64, name: &[u8], blocks_count: u64) -> Finding {
    let (name, blocks) = (shown(name), counted(blocks_count, "block"));
    let sentence = format!("{name}: expected in every block; missing in {blocks} before this one");
    rule::HISTOGRAM_MISSING.at(line, sentence)
}

fn odd_finding(odd: Odd, line: u64, name: &[u8]) -> Finding {
    let name = shown(name);
    match odd {
        Odd::Unlisted => {
            rule::HISTOGRAM_UNLISTED.at(line, format!("{name}: the header does not list this histogram"))
        }
        Odd::TooMany => {
            let why = format!("because a log may have at most {HISTOGRAMS_MAX} histograms");
            rule::TOO_MANY_HISTOGRAMS.at(line, format!("{name}: not read, {why}"))
        }
    }
}
