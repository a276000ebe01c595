//! The records of the side file, schema `drivecert.side/1` (docs/formats.md).

mod end;
mod interval;
mod start;
pub mod times;

pub use end::{DeviceEnd, End, ErrorCount, Ran};
pub use interval::{Interval, OperationInterval};
pub use start::{Plan, Request, Start, Warning};

use serde::Serialize;

use crate::account::{Account, of};
use crate::stream::Histogram;

/// Requests completed since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Of records, or of pages of the index.
    pub reads_count: u64,
    /// Of large blocks.
    pub large_block_reads_count: u64,
    /// Of large blocks.
    pub large_block_writes_count: u64,
}

impl Totals {
    /// Of all streams.
    pub fn of(accounts: &[Account]) -> Self {
        let count = |histogram| of(accounts, histogram).map(|account| account.done_count).sum();
        Self {
            reads_count: count(Histogram::Reads),
            large_block_reads_count: count(Histogram::LargeBlockReads),
            large_block_writes_count: count(Histogram::LargeBlockWrites),
        }
    }
}
