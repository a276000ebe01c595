//! What the operator of the host has decided: which drives may be loaded, and where the register's runs are kept.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use drivetest_device::is_same_drive;
use serde::Deserialize;

use crate::error::HostError;

/// The one place that can change what this program allows; only root can write there.
pub const SETTINGS_FILE: &str = "/etc/drivecert/host.toml";
/// A list of drives, one a line, with room for many hundreds.
const LONGEST_BYTES: u64 = 256 * 1024;

/// The operator's decisions. Without the file no drive may be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Drive keys, as `drivetest identify` tells them, of all drives that may be loaded.
    #[serde(default)]
    pub drives: Vec<String>,
    /// Where run directories and drive locks lie.
    #[serde(default = "state_dir")]
    pub state_dir: PathBuf,
}

fn state_dir() -> PathBuf {
    "/var/lib/drivecert".into()
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            drives: Vec::new(),
            state_dir: state_dir(),
        }
    }
}

impl Settings {
    /// Reads the operator's file; without one, nothing is listed.
    ///
    /// # Errors
    /// When somebody other than root could have written it, or it is not what is expected there.
    pub fn read(path: &Path) -> Result<Self, HostError> {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(HostError::file(path, "read", &error)),
            Ok(file) => file,
        };
        check_owner(
            path,
            &file
                .metadata()
                .map_err(|error| HostError::file(path, "look at", &error))?,
        )?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        check_owner(
            folder,
            &fs::metadata(folder).map_err(|error| HostError::file(folder, "look at", &error))?,
        )?;
        let mut text = String::new();
        let read = file.by_ref().take(LONGEST_BYTES).read_to_string(&mut text);
        read.map_err(|error| HostError::file(path, "read", &error))?;
        Self::parse(path, &text)
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
        if !settings.state_dir.is_absolute() {
            let got = settings.state_dir.display();
            return Err(HostError::refused(format!(
                "{}: state_dir: expected an absolute path, got {got}",
                path.display()
            )));
        }
        Ok(settings)
    }

    /// Lets a drive through that the operator has listed.
    ///
    /// # Errors
    /// For every other drive.
    pub fn check_listed(&self, drive_key: &str) -> Result<(), HostError> {
        let is_it = |listed: &String| is_same_drive(listed, drive_key) || is_same_drive(drive_key, listed);
        if self.drives.iter().any(is_it) {
            return Ok(());
        }
        Err(HostError::refused(format!(
            "{drive_key}: not among the {} drives that this host's operator lets be loaded; list it in {SETTINGS_FILE}",
            self.drives.len()
        )))
    }
}

/// Whoever else could write the file could list the drive of the running system.
fn check_owner(path: &Path, found: &fs::Metadata) -> Result<(), HostError> {
    if found.uid() == 0 && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(HostError::refused(format!(
        "{}: expected a file that only root can write, got owner {} and mode {:o}",
        path.display(),
        found.uid(),
        found.mode() & 0o7777
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Settings, HostError> {
        Settings::parse(Path::new("host.toml"), text)
    }

    #[test]
    fn a_listed_drive_may_be_loaded_and_no_other() {
        let settings = parsed("drives = [\"nvme:M:S1\"]").unwrap();
        assert!(settings.check_listed("nvme:M:S1").is_ok());
        assert!(settings.check_listed("nvme:M:S").is_err());
        assert!(settings.check_listed("").is_err());
    }

    #[test]
    fn a_file_is_listed_with_its_host_or_as_before_without() {
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
    fn without_a_file_nothing_is_listed() {
        let settings = Settings::read(Path::new("/nowhere/host.toml")).unwrap();
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn a_misspelt_key_is_not_passed_over() {
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
