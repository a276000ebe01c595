//! Parts of a run that depend on both the header and the blocks.

use crate::act::blocks::Blocks;
use crate::act::blocks::block::Names;
use crate::act::blocks::histogram::Tally;
use crate::act::grammar::family::{Family, Workload};
use crate::act::header::Header;
use crate::act::header::pacing;
use crate::act::header::settings::{self, Settings};
use crate::act::run::{Histogram, RunOrigin};
use crate::act::semantics::Context;
use crate::act::slices::Sliced;
use crate::finding::{Finding, Findings, rule};

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
        family,
        service_threads: settings.service_threads,
    }
}

/// Copy keys and values.
pub fn owned<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let owned = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    owned.collect()
}
