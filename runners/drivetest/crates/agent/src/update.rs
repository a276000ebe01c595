//! Replacement of the program by the one that the register requires, if the operator allows it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use drivetest_device::hex;
use drivetest_labhost::Settings;
use drivetest_register::Client;
use sha2::{Digest, Sha256};

use crate::{AgentError, Places, service};

/// Maximum size of a program.
const PROGRAM_BYTES_MAX: u64 = 256 << 20;
/// A failed update is not repeated before this time.
const RETRY_PERIOD: Duration = Duration::from_secs(600);
/// Attempts to execute a file that another process may still write.
const BUSY_ATTEMPTS: u32 = 50;
const BUSY_PERIOD: Duration = Duration::from_millis(100);

/// What the kernel adds to the link to a program whose file was deleted.
const DELETED: &[u8] = b" (deleted)";

/// What to do about the program that the register requires.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It runs already, is being fetched, or was reported.
    Nothing,
    /// The operator does not allow it: a sentence to report.
    Warn(String),
    /// Fetch the program with this SHA-256.
    Fetch(String),
}

/// The update of this program.
#[derive(Debug, Default)]
pub(crate) struct Update {
    /// SHA-256 of the running program.
    running: String,
    /// SHA-256 of the program that the register requires.
    required: String,
    /// The last one that was reported as not allowed.
    warned: String,
    is_fetching: bool,
    failed_at: Option<Instant>,
}

impl Update {
    pub fn new(running: String) -> Self {
        Self {
            running,
            ..Self::default()
        }
    }

    /// Notes the program that the register requires.
    pub fn require(&mut self, sha256: String) {
        if self.required != sha256 {
            self.required = sha256;
            self.failed_at = None;
        }
    }

    /// Decides what to do now. The operator's settings are read each time.
    pub fn decide(&mut self, host_file: &Path) -> Decision {
        let is_current = self.required.is_empty() || self.required == self.running;
        if is_current || self.is_fetching || self.is_too_early() {
            return Decision::Nothing;
        }
        let required = self.required.clone();
        let reason = match Settings::read(host_file) {
            Ok(settings) if settings.allows_update(&required) => {
                self.is_fetching = true;
                return Decision::Fetch(required);
            }
            Ok(_) => format!("to allow it, add it to updates in {}", host_file.display()),
            Err(error) => error.sentence,
        };
        if self.warned == required {
            return Decision::Nothing;
        }
        self.warned.clone_from(&required);
        Decision::Warn(format!(
            "the register requires the program with SHA-256 {required}, and this one has {}; {reason}",
            self.running
        ))
    }

    /// Returns whether the file of the running program was replaced or deleted, and another one is installed. The agent
    /// continues as that one, unless it fails. `this` is the kernel's link to the running program.
    pub fn begin_restart(&mut self, this: &Path, installed: &Path) -> bool {
        let is_deleted =
            || fs::read_link(this).is_ok_and(|link| link.as_os_str().as_bytes().ends_with(DELETED));
        let is_due = !self.is_fetching && !self.is_too_early() && is_deleted() && installed.exists();
        self.is_fetching |= is_due;
        is_due
    }

    fn is_too_early(&self) -> bool {
        let failed_at = self.failed_at;
        failed_at.is_some_and(|failed_at| failed_at.elapsed() < RETRY_PERIOD)
    }

    /// Notes that the fetched or installed program cannot be used.
    pub fn failed(&mut self) {
        self.is_fetching = false;
        self.failed_at = Some(Instant::now());
    }
}

/// Fetches a program, checks it, and installs it.
pub(crate) fn install(client: &Client, places: &Places, sha256: &str) -> Result<(), String> {
    let path = format!("/api/v1/agents/program/{sha256}/");
    let program = client.get_bytes(&path, PROGRAM_BYTES_MAX);
    let program = program.map_err(|error| format!("the program cannot be fetched: {error}"))?;
    let found = hex(&Sha256::digest(&program));
    if found != sha256 {
        return Err(format!(
            "expected the program with SHA-256 {sha256}, got {} bytes with {found}; nothing was installed",
            program.len()
        ));
    }
    let installed = places.program();
    let put = || -> Result<(), AgentError> {
        let place = service::write_new(&installed, &program, 0o755)?;
        check_runs(&place).map_err(|error| AgentError::file(&place, "run", &error))?;
        service::put_in_place(&place, &installed)
    };
    put().map_err(|error| error.to_string())
}

/// Checks that this host can run a program, for example that it is for its processor.
pub(crate) fn check_runs(program: &Path) -> io::Result<()> {
    for attempt in 1.. {
        let ended = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        match ended {
            Err(error) if is_being_written(&error) && attempt < BUSY_ATTEMPTS => {
                thread::sleep(BUSY_PERIOD);
            }
            Err(error) => return Err(error),
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => return Err(io::Error::other(format!("--version ended with {status}"))),
        }
    }
    Ok(())
}

/// Returns whether a file is open for writing, or may get the permission to be executed after it was written.
fn is_being_written(error: &io::Error) -> bool {
    use io::ErrorKind::{ExecutableFileBusy, PermissionDenied};
    matches!(error.kind(), ExecutableFileBusy | PermissionDenied)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_required_and_allowed_program_is_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let host_file = folder.path().join("host.toml");
        let mut update = Update::new("aa".into());
        assert_eq!(
            update.decide(&host_file),
            Decision::Nothing,
            "nothing is required"
        );
        update.require("aa".into());
        assert_eq!(
            update.decide(&host_file),
            Decision::Nothing,
            "it is the running program"
        );
        update.require("bb".into());
        assert!(
            matches!(update.decide(&host_file), Decision::Warn(line) if line.contains("add it to updates"))
        );
        assert_eq!(update.decide(&host_file), Decision::Nothing, "it was reported");
        fs::write(&host_file, "updates = [\"cc\"]").unwrap();
        assert_eq!(
            update.decide(&host_file),
            Decision::Nothing,
            "another one is allowed"
        );
        fs::write(&host_file, "updates = [\"cc\", \"bb\"]").unwrap();
        assert_eq!(update.decide(&host_file), Decision::Fetch("bb".into()));
        assert_eq!(
            update.decide(&host_file),
            Decision::Nothing,
            "it is being fetched"
        );
    }

    #[test]
    fn a_failed_update_waits_unless_another_program_is_required() {
        let folder = tempfile::tempdir().unwrap();
        let host_file = folder.path().join("host.toml");
        fs::write(&host_file, "updates = [\"bb\", \"cc\"]").unwrap();
        let mut update = Update::new("aa".into());
        update.require("bb".into());
        assert_eq!(update.decide(&host_file), Decision::Fetch("bb".into()));
        update.failed();
        update.require("bb".into());
        assert_eq!(update.decide(&host_file), Decision::Nothing);
        update.require("cc".into());
        assert_eq!(update.decide(&host_file), Decision::Fetch("cc".into()));
    }

    #[test]
    fn the_agent_continues_as_the_installed_program_once_its_own_file_was_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let [present, deleted, installed] =
            ["present", "deleted", "drivetest"].map(|name| folder.path().join(name));
        symlink(&installed, &present).unwrap();
        symlink("/usr/local/sbin/drivetest (deleted)", &deleted).unwrap();
        let mut update = Update::new("aa".into());
        assert!(!update.begin_restart(&deleted, &installed), "none is installed");
        fs::write(&installed, "").unwrap();
        assert!(!update.begin_restart(&present, &installed));
        assert!(update.begin_restart(&deleted, &installed));
        assert!(!update.begin_restart(&deleted, &installed), "it has begun");
        update.failed();
        assert!(!update.begin_restart(&deleted, &installed), "it has failed");
    }

    #[test]
    fn a_program_that_cannot_run_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let place = service::write_new(
            &folder.path().join("program"),
            b"\x7fELF of another processor",
            0o755,
        );
        assert!(check_runs(&place.unwrap()).is_err());
        assert!(check_runs(Path::new("/bin/true")).is_ok() && check_runs(Path::new("/bin/false")).is_err());
    }
}
