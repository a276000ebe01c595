//! The first stage: all given keys as numbers, switches or names, without defaults.

use std::collections::HashMap;

use super::enums::Model;
use super::keys::{KEYS, Key, RETIRED};
use super::lexer::{Line, lines};
use super::{ConfigError, ConfigWarning};

/// An unknown key within this edit distance of a known one is a typing error.
const NEAR_EDITS: usize = 4;

/// A type of values.
pub(crate) trait KeyValue: Default {
    /// Whether the values of several lines add up. Otherwise, the first word of the last line is the value.
    const IS_LIST: bool = false;

    /// Parses a value, or returns what is expected instead.
    fn parse(value: &str) -> Result<Self, String>;

    /// Returns the value as ACT prints it.
    fn text(&self) -> String;
}

/// The given keys.
#[derive(Debug, Default)]
pub(crate) struct ParsedKeys {
    pub warnings: Vec<ConfigWarning>,
    values: HashMap<&'static str, String>,
    last_lines: HashMap<&'static str, usize>,
}

impl ParsedKeys {
    /// Parses the text of a configuration file.
    pub(crate) fn read(model: Model, text: &str) -> Result<Self, ConfigError> {
        let mut parsed = Self::default();
        for line in lines(text) {
            let line = line?;
            match RETIRED.iter().find(|(name, _)| *name == line.key) {
                Some((key, reason)) => parsed.warn(&line, key, (*reason).to_owned()),
                None => parsed.take(find(model, &line)?, &line)?,
            }
        }
        Ok(parsed)
    }

    /// Returns the value of a key, or its default. A default that is only described, or none, is 0 or empty.
    pub(crate) fn value<T: KeyValue>(&self, key: &str, default: Option<&str>) -> T {
        let value = self.values.get(key).map(String::as_str).or(default);
        value.and_then(|value| T::parse(value).ok()).unwrap_or_default()
    }

    fn take(&mut self, key: &'static Key, line: &Line<'_>) -> Result<(), ConfigError> {
        if key.is_list {
            *self.values.entry(key.name).or_default() += &format!(" {}", line.value);
            return Ok(());
        }
        self.warn_about(key.name, line);
        let value = line.value.split_whitespace().next().unwrap_or_default();
        if let Some(expected) = (key.objection)(value) {
            return Err(ConfigError::Value {
                line: line.number,
                key: key.name,
                expected,
                got: line.value.to_owned(),
            });
        }
        self.values.insert(key.name, value.to_owned());
        Ok(())
    }

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

fn find(model: Model, line: &Line<'_>) -> Result<&'static Key, ConfigError> {
    let key = KEYS.iter().find(|key| key.name == line.key);
    let key = key.ok_or_else(|| unknown(model, line))?;
    match key.model {
        Some(other) if other != model => Err(ConfigError::OtherModel {
            line: line.number,
            key: key.name,
            model: model.name(),
            other: other.name(),
        }),
        _ => Ok(key),
    }
}

impl KeyValue for Vec<String> {
    const IS_LIST: bool = true;

    fn parse(value: &str) -> Result<Self, String> {
        let names = value.split(|c: char| c == ',' || c == ';' || c.is_whitespace());
        Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    fn text(&self) -> String {
        self.join(" ")
    }
}

/// Forms that upstream misreads, such as 2k, 0x10 or -1, are errors.
impl KeyValue for u32 {
    fn parse(value: &str) -> Result<Self, String> {
        let digits = value.strip_prefix('+').unwrap_or(value);
        let is_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_digits.then(|| digits.parse().ok()).flatten();
        number.ok_or_else(|| "a whole number from 0 to 4294967295".to_owned())
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// Upstream takes every value with a leading y for yes and all others for no. Other forms of yes are errors.
impl KeyValue for bool {
    fn parse(value: &str) -> Result<Self, String> {
        match value {
            _ if value.starts_with('y') => Ok(true),
            _ if value.starts_with(['n', 'N']) || ["", "0", "false", "off"].contains(&value) => Ok(false),
            _ => Err("yes or no".to_owned()),
        }
    }

    fn text(&self) -> String {
        if *self { "yes" } else { "no" }.to_owned()
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
mod tests;
