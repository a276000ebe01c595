//! What the side file and the summary call an operation: as the log's histograms do, where these have it.

use crate::stream::Operation;

impl Operation {
    /// The word, in the plural.
    pub fn word(self) -> &'static str {
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
}
