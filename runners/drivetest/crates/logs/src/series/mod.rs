//! Series of a run: the counts of every histogram in intervals of equal length, in a compact format
//! (docs/reference/formats.md).

pub mod chunk;

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use zstd::stream::raw::CParameter;
use zstd::stream::write::Encoder;

use crate::act::slices::intervals::Interval;
use crate::series::chunk::Chunk;

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
#[derive(Debug, Default)]
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
            ..Self::default()
        }
    }

    /// Add the next interval; skipped intervals before it are gaps.
    pub fn take(&mut self, interval: &Interval<'_>) {
        let is_requested = interval.start_s >= self.start_s && interval.end_s <= self.to_s;
        if !is_requested || self.is_too_long(interval.end_s) {
            return;
        }
        self.skip_to(interval.start_s);
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
        self.skip_to(end_s);
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

    fn skip_to(&mut self, label_s: u64) {
        if label_s > self.reached_s {
            self.chunk.add_gap((label_s - self.reached_s) / self.length_s);
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

/// Maximum compressed size of a series in bytes.
const FRAME_BYTES_MAX: usize = 32 << 20;

/// Highest level at which decoders need no more memory than the window.
const LEVEL: i32 = 19;

/// Window of 1 MiB and matching tables: the default of 8 MiB costs 80 MiB, for bytes that hardly repeat.
const MEMORY: [CParameter; 3] = [
    CParameter::WindowLog(20),
    CParameter::HashLog(20),
    CParameter::ChainLog(20),
];

/// One zstd frame that grows.
#[derive(Default)]
struct Frame {
    /// `None` before the first chunk and after a failure.
    encoder: Option<Encoder<'static, Vec<u8>>>,
    plain: Vec<u8>,
    is_broken: bool,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Frame").finish_non_exhaustive()
    }
}

impl Frame {
    /// Add a chunk.
    fn add(&mut self, chunk: &Chunk) {
        self.plain.clear();
        chunk.write(&mut self.plain);
        self.is_broken |= self.compress().is_err();
    }

    /// Return whether the frame exceeds its limit, so that adding chunks is useless.
    fn is_full(&self) -> bool {
        let length = self.encoder.as_ref().map_or(0, |encoder| encoder.get_ref().len());
        self.is_broken || length > FRAME_BYTES_MAX
    }

    /// Return the frame in base64; `None` if it is too large, or if memory was insufficient.
    fn finish(mut self) -> Option<String> {
        if self.encoder.is_none() {
            self.is_broken |= self.compress().is_err();
        }
        let bytes = self.encoder?.finish().ok()?;
        (!self.is_broken && bytes.len() <= FRAME_BYTES_MAX).then(|| STANDARD.encode(&bytes))
    }

    fn compress(&mut self) -> io::Result<()> {
        if self.encoder.is_none() {
            let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
            for parameter in MEMORY {
                encoder.set_parameter(parameter)?;
            }
            self.encoder = Some(encoder);
        }
        let mut encoder = self.encoder.iter_mut();
        encoder.try_for_each(|encoder| encoder.write_all(&self.plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_without_chunks_is_an_empty_frame() {
        assert!(
            Frame::default()
                .finish()
                .is_some_and(|text| text.starts_with("KLUv/"))
        );
    }
}
