//! The allowed command lines. They are built here from a few variable parts; the words of a request are never executed.

use std::path::Path;

use drivetest_load::config::Model;
use drivetest_telemetry::allowlist;

use crate::error::HostError;

/// The options of `watch` with a number: it ends when the drive is idle.
const WATCH_NUMBERS: [&str; 3] = ["--until-writes-below", "--for-sec", "--at-most-sec"];
/// Maximum digits of a number in an option.
const NUMBER_DIGITS_MAX: usize = 10;
/// The options of `prep` without a value. The option that overwrites existing data is only for the operator of the host.
const PREP_SWITCHES: [&str; 3] = ["--zero-only", "--salt-only", "--steady-state"];
/// The options of `prep` with a number.
const PREP_NUMBERS: [&str; 8] = [
    "--seed",
    "--compress-pct",
    "--streams",
    "--request-kib",
    "--steady-block-bytes",
    "--steady-depth",
    "--steady-round-sec",
    "--steady-rounds-max",
];
/// The options with a file in the directory of the run, and the only name that each can have.
const FILES: [(&str, &str); 4] = [
    ("--log", "log"),
    ("--side-file", "side.jsonl"),
    ("--state", "prep.state"),
    ("--report", "steady.json"),
];

/// A drivetest command with the variable parts of its command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// A load with the configuration in the file `config`.
    Load { model: Model },
    /// A preparation of the drive at a path.
    Prep { device: String, options: Vec<String> },
    /// Telemetry of a drive or of this host, alone or while a program runs.
    Watch(Watch),
}

/// A command that runs one program, if the operator lists it by name. `watch` reads the list, and refuses every other one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Watch {
    /// None on a host that only sends requests to a database on another one.
    pub device: Option<String>,
    /// Whether the program overwrites the drive, which is then checked as before a load.
    will_overwrite: bool,
    options: Vec<String>,
    /// The name of the program and its arguments, or empty.
    program: Vec<String>,
}

/// Parses the words of a request for a drive. Everything that is not allowed is refused.
pub(crate) fn parse(words: &[String], drive_key: &str) -> Result<Command, HostError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (mut command, rest) = match words.as_slice() {
        ["storage", "config", rest @ ..] => (
            Command::Load {
                model: Model::Storage,
            },
            rest,
        ),
        ["index", "config", rest @ ..] => (Command::Load { model: Model::Index }, rest),
        ["watch", rest @ ..] => return Watch::parse(rest, drive_key).map(Command::Watch),
        ["prep", device, rest @ ..] if !device.starts_with('-') => {
            let (device, options) = ((*device).to_owned(), Vec::new());
            (Command::Prep { device, options }, rest)
        }
        _ => return Err(unknown(&words.join(" "))),
    };
    let mut rest = rest.iter().copied();
    while let Some(word) = rest.next() {
        match &mut command {
            Command::Prep { options, .. } if PREP_SWITCHES.contains(&word) => options.push(word.to_owned()),
            Command::Prep { options, .. } if PREP_NUMBERS.contains(&word) => {
                options.extend([word.to_owned(), number(word, rest.next())?]);
            }
            _ => check_fixed(word, rest.next(), drive_key)?,
        }
    }
    Ok(command)
}

impl Command {
    /// Returns whether the command uses the drive of the run. Otherwise that drive is on another host.
    pub const fn has_drive(&self) -> bool {
        !matches!(self, Self::Watch(Watch { device: None, .. }))
    }

    /// Returns the arguments of drivetest. Paths are relative to the directory of the run, in which it runs.
    pub fn words(&self, drive_key: &str) -> Vec<String> {
        let (mut words, files, options) = match self {
            Self::Load { model } => (vec![model.name(), "config"], 2, &[][..]),
            Self::Prep { device, options } => {
                let has_report = options.iter().any(|option| option == "--steady-state");
                (
                    vec!["prep", device.as_str()],
                    3 + usize::from(has_report),
                    options.as_slice(),
                )
            }
            Self::Watch(watch) => return watch.words(drive_key),
        };
        words.extend(FILES[..files].iter().flat_map(|(option, file)| [*option, *file]));
        words.extend(["--expect-drive", drive_key]);
        words.extend(options.iter().map(String::as_str));
        words.into_iter().map(str::to_owned).collect()
    }
}

impl Watch {
    fn parse(words: &[&str], drive_key: &str) -> Result<Self, HostError> {
        let mut parts = words.splitn(2, |word| *word == "--");
        let mut own = parts.next().unwrap_or_default().iter().copied();
        let mut watch = Self::default();
        if let Some(program) = parts.next() {
            HostError::refuse_unless(!program.is_empty(), || {
                "watch: expected a program after --".to_owned()
            })?;
            watch.program = program.iter().copied().map(str::to_owned).collect();
        }
        while let Some(word) = own.next() {
            match word {
                "--will-overwrite" => watch.will_overwrite = true,
                "--expect-drive" | "--side-file" => check_fixed(word, own.next(), drive_key)?,
                _ if WATCH_NUMBERS.contains(&word) => {
                    watch.options.extend([word.to_owned(), number(word, own.next())?]);
                }
                _ if !word.starts_with('-') && watch.device.is_none() => watch.device = Some(word.to_owned()),
                _ => return Err(unknown(word)),
            }
        }
        Ok(watch)
    }

    /// Checks that the operator lets a register run the program in this way.
    pub fn check_program(&self) -> Result<(), HostError> {
        let Some((name, arguments)) = self.program.split_first() else {
            return Ok(());
        };
        let file = Path::new(allowlist::DEFAULT_FILE);
        allowlist::check_for_register(file, name, arguments, self.will_overwrite)
            .map_err(|error| HostError::refused(error.to_string()))
    }

    fn words(&self, drive_key: &str) -> Vec<String> {
        let mut words = vec!["watch"];
        words.extend(self.will_overwrite.then_some("--will-overwrite"));
        if let Some(device) = &self.device {
            words.extend([device, "--expect-drive", drive_key]);
        }
        words.extend(["--side-file", "side.jsonl"]);
        words.extend(self.options.iter().map(String::as_str));
        if !self.program.is_empty() {
            words.push("--");
            words.extend(self.program.iter().map(String::as_str));
        }
        words.into_iter().map(str::to_owned).collect()
    }
}

/// Checks an option with a fixed value: the host sets it, and the register must expect the same.
fn check_fixed(word: &str, value: Option<&str>, drive_key: &str) -> Result<(), HostError> {
    let expected = match word {
        "--expect-drive" => Some(drive_key),
        _ => FILES
            .iter()
            .find(|(option, _)| *option == word)
            .map(|(_, file)| *file),
    };
    match (expected, value) {
        (None, _) => Err(unknown(word)),
        (Some(expected), Some(value)) if expected == value => Ok(()),
        (Some(expected), value) => Err(HostError::refused(format!(
            "{word}: expected {expected} on this host, got {}",
            value.unwrap_or("nothing")
        ))),
    }
}

fn number(word: &str, value: Option<&str>) -> Result<String, HostError> {
    let is_number =
        |value: &&str| value.len() <= NUMBER_DIGITS_MAX && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.filter(is_number).filter(|value| !value.is_empty());
    number.map(str::to_owned).ok_or_else(|| {
        HostError::refused(format!(
            "{word}: expected a whole number, got {}",
            value.unwrap_or("nothing")
        ))
    })
}

fn unknown(what: &str) -> HostError {
    HostError::refused(format!(
        "{what}: not allowed; a register can run only storage config, index config, prep DEVICE and watch, with their own options"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "nvme:M:S1";

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn rebuilt(line: &str) -> Result<String, HostError> {
        Ok(parse(&words(line), KEY)?.words(KEY).join(" "))
    }

    #[test]
    fn a_load_is_rebuilt_unchanged() {
        let line = "storage config --log log --side-file side.jsonl --expect-drive nvme:M:S1";
        assert_eq!(rebuilt(line).unwrap(), line);
        assert_eq!(rebuilt("index config").unwrap(), line.replace("storage", "index"));
    }

    #[test]
    fn expect_drive_is_always_added() {
        assert!(
            rebuilt("storage config")
                .unwrap()
                .ends_with("--expect-drive nvme:M:S1")
        );
        assert!(
            rebuilt("prep /dev/nvme0n1")
                .unwrap()
                .contains("--expect-drive nvme:M:S1")
        );
    }

    #[test]
    fn a_preparation_accepts_its_numbers_and_switches() {
        let line = rebuilt("prep /dev/x --steady-state --steady-round-sec 60 --report steady.json").unwrap();
        assert!(
            line.contains("--report steady.json") && line.ends_with("--steady-state --steady-round-sec 60"),
            "{line}"
        );
    }

    #[test]
    fn a_watch_is_rebuilt_with_the_program_and_the_drive_of_the_run() {
        for line in [
            "watch /dev/x --expect-drive nvme:M:S1 --side-file side.jsonl",
            "watch /dev/x --expect-drive nvme:M:S1 --side-file side.jsonl --until-writes-below 10000000 --for-sec 60 \
             --at-most-sec 21600",
            "watch --will-overwrite /dev/x --expect-drive nvme:M:S1 --side-file side.jsonl -- mkfs-xfs -f {device}",
            "watch --side-file side.jsonl -- ycsb -t -p a=b -- --side-file /etc/passwd",
        ] {
            assert_eq!(rebuilt(line).unwrap(), line);
        }
        let added = rebuilt("watch /dev/x -- mount").unwrap();
        assert_eq!(
            added,
            "watch /dev/x --expect-drive nvme:M:S1 --side-file side.jsonl -- mount"
        );
    }

    #[test]
    fn a_watch_takes_no_other_list_of_programs_and_no_consent() {
        for bad in [
            "watch /dev/x --programs /tmp/mine.json -- sh",
            "watch --will-overwrite --i-know-this-destroys-data /dev/x -- mkfs-xfs",
            "watch /dev/x --side-file /etc/passwd",
            "watch /dev/x --expect-drive nvme:M:S2",
            "watch /dev/x /dev/y",
            "watch /dev/x --log log",
            "watch /dev/x --for-sec -1",
            "watch /dev/x --",
        ] {
            assert!(rebuilt(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for bad in [
            "identify /dev/x",
            "sh -c id",
            "storage /etc/passwd",
            "storage config --log /etc/passwd",
            "storage config --expect-drive nvme:M:S2",
            "storage config --i-know-this-destroys-data",
            "storage config --log",
            "storage config --seed 1",
            "prep --help",
            "prep /dev/x --i-know-this-destroys-data",
            "prep /dev/x /dev/y",
            "prep /dev/x --streams -1",
            "prep /dev/x --streams 12345678901",
            "prep /dev/x --report /etc/passwd",
            "",
        ] {
            assert!(rebuilt(bad).is_err(), "{bad}");
        }
    }
}
