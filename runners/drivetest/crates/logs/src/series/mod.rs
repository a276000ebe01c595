//! Series of a run: the counts of every histogram in intervals of equal length, in a compact format
//! (docs/reference/formats.md).

pub mod chunk;
pub mod frame;

use serde::Serialize;

use crate::act::slices::intervals::Interval;
use crate::series::chunk::Chunk;
use crate::series::frame::Frame;

/// Maximum number of intervals of a series: 115 days of seconds.
pub const INTERVALS_MAX: u64 = 10_000_000;

/// Maximum number of intervals of a chunk: three quarters of a day of seconds.
const CHUNK_INTERVALS_MAX: u64 = 65_536;

/// Size in bytes at which a chunk ends, because it is in memory while it grows.
const CHUNK_BYTES_MAX: usize = 4 << 20;

/// Request for a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesRequest {
    /// Length of an interval in seconds.
    pub interval_s: u64,
    /// First second of the requested intervals, from the start of the run.
    pub from_s: u64,
    /// Last second of the requested intervals.
    pub to_s: u64,
}

/// Series in the JSON document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// Length of an interval in seconds.
    pub interval_s: u64,
    /// Start of the first interval in seconds from the start of the run.
    pub start_s: u64,
    /// Number of intervals.
    pub count: u64,
    /// `drivecert.series/1`.
    pub encoding: &'static str,
    /// Compressed counts in base64.
    pub data: String,
}

/// Writer of a series; stores one chunk and the compressed bytes.
#[derive(Debug)]
pub struct Writer {
    length_s: u64,
    start_s: u64,
    to_s: u64,
    reached_s: u64,
    chunk: Chunk,
    frame: Frame,
}

impl Writer {
    /// Return a writer for intervals of `length_s`, the requested length rounded up to whole report intervals.
    pub fn new(request: SeriesRequest, length_s: u64) -> Self {
        let start_s = request.from_s.div_ceil(length_s).saturating_mul(length_s);
        Self {
            length_s,
            start_s,
            to_s: request.to_s,
            reached_s: start_s,
            chunk: Chunk::default(),
            frame: Frame::default(),
        }
    }

    /// Add the next interval; skipped intervals before it are gaps.
    pub fn take(&mut self, interval: &Interval<'_>) {
        let is_requested = interval.start_s >= self.start_s && interval.end_s <= self.to_s;
        if !is_requested || self.is_too_long(interval.end_s) {
            return;
        }
        self.pass_to(interval.start_s);
        self.chunk.take(interval.histograms);
        self.reached_s = interval.end_s;
        if self.chunk.bytes_count() >= CHUNK_BYTES_MAX || self.chunk.intervals() >= CHUNK_INTERVALS_MAX {
            self.frame.add(&std::mem::take(&mut self.chunk));
        }
    }

    /// End the series with its run; `None` if it is too large.
    pub fn finish(mut self, run_s: u64) -> Option<Series> {
        let end_s = run_s.min(self.to_s) / self.length_s * self.length_s;
        if self.is_too_long(end_s) {
            return None;
        }
        self.pass_to(end_s);
        let count = self.intervals_to(end_s);
        if self.chunk.intervals() > 0 {
            self.frame.add(&self.chunk);
        }
        Some(Series {
            interval_s: self.length_s,
            start_s: self.start_s,
            count,
            encoding: "drivecert.series/1",
            data: self.frame.finish()?,
        })
    }

    fn pass_to(&mut self, label_s: u64) {
        if label_s > self.reached_s {
            self.chunk.pass((label_s - self.reached_s) / self.length_s);
            self.reached_s = label_s;
        }
    }

    fn intervals_to(&self, end_s: u64) -> u64 {
        end_s.saturating_sub(self.start_s) / self.length_s
    }

    fn is_too_long(&self, end_s: u64) -> bool {
        self.intervals_to(end_s) > INTERVALS_MAX || self.frame.is_full()
    }
}
