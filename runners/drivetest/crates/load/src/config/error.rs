//! Errors and warnings of a configuration. They name the line or key, what was expected, and what was found.

use super::lexer::{LONGEST_LINE_BYTES, MOST_BYTES};

/// A configuration that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A key that is neither one of ACT 6.x nor one of this program.
    #[error("line {line}: unknown key '{}'{}", clipped(.key), hint(.nearest))]
    Unknown {
        /// 1-based.
        line: usize,
        /// As typed.
        key: String,
        /// The most similar known key.
        nearest: Option<&'static str>,
    },
    /// A key of the other model.
    #[error("line {line}: {key} is a key of {other} loads and has no meaning in {model} loads; remove it")]
    OtherModel {
        /// 1-based.
        line: usize,
        /// The key.
        key: &'static str,
        /// The model of the load.
        model: &'static str,
        /// The model of the key.
        other: &'static str,
    },
    /// A line that is too long for a configuration.
    #[error(
        "line {line}: expected at most {LONGEST_LINE_BYTES} bytes, got {found_bytes}; is this a configuration?"
    )]
    LongLine {
        /// 1-based.
        line: usize,
        /// Its length.
        found_bytes: usize,
    },
    /// Bytes outside comments that are not text.
    #[error("line {line}: expected text in UTF-8, got other bytes; is this a configuration?")]
    NotText {
        /// 1-based.
        line: usize,
    },
    /// A file that is too long for a configuration.
    #[error("expected at most {MOST_BYTES} bytes, got more; is this a configuration?")]
    TooLong,
    /// A value that has the wrong type.
    #[error("line {line}: {key}: expected {expected}, got '{}'", clipped(.got))]
    Value {
        /// 1-based.
        line: usize,
        /// The key.
        key: &'static str,
        /// The accepted values.
        expected: String,
        /// As typed.
        got: String,
    },
    /// A value outside its range, or a missing mandatory key.
    #[error("{key}: expected {expected}, got {got}")]
    Range {
        /// The key.
        key: &'static str,
        /// The accepted values.
        expected: String,
        /// The given or default value.
        got: String,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(
        || "; `drivetest keys` lists all keys".to_owned(),
        |key| format!("; did you mean '{key}'?"),
    )
}

/// Maximum number of typed characters that a message repeats.
const MAX_QUOTED_CHARS: usize = 60;

/// Returns the beginning of the typed text without control characters, which a terminal would execute.
fn clipped(parsed: &str) -> String {
    let shown = parsed.replace(char::is_control, "\u{fffd}");
    let mut text: String = shown.chars().take(MAX_QUOTED_CHARS).collect();
    if parsed.chars().nth(MAX_QUOTED_CHARS).is_some() {
        text.push_str("...");
    }
    text
}

/// A line that may not have the effect that its author expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// 1-based; None if the warning is about several lines.
    pub line: Option<usize>,
    /// The key.
    pub key: &'static str,
    /// What happened to the key, or how the line was interpreted.
    pub message: String,
}

impl std::fmt::Display for ConfigWarning {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = self.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        write!(out, "{line}{}: {}", self.key, self.message)
    }
}

pub(super) fn within<T>(
    key: &'static str,
    got: T,
    wanted: std::ops::RangeInclusive<T>,
) -> Result<(), ConfigError>
where
    T: PartialOrd + std::fmt::Display,
{
    if wanted.contains(&got) {
        return Ok(());
    }
    Err(range(key, format!("{} to {}", wanted.start(), wanted.end()), got))
}

pub(super) fn range(
    key: &'static str,
    expected: impl Into<String>,
    got: impl std::fmt::Display,
) -> ConfigError {
    ConfigError::Range {
        key,
        expected: expected.into(),
        got: got.to_string(),
    }
}
