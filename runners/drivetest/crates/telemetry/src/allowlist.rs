//! The programs that the operator of a host allows to be run beside telemetry, by name; schema `drivecert.programs/1`.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Where the operator's file lies unless the command line names another.
pub const DEFAULT_FILE: &str = "/etc/drivecert/programs.json";
/// Stands in an argument for the path of the drive that was found.
pub const DEVICE: &str = "{device}";
const SCHEMA: &str = "drivecert.programs/1";
/// More than any operator writes by hand.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Permission to write for others than the owner.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Why a program cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// The operator's file cannot be read.
    #[error("{path}: cannot be read: {source}; the operator of the host names there what may be run")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Others could have written it.
    #[error(
        "{path}: expected a file that only root or its reader may write, found owner {owner}, mode {mode:o}"
    )]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// Its owner's number.
        owner: u32,
        /// Its permissions.
        mode: u32,
    },
    /// It is something else.
    #[error("{path}: expected {SCHEMA}: {found}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// The operator does not allow it.
    #[error("{path}: allows no program `{name}`; it allows {known}")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The operator allows the program, but not so.
    #[error("{path}: allows `{name}` with other arguments only, not with {arguments:?}")]
    Arguments {
        /// The file.
        path: PathBuf,
        /// The program.
        name: String,
        /// What was asked for.
        arguments: Vec<String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    programs: BTreeMap<String, Program>,
}

/// What is run under a name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    /// Program and first arguments.
    argv: Vec<String>,
    /// The whole lists of further arguments that are allowed; without it any are, under `uid`.
    lines: Option<Vec<Vec<String>>>,
    /// Under whom it runs: needed where any arguments are allowed.
    uid: Option<u32>,
    gid: Option<u32>,
}

/// A line that may be run, and under whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Program and all arguments, the drive's path in its place.
    pub argv: Vec<String>,
    /// User and group; None stays who we are.
    pub owner: Option<(u32, u32)>,
}

/// Returns the line for a program that the operator's file allows with these arguments; `device` replaces `{device}`.
///
/// # Errors
/// [`ProgramsError`] names file, program and what is allowed.
pub fn line(
    file: &Path,
    name: &str,
    arguments: &[String],
    device: Option<&str>,
) -> Result<Line, ProgramsError> {
    let document = read(file)?;
    let Some(program) = document.programs.get(name) else {
        let known: Vec<&str> = document.programs.keys().map(String::as_str).collect();
        return Err(ProgramsError::Unknown {
            path: file.to_owned(),
            name: name.to_owned(),
            known: known.join(", "),
        });
    };
    if !program.allows(arguments) {
        return Err(ProgramsError::Arguments {
            path: file.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_vec(),
        });
    }
    let words = program.argv.iter().chain(arguments);
    let argv = words.map(|word| device.map_or_else(|| word.clone(), |path| word.replace(DEVICE, path)));
    Ok(Line {
        argv: argv.collect(),
        owner: program.uid.map(|uid| (uid, program.gid.unwrap_or(uid))),
    })
}

impl Program {
    /// Any arguments of a program that runs as root would be root's shell.
    fn allows(&self, arguments: &[String]) -> bool {
        match &self.lines {
            Some(lines) => lines.iter().any(|line| line == arguments),
            None => self.uid.is_some(),
        }
    }
}

fn read(path: &Path) -> Result<Document, ProgramsError> {
    let unread = |source| ProgramsError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unread)?;
    check_owner(path, &file.metadata().map_err(unread)?)?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(unread)?;
    let wrong = |found: String| ProgramsError::Format {
        path: path.to_owned(),
        found,
    };
    let document: Document = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if document.schema != SCHEMA {
        return Err(wrong(format!("the schema is {:?}", document.schema)));
    }
    if let Some((name, _)) = document
        .programs
        .iter()
        .find(|(_, program)| program.argv.is_empty())
    {
        return Err(wrong(format!("`{name}` has an empty argv")));
    }
    Ok(document)
}

/// The file decides what root runs here: only root, or whoever reads it, may have written it.
fn check_owner(path: &Path, found: &Metadata) -> Result<(), ProgramsError> {
    let reader = rustix::process::geteuid().as_raw();
    if [0, reader].contains(&found.uid()) && found.mode() & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    Err(ProgramsError::Unsafe {
        path: path.to_owned(),
        owner: found.uid(),
        mode: found.mode() & 0o7777,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn asked(programs: &str, name: &str, arguments: &[&str]) -> Result<Line, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.json");
        let text = format!(r#"{{"schema": "drivecert.programs/1", "programs": {programs}}}"#);
        std::fs::write(&file, text).unwrap();
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        line(&file, name, &arguments, Some("/dev/nvme1n1")).map_err(|error| error.to_string())
    }

    const MOUNT: &str =
        r#"{"mount": {"argv": ["/usr/bin/mount"], "lines": [["-o", "noatime", "{device}", "/srv/db"]]}}"#;

    #[test]
    fn an_allowed_line_is_run_with_the_drive_in_its_place() {
        let line = asked(MOUNT, "mount", &["-o", "noatime", "{device}", "/srv/db"]).unwrap();
        assert_eq!(
            line.argv,
            ["/usr/bin/mount", "-o", "noatime", "/dev/nvme1n1", "/srv/db"]
        );
        assert_eq!(line.owner, None);
    }

    #[test]
    fn another_line_is_refused_with_what_was_asked() {
        let error = asked(MOUNT, "mount", &["-o", "bind", "/etc", "/srv/db"]).unwrap_err();
        assert!(error.contains("`mount`") && error.contains("bind"), "{error}");
    }

    #[test]
    fn any_arguments_are_for_programs_with_a_user_only() {
        let java = r#"{"ycsb": {"argv": ["java"], "uid": 990, "gid": 991}, "sh": {"argv": ["sh"]}}"#;
        let line = asked(java, "ycsb", &["-t", "-p", "x=y"]).unwrap();
        assert_eq!(line.owner, Some((990, 991)));
        assert!(asked(java, "sh", &["-c", "id"]).is_err());
        assert!(
            asked(java, "sh", &[]).is_err(),
            "no line of it is allowed, not even the shortest"
        );
    }

    #[test]
    fn what_is_not_named_is_not_run() {
        let error = asked(MOUNT, "umount", &[]).unwrap_err();
        assert!(error.contains("no program `umount`; it allows mount"), "{error}");
    }

    #[test]
    fn a_file_of_something_else_is_told() {
        for text in [
            "",
            "{}",
            r#"{"schema": "x", "programs": {}}"#,
            r#"{"schema": "drivecert.programs/1", "programs": {"a": {"argv": []}}}"#,
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("programs.json");
            std::fs::write(&file, text).unwrap();
            let error = line(&file, "a", &[], None).unwrap_err();
            assert!(matches!(error, ProgramsError::Format { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_that_others_may_write_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.json");
        std::fs::write(&file, r#"{"schema": "drivecert.programs/1", "programs": {}}"#).unwrap();
        for (mode, is_believed) in [(0o644, true), (0o664, false), (0o646, false)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let is_unsafe = matches!(line(&file, "a", &[], None), Err(ProgramsError::Unsafe { .. }));
            assert_eq!(is_unsafe, !is_believed, "{mode:o}");
        }
    }

    #[test]
    fn a_host_without_the_file_says_who_writes_it() {
        let error = line(Path::new("/nowhere/programs.json"), "a", &[], None).unwrap_err();
        assert!(error.to_string().contains("the operator of the host"), "{error}");
    }
}
