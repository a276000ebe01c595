//! What is wrong with a configuration, in sentences that name line or key, what was expected, and what was got.

/// A configuration that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A key that neither ACT 6.x nor this program has.
    #[error("line {line}: {key} is no known key{}", hint(.nearest))]
    Unknown {
        /// 1-based.
        line: usize,
        /// As typed.
        key: String,
        /// The known key that it most likely means.
        nearest: Option<&'static str>,
    },
    /// The key stands in two lines.
    #[error("line {line}: {key} was already given in line {first}")]
    Twice {
        /// 1-based.
        line: usize,
        /// The key.
        key: &'static str,
        /// The line it was first given in.
        first: usize,
    },
    /// The value is not of the key's kind.
    #[error("line {line}: {key}: expected {expected}, got '{got}'")]
    Value {
        /// 1-based.
        line: usize,
        /// The key.
        key: &'static str,
        /// What would be read.
        expected: &'static str,
        /// As typed.
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
    /// A load that this version cannot make.
    #[error("{key}: {why}; leave the key out")]
    Unsupported {
        /// The key.
        key: &'static str,
        /// What is missing.
        why: String,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest
        .map(|key| format!("; did you mean {key}?"))
        .unwrap_or_default()
}

/// A key of an older ACT that means nothing any more.
#[derive(Debug)]
pub struct Warning {
    /// 1-based.
    pub line: usize,
    /// The key.
    pub key: &'static str,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "line {}: {} is a key of older ACT versions and changes nothing",
            self.line, self.key
        )
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

pub(super) fn unsupported(key: &'static str, why: &str) -> ConfigError {
    ConfigError::Unsupported {
        key,
        why: why.to_owned(),
    }
}
