//! Temperatures and powers of the kernel's hwmon class.
//!
//! Reading a drive's temperature is a command to the drive. So it happens rarely and in a thread of its own. A drive
//! that does not answer then delays neither the reports nor the end of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::Builder;
use std::time::Duration;

use serde::Serialize;

use super::power::PowerRecord;
use super::{Root, directories, name, number, text};
use crate::report::rounded::Rounded;

/// Period of the readings. A drive answers between its reads.
const PERIOD: Duration = Duration::from_secs(10);

/// Maximum delay of the run's start for the first readings.
const PATIENCE: Duration = Duration::from_secs(1);

const UNKNOWN: i64 = i64::MIN;

/// A drive's temperature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Temperature {
    /// Name of the sensor.
    pub sensor: String,
    /// Degrees Celsius.
    pub celsius: Option<Rounded>,
    /// The drive's warning limit; null if not reported.
    pub limit_celsius: Option<Rounded>,
}

#[derive(Debug)]
enum Kind {
    /// Temperature of a disk; the limit is in thousandths of a degree.
    Temperature {
        disk: PathBuf,
        limit: Option<i64>,
    },
    Power {
        boundary: String,
    },
}

/// An input of a chip.
#[derive(Debug)]
struct Sensor {
    input: PathBuf,
    label: String,
    kind: Kind,
    last: AtomicI64,
}

impl Sensor {
    fn read(&self) {
        self.last.store(number(&self.input).unwrap_or(UNKNOWN), Relaxed);
    }

    fn last(&self, units: f64, candidates: usize) -> Option<Rounded> {
        let last = self.last.load(Relaxed);
        (last != UNKNOWN).then(|| Rounded::new(last as f64 / units, candidates))?
    }
}

/// The sensors and their reading thread.
#[derive(Debug)]
pub(super) struct Sensors {
    sensors: Arc<Vec<Sensor>>,
    /// Dropping this ends the thread.
    _life: Sender<()>,
}

impl Sensors {
    pub fn watch<'a>(root: &Root, disks: impl Iterator<Item = &'a Path>) -> Self {
        let mut chips: Vec<PathBuf> = Vec::new();
        let mut found: Vec<Sensor> = Vec::new();
        for disk in disks {
            for chip in chips_of(disk) {
                found.extend(temperature(&chip, disk));
                found.extend(powers(&chip, "drive"));
                chips.extend(chip.canonicalize());
            }
        }
        for chip in directories(&root.path("sys/class/hwmon")) {
            let is_drive = chip.canonicalize().is_ok_and(|chip| chips.contains(&chip));
            if let Some(name) = text(&chip.join("name")).filter(|_| !is_drive) {
                found.extend(powers(&chip, &format!("chip {name}")));
            }
        }
        Self::start(found)
    }

    fn start(found: Vec<Sensor>) -> Self {
        let sensors = Arc::new(found);
        let (life, ended) = mpsc::channel::<()>();
        if sensors.is_empty() {
            return Self { sensors, _life: life };
        }
        let (first_done, first) = mpsc::channel();
        let read = Arc::clone(&sensors);
        // Not joined, because a drive may never answer. If the system provides no thread, there are no readings.
        let started = Builder::new().name("sensors".to_owned()).spawn(move || {
            loop {
                read.iter().for_each(Sensor::read);
                // The receiver is gone after the first readings, or if they took too long.
                let _ = first_done.send(());
                if ended.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        if started.is_ok() {
            // Later readings are shown once they exist.
            let _ = first.recv_timeout(PATIENCE);
        }
        Self { sensors, _life: life }
    }

    /// Returns the drive's main sensor: the composite temperature of an NVMe drive, or the only sensor of others.
    pub fn temperatures(&self, of: &Path) -> Option<Temperature> {
        self.sensors.iter().find_map(|sensor| match &sensor.kind {
            Kind::Temperature { disk, limit } if disk == of => Some(Temperature {
                sensor: sensor.label.clone(),
                celsius: sensor.last(1e3, 1),
                limit_celsius: limit.and_then(|limit| Rounded::new(limit as f64 / 1e3, 1)),
            }),
            _ => None,
        })
    }

    pub fn power(&self) -> Vec<PowerRecord> {
        let record = |sensor: &Sensor| match &sensor.kind {
            Kind::Power { boundary } => Some(PowerRecord {
                sensor: sensor.label.clone(),
                boundary: boundary.clone(),
                watts: sensor.last(1e6, 2),
            }),
            Kind::Temperature { .. } => None,
        };
        self.sensors.iter().filter_map(record).collect()
    }
}

/// Returns the sensor chips of a disk. Those of NVMe are in the controller's directory, those of SATA (module
/// drivetemp) in a directory of their own. A multipath head has its controllers in its device directory.
fn chips_of(disk: &Path) -> Vec<PathBuf> {
    let device = disk.join("device");
    let mut candidates = vec![device.clone(), device.join("hwmon")];
    let paths = directories(&device);
    candidates.extend(paths.into_iter().filter(|path| name(path).starts_with("nvme")));
    let chips = candidates.iter().flat_map(|place| directories(place));
    let is_chip = |path: &PathBuf| {
        name(path)
            .strip_prefix("hwmon")
            .is_some_and(|number| !number.is_empty())
    };
    chips.filter(is_chip).collect()
}

fn temperature(chip: &Path, disk: &Path) -> Option<Sensor> {
    let kind = Kind::Temperature {
        disk: disk.to_owned(),
        limit: number(&chip.join("temp1_max")),
    };
    sensor(chip, "temp1", "temp1_input", kind)
}

fn powers(chip: &Path, boundary: &str) -> Option<Sensor> {
    let kind = || Kind::Power {
        boundary: boundary.to_owned(),
    };
    sensor(chip, "power1", "power1_average", kind())
        .or_else(|| sensor(chip, "power1", "power1_input", kind()))
}

fn sensor(chip: &Path, stem: &str, input: &str, kind: Kind) -> Option<Sensor> {
    let input = chip.join(input);
    let label = text(&chip.join(format!("{stem}_label"))).unwrap_or_else(|| stem.to_owned());
    let chip_name = text(&chip.join("name")).unwrap_or_else(|| name(chip));
    input.exists().then(|| Sensor {
        label: format!("{chip_name} {label}"),
        input,
        kind,
        last: AtomicI64::new(UNKNOWN),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake_host::FakeHost;
    use super::*;

    fn disk(host: &FakeHost) -> PathBuf {
        host.root().path("sys/dev/block/259:0").canonicalize().unwrap()
    }

    #[test]
    fn a_drive_reports_its_temperature_and_limit() {
        let host = FakeHost::new();
        host.nvme();
        host.nvme_sensor("temp1_input", "38850");
        host.nvme_sensor("temp1_label", "Composite");
        host.nvme_sensor("temp1_max", "81850");
        let disk = disk(&host);
        let sensors = Sensors::watch(&host.root(), [disk.as_path()].into_iter());
        let found = serde_json::to_value(sensors.temperatures(&disk)).unwrap();
        let expected =
            serde_json::json!({"sensor": "nvme Composite", "celsius": "38.9", "limit_celsius": "81.8"});
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sensor_that_cannot_be_read_is_null() {
        let host = FakeHost::new();
        host.nvme();
        host.nvme_sensor("temp1_input", "");
        let disk = disk(&host);
        let sensors = Sensors::watch(&host.root(), [disk.as_path()].into_iter());
        assert_eq!(sensors.temperatures(&disk).unwrap().celsius, None);
        assert_eq!(sensors.temperatures(Path::new("/other")), None);
    }

    #[test]
    fn power_sensors_are_named_by_their_boundary() {
        let host = FakeHost::new();
        host.write("sys/class/hwmon/hwmon0/name", "ina3221");
        host.write("sys/class/hwmon/hwmon0/power1_input", "12500000");
        let sensors = Sensors::watch(&host.root(), std::iter::empty());
        let found = serde_json::to_value(sensors.power()).unwrap();
        assert_eq!(
            found,
            serde_json::json!([{"sensor": "ina3221 power1", "boundary": "chip ina3221", "watts": "12.50"}])
        );
    }
}
