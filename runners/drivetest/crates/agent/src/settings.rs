//! The settings of the agent, which `drivetest agent join` writes: the register, and the secret of this host.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drivetest_labhost::read_trusted;
use drivetest_register::{Client, SettingsError};
use serde::Deserialize;
use serde_json::Value;

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
    fn exchanges_come_from_the_register_without_an_own_address() {
        let mut settings = settings();
        assert_eq!(settings.live_address(), "https://register.example");
        settings.live_url = "https://live.example".into();
        assert_eq!(settings.live_address(), "https://live.example");
    }
}
