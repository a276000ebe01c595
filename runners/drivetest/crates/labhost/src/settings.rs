//! Settings of the operator: the drives that a register may load, and the directory of its runs.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use drivetest_device::is_same_drive;
use serde::Deserialize;

use crate::error::HostError;

/// The settings file, which only root can write. Nothing else changes what the service allows.
pub const SETTINGS_FILE: &str = "/etc/drivecert/host.toml";
/// Maximum size of the settings file, enough for many hundred drives.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// The settings of the operator. Without the file, no drive may be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Keys of all drives that may be loaded, as `drivetest identify` prints them.
    #[serde(default)]
    pub drives: Vec<String>,
    /// The directory of runs and drive locks.
    #[serde(default = "state_dir")]
    pub state_dir: PathBuf,
    /// SHA-256 of each program by which `drivetest agent` may replace itself.
    #[serde(default)]
    pub updates: Vec<String>,
}

fn state_dir() -> PathBuf {
    "/var/lib/drivecert".into()
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            drives: Vec::new(),
            state_dir: state_dir(),
            updates: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the settings file. Without it, no drive is listed.
    ///
    /// # Errors
    /// If another user than root could have written the file, or if it is invalid.
    pub fn read(path: &Path) -> Result<Self, HostError> {
        match read_trusted(path)? {
            None => Ok(Self::default()),
            Some(text) => Self::parse(path, &text),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, HostError> {
        let read: Result<Self, _> = toml::from_str(text);
        let settings = read.map_err(|error| {
            HostError::refused(format!(
                "{}: expected drives = [\"KEY\", ...]: {}",
                path.display(),
                error.message()
            ))
        })?;
        let (path, got) = (path.display(), settings.state_dir.display());
        HostError::refuse_unless(settings.state_dir.is_absolute(), || {
            format!("{path}: state_dir: expected an absolute path, got {got}")
        })?;
        Ok(settings)
    }

    /// Returns whether the operator allows the agent to replace itself by a program.
    pub fn allows_update(&self, sha256: &str) -> bool {
        self.updates
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(sha256))
    }

    /// Checks that the operator has listed a drive.
    ///
    /// # Errors
    /// If it is not listed.
    pub fn check_listed(&self, drive_key: &str) -> Result<(), HostError> {
        let is_it = |listed: &String| is_same_drive(listed, drive_key) || is_same_drive(drive_key, listed);
        let count = self.drives.len();
        HostError::refuse_unless(self.drives.iter().any(is_it), || {
            format!(
                "{drive_key}: not among the {count} drives that the operator of this host allows to be loaded; list \
                 it in {SETTINGS_FILE}"
            )
        })
    }
}

/// Reads a settings file. Returns None if it does not exist.
///
/// # Errors
/// If another user than root could have written the file.
pub fn read_trusted(path: &Path) -> Result<Option<String>, HostError> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(HostError::file(path, "read", &error)),
        Ok(file) => file,
    };
    check_owner(path, file.metadata())?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    check_owner(folder, fs::metadata(folder))?;
    let mut text = String::new();
    let read = file.by_ref().take(FILE_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| HostError::file(path, "read", &error))?;
    Ok(Some(text))
}

/// Checks that only root and the user of this process can write a path. The service runs as root: another user could
/// list the drive of the running system.
fn check_owner(path: &Path, found: io::Result<fs::Metadata>) -> Result<(), HostError> {
    let found = found.map_err(|error| HostError::file(path, "inspect", &error))?;
    let (path, owner, mode) = (path.display(), found.uid(), found.mode() & 0o7777);
    let is_trusted = [0, rustix::process::geteuid().as_raw()].contains(&owner) && mode & 0o022 == 0;
    HostError::refuse_unless(is_trusted, || {
        format!("{path}: expected a file that only root can write, got owner {owner} and mode {mode:o}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Settings, HostError> {
        Settings::parse(Path::new("host.toml"), text)
    }

    #[test]
    fn only_a_listed_drive_may_be_loaded() {
        let settings = parsed("drives = [\"nvme:M:S1\"]").unwrap();
        assert!(settings.check_listed("nvme:M:S1").is_ok());
        assert!(settings.check_listed("nvme:M:S").is_err());
        assert!(settings.check_listed("").is_err());
    }

    #[test]
    fn a_file_may_be_listed_with_or_without_its_host() {
        let (before, now) = ("file:8:5", "file:lab1:8:5");
        for listed in [before, now] {
            let settings = parsed(&format!("drives = [\"{listed}\"]")).unwrap();
            assert!(settings.check_listed(before).is_ok() && settings.check_listed(now).is_ok());
        }
        let settings = parsed(&format!("drives = [\"{now}\"]")).unwrap();
        assert!(settings.check_listed("file:lab2:8:5").is_err());
        assert!(settings.check_listed("file:lab1~0123456789ab:8:5").is_ok());
    }

    #[test]
    fn without_a_settings_file_no_drive_is_listed() {
        let settings = Settings::read(Path::new("/nowhere/host.toml")).unwrap();
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn only_listed_programs_replace_the_agent() {
        let settings = parsed("updates = [\"5e\"]").unwrap();
        assert!(settings.allows_update("5E") && !settings.allows_update("5e5e"));
        assert!(!parsed("").unwrap().allows_update("5e"));
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        assert!(
            parsed("drive = [\"nvme:M:S1\"]")
                .unwrap_err()
                .sentence
                .contains("drive")
        );
        assert!(parsed("state_dir = \"var\"").is_err());
    }

    #[test]
    fn a_file_that_others_can_write_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.toml");
        fs::write(&path, "drives = []").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(
            Settings::read(&path)
                .unwrap_err()
                .sentence
                .contains("only root can write")
        );
    }
}
