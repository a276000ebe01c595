//! The first stage: all given keys as numbers, switches or names, without defaults.

use std::collections::HashMap;

use super::enums::Model;
use super::keys::{KEYS, Key, Kind, RETIRED};
use super::lexer::{Line, lines};
use super::{ConfigError, ConfigWarning};

/// An unknown key within this edit distance of a known one is a typing error.
const NEAR_EDITS: usize = 4;

/// The given keys.
#[derive(Debug, Default)]
pub(crate) struct ParsedKeys {
    pub device_names: Vec<String>,
    pub warnings: Vec<ConfigWarning>,
    numbers: HashMap<&'static str, u32>,
    switches: HashMap<&'static str, bool>,
    keywords: HashMap<&'static str, &'static str>,
    last_lines: HashMap<&'static str, usize>,
}

impl ParsedKeys {
    /// Parses the text of a configuration file.
    pub(crate) fn read(model: Model, text: &str) -> Result<Self, ConfigError> {
        let mut parsed = Self::default();
        for line in lines(text) {
            let line = line?;
            match find(model, &line)? {
                KeyMatch::Key(key) => parsed.take(key, &line)?,
                KeyMatch::Retired(key, reason) => parsed.warn(&line, key, reason.to_owned()),
            }
        }
        Ok(parsed)
    }

    /// Returns the number of a key, or `default`.
    pub(crate) fn number(&self, key: &str, default: u32) -> u32 {
        self.numbers.get(key).copied().unwrap_or(default)
    }

    /// Returns the switch of a key; off if the key is absent.
    pub(crate) fn switch(&self, key: &str) -> bool {
        self.switches.get(key).copied().unwrap_or(false)
    }

    /// Returns the value of a key with a fixed set of names.
    pub(crate) fn keyword(&self, key: &str) -> Option<&'static str> {
        self.keywords.get(key).copied()
    }

    fn take(&mut self, key: &'static Key, line: &Line<'_>) -> Result<(), ConfigError> {
        match key.kind {
            Kind::Names => self.device_names.extend(names(line.value)),
            Kind::Number => {
                self.warn_about(key.name, line);
                self.numbers.insert(key.name, number(key.name, line)?);
            }
            Kind::Switch => {
                self.warn_about(key.name, line);
                self.switches.insert(key.name, switch(key.name, line)?);
            }
            Kind::Keyword(keywords) => {
                self.warn_about(key.name, line);
                self.keywords
                    .insert(key.name, keyword(key.name, line, &keywords())?);
            }
        }
        Ok(())
    }

    /// Warns if a key is repeated or followed by further text. As in upstream, the last line and the first token
    /// apply.
    fn warn_about(&mut self, key: &'static str, line: &Line<'_>) {
        if let Some(earlier) = self.last_lines.insert(key, line.number) {
            let message = format!("is also in line {earlier}; this line applies, as in act_storage");
            self.warn(line, key, message);
        }
        let mut tokens = line.value.split_whitespace();
        if let (Some(first), Some(_)) = (tokens.next(), tokens.next()) {
            let message = format!("is read as {first}; the rest of the line is ignored, start it with #");
            self.warn(line, key, message);
        }
    }

    fn warn(&mut self, line: &Line<'_>, key: &'static str, message: String) {
        self.warnings.push(ConfigWarning {
            line: Some(line.number),
            key,
            message,
        });
    }
}

enum KeyMatch {
    Key(&'static Key),
    Retired(&'static str, &'static str),
}

fn find(model: Model, line: &Line<'_>) -> Result<KeyMatch, ConfigError> {
    if let Some((key, reason)) = RETIRED.iter().find(|(name, _)| *name == line.key) {
        return Ok(KeyMatch::Retired(key, reason));
    }
    let key = KEYS.iter().find(|key| key.name == line.key);
    let key = key.ok_or_else(|| unknown(model, line))?;
    match key.model {
        Some(other) if other != model => Err(ConfigError::OtherModel {
            line: line.number,
            key: key.name,
            model: model.name(),
            other: other.name(),
        }),
        _ => Ok(KeyMatch::Key(key)),
    }
}

fn names(value: &str) -> impl Iterator<Item = String> {
    let between = |c: char| c == ',' || c == ';' || c.is_whitespace();
    value
        .split(between)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

fn first_token<'a>(line: &Line<'a>) -> &'a str {
    line.value.split_whitespace().next().unwrap_or_default()
}

/// Parses a number. Forms that upstream misreads, such as 2k, 0x10 or -1, are errors.
fn number(key: &'static str, line: &Line<'_>) -> Result<u32, ConfigError> {
    let token = first_token(line);
    let digits = token.strip_prefix('+').unwrap_or(token);
    let is_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = if is_digits { digits.parse().ok() } else { None };
    parsed.ok_or_else(|| value_error(key, line, "a whole number from 0 to 4294967295".to_owned()))
}

/// Parses a switch. Upstream takes every value with a leading y for yes and all others for no; other forms of yes are
/// errors.
fn switch(key: &'static str, line: &Line<'_>) -> Result<bool, ConfigError> {
    match first_token(line) {
        token if token.starts_with('y') => Ok(true),
        token if token.starts_with(['n', 'N']) || ["", "0", "false", "off"].contains(&token) => Ok(false),
        _ => Err(value_error(key, line, "yes or no".to_owned())),
    }
}

fn keyword(
    key: &'static str,
    line: &Line<'_>,
    keywords: &[&'static str],
) -> Result<&'static str, ConfigError> {
    let found = keywords.iter().find(|known| **known == first_token(line));
    found
        .copied()
        .ok_or_else(|| value_error(key, line, keywords.join(", ")))
}

fn value_error(key: &'static str, line: &Line<'_>, expected: String) -> ConfigError {
    ConfigError::Value {
        line: line.number,
        key,
        expected,
        got: line.value.to_owned(),
    }
}

fn unknown(model: Model, line: &Line<'_>) -> ConfigError {
    let is_near = |key: &&Key| key.name.len().abs_diff(line.key.len()) <= NEAR_EDITS;
    let of_model = KEYS
        .iter()
        .filter(|key| key.model.is_none_or(|of| of == model))
        .filter(is_near);
    let nearest = of_model
        .map(|known| (strsim::damerau_levenshtein(known.name, line.key), known.name))
        .min()
        .filter(|(edits, _)| *edits <= NEAR_EDITS)
        .map(|(_, known)| known);
    ConfigError::Unknown {
        line: line.number,
        key: line.key.to_owned(),
        nearest,
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
