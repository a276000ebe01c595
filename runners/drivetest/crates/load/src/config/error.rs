//! What is wrong with a configuration, in sentences that name line or key, what was expected, and what was got.

/// A configuration that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A key that neither ACT 6.x nor this program has.
    #[error("line {line}: {} is no known key{}", clipped(.key), hint(.nearest))]
    Unknown {
        /// 1-based.
        line: usize,
        /// As parsed.
        key: String,
        /// The known key that it most likely means.
        nearest: Option<&'static str>,
    },
    /// A key of the other model.
    #[error("line {line}: {key} is a key of {other} loads and means nothing to {model} loads; leave it out")]
    OtherModel {
        /// 1-based.
        line: usize,
        /// The key.
        key: &'static str,
        /// The model that is asked for.
        model: &'static str,
        /// The model that has the key.
        other: &'static str,
    },
    /// A line that no configuration has.
    #[error("line {line}: expected at most {most_bytes} bytes, got {found_bytes}; is this a configuration?")]
    LongLine {
        /// 1-based.
        line: usize,
        /// Its length.
        found_bytes: usize,
        /// The longest that is read.
        most_bytes: usize,
    },
    /// Bytes that no text has outside of comments.
    #[error("line {line}: expected text in UTF-8, got other bytes; is this a configuration?")]
    NotText {
        /// 1-based.
        line: usize,
    },
    /// More than any configuration holds.
    #[error("expected at most {most_bytes} bytes, got more; is this a configuration?")]
    TooLong {
        /// The most that is read.
        most_bytes: usize,
    },
    /// The value is not of the key's kind.
    #[error("line {line}: {key}: expected {expected}, got '{}'", clipped(.got))]
    Value {
        /// 1-based.
        line: usize,
        /// The key.
        key: &'static str,
        /// What would be read.
        expected: String,
        /// As parsed.
        got: String,
    },
    /// The value is outside of its range, or a key that must be given is missing.
    #[error("{key}: expected {expected}, got {got}")]
    Range {
        /// The key.
        key: &'static str,
        /// What would be accepted.
        expected: String,
        /// What was given or stood in.
        got: String,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(
        || "; drivetest keys tells them".to_owned(),
        |key| format!("; did you mean {key}?"),
    )
}

/// The most of what was parsed that a sentence repeats, characters.
const MOST_REPEATED: usize = 60;

/// What was parsed, fit for a sentence: its beginning, and no character that a terminal would obey.
fn clipped(parsed: &str) -> String {
    let shown = |c: char| {
        if c.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    let mut text: String = parsed.chars().take(MOST_REPEATED).map(shown).collect();
    if parsed.chars().nth(MOST_REPEATED).is_some() {
        text.push_str("...");
    }
    text
}

/// A line that means something else than it may seem to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// 1-based; None where it is not one line's.
    pub line: Option<usize>,
    /// The key.
    pub key: &'static str,
    /// What became of the key, or how the line was read.
    pub told: String,
}

impl std::fmt::Display for ConfigWarning {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = self.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        write!(out, "{line}{}: {}", self.key, self.told)
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
