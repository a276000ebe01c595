//! Processes that have a device or file open.

use std::thread;

use crate::error::DeviceError;
use crate::probe::path::Node;
use crate::system::{self, System};

/// A short access by udev is over after a few samples; a user of the device remains.
const SAMPLES: usize = 3;

/// A process with an open file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpeningProcess {
    pub number: u32,
    pub name: String,
    /// The open nodes that match; at least one.
    pub nodes: Vec<Node>,
}

/// Returns the other processes that have a matching node open, and still have it open after a few samples.
///
/// Only root sees the open files of other users' processes.
pub(crate) fn lasting(
    system: &System,
    is_ours: &dyn Fn(&Node) -> bool,
) -> Result<Vec<OpeningProcess>, DeviceError> {
    for _ in 1..SAMPLES {
        if now(system, is_ours)?.is_empty() {
            return Ok(Vec::new());
        }
        thread::sleep(system.udev_grace);
    }
    now(system, is_ours)
}

fn now(system: &System, is_ours: &dyn Fn(&Node) -> bool) -> Result<Vec<OpeningProcess>, DeviceError> {
    let own = std::fs::read_link(system.proc.join("self"))
        .ok()
        .and_then(|own| own.to_str()?.parse().ok());
    let mut openers = Vec::new();
    for number in process_numbers(system)?
        .into_iter()
        .filter(|&number| Some(number) != own)
    {
        let nodes = open_in(system, number, is_ours);
        if !nodes.is_empty() {
            openers.push(OpeningProcess {
                number,
                name: name_of(system, number),
                nodes,
            });
        }
    }
    Ok(openers)
}

/// Returns the name of a process: the program of its command line, which says more than the kernel's short name
/// (`exe` for `/proc/self/exe`). Empty if the process has ended.
fn name_of(system: &System, number: u32) -> String {
    let process = system.proc.join(number.to_string());
    let line = system::text(&process.join("cmdline")).ok().flatten();
    let word = line
        .as_deref()
        .and_then(|line| line.split('\0').next())
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    let name = word
        .map(str::to_owned)
        .or_else(|| system::text(&process.join("comm")).ok().flatten());
    name.unwrap_or_default()
}

/// Returns the matching open nodes of a process. Nodes that cannot be resolved were closed in the meantime or belong to
/// another user.
fn open_in(system: &System, number: u32, is_ours: &dyn Fn(&Node) -> bool) -> Vec<Node> {
    let descriptors = system.proc.join(number.to_string()).join("fd");
    let names = system::names(&descriptors).unwrap_or_default();
    let nodes = names
        .iter()
        .filter_map(|name| system.probe.resolve(&descriptors.join(name)).ok());
    nodes.filter(is_ours).collect()
}

/// Returns the numbers of all processes.
pub(crate) fn process_numbers(system: &System) -> Result<Vec<u32>, DeviceError> {
    Ok(system::names(&system.proc)?
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect())
}
