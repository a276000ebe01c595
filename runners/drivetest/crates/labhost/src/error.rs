//! Why a request is not carried out: its kind decides what the register does next, its sentence is for people.

use std::io;
use std::path::Path;

use serde::Serialize;

/// What the register may do after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The host will not do it, however often it is asked.
    Refused,
    /// It cannot be told what the device is.
    DeviceUnknown,
    /// The file of the run is not there.
    FileMissing,
    /// The request is not one that this host knows.
    Usage,
    /// Nothing is known; the same may be asked again.
    Unanswered,
}

/// One error of one request.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct HostError {
    /// What it means to the register.
    pub kind: Kind,
    /// Object, expected, got, remedy.
    pub sentence: String,
}

impl HostError {
    pub(crate) fn new(kind: Kind, sentence: impl Into<String>) -> Self {
        Self {
            kind,
            sentence: sentence.into(),
        }
    }

    pub(crate) fn refused(sentence: impl Into<String>) -> Self {
        Self::new(Kind::Refused, sentence)
    }

    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self::new(Kind::Usage, sentence)
    }

    /// Wraps what the system answered about a file of this host.
    pub(crate) fn file(path: &Path, action: &str, source: &io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => Kind::FileMissing,
            _ => Kind::Unanswered,
        };
        Self::new(kind, format!("{}: cannot {action}: {source}", path.display()))
    }
}
