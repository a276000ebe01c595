//! Why reading of a file is stopped though more could be read: what protects against bombs.

use std::error::Error;
use std::fmt;
use std::io;

use drivetest_logs::read_error::{CONTENT_TOO_LARGE, ReadError, WINDOW_TOO_LARGE};

/// Content may be so many times as large as what was received, once it is larger than [`DENSE_BYTES`]. Logs of ACT
/// compress up to 60 times, and no stream of gzip does more than 1032 times.
const DENSE_RATIO: u64 = 1000;

/// Content that any file may have, whatever its ratio.
const DENSE_BYTES: u64 = 64 << 20;

/// Why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitExceeded {
    /// More content than this was asked to be the limit.
    TooLarge {
        /// The limit.
        limit_bytes: u64,
    },
    /// More content than any log makes of so few bytes.
    TooDense,
    /// A window or dictionary beyond what is given to a decoder.
    Window,
}

impl LimitExceeded {
    /// The reason that an error of reading carries, None where it is another error.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }

    /// Refuses content beyond a limit, or beyond what any log makes of the bytes received.
    ///
    /// # Errors
    /// Carries the reason.
    pub fn check(content_bytes: u64, received_bytes: u64, limit_bytes: u64) -> io::Result<()> {
        if content_bytes > limit_bytes {
            return Err(Self::TooLarge { limit_bytes }.into());
        }
        if content_bytes > DENSE_BYTES && content_bytes / DENSE_RATIO > received_bytes {
            return Err(Self::TooDense.into());
        }
        Ok(())
    }

    /// What is said of it, at the line that was reached.
    pub fn error(self, line: Option<u64>) -> ReadError {
        let kind = if self == Self::Window {
            &WINDOW_TOO_LARGE
        } else {
            &CONTENT_TOO_LARGE
        };
        kind.at(line, self.to_string())
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit_bytes } => write!(formatter, "more than {limit_bytes} bytes"),
            Self::TooDense => write!(formatter, "more than {DENSE_RATIO} times the bytes received"),
            Self::Window => formatter.write_str("a stream that asks for more"),
        }
    }
}

impl Error for LimitExceeded {}

impl From<LimitExceeded> for io::Error {
    fn from(stop: LimitExceeded) -> Self {
        Self::new(io::ErrorKind::FileTooLarge, stop)
    }
}
