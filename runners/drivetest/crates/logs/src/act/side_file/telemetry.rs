//! Telemetry of host and drives over the intervals of a run: minimum, mean and maximum.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::records::{decimal, list, text};

/// Maximum number of stored disks.
const DISKS_MAX: usize = 64;
/// Maximum number of stored devices per disk.
const DEVICES_MAX: usize = 16;
/// Maximum number of stored kinds of power; there are five.
const BOUNDARIES_MAX: usize = 16;
/// Load above which processors count as busy, as in the summary of a run.
const BUSY_PCT: f64 = 90.0;
/// Share of processor time that a hypervisor may give to other machines without a finding.
const STOLEN_PCT: f64 = 1.0;

/// Minimum, mean and maximum of the intervals with a value; in JSON texts with the places, or null without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span<const PLACES: usize> {
    count: u64,
    sum: f64,
    least: f64,
    greatest: f64,
}

/// Minimum, mean and maximum, decimals as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpanTexts {
    /// Minimum.
    pub min: String,
    /// Mean of the intervals with a value.
    pub mean: String,
    /// Maximum.
    pub max: String,
}

impl<const PLACES: usize> Span<PLACES> {
    fn add(&mut self, value: Option<f64>) {
        let Some(value) = value else { return };
        let (least, greatest) = if self.count == 0 {
            (value, value)
        } else {
            (self.least, self.greatest)
        };
        (self.least, self.greatest) = (least.min(value), greatest.max(value));
        self.count += 1;
        self.sum += value;
    }

    /// Return the decimals as text; `None` without a value.
    pub fn texts(&self) -> Option<SpanTexts> {
        let shown = |value: f64| format!("{value:.PLACES$}");
        (self.count > 0).then(|| SpanTexts {
            min: shown(self.least),
            mean: shown(self.sum / self.count as f64),
            max: shown(self.greatest),
        })
    }
}

impl<const PLACES: usize> Serialize for Span<PLACES> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.texts().serialize(serializer)
    }
}

/// Telemetry of one disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Disk {
    /// Kernel name.
    pub disk: String,
    /// Devices of the load on it.
    pub devices: Vec<String>,
    /// Temperature that the disk reports.
    pub temperature_c: Span<1>,
    /// Warning limit of the disk.
    pub temperature_limit_c: Option<String>,
    /// Share of time with requests in flight.
    pub busy_pct: Span<1>,
    /// Mean time of an interval's reads.
    pub read_await_us: Span<1>,
    /// Mean time of an interval's writes.
    pub write_await_us: Span<1>,
    /// Read throughput.
    pub read_bytes_per_s: Span<0>,
    /// Write throughput.
    pub write_bytes_per_s: Span<0>,
}

/// Power of one kind of component.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Power {
    /// Component: `drive`, `package` (processors), `memory`, `platform`, or a chip by its name.
    pub boundary: String,
    /// Sum of all its sensors.
    pub watts: Span<2>,
}

/// Telemetry of a run, interval by interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Telemetry {
    /// Number of intervals.
    pub intervals_count: u64,
    /// Intervals with processors over 90 % busy.
    pub cpu_busy_count: u64,
    /// Intervals with more than 1 % of processor time given to other machines.
    pub cpu_stolen_count: u64,
    /// Load of all processors together.
    pub cpu_busy_pct: Span<1>,
    /// Idle time with I/O in flight.
    pub cpu_iowait_pct: Span<1>,
    /// Time that the hypervisor gave to other machines.
    pub cpu_steal_pct: Span<1>,
    /// Load of the program, in percent of one processor.
    pub generator_cpu_pct: Span<1>,
    /// Number of disks, including those beyond the list.
    pub disks_count: u64,
    /// First disks.
    pub disks: Vec<Disk>,
    /// Power, if the machine measures it.
    pub power: Vec<Power>,
}

impl Telemetry {
    /// Add the telemetry of an interval.
    pub fn take(&mut self, record: &Value) {
        self.intervals_count += 1;
        let cpu = |key: &str| record.get("cpu").and_then(|cpu| decimal(cpu, key));
        let (busy, steal) = (cpu("busy_pct"), cpu("steal_pct"));
        self.cpu_busy_count += u64::from(busy.is_some_and(|busy| busy > BUSY_PCT));
        self.cpu_stolen_count += u64::from(steal.is_some_and(|steal| steal > STOLEN_PCT));
        self.cpu_busy_pct.add(busy);
        self.cpu_iowait_pct.add(cpu("iowait_pct"));
        self.cpu_steal_pct.add(steal);
        let generator = record.get("generator");
        let generator_pct = generator.and_then(|program| decimal(program, "cpu_pct"));
        self.generator_cpu_pct.add(generator_pct);
        let disks = list(record, "disks");
        self.disks_count = self.disks_count.max(disks.len() as u64);
        disks.iter().for_each(|disk| self.take_disk(disk));
        self.take_power(list(record, "power"));
    }

    /// Add the power of an interval. Sensors of one kind add up; if one has no value, the sum is unknown.
    fn take_power(&mut self, sensors: &[Value]) {
        let mut sums: Vec<(String, Option<f64>)> = Vec::new();
        for sensor in sensors {
            let Some(boundary) = text(sensor, "boundary") else {
                continue;
            };
            let watts = decimal(sensor, "watts");
            let has_room = sums.len() < BOUNDARIES_MAX;
            match sums.iter_mut().find(|(known, _)| *known == boundary) {
                Some((_, sum)) => *sum = sum.zip(watts).map(|(sum, watts)| sum + watts),
                None if has_room => sums.push((boundary, watts)),
                None => {}
            }
        }
        for (boundary, sum) in sums {
            let known = self.power.iter().position(|power| power.boundary == boundary);
            let place = known.unwrap_or(self.power.len());
            if place >= BOUNDARIES_MAX {
                continue;
            }
            if known.is_none() {
                let watts = Span::default();
                self.power.push(Power { boundary, watts });
            }
            self.power[place].watts.add(sum);
        }
    }

    fn take_disk(&mut self, record: &Value) {
        let Some(name) = text(record, "disk") else { return };
        let place = self.disks.iter().position(|known| known.disk == name);
        let place = place.unwrap_or(self.disks.len());
        if place >= DISKS_MAX {
            return;
        }
        if place == self.disks.len() {
            let devices = list(record, "devices").iter().filter_map(Value::as_str);
            self.disks.push(Disk {
                disk: name,
                devices: devices.take(DEVICES_MAX).map(super::records::bounded).collect(),
                ..Disk::default()
            });
        }
        self.disks[place].take(record);
    }

    /// Return the telemetry, without kinds of power that have no value; `None` without intervals.
    pub fn known(mut self) -> Option<Self> {
        self.power.retain(|power| power.watts.count > 0);
        (self.intervals_count > 0).then_some(self)
    }

    /// Return the disks that reached their warning limit, with maximum temperature and limit.
    pub fn hot(&self) -> impl Iterator<Item = (&str, f64, &str)> {
        self.disks.iter().filter_map(|disk| {
            let (span, limit) = (&disk.temperature_c, disk.temperature_limit_c.as_deref()?);
            let is_hot = span.count > 0 && span.greatest >= limit.parse().ok()?;
            is_hot.then_some((disk.disk.as_str(), span.greatest, limit))
        })
    }
}

impl Disk {
    fn take(&mut self, record: &Value) {
        if let Some(temperature) = record.get("temperature") {
            self.temperature_c.add(decimal(temperature, "celsius"));
            let limit = text(temperature, "limit_celsius");
            self.temperature_limit_c = limit.or(self.temperature_limit_c.take());
        }
        let Some(io) = record.get("io") else { return };
        self.busy_pct.add(decimal(io, "busy_pct"));
        self.read_await_us.add(decimal(io, "read_await_us"));
        self.write_await_us.add(decimal(io, "write_await_us"));
        self.read_bytes_per_s.add(decimal(io, "read_bytes_per_s"));
        self.write_bytes_per_s.add(decimal(io, "write_bytes_per_s"));
    }
}
