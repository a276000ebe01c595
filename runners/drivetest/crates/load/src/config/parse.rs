//! The first stage: every key that was given, as a number, a switch or names; nothing filled in yet.

use std::collections::HashMap;

use super::enums::Model;
use super::keys::{KEYS, Key, Kind, RETIRED};
use super::lexer::{Line, lines};
use super::{ConfigError, ConfigWarning};

/// A further key within this many edits of a known one is taken for a slip of the pen.
const NEAR_EDITS: usize = 4;

/// What was parsed. A key that was not given is absent.
#[derive(Debug, Default)]
pub(crate) struct ParsedKeys {
    pub device_names: Vec<String>,
    pub warnings: Vec<ConfigWarning>,
    numbers: HashMap<&'static str, u32>,
    switches: HashMap<&'static str, bool>,
    words: HashMap<&'static str, &'static str>,
    last_lines: HashMap<&'static str, usize>,
}

impl ParsedKeys {
    /// Reads a configuration file's text.
    pub(crate) fn read(model: Model, text: &str) -> Result<Self, ConfigError> {
        let mut parsed = Self::default();
        for line in lines(text) {
            let line = line?;
            match find(model, &line)? {
                Found::Key(key) => parsed.take(key, &line)?,
                Found::Retired(key, became) => parsed.warn(&line, key, became.to_owned()),
            }
        }
        Ok(parsed)
    }

    /// The number given for a key, or what stands in for it.
    pub(crate) fn number(&self, key: &str, default: u32) -> u32 {
        self.numbers.get(key).copied().unwrap_or(default)
    }

    /// The switch given for a key; off when it was not given.
    pub(crate) fn switch(&self, key: &str) -> bool {
        self.switches.get(key).copied().unwrap_or(false)
    }

    /// The word given for a key.
    pub(crate) fn keyword(&self, key: &str) -> Option<&'static str> {
        self.words.get(key).copied()
    }

    fn take(&mut self, key: &'static Key, line: &Line<'_>) -> Result<(), ConfigError> {
        match key.kind {
            Kind::Names => self.device_names.extend(names(line.value)),
            Kind::Number => {
                self.note(key.name, line);
                self.numbers.insert(key.name, number(key.name, line)?);
            }
            Kind::Switch => {
                self.note(key.name, line);
                self.switches.insert(key.name, switch(key.name, line)?);
            }
            Kind::Keyword(words) => {
                self.note(key.name, line);
                self.words.insert(key.name, keyword(key.name, line, &words())?);
            }
        }
        Ok(())
    }

    /// As upstream, the last of several lines counts and what follows a value's first word does not; here it is told.
    fn note(&mut self, key: &'static str, line: &Line<'_>) {
        if let Some(earlier) = self.last_lines.insert(key, line.number) {
            let told = format!("was given in line {earlier} already; this line counts, as in act_storage");
            self.warn(line, key, told);
        }
        let mut words = line.value.split_whitespace();
        if let (Some(first), Some(_)) = (words.next(), words.next()) {
            let told = format!("is read as {first}; what follows means nothing, put # before it");
            self.warn(line, key, told);
        }
    }

    fn warn(&mut self, line: &Line<'_>, key: &'static str, told: String) {
        self.warnings.push(ConfigWarning {
            line: Some(line.number),
            key,
            told,
        });
    }
}

enum Found {
    Key(&'static Key),
    Retired(&'static str, &'static str),
}

fn find(model: Model, line: &Line<'_>) -> Result<Found, ConfigError> {
    if let Some((key, became)) = RETIRED.iter().find(|(name, _)| *name == line.key) {
        return Ok(Found::Retired(key, became));
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
        _ => Ok(Found::Key(key)),
    }
}

fn names(value: &str) -> impl Iterator<Item = String> {
    let between = |c: char| c == ',' || c == ';' || c.is_whitespace();
    value
        .split(between)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

fn first_word<'a>(line: &Line<'a>) -> &'a str {
    line.value.split_whitespace().next().unwrap_or_default()
}

/// What upstream reads as something else than it says, such as 2k, 0x10 or -1, is refused.
fn number(key: &'static str, line: &Line<'_>) -> Result<u32, ConfigError> {
    let word = first_word(line);
    let digits = word.strip_prefix('+').unwrap_or(word);
    let is_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = if is_digits { digits.parse().ok() } else { None };
    parsed.ok_or_else(|| value_error(key, line, "a whole number from 0 to 4294967295".to_owned()))
}

/// Upstream takes what begins with y for yes and everything else for no; what means yes and is not read so is refused.
fn switch(key: &'static str, line: &Line<'_>) -> Result<bool, ConfigError> {
    match first_word(line) {
        word if word.starts_with('y') => Ok(true),
        word if word.starts_with(['n', 'N']) || ["", "0", "false", "off"].contains(&word) => Ok(false),
        _ => Err(value_error(key, line, "yes or no".to_owned())),
    }
}

fn keyword(key: &'static str, line: &Line<'_>, words: &[&'static str]) -> Result<&'static str, ConfigError> {
    let found = words.iter().find(|word| **word == first_word(line));
    found
        .copied()
        .ok_or_else(|| value_error(key, line, words.join(", ")))
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
