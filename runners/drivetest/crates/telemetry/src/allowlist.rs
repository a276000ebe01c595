//! The programs that the operator of a host allows, by name. Schema `drivecert.programs/1`.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Default path of the list.
pub const DEFAULT_FILE: &str = "/etc/drivecert/programs.json";
/// Placeholder in an argument for the path of the drive.
pub const DEVICE: &str = "{device}";
const SCHEMA: &str = "drivecert.programs/1";
/// Maximum size of the file, more than an operator writes by hand.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Write permission for group and others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Why a program may not run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// The list cannot be read.
    #[error(
        "{path}: cannot be read: {source}; the operator of the host must list the allowed programs in this file"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Other users can write the list.
    #[error(
        "{path}: expected a file that only root or the current user can write, found owner {owner}, mode {mode:o}"
    )]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// The user id of its owner.
        owner: u32,
        /// Its permissions.
        mode: u32,
    },
    /// The list is invalid.
    #[error("{path}: expected {SCHEMA}: {found}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is invalid.
        found: String,
    },
    /// The program is not in the list.
    #[error("{path}: allows no program `{name}`; it allows {known}")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The requested program.
        name: String,
        /// The allowed programs.
        known: String,
    },
    /// The program is in the list, but not with these arguments.
    #[error("{path}: allows `{name}` only with other arguments, not with {arguments:?}")]
    Arguments {
        /// The file.
        path: PathBuf,
        /// The program.
        name: String,
        /// The requested arguments.
        arguments: Vec<String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    programs: BTreeMap<String, Program>,
}

/// An allowed program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    /// The program and its first arguments.
    argv: Vec<String>,
    /// The allowed lists of further arguments. Without it, all arguments are allowed, if there is a `uid`.
    lines: Option<Vec<Vec<String>>>,
    /// The user that runs it. Required if all arguments are allowed.
    uid: Option<u32>,
    gid: Option<u32>,
}

/// An allowed command and its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedCommand {
    /// The program and all arguments, with the path of the drive.
    pub argv: Vec<String>,
    /// User and group. None: those of this process.
    pub owner: Option<(u32, u32)>,
}

/// Returns the command for a program that the list allows with these arguments. `device` replaces `{device}`.
///
/// # Errors
/// [`ProgramsError`] with the file, the program and what is allowed.
pub fn find(
    file: &Path,
    name: &str,
    arguments: &[String],
    device: Option<&str>,
) -> Result<AllowedCommand, ProgramsError> {
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
    Ok(AllowedCommand {
        argv: argv.collect(),
        owner: program.uid.map(|uid| (uid, program.gid.unwrap_or(uid))),
    })
}

impl Program {
    /// Returns whether arguments are allowed. Free arguments for a program that runs as root could be a root shell.
    fn allows(&self, arguments: &[String]) -> bool {
        match &self.lines {
            Some(lines) => lines.iter().any(|line| line == arguments),
            None => self.uid.is_some(),
        }
    }
}

fn read(path: &Path) -> Result<Document, ProgramsError> {
    let read_error = |source| ProgramsError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(read_error)?;
    check_owner(path, &file.metadata().map_err(read_error)?)?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(read_error)?;
    let invalid = |found: String| ProgramsError::Format {
        path: path.to_owned(),
        found,
    };
    let document: Document = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    if document.schema != SCHEMA {
        return Err(invalid(format!("the schema is {:?}", document.schema)));
    }
    if let Some((name, _)) = document
        .programs
        .iter()
        .find(|(_, program)| program.argv.is_empty())
    {
        return Err(invalid(format!("`{name}` has an empty argv")));
    }
    Ok(document)
}

/// Checks that only root or the current user can write the file, because it decides what root runs.
fn check_owner(path: &Path, found: &Metadata) -> Result<(), ProgramsError> {
    let current_user = rustix::process::geteuid().as_raw();
    if [0, current_user].contains(&found.uid()) && found.mode() & WRITABLE_BY_OTHERS == 0 {
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

    fn find_in(programs: &str, name: &str, arguments: &[&str]) -> Result<AllowedCommand, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.json");
        let text = format!(r#"{{"schema": "drivecert.programs/1", "programs": {programs}}}"#);
        std::fs::write(&file, text).unwrap();
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        find(&file, name, &arguments, Some("/dev/nvme1n1")).map_err(|error| error.to_string())
    }

    const MOUNT: &str =
        r#"{"mount": {"argv": ["/usr/bin/mount"], "lines": [["-o", "noatime", "{device}", "/srv/db"]]}}"#;

    #[test]
    fn an_allowed_command_gets_the_path_of_the_drive() {
        let line = find_in(MOUNT, "mount", &["-o", "noatime", "{device}", "/srv/db"]).unwrap();
        assert_eq!(
            line.argv,
            ["/usr/bin/mount", "-o", "noatime", "/dev/nvme1n1", "/srv/db"]
        );
        assert_eq!(line.owner, None);
    }

    #[test]
    fn other_arguments_are_refused_and_named() {
        let error = find_in(MOUNT, "mount", &["-o", "bind", "/etc", "/srv/db"]).unwrap_err();
        assert!(error.contains("`mount`") && error.contains("bind"), "{error}");
    }

    #[test]
    fn free_arguments_need_a_user() {
        let java = r#"{"ycsb": {"argv": ["java"], "uid": 990, "gid": 991}, "sh": {"argv": ["sh"]}}"#;
        let line = find_in(java, "ycsb", &["-t", "-p", "x=y"]).unwrap();
        assert_eq!(line.owner, Some((990, 991)));
        assert!(find_in(java, "sh", &["-c", "id"]).is_err());
        assert!(
            find_in(java, "sh", &[]).is_err(),
            "not even an empty list is allowed"
        );
    }

    #[test]
    fn an_unlisted_program_is_refused() {
        let error = find_in(MOUNT, "umount", &[]).unwrap_err();
        assert!(error.contains("no program `umount`; it allows mount"), "{error}");
    }

    #[test]
    fn an_invalid_file_is_an_error() {
        for text in [
            "",
            "{}",
            r#"{"schema": "x", "programs": {}}"#,
            r#"{"schema": "drivecert.programs/1", "programs": {"a": {"argv": []}}}"#,
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("programs.json");
            std::fs::write(&file, text).unwrap();
            let error = find(&file, "a", &[], None).unwrap_err();
            assert!(matches!(error, ProgramsError::Format { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.json");
        std::fs::write(&file, r#"{"schema": "drivecert.programs/1", "programs": {}}"#).unwrap();
        for (mode, is_trusted) in [(0o644, true), (0o664, false), (0o646, false)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let is_unsafe = matches!(find(&file, "a", &[], None), Err(ProgramsError::Unsafe { .. }));
            assert_eq!(is_unsafe, !is_trusted, "{mode:o}");
        }
    }

    #[test]
    fn a_missing_file_names_the_operator() {
        let error = find(Path::new("/nowhere/programs.json"), "a", &[], None).unwrap_err();
        assert!(error.to_string().contains("the operator of the host"), "{error}");
    }
}
