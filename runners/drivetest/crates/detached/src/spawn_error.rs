//! The error that a new process reports to the launcher if it cannot execute the program: five bytes through a pipe.

use rustix::io::Errno;

/// The step at which the new process failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SpawnStage {
    /// Setting up the session, the streams and the descriptors.
    Detach = 1,
    /// The second fork.
    Fork = 2,
    /// Writing `pid`.
    Record = 3,
    /// Executing the program.
    Exec = 4,
}

impl SpawnStage {
    const ALL: [Self; 4] = [Self::Detach, Self::Fork, Self::Record, Self::Exec];

    /// Returns the step as a verb whose object is the program.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Detach => "set up a session for",
            Self::Fork => "fork for",
            Self::Record => "record the process of",
            Self::Exec => "execute",
        }
    }
}

/// The failed step and its error, small enough for one atomic write to a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpawnError(pub SpawnStage, pub Errno);

impl SpawnError {
    /// Returns the bytes for the pipe.
    pub fn to_bytes(self) -> [u8; 5] {
        let [a, b, c, d] = self.1.raw_os_error().to_le_bytes();
        [self.0 as u8, a, b, c, d]
    }

    /// Parses the bytes from the pipe. None if there are none: the program was executed.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&first, rest) = bytes.split_first()?;
        let stage = SpawnStage::ALL.into_iter().find(|stage| *stage as u8 == first)?;
        let errno = i32::from_le_bytes(rest.try_into().ok()?);
        Some(Self(stage, Errno::from_raw_os_error(errno)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_survives_the_pipe_unchanged() {
        for stage in SpawnStage::ALL {
            let error = SpawnError(stage, Errno::NOSPC);
            assert_eq!(SpawnError::from_bytes(&error.to_bytes()), Some(error));
        }
    }

    #[test]
    fn an_empty_pipe_is_no_error() {
        assert_eq!(SpawnError::from_bytes(b""), None);
    }
}
