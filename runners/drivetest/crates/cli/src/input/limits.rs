//! Limits on compressed uploads and archives: how much content they may expand to, which protects against decompression
//! (zip) bombs, and how many of their files are read.

use std::error::Error;
use std::{fmt, io};

use drivetest_logs::read_error::{CONTENT_TOO_LARGE, ReadError, WINDOW_TOO_LARGE};

use crate::size;

/// Default limit of decompressed content: a compressed file of a few KiB can expand to any size.
pub const CONTENT_LIMIT_BYTES: u64 = 16 << 30;

/// [`CONTENT_LIMIT_BYTES`] as the command line shows it.
pub const CONTENT_LIMIT: &str = "16GiB";

/// Maximum window of zstd in bytes: level 20 of 22. `zstd --long` needs 128 MiB, a decompression bomb gigabytes.
pub const WINDOW_BYTES_MAX: u64 = 32 << 20;

/// Maximum memory of xz in KiB: the 64 MiB dictionary of `xz -9`, and 2 MiB for the decoder.
pub const XZ_MEMORY_KIB_MAX: u32 = (64 << 10) + 2048;

/// Maximum number of files that are listed and read. More files are only counted.
pub const MEMBERS_MAX: usize = 1000;

/// Maximum number of logs that are read.
pub const LOGS_MAX: usize = 64;

/// Maximum ratio of content to received bytes, checked above [`DENSE_BYTES`]. Logs of ACT compress up to 60 times; gzip
/// reaches at most 1032 times.
const DENSE_RATIO: u64 = 1000;

/// Content up to this size is allowed at any ratio.
const DENSE_BYTES: u64 = 64 << 20;

/// The limit that stopped reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitExceeded {
    /// More content than the requested limit.
    TooLarge {
        /// The limit.
        limit_bytes: u64,
    },
    /// More content than any log compresses into the received bytes.
    TooDense,
    /// A larger window or dictionary than the decoders allow.
    Window,
}

impl LimitExceeded {
    /// Returns the limit that caused an I/O error. None if the error has another cause.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }

    /// Checks the size of content against the limit, and its ratio to the received bytes.
    ///
    /// # Errors
    /// If the content exceeds one of them.
    pub fn check(content_bytes: u64, received_bytes: u64, limit_bytes: u64) -> io::Result<()> {
        if content_bytes > limit_bytes {
            return Err(Self::TooLarge { limit_bytes }.into());
        }
        if content_bytes > DENSE_BYTES && content_bytes / DENSE_RATIO > received_bytes {
            return Err(Self::TooDense.into());
        }
        Ok(())
    }

    /// Returns the error for a log whose reading stopped at a line.
    pub fn error(self, line: Option<u64>) -> ReadError {
        let kind = match self {
            Self::Window => &WINDOW_TOO_LARGE,
            Self::TooLarge { .. } | Self::TooDense => &CONTENT_TOO_LARGE,
        };
        kind.at(line, self.to_string())
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit_bytes } => {
                write!(formatter, "more than {}", size::exact_text(*limit_bytes))
            }
            Self::TooDense => write!(formatter, "more than {DENSE_RATIO} times the bytes received"),
            Self::Window => formatter.write_str("a stream that needs more"),
        }
    }
}

impl Error for LimitExceeded {}

impl From<LimitExceeded> for io::Error {
    fn from(limit: LimitExceeded) -> Self {
        Self::new(io::ErrorKind::FileTooLarge, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_limit_is_the_one_that_the_help_shows() {
        assert_eq!(size::parse(CONTENT_LIMIT), Ok(CONTENT_LIMIT_BYTES));
    }

    #[test]
    fn an_exceeded_limit_is_exact() {
        let sentence = |limit_bytes| LimitExceeded::TooLarge { limit_bytes }.to_string();
        assert_eq!(sentence(CONTENT_LIMIT_BYTES), "more than 16GiB");
        assert_eq!(sentence(1_000_000), "more than 1000000 bytes");
    }
}
