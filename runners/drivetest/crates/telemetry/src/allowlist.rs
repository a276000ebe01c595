//! The programs that the operator of a host allows, by name. Schema `drivecert.programs/1`.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Default path of the list.
pub const DEFAULT_FILE: &str = "/etc/drivecert/programs.json";
/// Placeholder in an argument for the path of the drive.
pub const DEVICE: &str = "{device}";
const SCHEMA: &str = "drivecert.programs/1";
/// Where the files of the register are, from the working directory of the program.
const SENT: &str = "../";
/// Maximum size of the file, more than an operator writes by hand.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Write permission for group and others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Why a program may not run.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ProgramsError {
    /// The list.
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("cannot be read: {0}; the operator of the host must list the allowed programs in this file")]
    Read(io::Error),
    /// Other users can write the list.
    #[error(
        "expected a file that only root or the current user can write, found owner {owner}, mode {mode:o}"
    )]
    Unsafe { owner: u32, mode: u32 },
    #[error("expected {SCHEMA}: {0}")]
    Format(String),
    #[error("allows no program `{name}`; it allows {known}")]
    Unknown { name: String, known: String },
    /// The program is in the list, but not with these arguments.
    #[error("allows `{0}` only with other arguments, not with {1:?}")]
    Arguments(String, Vec<String>),
    /// A register could overwrite a drive without the safety gate.
    #[error(
        "`{0}` gets the drive without --will-overwrite; state \"keeps_data\": true for it if it never overwrites the \
         drive"
    )]
    Unguarded(String),
    /// A register could run anything as root through the file.
    #[error("`{0}` reads a file that the register sends; state a uid other than 0 for it")]
    Rights(String),
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
    /// Whether it never overwrites the drive, as `mount`: a register may then run it without the safety gate.
    #[serde(default)]
    keeps_data: bool,
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
    find_in(file, name, arguments, device).map_err(|problem| ProgramsError {
        path: file.to_owned(),
        problem,
    })
}

fn find_in(
    file: &Path,
    name: &str,
    arguments: &[String],
    device: Option<&str>,
) -> Result<AllowedCommand, Problem> {
    let document = read(file)?;
    let Some(program) = document.programs.get(name) else {
        let known: Vec<&str> = document.programs.keys().map(String::as_str).collect();
        let (name, known) = (name.to_owned(), known.join(", "));
        return Err(Problem::Unknown { name, known });
    };
    if !program.allows(arguments) {
        return Err(Problem::Arguments(name.to_owned(), arguments.to_vec()));
    }
    let words = program.argv.iter().chain(arguments);
    let argv = words.map(|word| device.map_or_else(|| word.clone(), |path| word.replace(DEVICE, path)));
    Ok(AllowedCommand {
        argv: argv.collect(),
        owner: program.uid.map(|uid| (uid, program.gid.unwrap_or(uid))),
    })
}

/// Checks what a register must not decide: whether the safety gate applies, and what a program of root reads.
///
/// The list allows a program whose arguments have `{device}` with `--will-overwrite`, or if it keeps the data. It allows a
/// program whose arguments name a file of the register, such as `../database.conf`, if another user than root runs it.
/// A program that is not listed is refused when it is run.
///
/// # Errors
/// [`ProgramsError`] with the file and what to state in it.
pub fn check_for_register(
    file: &Path,
    name: &str,
    arguments: &[String],
    will_overwrite: bool,
) -> Result<(), ProgramsError> {
    let Ok(document) = read(file) else { return Ok(()) };
    let Some(program) = document.programs.get(name) else {
        return Ok(());
    };
    let has = |part: &str| arguments.iter().any(|argument| argument.contains(part));
    let problem = if has(DEVICE) && !will_overwrite && !program.keeps_data {
        Problem::Unguarded(name.to_owned())
    } else if has(SENT) && program.uid.is_none_or(|uid| uid == 0) {
        Problem::Rights(name.to_owned())
    } else {
        return Ok(());
    };
    Err(ProgramsError {
        path: file.to_owned(),
        problem,
    })
}

/// A program of the list, for a register that asks before an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedProgram {
    /// The name by which `watch` runs it.
    pub name: String,
    /// The path or name of its executable.
    pub executable: String,
    /// Whether this host has the executable.
    pub is_installed: bool,
}

/// Returns the programs of the list, sorted by name; none without a list.
///
/// # Errors
/// [`ProgramsError`] if the list cannot be used.
pub fn listed(file: &Path) -> Result<Vec<ListedProgram>, ProgramsError> {
    let document = match read(file) {
        Err(Problem::Read(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|problem| ProgramsError {
            path: file.to_owned(),
            problem,
        })?,
    };
    let programs = document.programs.into_iter().map(|(name, program)| {
        let executable = program.argv.into_iter().next().unwrap_or_default();
        let is_installed = is_executable(&executable);
        ListedProgram {
            name,
            executable,
            is_installed,
        }
    });
    Ok(programs.collect())
}

/// Returns whether a program is found as `execvp` finds it.
fn is_executable(name: &str) -> bool {
    let is_it = |path: &Path| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
    };
    match name.contains('/') {
        true => is_it(Path::new(name)),
        false => std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| is_it(&folder.join(name)))),
    }
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

fn read(path: &Path) -> Result<Document, Problem> {
    let file = File::open(path).map_err(Problem::Read)?;
    check_owner(&file.metadata().map_err(Problem::Read)?)?;
    let mut text = String::new();
    let mut bounded = file.take(FILE_BYTES_MAX);
    bounded.read_to_string(&mut text).map_err(Problem::Read)?;
    let document: Document =
        serde_json::from_str(&text).map_err(|error| Problem::Format(error.to_string()))?;
    if document.schema != SCHEMA {
        return Err(Problem::Format(format!("the schema is {:?}", document.schema)));
    }
    let mut programs = document.programs.iter();
    match programs.find(|(_, program)| program.argv.is_empty()) {
        Some((name, _)) => Err(Problem::Format(format!("`{name}` has an empty argv"))),
        None => Ok(document),
    }
}

/// Accepts a file of root or of the current user that no other user can write.
fn check_owner(found: &Metadata) -> Result<(), Problem> {
    let current_user = rustix::process::geteuid().as_raw();
    if [0, current_user].contains(&found.uid()) && found.mode() & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    Err(Problem::Unsafe {
        owner: found.uid(),
        mode: found.mode() & 0o7777,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn find_listed(programs: &str, name: &str, arguments: &[&str]) -> Result<AllowedCommand, String> {
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
        let line = find_listed(MOUNT, "mount", &["-o", "noatime", "{device}", "/srv/db"]).unwrap();
        assert_eq!(
            line.argv,
            ["/usr/bin/mount", "-o", "noatime", "/dev/nvme1n1", "/srv/db"]
        );
        assert_eq!(line.owner, None);
    }

    #[test]
    fn other_arguments_are_refused_and_named() {
        let error = find_listed(MOUNT, "mount", &["-o", "bind", "/etc", "/srv/db"]).unwrap_err();
        assert!(error.contains("`mount`") && error.contains("bind"), "{error}");
    }

    #[test]
    fn free_arguments_need_a_user() {
        let java = r#"{"ycsb": {"argv": ["java"], "uid": 990, "gid": 991}, "sh": {"argv": ["sh"]}}"#;
        let line = find_listed(java, "ycsb", &["-t", "-p", "x=y"]).unwrap();
        assert_eq!(line.owner, Some((990, 991)));
        assert!(find_listed(java, "sh", &["-c", "id"]).is_err());
        assert!(
            find_listed(java, "sh", &[]).is_err(),
            "not even an empty list is allowed"
        );
    }

    #[test]
    fn an_unlisted_program_is_refused() {
        let error = find_listed(MOUNT, "umount", &[]).unwrap_err();
        assert!(error.contains("no program `umount`; it allows mount"), "{error}");
    }

    #[test]
    fn the_programs_are_listed_with_whether_they_are_installed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.json");
        assert_eq!(listed(&file).unwrap(), []);
        let programs = r#"{"ycsb": {"argv": ["/nowhere/java"]}, "mount": {"argv": ["sh"]}}"#;
        let text = format!(r#"{{"schema": "drivecert.programs/1", "programs": {programs}}}"#);
        std::fs::write(&file, text).unwrap();
        let found: Vec<_> = listed(&file).unwrap().into_iter().collect();
        let names: Vec<_> = found
            .iter()
            .map(|program| (&*program.name, program.is_installed))
            .collect();
        assert_eq!(names, [("mount", true), ("ycsb", false)]);
        std::fs::write(&file, "{}").unwrap();
        assert!(listed(&file).is_err());
    }

    fn check_listed(program: &str, arguments: &[&str], will_overwrite: bool) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.json");
        let text = format!(r#"{{"schema": "drivecert.programs/1", "programs": {{"x": {program}}}}}"#);
        std::fs::write(&file, text).unwrap();
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        check_for_register(&file, "x", &arguments, will_overwrite).map_err(|error| error.to_string())
    }

    #[test]
    fn a_register_gives_a_drive_only_to_a_guarded_program_or_to_one_that_keeps_the_data() {
        let (mkfs, mount) = (
            r#"{"argv": ["mkfs"]}"#,
            r#"{"argv": ["mount"], "keeps_data": true}"#,
        );
        let error = check_listed(mkfs, &["-f", "{device}"], false).unwrap_err();
        assert!(error.contains("keeps_data"), "{error}");
        assert!(check_listed(mkfs, &["-f", "{device}"], true).is_ok());
        assert!(check_listed(mount, &["{device}", "/srv/db"], false).is_ok());
        assert!(check_listed(mkfs, &["/srv/db"], false).is_ok());
    }

    #[test]
    fn a_program_of_root_reads_no_file_of_the_register() {
        for program in [r#"{"argv": ["asd"]}"#, r#"{"argv": ["asd"], "uid": 0}"#] {
            let error = check_listed(program, &["../database.conf"], true).unwrap_err();
            assert!(error.contains("uid other than 0"), "{error}");
            assert!(check_listed(program, &["/etc/asd.conf"], true).is_ok());
        }
        assert!(check_listed(r#"{"argv": ["asd"], "uid": 990}"#, &["../database.conf"], true).is_ok());
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
            assert!(matches!(error.problem, Problem::Format(_)), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.json");
        std::fs::write(&file, r#"{"schema": "drivecert.programs/1", "programs": {}}"#).unwrap();
        for (mode, is_trusted) in [(0o644, true), (0o664, false), (0o646, false)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = find(&file, "a", &[], None).unwrap_err();
            let is_unsafe = matches!(error.problem, Problem::Unsafe { .. });
            assert_eq!(is_unsafe, !is_trusted, "{mode:o}");
        }
    }

    #[test]
    fn a_missing_file_names_the_operator() {
        let error = find(Path::new("/nowhere/programs.json"), "a", &[], None).unwrap_err();
        assert!(error.to_string().contains("the operator of the host"), "{error}");
    }
}
