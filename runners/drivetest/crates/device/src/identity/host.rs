//! The host a device is seen from.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::DeviceError;
use crate::state::open_files::process_numbers;
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
    /// None where the kernel counts none.
    pub numa_nodes_count: Option<usize>,
    /// The different governors of its CPUs; None where the kernel scales no frequency, as in most virtual machines.
    pub governors: Option<Vec<String>>,
    /// Whether a process of that name runs; None where other users' processes are hidden.
    pub is_irqbalance_running: Option<bool>,
}

impl Host {
    /// This machine.
    ///
    /// # Errors
    /// When the kernel does not tell its name.
    pub fn here() -> Result<Self, DeviceError> {
        Self::read(&System::host())
    }

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
            numa_nodes_count: numa_nodes_count(system)?,
            governors: governors(system)?,
            is_irqbalance_running: is_irqbalance_running(system)?,
        })
    }
}

/// Tells whether a name is `prefix` and a number.
fn is_numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn numa_nodes_count(system: &System) -> Result<Option<usize>, DeviceError> {
    let names = system::names(&system.sys.join("devices/system/node"))?;
    let count = names.iter().filter(|name| is_numbered(name, "node")).count();
    Ok((count > 0).then_some(count))
}

fn governors(system: &System) -> Result<Option<Vec<String>>, DeviceError> {
    let folder = system.sys.join("devices/system/cpu");
    let mut governors = BTreeSet::new();
    for name in system::names(&folder)?
        .iter()
        .filter(|name| is_numbered(name, "cpu"))
    {
        // A CPU may go off line meanwhile, and then tells nothing.
        let governor = system::text(&folder.join(name).join("cpufreq/scaling_governor"));
        governors.extend(governor.ok().flatten());
    }
    Ok((!governors.is_empty()).then(|| governors.into_iter().collect()))
}

/// The first process is everybody's: where it cannot be seen, others are hidden as well. Source: proc(5), hidepid.
fn is_irqbalance_running(system: &System) -> Result<Option<bool>, DeviceError> {
    let numbers = process_numbers(system)?;
    let name = |number: &u32| {
        system::text(&system.proc.join(number.to_string()).join("comm"))
            .ok()
            .flatten()
    };
    let is_running = numbers
        .iter()
        .any(|number| name(number).as_deref() == Some("irqbalance"));
    Ok((is_running || name(&1).is_some()).then_some(is_running))
}
