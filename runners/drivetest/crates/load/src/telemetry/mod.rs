//! What the host and the drives under a load tell of themselves, at each report.

mod cpu;
mod disk;
#[cfg(test)]
mod fake_host;
mod generator;
mod power;
mod sensors;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use cpu::Cpu;
pub use disk::{DiskRecord, LoadedDevice};
pub use generator::Generator;
pub use power::PowerRecord;
pub use sensors::Temperature;

use crate::clock::Nanos;
use cpu::Ticks;
use disk::Disks;
use power::Energies;
use sensors::Sensors;

/// Where the kernel tells things: `/`, or a tree that a test invented.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Root {
    /// This host.
    pub fn host() -> Self {
        Self(PathBuf::from("/"))
    }

    /// The host that a tree describes.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }

    /// The text of a file of the kernel's without its line end; None where it is not told.
    pub fn text(&self, relative: &str) -> Option<String> {
        text(&self.path(relative))
    }
}

fn text(path: &Path) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim_end().to_owned())
}

fn number(path: &Path) -> Option<i64> {
    text(path)?.parse().ok()
}

/// The directories within one, by name; none where it is not there.
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

/// One interval as the host and the drives tell it.
#[derive(Debug, Serialize)]
pub struct Record {
    /// All processors together; null where the kernel does not tell.
    pub cpu: Option<Cpu>,
    /// This process.
    pub generator: Generator,
    /// The disks under the devices, each once.
    pub disks: Vec<DiskRecord>,
    /// What the machine measures of its power, each with what it measures.
    pub power: Vec<PowerRecord>,
}

/// The sources, and what they told last.
#[derive(Debug)]
pub struct Telemetry {
    root: Root,
    ticks: Option<Ticks>,
    generator: generator::PreviousSample,
    disks: Disks,
    energies: Energies,
    sensors: Sensors,
}

impl Telemetry {
    /// Finds the sources for these devices, and begins to look at them.
    pub fn of(root: &Root, devices: &[LoadedDevice]) -> Self {
        let disks = Disks::under(root, devices);
        let sensors = Sensors::watch(root, disks.directories());
        Self {
            ticks: Ticks::read(root),
            generator: generator::PreviousSample::read(root),
            energies: Energies::find(root),
            root: root.clone(),
            disks,
            sensors,
        }
    }

    /// What happened since the last look, `length` ago.
    pub fn sample(&mut self, length: Nanos) -> Record {
        let ticks = Ticks::read(&self.root);
        let cpu = Cpu::between(self.ticks.as_ref(), ticks.as_ref());
        self.ticks = ticks;
        let temperatures = |disk: &Path| self.sensors.temperatures(disk);
        let disks = self.disks.sample(length, temperatures);
        let mut power = self.energies.sample(length);
        power.extend(self.sensors.power());
        Record {
            cpu,
            generator: self.generator.sample(&self.root, length),
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
    fn a_host_that_tells_nothing_has_nulls_and_no_zeros() {
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
    fn this_host_tells_of_this_process() {
        let mut telemetry = Telemetry::of(&Root::host(), &[]);
        let value = serde_json::to_value(telemetry.sample(Nanos::from_s(1))).unwrap();
        assert!(
            value["generator"]["resident_bytes"]
                .as_u64()
                .is_some_and(|bytes| bytes > 100_000)
        );
    }
}
