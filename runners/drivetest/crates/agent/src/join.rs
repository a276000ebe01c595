//! The registration of this host with a one-time code.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drivetest_device::hex;
use drivetest_labhost::program_sha256;
use drivetest_register::{Client, Error, check_address};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::settings::{AgentSettings, machine_id_sha256};
use crate::{AgentError, Messages, Places, service};

/// How long to repeat the request while the register is away.
const PATIENCE: Duration = Duration::from_secs(300);
const SECRET_BYTES: usize = 32;
const CODE_CHARS_MAX: usize = 200;

/// A registration of this host.
#[derive(Debug)]
pub struct Join<'a> {
    /// Address of the register.
    pub register: &'a str,
    /// The one-time code.
    pub code: &'a str,
    /// The only roots to trust.
    pub ca_file: Option<&'a Path>,
    /// Whether to install the unit of systemd.
    pub has_service: bool,
    /// The files of the agent.
    pub places: &'a Places,
    /// How to report.
    pub messages: Messages,
}

/// How the agent starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// systemd runs it.
    Running,
    /// The unit is installed, but systemd does not run it.
    UnitInstalled,
    /// The operator starts it.
    ByHand,
}

/// A host that has joined.
#[derive(Debug)]
pub struct Joined {
    /// Id of the agent.
    pub agent: String,
    /// Name of the host at the register.
    pub host: String,
    /// Address of the register.
    pub register: String,
    /// How the agent starts.
    pub start: Start,
}

impl Join<'_> {
    /// Joins the register, and installs the agent. The same code may be used again: the answer may have been lost.
    ///
    /// # Errors
    /// If the register refuses the code or cannot be reached, or if a file cannot be written.
    pub fn execute(&self) -> Result<Joined, AgentError> {
        let places = self.places;
        if places.other_root().is_none() && !rustix::process::geteuid().is_root() {
            return Err(AgentError::Failed(
                "only root can join: the agent writes to drives; run the command with sudo".to_owned(),
            ));
        }
        let mut settings = self.settings()?;
        // Before the request: if its answer is lost, the next attempt has the same secret.
        service::replace(&places.joining_file(), settings.text().as_bytes(), 0o600)?;
        // What can fail here comes before the code is used.
        service::install_program(places)?;
        service::create_host_file(places)?;
        let document = self.request(&settings)?;
        let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
        let (agent, host) = (text("agent"), text("host"));
        if agent.is_empty() || host.is_empty() {
            let register = &settings.register;
            return Err(AgentError::Failed(format!(
                "{register}: expected the names of the agent and the host, got neither; is this a register?"
            )));
        }
        settings.live_url = self.usable_live_url(text("live_url"));
        settings.host.clone_from(&host);
        service::replace(&places.agent_file(), settings.text().as_bytes(), 0o600)?;
        fs::remove_file(places.joining_file())
            .map_err(|error| AgentError::file(&places.joining_file(), "remove", &error))?;
        let start = match self.has_service && service::install_unit(places, self.messages)? {
            true => Start::Running,
            false if self.has_service => Start::UnitInstalled,
            false => Start::ByHand,
        };
        let register = settings.register;
        Ok(Joined {
            agent,
            host,
            register,
            start,
        })
    }

    /// Returns the address of the process that lets clients wait; empty if it cannot be used. The code is used already.
    fn usable_live_url(&self, live_url: String) -> String {
        match check_address(&live_url) {
            Err(error) if !live_url.is_empty() => {
                (self.messages.line)(&format!(
                    "live_url of the register: {error}; the agent polls the register itself"
                ));
                String::new()
            }
            _ => live_url,
        }
    }

    /// Returns the settings of this code: those of an earlier attempt, or new ones with a secret of their own.
    fn settings(&self) -> Result<AgentSettings, AgentError> {
        let is_code =
            self.code.len() <= CODE_CHARS_MAX && self.code.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_code || self.code.is_empty() {
            return Err(AgentError::Usage(
                "expected the code that the page of the host shows, got other text".to_owned(),
            ));
        }
        let register = check_address(self.register).map_err(|error| AgentError::Usage(error.to_string()))?;
        let ca_file = self.ca_file.map(absolute).transpose()?;
        let code_sha256 = hex(&Sha256::digest(self.code.as_bytes()));
        let machine_id_sha256 = machine_id_sha256(&self.places.machine_id_file());
        for path in [self.places.joining_file(), self.places.agent_file()] {
            // Damaged settings are replaced.
            if let Ok(Some(found)) = AgentSettings::read(&path)
                && found.code_sha256 == code_sha256
                && found.register == register
                && found.is_of_machine(&machine_id_sha256)
            {
                return Ok(AgentSettings {
                    ca_file,
                    machine_id_sha256,
                    ..found
                });
            }
        }
        Ok(AgentSettings {
            register,
            secret: new_secret()?,
            ca_file,
            live_url: String::new(),
            host: String::new(),
            code_sha256,
            machine_id_sha256,
        })
    }

    fn request(&self, settings: &AgentSettings) -> Result<Value, AgentError> {
        let client = Client::new(&drivetest_register::Settings {
            address: settings.register.clone(),
            token: String::new(),
            ca_file: settings.ca_file.clone(),
            patience: PATIENCE,
            on_retry: self.messages.retry,
        });
        let client = client.map_err(|error| AgentError::Usage(error.to_string()))?;
        let program = program_sha256().map_err(|error| AgentError::Failed(error.sentence))?;
        let joining = json!({
            "code": self.code,
            "secret_sha256": hex(&Sha256::digest(settings.secret.as_bytes())),
            "program_sha256": program,
            "version": env!("CARGO_PKG_VERSION"),
        });
        match client.post("/api/v1/agents/", &joining) {
            Ok(response) => Ok(response.document),
            Err(Error::Refused(refusal)) if refusal.is_of_register => {
                Err(AgentError::Refused(format!("{}: {refusal}", settings.register)))
            }
            Err(Error::Refused(refusal)) => {
                Err(AgentError::Failed(format!("{}: {refusal}", settings.register)))
            }
            Err(error) => Err(AgentError::Failed(format!(
                "{error}; repeat the same command: it joins this host only once"
            ))),
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, AgentError> {
    fs::canonicalize(path)
        .map_err(|error| AgentError::Usage(format!("{}: no file of roots: {error}", path.display())))
}

/// Returns a secret of 64 hexadecimal digits.
fn new_secret() -> Result<String, AgentError> {
    let mut bytes = [0; SECRET_BYTES];
    // The kernel returns at most 256 bytes at once, and never fewer than requested of so few.
    let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    match filled {
        Ok(SECRET_BYTES) => Ok(hex(&bytes)),
        other => Err(AgentError::Failed(format!(
            "the kernel gave no random numbers: {other:?}"
        ))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ() {
        let (first, second) = (new_secret().unwrap(), new_secret().unwrap());
        assert_eq!((first.len(), second.len()), (64, 64));
        assert_ne!(first, second);
    }
}
