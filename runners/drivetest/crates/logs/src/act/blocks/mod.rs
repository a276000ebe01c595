//! The blocks of a run: lines to examined blocks, in order, to slices.

pub mod block;
pub mod dumps;
pub mod histogram;
pub mod missing_histograms;

use std::borrow::Cow;

use crate::act::blocks::block::{Block, HISTOGRAMS_MAX, Names, Odd};
use crate::act::blocks::dumps::Dumps;
use crate::act::detect::Detectors;
use crate::act::grammar::bucket_line;
use crate::act::grammar::family::{Family, Grammar, Workload};
use crate::act::grammar::family_a::{self, Places};
use crate::act::grammar::fast_path::{self, Clean};
use crate::act::grammar::line::{Kind, kind};
use crate::act::header::Header;
use crate::act::header::settings::{Settings, whole};
use crate::act::semantics::Edges;
use crate::act::slices::Slicer;
use crate::act::slices::sinks::{IntervalSinks, SinkOptions};
use crate::act::stop::shown;
use crate::finding::{Finding, Findings, rule};
use crate::read_error::{HEADER_UNREADABLE, ReadError};
use crate::text::Line;

/// The blocks of a run while they are read.
#[derive(Debug)]
pub struct Blocks {
    /// How its lines look.
    pub grammar: &'static Grammar,
    /// Who wrote it.
    pub family: Family,
    /// Which program.
    pub workload: Workload,
    /// What was asked.
    pub settings: Settings,
    /// The histograms.
    pub names: Names,
    /// Requests in queue at the last block.
    pub requests_queued_count: Option<u64>,
    queued_count: Option<u64>,
    places: Option<Places>,
    block: Block,
    /// What passed.
    pub dumps: Dumps,
    /// What was watched meanwhile.
    pub watch: Detectors,
    /// Its slices.
    pub slicer: Slicer,
    /// Who else takes its intervals.
    pub sinks: IntervalSinks,
}

/// What blocks need to know to begin.
pub struct Begin<'a> {
    /// The header before them.
    pub header: &'a Header,
    /// Who wrote them.
    pub family: Family,
    /// Which program.
    pub workload: Workload,
    /// Where the first begins.
    pub line: u64,
    /// The asked length of a slice.
    pub slice_s: u64,
    /// Counts that may be kept.
    pub room: usize,
    /// What else is made of its intervals.
    pub wanted: SinkOptions,
    /// Its place in the log, from 0.
    pub run: usize,
}

impl Blocks {
    /// The blocks that follow a header, in slices of `slice_s`.
    ///
    /// # Errors
    /// A header without a usable report interval.
    pub fn new(begin: Begin<'_>) -> Result<Self, ReadError> {
        let Begin {
            header,
            family,
            workload,
            line,
            slice_s,
            room,
            wanted,
            run,
        } = begin;
        let settings = Settings::of(header);
        let Some(interval_s) = settings.report_interval_s else {
            return Err(HEADER_UNREADABLE.at(line, "a header without it"));
        };
        let grammar = family.grammar();
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
            watch: Detectors::new(header),
            slicer: Slicer::new(slice_s, interval_s, room),
            sinks: IntervalSinks::new(wanted, run, (settings.unit, header.edges()), interval_s),
            settings,
        })
    }

    /// Takes a line of the blocks; false when it is something else.
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

    /// Takes a line that tells the requests in queue; false when it is something else.
    fn take_queued(&mut self, line: Line<'_>) -> bool {
        let mut words = self.grammar.queued_words.iter();
        let number = words.find_map(|word| line.text.strip_prefix(*word));
        let whole = number
            .and_then(bucket_line::number)
            .filter(|(_, rest)| rest.is_empty() && line.ended);
        self.queued_count = whole.map(|(count, _)| count).or(self.queued_count);
        whole.is_some()
    }

    /// Takes the clean lines that the bytes begin with, the first of which is `line`: what `take` makes of them, sooner.
    pub fn take_clean(&mut self, bytes: &[u8], line: u64, findings: &mut Findings) -> Clean {
        let mut clean = Clean::default();
        while let Some(rest) =
            self.take_clean_line(&bytes[clean.bytes_count..], line + clean.lines_count, findings)
        {
            (clean.bytes_count, clean.lines_count) = (bytes.len() - rest.len(), clean.lines_count + 1);
        }
        clean
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
                let (label_s, rest) = fast_path::interval(text, self.grammar.interval_word)?;
                self.begin_block(line, label_s, findings);
                Some(rest)
            }),
        }
    }

    /// Where a tag's meaning depends on its place, all of them must be looked at.
    fn take_clean_tag<'a>(&mut self, line: u64, text: &'a [u8]) -> Option<&'a [u8]> {
        if self.places.as_ref().is_some_and(Places::decide) {
            return None;
        }
        self.block.take_clean_tag(line, text, &self.names)
    }

    /// Passes over a line that is something else.
    pub fn pass_over(&mut self, line: u64) {
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
            self.watch.take(&self.block, &self.names);
            self.slicer.take(&self.block, self.names.count(), findings);
            self.requests_queued_count = self.queued_count;
            self.sinks.take(&self.block, &self.names);
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

/// How far a total may lie from its buckets: 1.x counts totals apart and prints them while requests end.
///
/// Every thread may stand between the two counters, and a tenth of a second's requests may end while the block is
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

/// Whether an unended last line is the beginning of an interval line: the log was cut there.
pub fn is_torn_interval(text: &[u8], grammar: &Grammar) -> bool {
    !text.is_empty() && (grammar.interval_word.starts_with(text) || text.starts_with(grammar.interval_word))
}

/// Every block holds the same histograms: the lines of one that appears later are lost in those before, and its
/// buckets may stand there as another's.
fn appears_late(line: u64, name: &[u8], blocks_count: u64) -> Finding {
    let name = shown(name);
    let sentence =
        format!("{name}: expected in every block; it is in none of the {blocks_count} before this one");
    rule::HISTOGRAM_MISSING.at(line, sentence)
}

fn odd_finding(odd: Odd, line: u64, name: &[u8]) -> Finding {
    let name = shown(name);
    match odd {
        Odd::Unlisted => rule::HISTOGRAM_UNLISTED.at(
            line,
            format!("{name}: expected a histogram that the header announces; it does not"),
        ),
        Odd::TooMany => rule::TOO_MANY_HISTOGRAMS.at(
            line,
            format!("{name}: expected at most {HISTOGRAMS_MAX} histograms; not read"),
        ),
    }
}
