//! How a load or a preparation ended.

/// How a load or a preparation ended. The text explains it.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end.
    Finished,
    /// All passes of a preparation are complete, but the rate did not become steady.
    NotSteady(String),
    /// A device was refused. Nothing was written.
    Refused(String),
    /// A device failed.
    DeviceError(String),
    /// The drive or the host cannot sustain the load.
    Overloaded(String),
    /// A signal arrived, or the log, the side file or the state file cannot be written.
    Interrupted(String),
}

impl Outcome {
    /// Returns the reason in the end record, and the text.
    pub fn reason(&self) -> (&'static str, &str) {
        match self {
            Self::Finished => ("finished", ""),
            Self::NotSteady(text) => ("not-steady", text),
            Self::Refused(text) => ("refused", text),
            Self::DeviceError(text) => ("device-error", text),
            Self::Overloaded(text) => ("lag", text),
            Self::Interrupted(text) => ("interrupted", text),
        }
    }
}
