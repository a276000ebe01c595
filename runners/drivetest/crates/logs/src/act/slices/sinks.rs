//! Other uses of the intervals of a run besides slices: a stored series, and exported rows.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use crate::act::blocks::block::{Block, Names};
use crate::act::blocks::histogram::{Tally, Unit};
use crate::act::semantics::Edges;
use crate::act::slices::intervals::{Ended, Interval, Intervals};
use crate::finding::{Findings, rule};
use crate::series::{Series, SeriesRequest, Writer};

/// Requested sinks of every run; none by default.
#[derive(Clone, Debug, Default)]
pub struct SinkOptions {
    /// Series to store.
    pub series: Option<SeriesRequest>,
    /// Receiver of every report interval as soon as it is read; dropped when its channel is closed.
    pub rows: Option<SyncSender<Row>>,
}

/// One report interval of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of the run in the log, from 0.
    pub run: usize,
    /// Seconds from the start of the run.
    pub start_s: u64,
    /// Seconds from the start of the run: the label of the block at its end.
    pub end_s: u64,
    /// Unit of the bucket edges.
    pub unit: Unit,
    /// Bucket edges.
    pub edges: Edges,
    /// Names of the histograms by ordinal.
    pub names: Arc<[String]>,
    /// Counts of the histograms by ordinal; `None` if unknown.
    pub tallies: Vec<Option<Tally>>,
}

/// Sinks for the intervals of one run.
#[derive(Debug)]
pub struct IntervalSinks {
    series: Option<(Intervals, Writer)>,
    rows: Option<(Intervals, Rows)>,
}

#[derive(Debug)]
struct Rows {
    run: usize,
    buckets: (Unit, Edges),
    names: Arc<[String]>,
    sender: SyncSender<Row>,
}

impl IntervalSinks {
    /// Return the sinks for the run with an index in the log.
    ///
    /// # Panics
    /// Panics when `report_interval_s` is 0.
    pub fn new(wanted: SinkOptions, run: usize, buckets: (Unit, Edges), report_interval_s: u64) -> Self {
        let series = wanted.series.map(|request| {
            let intervals = Intervals::new(request.interval_s, report_interval_s);
            let writer = Writer::new(request, intervals.length_s());
            (intervals, writer)
        });
        let rows = wanted.rows.map(|sender| {
            let rows = Rows {
                run,
                buckets,
                names: Arc::default(),
                sender,
            };
            (Intervals::new(1, report_interval_s), rows)
        });
        Self { series, rows }
    }

    /// Add the next block of the run.
    pub fn take(&mut self, block: &Block, names: &Names) {
        if let Some((intervals, writer)) = &mut self.series
            && let Some(Ended::Known(interval)) = intervals.take(block, names.count())
        {
            writer.take(&interval);
        }
        if let Some((intervals, rows)) = &mut self.rows
            && let Some(Ended::Known(interval)) = intervals.take(block, names.count())
            && rows.send(&interval, names).is_none()
        {
            self.rows = None;
        }
    }

    /// End the run, and return its series.
    pub fn finish(self, reached_s: u64, last_line: u64, findings: &mut Findings) -> Option<Series> {
        let (_, writer) = self.series?;
        let series = writer.finish(reached_s);
        if series.is_none() {
            let sentence = format!("the run of {reached_s} s has too many intervals for a series");
            findings.add(rule::SERIES_TOO_LARGE.at(last_line, sentence));
        }
        series
    }
}

impl Rows {
    /// Send a row; return `None` if the receiver closed its channel.
    fn send(&mut self, interval: &Interval<'_>, names: &Names) -> Option<()> {
        if self.names.len() < names.count() {
            self.names = (0..names.count()).map(|ordinal| names.name(ordinal)).collect();
        }
        let (tallies, (unit, edges)) = (interval.histograms.iter(), self.buckets);
        let row = Row {
            run: self.run,
            start_s: interval.start_s,
            end_s: interval.end_s,
            unit,
            edges,
            names: Arc::clone(&self.names),
            tallies: tallies.map(|counts| Tally::of(counts.as_ref()?)).collect(),
        };
        self.sender.send(row).ok()
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
    fn a_series_is_too_large_from_one_interval_above_the_maximum() {
        assert_eq!(series_and_findings(INTERVALS_MAX, 0), (true, 0));
        assert_eq!(series_and_findings(INTERVALS_MAX + 1, 0), (false, 1));
        assert_eq!(series_and_findings(INTERVALS_MAX + 1, 1), (true, 0));
    }
}
