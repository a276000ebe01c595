//! Slices: differences of the cumulative dumps at their two ends.

pub mod intervals;
pub mod sinks;

use serde::Serialize;

use crate::act::blocks::block::Block;
use crate::act::blocks::histogram::Tally;
use crate::act::slices::intervals::{Ended, Intervals};
use crate::finding::{Findings, rule};

/// Stored buckets of all slices of a log: 8 Mi counts are 64 MiB. Slices of 5 s of one device fit for a day.
pub const COUNTS_MAX: usize = 8 << 20;

/// Overhead of a slice, in counts.
const SLICE_OVERHEAD: usize = 16;

/// One histogram of a slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SliceHistogram {
    /// Index among the histograms of the run.
    pub ordinal: usize,
    /// Counts by bucket.
    #[serde(flatten)]
    pub tally: Tally,
}

/// One analysis interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slice {
    /// From 1.
    pub number: u64,
    /// Seconds from the start of the run.
    pub start_s: u64,
    /// Seconds from the start of the run.
    pub end_s: u64,
    /// First line of its first block.
    pub first_line: u64,
    /// Last line of its last block.
    pub last_line: u64,
    /// Histograms for which both dumps can be used.
    pub histograms: Vec<SliceHistogram>,
}

impl Slice {
    /// Return the counts of a histogram; `None` if one of its dumps cannot be used.
    pub fn tally(&self, ordinal: usize) -> Option<&Tally> {
        let mut histograms = self.histograms.iter();
        let found = histograms.find(|histogram| histogram.ordinal == ordinal);
        found.map(|histogram| &histogram.tally)
    }
}

/// Slices of a run.
#[derive(Debug)]
pub struct Sliced {
    /// Length of a slice in seconds.
    pub length_s: u64,
    /// Complete slices.
    pub slices: Vec<Slice>,
    /// Length of the dropped incomplete slice in seconds.
    pub trailing_partial_s: u64,
    /// Number of counts that this log may still store.
    pub room: usize,
}

/// Divides a run into slices while its blocks are read; stores one dump and the slices.
#[derive(Debug, Default)]
pub struct Slicer {
    intervals: Intervals,
    first_line: Option<u64>,
    slices: Vec<Slice>,
    room: usize,
}

impl Slicer {
    /// Start slices of `requested_s`, rounded up to whole report intervals, as act_latency.py does.
    ///
    /// # Panics
    /// Panics when `report_interval_s` is 0.
    pub fn new(requested_s: u64, report_interval_s: u64, room: usize) -> Self {
        Self {
            intervals: Intervals::new(requested_s, report_interval_s),
            room,
            ..Self::default()
        }
    }

    /// Return the length of a slice in seconds.
    pub fn length_s(&self) -> u64 {
        self.intervals.length_s()
    }

    /// Add the next block of the run.
    pub fn take(&mut self, block: &Block, histograms: usize, findings: &mut Findings) {
        self.first_line.get_or_insert(block.first_line);
        let (length_s, reached_s) = (self.length_s(), self.intervals.reached_s());
        match self.intervals.take(block, histograms) {
            None => return,
            Some(Ended::Missing { end_s }) => {
                report_missing(length_s, reached_s, end_s / length_s, block.first_line, findings);
            }
            Some(Ended::Known(interval)) => {
                let parts = interval.histograms.iter().enumerate();
                let histograms = parts.filter_map(|(ordinal, counts)| {
                    let tally = Tally::of(counts.as_ref()?)?;
                    Some(SliceHistogram { ordinal, tally })
                });
                let slice = Slice {
                    number: interval.end_s / length_s,
                    start_s: interval.start_s,
                    end_s: interval.end_s,
                    first_line: self.first_line.unwrap_or(block.first_line),
                    last_line: block.last_line,
                    histograms: histograms.collect(),
                };
                self.store(slice, block.first_line, findings);
            }
        }
        self.first_line = None;
    }

    /// End the run at its last block.
    pub fn finish(self, reached_s: u64, last_line: u64, findings: &mut Findings) -> Sliced {
        let (length_s, known_s) = (self.length_s(), self.intervals.reached_s());
        let whole = reached_s / length_s;
        if whole > known_s / length_s {
            report_missing(length_s, known_s, whole, last_line, findings);
        }
        Sliced {
            length_s,
            slices: self.slices,
            trailing_partial_s: reached_s % length_s,
            room: self.room,
        }
    }

    fn store(&mut self, slice: Slice, line: u64, findings: &mut Findings) {
        let histograms = slice.histograms.iter();
        let counts = histograms.map(|part| part.tally.counts().len() + SLICE_OVERHEAD);
        let cost = counts.sum::<usize>() + SLICE_OVERHEAD;
        let Some(room) = self.room.checked_sub(cost) else {
            let sentence = format!("too many slices: those from {} on are not stored", slice.number);
            findings.add(rule::TOO_MANY_SLICES.at(line, sentence));
            self.room = 0;
            return;
        };
        self.room = room;
        self.slices.push(slice);
    }
}

/// Report the slices from `start_s` to the one with the number `until`.
fn report_missing(length_s: u64, start_s: u64, until: u64, line: u64, findings: &mut Findings) {
    let (from, end_s) = (start_s / length_s + 1, until.saturating_mul(length_s));
    let which = match from == until {
        true => format!("slice {from}"),
        false => format!("slices {from} to {until}"),
    };
    let sentence =
        format!("{which} ({start_s}-{end_s} s) cannot be read: the first or last block is missing");
    findings.add(rule::SLICE_MISSING.at(line, sentence));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::blocks::block::Names;

    struct Log {
        slicer: Slicer,
        names: Names,
        block: Block,
        findings: Findings,
    }

    impl Log {
        fn new(requested_s: u64, interval_s: u64) -> Self {
            let slicer = Slicer::new(requested_s, interval_s, 1000);
            Self {
                slicer,
                names: Names::default(),
                block: Block::default(),
                findings: Findings::default(),
            }
        }

        fn dump(&mut self, label_s: u64, reads: u64) {
            self.block.begin(label_s, label_s);
            self.block.tag(label_s, b"reads", reads, &mut self.names);
            self.block.buckets(label_s, format!(" (01: {reads})").as_bytes());
            self.block.examine(&self.names);
            self.slicer.take(&self.block, 1, &mut self.findings);
        }

        fn finish(mut self, reached_s: u64) -> (Vec<(u64, u64)>, u64, Vec<&'static str>) {
            let sliced = self.slicer.finish(reached_s, 99, &mut self.findings);
            let reads = sliced
                .slices
                .iter()
                .map(|slice| (slice.number, slice.histograms[0].tally.ops_count()));
            (
                reads.collect(),
                sliced.trailing_partial_s,
                self.findings
                    .into_list()
                    .iter()
                    .map(|finding| finding.id)
                    .collect(),
            )
        }
    }

    #[test]
    fn a_slice_is_the_difference_of_its_ends_and_the_trailing_part_is_dropped() {
        let mut log = Log::new(10, 5);
        for (at, reads) in [(5, 50), (10, 100), (15, 160), (20, 250), (25, 400)] {
            log.dump(at, reads);
        }
        assert_eq!(log.finish(25), (vec![(1, 100), (2, 150)], 5, vec![]));
    }

    #[test]
    fn a_slice_exactly_full_has_no_rest_and_one_second_less_has_no_slice() {
        let mut log = Log::new(10, 1);
        (1..=10).for_each(|at| log.dump(at, at * 10));
        assert_eq!(log.finish(10), (vec![(1, 100)], 0, vec![]));
        let mut log = Log::new(10, 1);
        (1..=9).for_each(|at| log.dump(at, at * 10));
        assert_eq!(log.finish(9), (vec![], 9, vec![]));
    }

    #[test]
    fn an_interval_that_does_not_divide_the_slice_lengthens_it() {
        assert_eq!(Slicer::new(10, 4, 9).length_s(), 12);
        assert_eq!(Slicer::new(12, 4, 9).length_s(), 12);
        assert_eq!(Slicer::new(1, 60, 9).length_s(), 60);
    }

    #[test]
    fn a_missing_end_leaves_both_its_slices_out() {
        let mut log = Log::new(10, 10);
        for (at, reads) in [(10, 1), (30, 3), (40, 9)] {
            log.dump(at, reads);
        }
        assert_eq!(log.finish(40), (vec![(1, 1), (4, 6)], 0, vec!["slice-missing"]));
    }

    #[test]
    fn a_missing_block_at_the_end_of_the_log_is_reported() {
        let mut log = Log::new(10, 5);
        for (at, reads) in [(5, 1), (10, 2), (25, 3)] {
            log.dump(at, reads);
        }
        assert_eq!(log.finish(25), (vec![(1, 2)], 5, vec!["slice-missing"]));
    }

    #[test]
    fn stored_slices_are_limited() {
        let mut log = Log::new(1, 1);
        log.slicer.room = 100;
        (1..=9).for_each(|at| log.dump(at, at));
        let (slices, _, found) = log.finish(9);
        assert_eq!(slices.len(), 2);
        assert_eq!(found.len(), 7);
        assert!(found.iter().all(|id| *id == "too-many-slices"));
    }
}
