//! The first stage: every key that was given, as a number, a switch or names; nothing filled in yet.

use std::collections::HashMap;

use super::lines::{Line, lines};
use super::{ConfigError, Warning};

/// Keys with a whole number.
const NUMBERS: &[&str] = &[
    "file-size-mbytes",
    "service-threads",
    "test-duration-sec",
    "report-interval-sec",
    "read-reqs-per-sec",
    "write-reqs-per-sec",
    "record-bytes",
    "record-bytes-range-max",
    "large-block-op-kbytes",
    "replication-factor",
    "update-pct",
    "defrag-lwm-pct",
    "compress-pct",
    "tomb-raider-sleep-usec",
    "max-lag-sec",
];

/// Keys with `yes` or `no`.
const SWITCHES: &[&str] = &[
    "microsecond-histograms",
    "no-defrag-reads",
    "disable-odsync",
    "commit-to-device",
    "tomb-raider",
];

/// Keys with a word; ours, not ACT's.
const WORDS: &[&str] = &["arrivals", "engine"];

/// Keys of older ACT versions that 6.6 no longer has.
const REMOVED: &[&str] = &[
    "scheduler-mode",
    "num-queues",
    "threads-per-queue",
    "commit-min-bytes",
    "max-reqs-queued",
];

const DEVICE_NAMES: &str = "device-names";

/// A further key within this many edits of a known one is taken for a slip of the pen.
const NEAR_EDITS: usize = 4;

/// What was typed. A key that was not given is absent.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub device_names: Vec<String>,
    pub warnings: Vec<Warning>,
    numbers: HashMap<&'static str, u32>,
    switches: HashMap<&'static str, bool>,
    words: HashMap<&'static str, String>,
    first_lines: HashMap<&'static str, usize>,
}

impl Typed {
    /// Reads a configuration file's text.
    pub(crate) fn read(text: &str) -> Result<Self, ConfigError> {
        let mut typed = Self::default();
        for line in lines(text) {
            typed.take(&line)?;
        }
        Ok(typed)
    }

    /// The number given for a key, or what stands in for it.
    pub(crate) fn number(&self, key: &str, default: u32) -> u32 {
        self.numbers.get(key).copied().unwrap_or(default)
    }

    /// The switch given for a key; off when it was not given.
    pub(crate) fn switch(&self, key: &str) -> bool {
        self.switches.get(key).copied().unwrap_or(false)
    }

    /// The word given for a key, or what stands in for it.
    pub(crate) fn word<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.words.get(key).map_or(default, String::as_str)
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), ConfigError> {
        if line.key == DEVICE_NAMES {
            self.device_names.extend(names(line.value));
        } else if let Some(key) = known(NUMBERS, line.key) {
            self.note_once(key, line.number)?;
            self.numbers.insert(key, number(key, line)?);
        } else if let Some(key) = known(SWITCHES, line.key) {
            self.note_once(key, line.number)?;
            self.switches.insert(key, switch(key, line)?);
        } else if let Some(key) = known(WORDS, line.key) {
            self.note_once(key, line.number)?;
            self.words.insert(key, line.value.to_owned());
        } else if let Some(key) = known(REMOVED, line.key) {
            self.warnings.push(Warning {
                line: line.number,
                key,
            });
        } else {
            return Err(unknown(line));
        }
        Ok(())
    }

    fn note_once(&mut self, key: &'static str, line: usize) -> Result<(), ConfigError> {
        match self.first_lines.insert(key, line) {
            None => Ok(()),
            Some(first) => Err(ConfigError::Twice { line, key, first }),
        }
    }
}

fn known(keys: &[&'static str], typed: &str) -> Option<&'static str> {
    keys.iter().copied().find(|key| *key == typed)
}

fn names(value: &str) -> impl Iterator<Item = String> {
    let between = |c: char| c == ',' || c == ';' || c.is_whitespace();
    value
        .split(between)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

fn number(key: &'static str, line: &Line<'_>) -> Result<u32, ConfigError> {
    let is_digits = !line.value.is_empty() && line.value.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = if is_digits { line.value.parse().ok() } else { None };
    parsed.ok_or_else(|| value_error(key, line, "a whole number from 0 to 4294967295"))
}

fn switch(key: &'static str, line: &Line<'_>) -> Result<bool, ConfigError> {
    match line.value {
        "yes" | "y" => Ok(true),
        "no" | "n" => Ok(false),
        _ => Err(value_error(key, line, "yes or no")),
    }
}

fn value_error(key: &'static str, line: &Line<'_>, expected: &'static str) -> ConfigError {
    ConfigError::Value {
        line: line.number,
        key,
        expected,
        got: line.value.to_owned(),
    }
}

fn unknown(line: &Line<'_>) -> ConfigError {
    let all = [DEVICE_NAMES].iter().chain(NUMBERS).chain(SWITCHES).chain(WORDS);
    let nearest = all
        .map(|known| (strsim::damerau_levenshtein(known, line.key), *known))
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
mod tests {
    use super::*;

    fn sentence(text: &str) -> String {
        Typed::read(text)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn device_names_are_split_on_commas_semicolons_and_blanks() {
        let typed = Typed::read("device-names: /dev/a,/dev/b;/dev/c /dev/d\ndevice-names /dev/e").unwrap();
        assert_eq!(
            typed.device_names,
            ["/dev/a", "/dev/b", "/dev/c", "/dev/d", "/dev/e"]
        );
    }

    #[test]
    fn an_unknown_key_names_the_nearest_one() {
        let expected = "line 2: read-req-per-sec is no known key; did you mean read-reqs-per-sec?";
        assert_eq!(sentence("\nread-req-per-sec: 5"), expected);
        assert_eq!(sentence("colour: blue"), "line 1: colour is no known key");
    }

    #[test]
    fn numbers_stop_at_32_bits() {
        assert_eq!(
            Typed::read("max-lag-sec: 4294967295")
                .unwrap()
                .number("max-lag-sec", 10),
            u32::MAX
        );
        assert!(sentence("max-lag-sec: 4294967296").contains("got '4294967296'"));
    }

    #[test]
    fn numbers_are_nothing_but_digits() {
        for value in ["", "-1", "+1", "1.5", "10 20", "1k", "0x10"] {
            assert!(
                sentence(&format!("record-bytes: {value}")).contains("a whole number"),
                "{value:?}"
            );
        }
    }

    #[test]
    fn switches_are_yes_or_no() {
        assert!(Typed::read("tomb-raider: yes").unwrap().switch("tomb-raider"));
        assert!(!Typed::read("tomb-raider: no").unwrap().switch("tomb-raider"));
        assert!(sentence("tomb-raider: true").contains("expected yes or no, got 'true'"));
    }

    #[test]
    fn a_key_given_twice_is_refused() {
        assert_eq!(
            sentence("update-pct: 1\nupdate-pct: 2"),
            "line 2: update-pct was already given in line 1"
        );
    }

    #[test]
    fn keys_of_older_versions_only_warn() {
        let typed = Typed::read("scheduler-mode: noop\nnum-queues: 8").unwrap();
        let warned: Vec<_> = typed
            .warnings
            .iter()
            .map(|warning| (warning.line, warning.key))
            .collect();
        assert_eq!(warned, [(1, "scheduler-mode"), (2, "num-queues")]);
    }

    #[test]
    fn a_key_not_given_takes_its_stand_in() {
        let typed = Typed::read("").unwrap();
        assert_eq!(typed.number("record-bytes", 1536), 1536);
        assert!(!typed.switch("tomb-raider"));
        assert_eq!(typed.word("engine", "threads"), "threads");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,80}(\n\\PC{0,80}){0,4}") {
            let _ = Typed::read(&text);
        }

        #[test]
        fn known_keys_with_any_value_are_read_or_refused(key in "(device-names|record-bytes|tomb-raider|engine)",
                                                         value in "[ -~]{0,30}") {
            let _ = Typed::read(&format!("{key}: {value}"));
        }
    }
}
