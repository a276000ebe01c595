//! The records of the side file, schema `drivecert.side/1` (docs/reference/formats.md).

mod end;
mod interval;
mod start;
pub mod times;

pub use end::{DeviceEnd, End, ErrorCount, RunTotals};
pub use interval::{Interval, OperationInterval};
pub use start::Start;

use serde::Serialize;

use crate::schedule::stream::ActHistogram;
use crate::stats::operation_stats::{OperationStats, of};

/// Requests completed since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Of records or index pages.
    pub reads_count: u64,
    /// Large-block reads.
    pub large_block_reads_count: u64,
    /// Large-block writes.
    pub large_block_writes_count: u64,
}

impl Totals {
    /// Sums up all streams.
    pub fn of(operation_stats: &[OperationStats]) -> Self {
        let count = |histogram| of(operation_stats, histogram).map(|stats| stats.done_count).sum();
        Self {
            reads_count: count(ActHistogram::Reads),
            large_block_reads_count: count(ActHistogram::LargeBlockReads),
            large_block_writes_count: count(ActHistogram::LargeBlockWrites),
        }
    }
}
