//! Errors of requests. The register decides by the kind; the sentence is for people.

use std::io;
use std::path::Path;

use serde::Serialize;

/// The kind of an error, which determines what the register may do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The host refuses the request. Repeating it has no effect.
    Refused,
    /// The device cannot be identified.
    DeviceUnknown,
    /// The file of the run does not exist.
    FileMissing,
    /// The request is unknown or malformed.
    Usage,
    /// The result is unknown. The register may repeat the request.
    Unanswered,
}

/// The error of a request.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct HostError {
    /// What the register may do next.
    pub kind: Kind,
    /// The object, what was expected, what was found, and the remedy.
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

    /// Refuses what is not allowed on this host.
    pub(crate) fn refuse_unless(is_allowed: bool, sentence: impl FnOnce() -> String) -> Result<(), Self> {
        match is_allowed {
            true => Ok(()),
            false => Err(Self::refused(sentence())),
        }
    }

    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self::new(Kind::Usage, sentence)
    }

    /// Wraps a system error about a file of this host.
    pub(crate) fn file(path: &Path, action: &str, source: &io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => Kind::FileMissing,
            _ => Kind::Unanswered,
        };
        Self::new(kind, format!("{}: cannot {action}: {source}", path.display()))
    }
}
