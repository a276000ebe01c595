//! Reader of one run, line by line: its header, then its blocks, and the parts of the run that depend on both.

use crate::act::blocks::block::Names;
use crate::act::blocks::histogram::Tally;
use crate::act::blocks::{BlockOptions, Blocks, is_torn_interval};
use crate::act::checks;
use crate::act::grammar::family::{Family, Workload};
use crate::act::grammar::line::{Clean, interval};
use crate::act::header::settings::{self, Settings};
use crate::act::header::{Header, pacing};
use crate::act::run::{Histogram, Printed, Run, RunOrigin};
use crate::act::semantics::{self, Context};
use crate::act::slices::Sliced;
use crate::act::stop::{Extent, ProgramMessages, StopKind};
use crate::finding::{Finding, Findings, counted, rule};
use crate::read_error::{CUT_IN_HEADER, ReadError};
use crate::series::Series;
use crate::text::Line;

/// A run, and the number of counts that its log may still store; or the reason why it cannot be read.
pub type Outcome = Result<(Box<Run>, usize), ReadError>;

/// Reader of one run.
#[derive(Debug, Default)]
pub struct RunReader {
    first_line: u64,
    last_line: u64,
    options: BlockOptions,
    header: Header,
    stage: Stage,
    messages: ProgramMessages,
    findings: Findings,
    unended: Option<(u64, Vec<u8>)>,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Header,
    Blocks(Box<Blocks>),
    Refused(ReadError),
}

impl RunReader {
    /// Return a reader for a run whose header begins at `line`.
    pub fn new(line: u64, header: Header, options: BlockOptions) -> Self {
        Self {
            first_line: line,
            last_line: line,
            options,
            header,
            ..Self::default()
        }
    }

    /// Read the next line; return whether it belongs to the header or to a block.
    pub fn take(&mut self, line: Line<'_>) -> bool {
        self.last_line = line.number;
        if line.has_nuls {
            let sentence = "the log contains NUL bytes in, before or after this line";
            self.findings.add(rule::NUL_BYTES.at(line.number, sentence));
        }
        if matches!(self.stage, Stage::Header) && begins_blocks(line.text) {
            self.stage = self.begin_blocks(line.number);
        }
        match &mut self.stage {
            Stage::Header => {
                let is_of_header = self.header.take(line);
                if !is_of_header {
                    self.messages.add(line.number, line.text);
                }
                is_of_header
            }
            Stage::Blocks(blocks) => {
                let is_of_block = blocks.take(line, &mut self.findings);
                if !is_of_block {
                    blocks.ignore_line(line.number);
                    if line.ended {
                        self.messages.add(line.number, line.text);
                    } else {
                        self.unended = Some((line.number, line.text.to_owned()));
                    }
                }
                is_of_block
            }
            Stage::Refused(_) => false,
        }
    }

    /// Read the clean lines at the start of the bytes; the number of the first is `line`.
    pub fn take_clean(&mut self, bytes: &[u8], line: u64) -> Clean {
        let Stage::Blocks(blocks) = &mut self.stage else {
            return Clean::default();
        };
        let clean = blocks.take_clean(bytes, line, &mut self.findings);
        self.last_line += clean.lines_count;
        clean
    }

    /// End the run, because the next one begins or the log ends.
    pub fn finish(mut self) -> Outcome {
        match std::mem::take(&mut self.stage) {
            Stage::Refused(error) => Err(error),
            Stage::Header => self.finish_without_blocks(),
            Stage::Blocks(blocks) => self.finish_blocks(*blocks),
        }
    }

    fn begin_blocks(&mut self, line: u64) -> Stage {
        self.header.end();
        let Some(detected) = self.header.detect() else {
            return Stage::Refused(CUT_IN_HEADER.at(line, "a block before the configuration"));
        };
        if detected.0 != Family::A && self.header.names.lines.is_empty() {
            let sentence = "expected HISTOGRAM NAMES before the first block; the header lists no name";
            self.findings.add(rule::HISTOGRAM_UNLISTED.at(line, sentence));
        }
        match Blocks::new(&self.header, detected, line, self.options.clone()) {
            Ok(blocks) => Stage::Blocks(Box::new(blocks)),
            Err(error) => Stage::Refused(error),
        }
    }

    fn finish_without_blocks(self) -> Outcome {
        let detected = self.header.detect();
        let workload = detected.map(|(_, workload)| workload).or(self.header.program);
        let is_explained = self.messages.explains_no_start() || self.header.is_whole();
        let Some(workload) = workload.filter(|_| is_explained) else {
            let lines = counted(self.last_line - self.first_line, "line");
            let got = format!("the end of the log {lines} after its header began");
            return Err(CUT_IN_HEADER.at(self.last_line, got));
        };
        let settings = Settings::of(&self.header);
        let extent = Extent {
            requested_s: settings.duration_s,
            last_line: self.last_line,
            ..Extent::default()
        };
        let by_version = || Family::of_version(self.header.shown_version());
        let family = detected.map(|(family, _)| family).or_else(by_version);
        Ok(self.run(family, workload, &settings, extent, Figures::default()))
    }

    /// End the last block, and return the line at which the log was cut; `None` if it was not.
    fn end_last_block(&mut self, blocks: &mut Blocks) -> Option<u64> {
        let cut = blocks.end_last_block(&mut self.findings).map(|()| self.last_line);
        let is_torn = |text: &[u8]| is_torn_interval(text, blocks.grammar);
        let torn = self.unended.as_ref().filter(|(_, text)| is_torn(text));
        let cut_line = cut.or(torn.map(|(line, _)| *line));
        if let (None, Some((line, text))) = (cut_line, &self.unended) {
            self.messages.add(*line, text);
        }
        cut_line
    }

    fn finish_blocks(mut self, mut blocks: Blocks) -> Outcome {
        let cut_line = self.end_last_block(&mut blocks);
        self.findings.add_all(blocks.dumps.missing.report());
        let histograms = histograms(&self.header, &blocks);
        let (family, workload) = (blocks.family, blocks.workload);
        let (reached_s, intervals_count) = (blocks.dumps.reached_s, blocks.dumps.intervals_count);
        let extent = Extent {
            intervals_count,
            reached_s,
            requested_s: blocks.settings.duration_s,
            cut_line,
            last_line: self.last_line,
            ops_count: checks::ops_count(&histograms),
        };
        let findings = &mut self.findings;
        let sliced = blocks.slicer.finish(reached_s, self.last_line, findings);
        let series = blocks.sinks.finish(reached_s, self.last_line, findings);
        let reads = blocks.names.find(semantics::judged_name(family, workload));
        report_slices_without_reads(&sliced, reads, findings);
        let is_whole = self.messages.stop(&extent).kind != StopKind::Overload;
        blocks.detectors.report(is_whole, self.last_line, findings);
        findings.add_all(never_appeared(
            &blocks.names,
            (family, intervals_count),
            self.first_line,
        ));
        let figures = Figures {
            requests_queued_count: blocks.requests_queued_count,
            sliced: Some(sliced),
            series,
            histograms,
        };
        Ok(self.run(Some(family), workload, &blocks.settings, extent, figures))
    }

    /// Assemble the run, determine how it ended, and add the findings of the checks.
    fn run(
        self,
        family: Option<Family>,
        workload: Workload,
        settings: &Settings,
        extent: Extent,
        figures: Figures,
    ) -> (Box<Run>, usize) {
        let stop = self.messages.stop(&extent);
        let mut findings = self.findings;
        self.messages.report(&stop, &extent, &mut findings);
        let of_header = settings::findings(&self.header, family, workload, self.first_line);
        findings.add_all(of_header);
        let sliced = figures.sliced;
        let room = sliced.as_ref().map_or(self.options.room, |sliced| sliced.room);
        let origin = origin(&self.header, family, workload, settings);
        let mut run = Run {
            ordinal: self.options.run,
            member: None,
            origin,
            first_line: self.first_line,
            last_line: self.last_line,
            config: owned(self.header.config.pairs()),
            derived: owned(self.header.derived.pairs()),
            device_count: settings.device_count,
            unit: settings.unit,
            report_interval_s: settings.report_interval_s,
            requested_duration_s: settings.duration_s,
            reached_s: extent.reached_s,
            intervals_count: extent.intervals_count,
            requested_reads_per_s: settings.reads_per_s.map(|rate| rate.to_string()),
            requested_writes_per_s: settings.writes_per_s.map(|rate| rate.to_string()),
            nx_load: settings.nx_load(),
            record_bytes: settings.record_bytes,
            record_bytes_max: settings.record_bytes_max,
            compress_pct: settings.compress_pct,
            stop,
            io_errors_count: self.messages.io_errors_count,
            requests_queued_count: figures.requests_queued_count,
            judged_ordinal: None,
            compared_ordinal: None,
            histograms: figures.histograms,
            slice_length_s: sliced.as_ref().map(|sliced| sliced.length_s),
            trailing_partial_s: sliced.as_ref().map_or(0, |sliced| sliced.trailing_partial_s),
            slices: sliced.map_or_else(Vec::new, |sliced| sliced.slices),
            series: figures.series,
            findings: Vec::new(),
            verdict: None,
            is_virtual_device: None,
            side_file: None,
            exact: None,
            rates_per_s: settings.reads_per_s.zip(settings.writes_per_s),
            devices: self.header.devices,
            printed: Printed {
                version: self.header.version,
                config: self.header.config,
                derived: self.header.derived,
                names: self.header.names,
            },
        };
        run.judged_ordinal = semantics::judged(&run).map(|histogram| histogram.ordinal);
        run.compared_ordinal = semantics::compared(&run).map(|histogram| histogram.ordinal);
        run.is_virtual_device = checks::device_names::virtual_devices(&run).map(|_| true);
        findings.add_all(checks::of_run(&run, self.options.slice_s));
        run.findings = findings.into_list();
        (Box::new(run), room)
    }
}

/// The figures of the blocks; empty for a run without blocks.
#[derive(Default)]
struct Figures {
    requests_queued_count: Option<u64>,
    sliced: Option<Sliced>,
    series: Option<Series>,
    histograms: Vec<Histogram>,
}

/// Return whether a line is the interval line of any version.
pub fn begins_blocks(text: &[u8]) -> bool {
    [b"after ", b"After "]
        .iter()
        .any(|word| interval(text, *word).is_some())
}

/// Return findings for histograms that the header lists and no block contains.
pub fn never_appeared(names: &Names, (family, intervals_count): (Family, u64), line: u64) -> Vec<Finding> {
    let finding = |name: &str| {
        // 6.0 and 6.1 list two names that they never print (act_storage.c). Any other missing name lost its lines.
        let is_never_printed = family == Family::C && matches!(name, "device-reads" | "device-writes");
        let rule = match intervals_count == 0 || is_never_printed {
            true => &rule::HISTOGRAM_NEVER_APPEARS,
            false => &rule::HISTOGRAM_MISSING,
        };
        rule.at(line, format!("{name}: listed in the header, but in no block"))
    };
    names.never_appeared().map(finding).collect()
}

/// Add a finding for each slice whose reads cannot be used; `reads` is their histogram, `None` without one.
pub fn report_slices_without_reads(sliced: &Sliced, reads: Option<usize>, findings: &mut Findings) {
    let Some(reads) = reads else { return };
    for slice in sliced.slices.iter().filter(|slice| slice.tally(reads).is_none()) {
        let (number, start_s, end_s) = (slice.number, slice.start_s, slice.end_s);
        let what = "the reads of its first or last block cannot be used";
        let sentence = format!("slice {number} ({start_s}-{end_s} s): {what}");
        findings.add(rule::SLICE_MISSING.at(slice.last_line, sentence));
    }
}

/// Return the histograms of the last usable dump, with their meanings.
pub fn histograms(header: &Header, blocks: &Blocks) -> Vec<Histogram> {
    let devices = header.device_names();
    let context = Context {
        family: blocks.family,
        workload: blocks.workload,
        devices: &devices,
        edges: header.edges(),
        writes_are_meaningless: settings::writes_are_meaningless(header),
    };
    let known = (0..blocks.names.count()).filter_map(|ordinal| {
        let tally = Tally::of(blocks.dumps.last(ordinal)?)?;
        let name = blocks.names.name(ordinal);
        Some(Histogram {
            ordinal,
            meaning: context.meaning(&name),
            name,
            unit: blocks.settings.unit,
            tally,
        })
    });
    known.collect()
}

/// Return program and workload.
pub fn origin(header: &Header, family: Option<Family>, workload: Workload, settings: &Settings) -> RunOrigin {
    let (tool, tool_version, generator) = match &header.drivetest {
        Some(drivetest) => ("drivetest", drivetest.version.as_str(), "drivetest"),
        None => (workload.act_program(family), header.shown_version(), "act"),
    };
    RunOrigin {
        workload: workload.code(),
        tool,
        tool_version: tool_version.to_owned(),
        generator,
        arrivals: pacing::arrivals(header, family).map(str::to_owned),
        coalesce_us: header
            .drivetest
            .as_ref()
            .and_then(|drivetest| drivetest.coalesce_us),
        family,
        service_threads: settings.service_threads,
    }
}

/// Copy keys and values.
pub fn owned<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let owned = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    owned.collect()
}
