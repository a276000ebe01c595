//! What is made of the intervals of a run besides its slices: a series to be kept, rows to be exported.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use crate::act::blocks::block::{Block, Names};
use crate::act::blocks::histogram::{Tally, Unit};
use crate::act::semantics::Edges;
use crate::act::slices::intervals::{Interval, Intervals};
use crate::finding::{Findings, rule};
use crate::series::{Series, SeriesRequest, Writer};

/// What is wanted of every run; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct SinkOptions {
    /// A series.
    pub series: Option<SeriesRequest>,
    /// Every report interval, as soon as it is read. Who no longer takes them gets no more.
    pub rows: Option<SyncSender<Row>>,
}

/// One report interval of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which run of the log, from 0.
    pub run: usize,
    /// Seconds from the start of the run.
    pub start_s: u64,
    /// Seconds from the start of the run: the label of the block at its end.
    pub end_s: u64,
    /// The unit of the buckets' edges.
    pub unit: Unit,
    /// What the buckets are.
    pub edges: Edges,
    /// The histograms' names by ordinal.
    pub names: Arc<[String]>,
    /// The histograms' counts by ordinal; None where they are not known.
    pub tallies: Vec<Option<Tally>>,
}

/// Those who listen to one run.
#[derive(Debug)]
pub struct IntervalSinks {
    series: Option<(Intervals, Writer)>,
    rows: Option<(Intervals, Rows)>,
}

#[derive(Debug)]
struct Rows {
    run: usize,
    unit: Unit,
    edges: Edges,
    names: Arc<[String]>,
    taker: SyncSender<Row>,
}

impl IntervalSinks {
    /// The run of a place in the log, whose buckets have a unit and a kind of edges.
    ///
    /// # Panics
    /// Panics when `report_interval_s` is 0.
    pub fn new(wanted: SinkOptions, run: usize, buckets: (Unit, Edges), report_interval_s: u64) -> Self {
        let series = wanted.series.map(|request| {
            let intervals = Intervals::new(request.interval_s, report_interval_s);
            let writer = Writer::new(request, intervals.length_s());
            (intervals, writer)
        });
        let rows = wanted.rows.map(|taker| {
            let (names, (unit, edges)) = (Arc::default(), buckets);
            let rows = Rows {
                run,
                unit,
                edges,
                names,
                taker,
            };
            (Intervals::new(1, report_interval_s), rows)
        });
        Self { series, rows }
    }

    /// Takes the next block of the run.
    pub fn take(&mut self, block: &Block, names: &Names) {
        if let Some((intervals, writer)) = &mut self.series
            && let Some(interval) = intervals.take(block, names.count())
        {
            writer.take(&interval);
        }
        if let Some((intervals, rows)) = &mut self.rows
            && let Some(interval) = intervals.take(block, names.count())
            && rows.hand_over(&interval, names).is_none()
        {
            self.rows = None;
        }
    }

    /// Ends the run, and gives its series.
    pub fn finish(self, reached_s: u64, last_line: u64, findings: &mut Findings) -> Option<Series> {
        let (_, writer) = self.series?;
        let series = writer.finish(reached_s);
        if series.is_none() {
            let sentence = format!("{reached_s} s hold more than a series may; there is none");
            findings.add(rule::SERIES_TOO_LARGE.at(last_line, sentence));
        }
        series
    }
}

impl Rows {
    /// None where nobody takes rows any more.
    fn hand_over(&mut self, interval: &Interval<'_>, names: &Names) -> Option<()> {
        if self.names.len() < names.count() {
            self.names = (0..names.count()).map(|ordinal| names.name(ordinal)).collect();
        }
        let tallies = interval.histograms.iter();
        let row = Row {
            run: self.run,
            start_s: interval.start_s,
            end_s: interval.end_s,
            unit: self.unit,
            edges: self.edges,
            names: Arc::clone(&self.names),
            tallies: tallies.map(|counts| Tally::of(counts.as_ref()?)).collect(),
        };
        self.taker.send(row).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::INTERVALS_MAX;

    fn series_and_findings(reached_s: u64, from_s: u64) -> (bool, usize) {
        let series = Some(SeriesRequest {
            interval_s: 1,
            from_s,
            to_s: u64::MAX,
        });
        let wanted = SinkOptions { series, rows: None };
        let (sinks, mut findings) = (
            IntervalSinks::new(wanted, 0, (Unit::Ms, Edges::Act), 1),
            Findings::default(),
        );
        let series = sinks.finish(reached_s, 9, &mut findings);
        (series.is_some(), findings.into_list().len())
    }

    #[test]
    fn a_series_is_told_to_be_too_large_from_one_interval_over_the_most() {
        assert_eq!(series_and_findings(INTERVALS_MAX, 0), (true, 0));
        assert_eq!(series_and_findings(INTERVALS_MAX + 1, 0), (false, 1));
        assert_eq!(series_and_findings(INTERVALS_MAX + 1, 1), (true, 0));
    }
}
