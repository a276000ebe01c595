//! The settings of the agent, which `drivetest agent join` writes: the register, and the secret of this host.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drivetest_device::hex;
use drivetest_labhost::read_trusted;
use drivetest_register::{Client, SettingsError};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{AgentError, Messages};

/// Permissions of others and of the group.
const OF_OTHERS: u32 = 0o077;

/// The settings of the agent.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentSettings {
    /// Address of the register.
    pub register: String,
    /// The credential of this host.
    pub secret: String,
    /// The only roots to trust.
    pub ca_file: Option<PathBuf>,
    /// Address of the process that lets clients wait; empty for that of the register.
    #[serde(default)]
    pub live_url: String,
    /// Name of this host at the register.
    #[serde(default)]
    pub host: String,
    /// SHA-256 of the code of the last join. The same code joins with the same secret, because an answer may be lost.
    #[serde(default)]
    pub code_sha256: String,
    /// SHA-256 of the machine id at the join; empty if the machine has none. A copied disk has the secret as well.
    #[serde(default)]
    pub machine_id_sha256: String,
}

impl AgentSettings {
    /// Reads a file of settings. Returns None if it does not exist.
    pub fn read(path: &Path) -> Result<Option<Self>, AgentError> {
        let Some(text) = read_trusted(path).map_err(|error| AgentError::Failed(error.sentence))? else {
            return Ok(None);
        };
        let shown = path.display();
        let mode = fs::metadata(path)
            .map_err(|error| AgentError::file(path, "inspect", &error))?
            .mode();
        if mode & OF_OTHERS != 0 {
            let mode = mode & 0o777;
            return Err(AgentError::Failed(format!(
                "{shown}: other users can read the secret (mode {mode:03o}); run: chmod 600 {shown}"
            )));
        }
        let parsed: Result<Self, _> = toml::from_str(&text);
        let message = |error: toml::de::Error| {
            // The message of the parser, not its excerpt, which could show the secret.
            let message = error.message();
            AgentError::Failed(format!(
                "{shown}: expected register and secret: {message}; join again"
            ))
        };
        parsed.map(Some).map_err(message)
    }

    /// Returns whether the settings may be of this machine, which has a machine id with this SHA-256.
    pub fn is_of_machine(&self, machine_id_sha256: &str) -> bool {
        let is_unknown = self.machine_id_sha256.is_empty() || machine_id_sha256.is_empty();
        is_unknown || self.machine_id_sha256 == machine_id_sha256
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Written by drivetest agent join. The secret is the credential of this host: show it to no one.\n",
        );
        let ca_file = self.ca_file.as_ref().map(|path| path.display().to_string());
        let pairs = [
            ("register", Some(&self.register)),
            ("secret", Some(&self.secret)),
            ("ca_file", ca_file.as_ref()),
            ("live_url", Some(&self.live_url)),
            ("host", Some(&self.host)),
            ("code_sha256", Some(&self.code_sha256)),
            ("machine_id_sha256", Some(&self.machine_id_sha256)),
        ];
        for (name, value) in pairs {
            if let Some(value) = value {
                // A string of JSON is one of TOML.
                text.push_str(&format!("{name} = {}\n", Value::String(value.clone())));
            }
        }
        text
    }

    /// Returns a client of an address with the secret, which gives up after `patience`.
    pub fn client(
        &self,
        address: &str,
        patience: Duration,
        messages: Messages,
    ) -> Result<Client, SettingsError> {
        Client::new(&drivetest_register::Settings {
            address: address.to_owned(),
            token: self.secret.clone(),
            ca_file: self.ca_file.clone(),
            patience,
            on_retry: messages.retry,
        })
    }

    /// Returns the address at which to wait for exchanges.
    pub fn live_address(&self) -> &str {
        match self.live_url.is_empty() {
            true => &self.register,
            false => &self.live_url,
        }
    }
}

/// Returns the SHA-256 of the id of this machine; empty if it has none. Source: machine-id(5), which says that the id
/// itself shall not be stored elsewhere.
pub(crate) fn machine_id_sha256(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    match text.trim() {
        "" | "uninitialized" => String::new(),
        id => hex(&Sha256::digest(id.as_bytes())),
    }
}

/// Locks the settings until the returned file is closed: the two agents of a host would carry out the same requests.
pub(crate) fn lock(path: &Path) -> Result<File, AgentError> {
    let file = File::open(path).map_err(|error| AgentError::file(path, "open", &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(AgentError::Failed(format!(
            "{}: another drivetest agent of this host runs; stop it first",
            path.display()
        ))),
        Err(error) => Err(AgentError::file(path, "lock", &error.into())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn settings() -> AgentSettings {
        AgentSettings {
            register: "https://register.example".into(),
            secret: "5e\"\\c".into(),
            ca_file: Some("/etc/roots.pem".into()),
            live_url: String::new(),
            host: "lab-1".into(),
            code_sha256: "00".into(),
            machine_id_sha256: "1d".into(),
        }
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.toml");
        assert!(AgentSettings::read(&path).unwrap().is_none());
        let mut written = settings();
        for ca_file in [written.ca_file.clone(), None] {
            written.ca_file = ca_file;
            fs::write(&path, written.text()).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            assert!(AgentSettings::read(&path).unwrap() == Some(written.clone()));
        }
    }

    #[test]
    fn a_secret_that_others_can_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.toml");
        fs::write(&path, settings().text()).unwrap();
        for (mode, is_used) in [(0o600, true), (0o400, true), (0o640, false), (0o622, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(AgentSettings::read(&path).is_ok(), is_used, "{mode:o}");
        }
    }

    #[test]
    fn a_damaged_file_is_reported_without_its_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.toml");
        fs::write(&path, "register = \"x\"\nsecret = \"5e5e\" 1\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let Err(error) = AgentSettings::read(&path) else {
            panic!("expected an error");
        };
        let text = error.to_string();
        assert!(text.contains("join again") && !text.contains("5e5e"), "{text}");
    }

    #[test]
    fn only_another_machine_id_is_of_another_machine() {
        let mut settings = settings();
        for (found, is_of_machine) in [("1d", true), ("", true), ("2d", false)] {
            assert_eq!(settings.is_of_machine(found), is_of_machine, "{found:?}");
        }
        settings.machine_id_sha256.clear();
        assert!(settings.is_of_machine("2d"));
    }

    #[test]
    fn a_machine_without_an_id_has_no_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine-id");
        assert_eq!(machine_id_sha256(&path), "");
        for text in ["", "\n", "uninitialized\n"] {
            fs::write(&path, text).unwrap();
            assert_eq!(machine_id_sha256(&path), "", "{text:?}");
        }
        fs::write(&path, "abc\n").unwrap();
        // FIPS 180-4, example of SHA-256.
        assert_eq!(
            machine_id_sha256(&path),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn the_settings_are_locked_until_the_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.toml");
        fs::write(&path, settings().text()).unwrap();
        let locked = lock(&path).unwrap();
        assert!(lock(&path).is_err());
        drop(locked);
        assert!(lock(&path).is_ok());
    }

    #[test]
    fn exchanges_come_from_the_register_without_an_own_address() {
        let mut settings = settings();
        assert_eq!(settings.live_address(), "https://register.example");
        settings.live_url = "https://live.example".into();
        assert_eq!(settings.live_address(), "https://live.example");
    }
}
