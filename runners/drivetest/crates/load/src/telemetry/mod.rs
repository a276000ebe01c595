//! Telemetry of the host and the drives under a load, sampled at each report.

mod cpu;
mod disk;
#[cfg(test)]
pub(crate) mod fake_host;
mod power;
mod sensors;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use cpu::{Cpu, Generator};
pub use disk::{DiskRecord, LoadedDevice};
pub(crate) use disk::{block_number, disk_directory};
pub use power::PowerRecord;
pub use sensors::Temperature;

use crate::clock::Nanos;
use cpu::{Ticks, process_ticks};
use disk::Disks;
use power::Energies;
use sensors::Sensors;

/// The root directory: `/`, or a tree of a test.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Root {
    /// Returns the root of this host.
    pub fn host() -> Self {
        Self(PathBuf::from("/"))
    }

    /// Returns the root of a tree.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }

    /// Returns the text of a file without its line end, or None if it cannot be read.
    pub fn text(&self, relative: &str) -> Option<String> {
        text(&self.path(relative))
    }

    /// Returns a size, bytes, from a line such as `MemTotal:  16384 kB` of a file of the kernel.
    pub fn line_bytes(&self, relative: &str, name: &str) -> Option<u64> {
        let text = self.text(relative)?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib.saturating_mul(1_024))
    }
}

fn text(path: &Path) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim_end().to_owned())
}

fn number(path: &Path) -> Option<i64> {
    text(path)?.parse().ok()
}

/// Returns the subdirectories by name, or none if the directory does not exist.
fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten();
    let mut found: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// One interval of host and drives.
#[derive(Debug, Serialize)]
pub struct Record {
    /// All processors together; null if not reported.
    pub cpu: Option<Cpu>,
    /// This process.
    pub generator: Generator,
    /// The disks under the devices, each once.
    pub disks: Vec<DiskRecord>,
    /// Power sensors.
    pub power: Vec<PowerRecord>,
}

/// The sources with their previous samples.
#[derive(Debug)]
pub struct Telemetry {
    root: Root,
    ticks: Option<Ticks>,
    /// Of this process.
    process_ticks: Option<u64>,
    disks: Disks,
    energies: Energies,
    sensors: Sensors,
}

impl Telemetry {
    /// Finds the sources for these devices and takes the first samples.
    pub fn of(root: &Root, devices: &[LoadedDevice]) -> Self {
        let disks = Disks::under(root, devices);
        let sensors = Sensors::watch(root, disks.directories());
        Self {
            ticks: Ticks::read(root),
            process_ticks: process_ticks(root),
            energies: Energies::find(root),
            root: root.clone(),
            disks,
            sensors,
        }
    }

    /// Samples all sources; the previous sample was `length` ago.
    pub fn sample(&mut self, length: Nanos) -> Record {
        let (ticks, process_ticks) = (Ticks::read(&self.root), process_ticks(&self.root));
        let earlier = std::mem::replace(&mut self.ticks, ticks);
        let earlier_of_process = std::mem::replace(&mut self.process_ticks, process_ticks);
        let temperatures = |disk: &Path| self.sensors.temperatures(disk);
        let disks = self.disks.sample(length, temperatures);
        let mut power = self.energies.sample(length);
        power.extend(self.sensors.power());
        Record {
            cpu: earlier
                .zip(ticks)
                .map(|(earlier, now)| Cpu::between(earlier, now)),
            generator: Generator::since(earlier_of_process, process_ticks, &self.root, length),
            disks,
            power,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fake_host::FakeHost;
    use super::*;

    #[test]
    fn a_host_without_sources_has_nulls_and_not_zeros() {
        let host = FakeHost::new();
        let devices = [LoadedDevice {
            name: "/dev/nvme0n1".to_owned(),
            number: Some((259, 0)),
        }];
        let record = Telemetry::of(&host.root(), &devices).sample(Nanos::from_s(1));
        let value = serde_json::to_value(record).unwrap();
        assert_eq!(value["cpu"], serde_json::Value::Null);
        assert_eq!(value["generator"]["cpu_pct"], serde_json::Value::Null);
        assert_eq!(
            (&value["disks"], &value["power"]),
            (&serde_json::json!([]), &serde_json::json!([]))
        );
    }

    #[test]
    fn this_host_reports_this_process() {
        let mut telemetry = Telemetry::of(&Root::host(), &[]);
        let value = serde_json::to_value(telemetry.sample(Nanos::from_s(1))).unwrap();
        assert!(
            value["generator"]["resident_bytes"]
                .as_u64()
                .is_some_and(|bytes| bytes > 100_000)
        );
    }
}
