//! Configuration of a run: properties of the command line and of its files, without assumed values.

use crate::ycsb::command::{Command, Phase, base, standard_workload};
use crate::ycsb::common::number;
use crate::ycsb::common::properties::Properties;

/// A properties file that came with the log.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// File name, used as a label.
    pub name: String,
    /// Properties in the file.
    pub properties: Properties,
}

/// Value of a property, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<'a> {
    /// The property has this value.
    Set(&'a str),
    /// The property is not set; the default applies.
    Unset,
    /// A missing file may set the property, or the command line is missing.
    Unknown,
}

/// Configuration of a run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    properties: Properties,
    /// Files of `-P` that did not come with the log.
    pub missing_files: Vec<String>,
    has_command: bool,
    has_variables: bool,
}

/// Properties that the workload files of YCSB set.
/// Source: YCSB, workloads/workloada to workloadf, all versions.
const SET_BY_WORKLOAD_FILES: [&str; 14] = [
    "recordcount",
    "operationcount",
    "insertstart",
    "workload",
    "readallfields",
    "readproportion",
    "updateproportion",
    "scanproportion",
    "insertproportion",
    "readmodifywriteproportion",
    "requestdistribution",
    "maxscanlength",
    "minscanlength",
    "scanlengthdistribution",
];

/// Properties whose values are numbers.
/// Source: YCSB, Client.java and CoreWorkload.java; go-ycsb, pkg/prop/prop.go.
const NUMBERS: [&str; 8] = [
    "target",
    "threadcount",
    "operationcount",
    "recordcount",
    "insertcount",
    "insertstart",
    "maxexecutiontime",
    "warmuptime",
];

impl Settings {
    /// Combine all sources; `dumped` is the block of properties that the database printed.
    pub fn resolve(command: Option<&Command>, files: &[ConfigFile], dumped: Option<&Properties>) -> Self {
        let mut settings = Self {
            has_command: command.is_some() || dumped.is_some(),
            ..Self::default()
        };
        for name in command.map_or(&[][..], |command| &command.files) {
            match files.iter().rev().find(|file| base(&file.name) == base(name)) {
                Some(file) => settings.properties.set_all(&file.properties),
                None if dumped.is_none() => settings.missing_files.push(name.clone()),
                None => {}
            }
        }
        if let Some(command) = command {
            settings.properties.set_all(&command.properties);
            settings.has_variables = command.has_variables;
        }
        if let Some(dumped) = dumped {
            settings.properties.set_all(dumped);
            settings.has_variables = false;
        }
        settings
    }

    /// Return the value of a property, if known.
    pub fn known(&self, name: &str) -> Known<'_> {
        match self.properties.get(name) {
            Some(value) => Known::Set(value),
            None if !self.has_command || self.has_variables => Known::Unknown,
            None if self.may_be_set_in_a_missing_file(name) => Known::Unknown,
            None => Known::Unset,
        }
    }

    fn may_be_set_in_a_missing_file(&self, name: &str) -> bool {
        let of_workload = SET_BY_WORKLOAD_FILES.contains(&name);
        let may_set = |file: &String| of_workload || standard_workload(file).is_none();
        self.missing_files.iter().any(may_set)
    }

    /// Return the value that was set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.properties.get(name)
    }

    /// Return a whole number that was set, or else the program's default; `None` if unknown.
    pub fn whole_number(&self, name: &str, default: Option<u64>) -> Option<u64> {
        match self.known(name) {
            Known::Set(value) => value.trim().parse().ok(),
            Known::Unset => default,
            Known::Unknown => None,
        }
    }

    /// Return the requested operations: a load inserts `insertcount` records, or all of them.
    pub fn requested_operations(&self, phase: Option<Phase>) -> Option<u64> {
        if phase != Some(Phase::Load) {
            return self.whole_number("operationcount", Some(0));
        }
        let inserts = self.whole_number("insertcount", None);
        inserts.or_else(|| self.whole_number("recordcount", None))
    }

    /// Return the bytes of a record's values, if the number and length of fields are known.
    pub fn record_bytes(&self) -> Option<u64> {
        let distribution = self.known("fieldlengthdistribution");
        let is_constant = matches!(distribution, Known::Set("constant") | Known::Unset);
        let fields = self.whole_number("fieldcount", None)?;
        let bytes = self.whole_number("fieldlength", None)?;
        fields.checked_mul(bytes).filter(|_| is_constant)
    }

    /// Return numeric properties with a value that is not a number, except for shell variables.
    pub fn unreadable(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let set = NUMBERS.iter().filter_map(|&name| Some((name, self.get(name)?)));
        let is_literal = |value: &str| !value.is_empty() && !value.contains('$');
        set.filter(move |(_, value)| is_literal(value) && number::value(value.trim()).is_none())
    }

    /// Return whether a property has an unreadable value.
    pub fn is_unreadable(&self, name: &str) -> bool {
        self.unreadable().any(|(unreadable, _)| unreadable == name)
    }

    /// Return whether the command line, or all that it sets, is known.
    pub fn has_command(&self) -> bool {
        self.has_command
    }

    /// Return all properties that were set.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.properties.clone().into_pairs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> ConfigFile {
        ConfigFile {
            name: name.to_owned(),
            properties: Properties::parse(text),
        }
    }

    #[test]
    fn the_line_wins_over_files_and_later_files_over_earlier_ones() {
        let command = Command::printed("-P a/one -P two -p z=line");
        let files = [
            file("two", "x=2\nz=2"),
            file("one", "x=1\ny=1\nz=1"),
            file("three", "y=3"),
        ];
        let settings = Settings::resolve(Some(&command), &files, None);
        assert_eq!(
            (settings.get("x"), settings.get("y"), settings.get("z")),
            (Some("2"), Some("1"), Some("line"))
        );
        assert_eq!(settings.known("w"), Known::Unset);
        assert!(settings.missing_files.is_empty());
    }

    #[test]
    fn a_missing_file_leaves_open_what_it_may_set() {
        let standard = Settings::resolve(Some(&Command::printed("-P w/workloada")), &[], None);
        assert_eq!(standard.known("operationcount"), Known::Unknown);
        assert_eq!(standard.known("threadcount"), Known::Unset);
        let own = Settings::resolve(Some(&Command::printed("-P w/mine")), &[], None);
        assert_eq!(own.known("threadcount"), Known::Unknown);
        assert_eq!(own.whole_number("threadcount", Some(1)), None);
    }

    #[test]
    fn without_a_command_line_nothing_is_known() {
        assert_eq!(
            Settings::resolve(None, &[], None).known("threadcount"),
            Known::Unknown
        );
        let variables = Settings::resolve(Some(&Command::printed("$R -s")), &[], None);
        assert_eq!(variables.known("threadcount"), Known::Unknown);
    }

    #[test]
    fn what_the_database_printed_is_all() {
        let mut dumped = Properties::default();
        dumped.set("recordcount", "500");
        let settings = Settings::resolve(Some(&Command::printed("-P w/workloada")), &[], Some(&dumped));
        assert_eq!(settings.get("recordcount"), Some("500"));
        assert_eq!(settings.known("operationcount"), Known::Unset);
    }
}
