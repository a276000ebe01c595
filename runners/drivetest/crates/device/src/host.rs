//! The host a device is seen from.

use serde::Serialize;

use crate::error::DeviceError;
use crate::system::{self, System};

/// What a reader of a measurement wants to know of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Its name.
    pub hostname: String,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// As the kernel names it; None on machines where it does not.
    pub cpu_model: Option<String>,
    /// Logical CPUs that are on line.
    pub cpus_count: usize,
}

impl Host {
    pub(crate) fn read(system: &System) -> Result<Self, DeviceError> {
        let cpus = system::text(&system.proc.join("cpuinfo"))?.unwrap_or_default();
        let values = |key: &'static str| {
            cpus.lines()
                .filter_map(|line| line.split_once(':'))
                .filter(move |(name, _)| name.trim() == key)
        };
        Ok(Self {
            hostname: system.hostname()?,
            kernel: system::text(&system.proc.join("sys/kernel/osrelease"))?,
            cpu_model: values("model name")
                .next()
                .map(|(_, model)| model.trim().to_owned()),
            cpus_count: values("processor").count(),
        })
    }
}
