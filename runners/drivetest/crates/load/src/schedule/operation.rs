//! What requests do, and in which histogram of ACT they count.

/// What a stream's requests do. The order is part of a seed's meaning.
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
    /// Reads the device's large blocks one after the other, for as long as the run lasts; not told in the log.
    TombRaider,
    /// Reads a page of the index for a request of a client or a replica.
    ReadIndex,
    /// Reads a page of the index for defragmentation.
    ReadCache,
    /// Writes a page of the index.
    WriteCache,
}

/// A histogram of ACT's log that counts all devices together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActHistogram {
    /// Records, or pages of the index.
    Reads,
    /// Large blocks.
    LargeBlockReads,
    /// Large blocks.
    LargeBlockWrites,
    /// Records written by themselves, or pages of the index.
    Writes,
}

impl Operation {
    /// The word, in the plural.
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

    /// Whether data goes to the device.
    pub fn is_write(self) -> bool {
        matches!(self, Self::WriteBlock | Self::WriteRecord | Self::WriteCache)
    }

    /// Whether a whole large block is read or written.
    pub fn is_block(self) -> bool {
        matches!(self, Self::ReadBlock | Self::WriteBlock | Self::TombRaider)
    }

    /// Where it counts; None for what upstream does not measure.
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
    /// In the order of ACT's blocks.
    pub const ALL: [Self; 4] = [
        Self::Reads,
        Self::LargeBlockReads,
        Self::LargeBlockWrites,
        Self::Writes,
    ];

    /// As in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::LargeBlockReads => "large-block-reads",
            Self::LargeBlockWrites => "large-block-writes",
            Self::Writes => "writes",
        }
    }

    /// Whether a histogram for each device follows it.
    pub fn has_devices(self) -> bool {
        matches!(self, Self::Reads | Self::Writes)
    }
}
