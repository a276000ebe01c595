//! What the launcher hears when no program came to life: five bytes through a pipe.

use std::io;

use rustix::io::Errno;

/// What the offspring was doing when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    /// A session, streams and descriptors of its own.
    Detach = 1,
    /// The second fork.
    Fork = 2,
    /// `pid`.
    Record = 3,
    /// Becoming the program.
    Exec = 4,
}

impl Stage {
    const ALL: [Self; 4] = [Self::Detach, Self::Fork, Self::Record, Self::Exec];

    /// Returns the stage as a verb that goes with the program.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Detach => "set up a session for",
            Self::Fork => "fork for",
            Self::Record => "record the process of",
            Self::Exec => "execute",
        }
    }
}

/// Why no program came to life, in a form that fits through a pipe at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What was tried.
    pub stage: Stage,
    errno: i32,
}

impl Failure {
    /// Notes what was tried and the system's answer.
    pub fn new(stage: Stage, errno: Errno) -> Self {
        Self {
            stage,
            errno: errno.raw_os_error(),
        }
    }

    /// Returns the system's answer.
    pub fn source(self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }

    /// Returns what goes through the pipe.
    pub fn to_bytes(self) -> [u8; 5] {
        let [a, b, c, d] = self.errno.to_le_bytes();
        [self.stage as u8, a, b, c, d]
    }

    /// Reads what came through the pipe; None when nothing did: the program began.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&first, rest) = bytes.split_first()?;
        let stage = Stage::ALL.into_iter().find(|stage| *stage as u8 == first)?;
        Some(Self {
            stage,
            errno: i32::from_le_bytes(rest.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_comes_through_the_pipe_as_it_was() {
        for stage in Stage::ALL {
            let failure = Failure::new(stage, Errno::NOSPC);
            assert_eq!(Failure::from_bytes(&failure.to_bytes()), Some(failure));
        }
    }

    #[test]
    fn an_empty_pipe_is_no_failure() {
        assert_eq!(Failure::from_bytes(b""), None);
    }
}
