//! Power of the processors, from the energy counters (RAPL) of the kernel's powercap class.

use std::path::PathBuf;

use serde::Serialize;

use super::{Root, directories, name, number, text};
use crate::clock::Nanos;
use crate::report::rounded::Rounded;

/// A power sensor and its value.
#[derive(Debug, PartialEq, Serialize)]
pub struct PowerRecord {
    /// The kernel's name of the sensor.
    pub sensor: String,
    /// The measured part: `package` (a processor, never a drive), `memory`, `platform`, `drive`, or the name of a
    /// chip.
    pub boundary: String,
    /// Mean of the interval, or a value of the sensor that is at most 10 s old.
    pub watts: Option<Rounded>,
}

#[derive(Debug)]
struct Zone {
    directory: PathBuf,
    boundary: &'static str,
    /// The counter wraps around at this value.
    most_uj: Option<i64>,
    last_uj: Option<i64>,
}

/// The zones. They do not overlap, except that some processors include memory in their package.
#[derive(Debug)]
pub(super) struct Energies(Vec<Zone>);

impl Energies {
    pub fn find(root: &Root) -> Self {
        let zones = directories(&root.path("sys/class/powercap"));
        Self(zones.into_iter().filter_map(zone).collect())
    }

    pub fn sample(&mut self, length: Nanos) -> Vec<PowerRecord> {
        self.0.iter_mut().map(|zone| zone.sample(length)).collect()
    }
}

/// Creates a zone. Names are those of Documentation/power/powercap/powercap.rst; `core` and `uncore` are parts of
/// their package.
fn zone(directory: PathBuf) -> Option<Zone> {
    let boundary = match text(&directory.join("name"))?.as_str() {
        package if package.starts_with("package") => "package",
        "dram" => "memory",
        "psys" => "platform",
        _ => return None,
    };
    let last_uj = number(&directory.join("energy_uj"))?;
    Some(Zone {
        boundary,
        most_uj: number(&directory.join("max_energy_range_uj")),
        last_uj: Some(last_uj),
        directory,
    })
}

impl Zone {
    fn sample(&mut self, length: Nanos) -> PowerRecord {
        let now = number(&self.directory.join("energy_uj"));
        let used = self
            .last_uj
            .zip(now)
            .and_then(|(earlier, now)| self.used_uj(earlier, now));
        self.last_uj = now;
        PowerRecord {
            sensor: name(&self.directory),
            boundary: self.boundary.to_owned(),
            watts: used.and_then(|uj| Rounded::new(uj as f64 * 1e3 / length.0 as f64, 2)),
        }
    }

    fn used_uj(&self, earlier: i64, now: i64) -> Option<i64> {
        match now >= earlier {
            true => Some(now - earlier),
            false => Some(self.most_uj? - earlier + now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake_host::FakeHost;
    use super::*;

    fn host(energy_uj: &str) -> FakeHost {
        let host = FakeHost::new();
        let zones = [
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:0:0", "core"),
            ("intel-rapl:0:1", "dram"),
        ];
        for (zone, name) in zones {
            host.write(&format!("sys/class/powercap/{zone}/name"), name);
            host.write(&format!("sys/class/powercap/{zone}/energy_uj"), energy_uj);
            host.write(
                &format!("sys/class/powercap/{zone}/max_energy_range_uj"),
                "262143328850",
            );
        }
        host.write("sys/class/powercap/intel-rapl/enabled", "1");
        host
    }

    fn watts(host: &FakeHost, energies: &mut Energies, energy_uj: &str) -> Option<String> {
        host.write("sys/class/powercap/intel-rapl:0/energy_uj", energy_uj);
        let records = energies.sample(Nanos::from_s(2));
        Some(records[0].watts?.to_string())
    }

    #[test]
    fn power_is_energy_over_time_with_its_boundary() {
        let host = host("1000000");
        let mut energies = Energies::find(&host.root());
        assert_eq!(watts(&host, &mut energies, "71000000").as_deref(), Some("35.00"));
        let named: Vec<_> = energies
            .sample(Nanos::from_s(2))
            .into_iter()
            .map(|record| (record.sensor, record.boundary))
            .collect();
        let expected = [("intel-rapl:0", "package"), ("intel-rapl:0:1", "memory")];
        assert_eq!(
            named,
            expected.map(|(sensor, boundary)| (sensor.to_owned(), boundary.to_owned()))
        );
    }

    #[test]
    fn a_counter_may_wrap_around() {
        let host = host("262143000000");
        let mut energies = Energies::find(&host.root());
        // 328,850 uJ to the end and 1,671,150 from the start: 2 J in 2 s.
        assert_eq!(watts(&host, &mut energies, "1671150").as_deref(), Some("1.00"));
    }

    #[test]
    fn a_counter_without_permission_is_left_out() {
        let host = host("no number");
        assert!(Energies::find(&host.root()).sample(Nanos::from_s(1)).is_empty());
    }
}
