//! The host of a device.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::DeviceError;
use crate::state::open_files::process_numbers;
use crate::system::{self, System};

/// Properties of the host that matter for a measurement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Host name.
    pub hostname: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Model; None if the kernel does not report it.
    pub cpu_model: Option<String>,
    /// Number of online logical CPUs.
    pub cpus_count: usize,
    /// None if the kernel has no NUMA support.
    pub numa_nodes_count: Option<usize>,
    /// The distinct governors of the CPUs; None if frequencies are not scaled, as in most virtual machines.
    pub governors: Option<Vec<String>>,
    /// Whether irqbalance is running; None if other users' processes are hidden.
    pub is_irqbalance_running: Option<bool>,
}

impl Host {
    /// Reads the properties of this host.
    ///
    /// # Errors
    /// If the kernel does not report the host's name.
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

/// Returns whether a name is `prefix` and a number.
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
        // A CPU may go offline in the meantime; it is left out then.
        let governor = system::text(&folder.join(name).join("cpufreq/scaling_governor"));
        governors.extend(governor.ok().flatten());
    }
    Ok((!governors.is_empty()).then(|| governors.into_iter().collect()))
}

/// Returns whether irqbalance is running. If process 1 is hidden, so are the others. Source: proc(5), hidepid.
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
