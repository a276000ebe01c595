//! The agent of a lab host: it fetches the requests of a register over HTTPS, so that the register needs no way to the
//! host. Each exchange goes to a child `drivetest host`, which decides as it does over SSH.
//!
//! `join` makes a host known to a register, `service` installs the program and the unit of systemd, `run` is the loop of
//! the agent, `poll` waits for exchanges, `exchange` carries them out and delivers the answers, `update` replaces the
//! program, and `settings` is the file with the secret.

#![forbid(unsafe_code)]

mod exchange;
mod join;
mod poll;
mod run;
mod service;
mod settings;
mod update;

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

pub use join::{Join, Joined, Start};
pub use run::{Ended, run};
pub use service::UNIT;

/// How the agent reports to the operator of the host.
#[derive(Debug, Clone, Copy)]
pub struct Messages {
    /// Gets a sentence.
    pub line: fn(&str),
    /// Gets a failed request, and how long the agent waits before the next attempt.
    pub retry: fn(&drivetest_register::Error, Duration),
}

/// Why the agent cannot join or run.
#[derive(Debug, Error)]
pub enum AgentError {
    /// An address, a code or a file of roots cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The register refuses this host, or the settings are of another one.
    #[error("{0}")]
    Refused(String),
    /// A file of this host cannot be used, or the register cannot be reached.
    #[error("{0}")]
    Failed(String),
}

impl AgentError {
    pub(crate) fn file(path: &Path, action: &str, error: &std::io::Error) -> Self {
        Self::Failed(format!("{}: cannot {action}: {error}", path.display()))
    }
}

/// The files of the agent on its host.
#[derive(Debug, Clone)]
pub struct Places {
    root: PathBuf,
}

impl Places {
    /// Returns the files below a directory, which is `/` except in tests.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Returns the directory above all files; `None` if it is `/`.
    pub(crate) fn other_root(&self) -> Option<&Path> {
        (self.root != Path::new("/")).then_some(&self.root)
    }

    /// Returns the file with the secret of the agent.
    pub fn agent_file(&self) -> PathBuf {
        self.root.join("etc/drivecert/agent.toml")
    }

    /// Returns the settings of a host that the register has not accepted yet.
    pub(crate) fn joining_file(&self) -> PathBuf {
        self.root.join("etc/drivecert/agent.joining.toml")
    }

    /// Returns the variables of the service: proxies, and a file of roots.
    pub(crate) fn environment_file(&self) -> PathBuf {
        self.root.join("etc/drivecert/agent.env")
    }

    /// Returns the operator's settings for `drivetest host`.
    pub fn host_file(&self) -> PathBuf {
        let name = drivetest_labhost::SETTINGS_FILE;
        self.root.join(name.trim_start_matches('/'))
    }

    /// Returns the file with the id of this machine.
    pub(crate) fn machine_id_file(&self) -> PathBuf {
        self.root.join("etc/machine-id")
    }

    /// Returns the installed program.
    pub fn program(&self) -> PathBuf {
        self.root.join("usr/local/sbin/drivetest")
    }

    /// Returns the unit of systemd.
    pub fn unit_file(&self) -> PathBuf {
        self.root.join("etc/systemd/system/drivecert-agent.service")
    }
}
