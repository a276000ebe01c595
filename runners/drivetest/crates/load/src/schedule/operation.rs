//! The operations of a load, and the ACT histograms that count them.

/// The operation of a stream. The order of the variants is part of what a seed determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Reads a record.
    ReadRecord,
    /// Reads a large block, as defragmentation does.
    ReadBlock,
    /// Writes a large block.
    WriteBlock,
    /// Writes a record by itself: commit-to-device.
    WriteRecord,
    /// Reads all large blocks of the device in sequence for the whole run. Not in the log.
    TombRaider,
    /// Reads an index page for a request of a client or a replica.
    ReadIndex,
    /// Reads an index page for defragmentation.
    ReadCache,
    /// Writes an index page.
    WriteCache,
}

/// A histogram of ACT's log that counts all devices together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActHistogram {
    /// Reads of records or index pages.
    Reads,
    /// Reads of large blocks.
    LargeBlockReads,
    /// Writes of large blocks.
    LargeBlockWrites,
    /// Writes of single records or index pages.
    Writes,
}

impl Operation {
    /// Returns the name in the side file and the summary, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadRecord => "reads",
            Self::ReadBlock => "large-block-reads",
            Self::WriteBlock => "large-block-writes",
            Self::WriteRecord => "writes",
            Self::TombRaider => "tomb-raider-reads",
            Self::ReadIndex => "index-reads",
            Self::ReadCache => "cache-reads",
            Self::WriteCache => "cache-writes",
        }
    }

    /// Returns whether it writes to the device.
    pub fn is_write(self) -> bool {
        matches!(self, Self::WriteBlock | Self::WriteRecord | Self::WriteCache)
    }

    /// Returns whether it transfers a whole large block.
    pub fn is_block(self) -> bool {
        matches!(self, Self::ReadBlock | Self::WriteBlock | Self::TombRaider)
    }

    /// Returns the histogram that counts it; None if upstream does not measure it.
    pub fn histogram(self) -> Option<ActHistogram> {
        match self {
            Self::ReadRecord | Self::ReadIndex | Self::ReadCache => Some(ActHistogram::Reads),
            Self::ReadBlock => Some(ActHistogram::LargeBlockReads),
            Self::WriteBlock => Some(ActHistogram::LargeBlockWrites),
            Self::WriteRecord | Self::WriteCache => Some(ActHistogram::Writes),
            Self::TombRaider => None,
        }
    }
}

impl ActHistogram {
    /// All histograms, in the order of ACT's blocks.
    pub const ALL: [Self; 4] = [
        Self::Reads,
        Self::LargeBlockReads,
        Self::LargeBlockWrites,
        Self::Writes,
    ];

    /// Returns the name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::LargeBlockReads => "large-block-reads",
            Self::LargeBlockWrites => "large-block-writes",
            Self::Writes => "writes",
        }
    }

    /// Returns whether a histogram for each device follows.
    pub fn has_devices(self) -> bool {
        matches!(self, Self::Reads | Self::Writes)
    }
}
