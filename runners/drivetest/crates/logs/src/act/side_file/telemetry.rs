//! Telemetry of host and drives over the intervals of a run: minimum, mean and maximum.

use serde::Serialize;
use serde_json::Value;

use super::fields::{decimal, list, text};

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

/// Minimum, mean and maximum, decimals as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Minimum.
    pub min: String,
    /// Mean of the intervals with a value.
    pub mean: String,
    /// Maximum.
    pub max: String,
}

/// Accumulator of a span.
#[derive(Clone, Copy, Debug, Default)]
struct SpanAccumulator {
    count: u64,
    sum: f64,
    least: f64,
    greatest: f64,
}

impl SpanAccumulator {
    fn add(&mut self, value: Option<f64>) {
        let Some(value) = value else { return };
        let is_first = self.count == 0;
        self.least = if is_first { value } else { self.least.min(value) };
        self.greatest = if is_first { value } else { self.greatest.max(value) };
        self.count += 1;
        self.sum += value;
    }

    fn span(&self, places: usize) -> Option<Span> {
        let shown = |value: f64| format!("{value:.places$}");
        (self.count > 0).then(|| Span {
            min: shown(self.least),
            mean: shown(self.sum / self.count as f64),
            max: shown(self.greatest),
        })
    }
}

/// Telemetry of one disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Kernel name.
    pub disk: String,
    /// Devices of the load on it.
    pub devices: Vec<String>,
    /// Temperature that the disk reports.
    pub temperature_c: Option<Span>,
    /// Warning limit of the disk.
    pub temperature_limit_c: Option<String>,
    /// Share of time with requests in flight.
    pub busy_pct: Option<Span>,
    /// Mean time of an interval's reads.
    pub read_await_us: Option<Span>,
    /// Mean time of an interval's writes.
    pub write_await_us: Option<Span>,
    /// Read throughput.
    pub read_bytes_per_s: Option<Span>,
    /// Write throughput.
    pub write_bytes_per_s: Option<Span>,
}

/// Power of one kind of component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Power {
    /// Component: `drive`, `package` (processors), `memory`, `platform`, or a chip by its name.
    pub boundary: String,
    /// Sum of all its sensors.
    pub watts: Span,
}

/// Summary of the telemetry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Telemetry {
    /// Number of intervals.
    pub intervals_count: u64,
    /// Intervals with processors over 90 % busy.
    pub cpu_busy_count: u64,
    /// Intervals with more than 1 % of processor time given to other machines.
    pub cpu_stolen_count: u64,
    /// Load of all processors together.
    pub cpu_busy_pct: Option<Span>,
    /// Idle time with I/O in flight.
    pub cpu_iowait_pct: Option<Span>,
    /// Time that the hypervisor gave to other machines.
    pub cpu_steal_pct: Option<Span>,
    /// Load of the program, in percent of one processor.
    pub generator_cpu_pct: Option<Span>,
    /// Number of disks, including those beyond the list.
    pub disks_count: u64,
    /// First disks.
    pub disks: Vec<Disk>,
    /// Power, if the machine measures it.
    pub power: Vec<Power>,
}

#[derive(Clone, Debug, Default)]
struct DiskAccumulator {
    disk: String,
    devices: Vec<String>,
    limit: Option<String>,
    temperature: SpanAccumulator,
    busy: SpanAccumulator,
    awaits: [SpanAccumulator; 2],
    rates: [SpanAccumulator; 2],
}

/// Accumulator of the telemetry.
#[derive(Debug, Default)]
pub struct TelemetryAccumulator {
    intervals_count: u64,
    busy_count: u64,
    stolen_count: u64,
    busy: SpanAccumulator,
    iowait: SpanAccumulator,
    steal: SpanAccumulator,
    generator: SpanAccumulator,
    disks_count: u64,
    disks: Vec<DiskAccumulator>,
    power: Vec<(String, SpanAccumulator)>,
}

impl TelemetryAccumulator {
    /// Add the telemetry of an interval.
    pub fn take(&mut self, record: &Value) {
        self.intervals_count += 1;
        let cpu = |key: &str| record.get("cpu").and_then(|cpu| decimal(cpu, key));
        let (busy, steal) = (cpu("busy_pct"), cpu("steal_pct"));
        self.busy_count += u64::from(busy.is_some_and(|busy| busy > BUSY_PCT));
        self.stolen_count += u64::from(steal.is_some_and(|steal| steal > STOLEN_PCT));
        self.busy.add(busy);
        self.iowait.add(cpu("iowait_pct"));
        self.steal.add(steal);
        self.generator.add(
            record
                .get("generator")
                .and_then(|program| decimal(program, "cpu_pct")),
        );
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
            let Some(place) = place_of(&sums, &boundary) else {
                continue;
            };
            match sums.get_mut(place) {
                Some((_, sum)) => *sum = sum.zip(watts).map(|(sum, watts)| sum + watts),
                None => sums.push((boundary, watts)),
            }
        }
        for (boundary, sum) in sums {
            let Some(place) = place_of(&self.power, &boundary) else {
                continue;
            };
            if place == self.power.len() {
                self.power.push((boundary, SpanAccumulator::default()));
            }
            self.power[place].1.add(sum);
        }
    }

    fn take_disk(&mut self, record: &Value) {
        let Some(name) = text(record, "disk") else { return };
        let place = self.disks.iter().position(|known| known.disk == name);
        let place = place.unwrap_or(self.disks.len());
        if place == self.disks.len() {
            if place >= DISKS_MAX {
                return;
            }
            self.disks.push(DiskAccumulator::new(name, record));
        }
        self.disks[place].take(record);
    }

    /// Return the summary; `None` without intervals.
    pub fn summary(&self) -> Option<Telemetry> {
        (self.intervals_count > 0).then(|| Telemetry {
            intervals_count: self.intervals_count,
            cpu_busy_count: self.busy_count,
            cpu_stolen_count: self.stolen_count,
            cpu_busy_pct: self.busy.span(1),
            cpu_iowait_pct: self.iowait.span(1),
            cpu_steal_pct: self.steal.span(1),
            generator_cpu_pct: self.generator.span(1),
            disks_count: self.disks_count,
            disks: self.disks.iter().map(DiskAccumulator::summary).collect(),
            power: self.power.iter().filter_map(power).collect(),
        })
    }

    /// Return the disks that reached their warning limit, with maximum temperature and limit.
    pub fn hot(&self) -> impl Iterator<Item = (&str, f64, &str)> {
        self.disks.iter().filter_map(|disk| {
            let limit = disk.limit.as_deref()?;
            let is_hot = disk.temperature.count > 0 && disk.temperature.greatest >= limit.parse().ok()?;
            is_hot.then_some((disk.disk.as_str(), disk.temperature.greatest, limit))
        })
    }
}

/// Return the index of a kind of power, or the next free index; `None` if there are too many.
fn place_of<T>(known: &[(String, T)], boundary: &str) -> Option<usize> {
    let place = known.iter().position(|(known, _)| known == boundary);
    place.or((known.len() < BOUNDARIES_MAX).then_some(known.len()))
}

fn power((boundary, accumulated): &(String, SpanAccumulator)) -> Option<Power> {
    let (boundary, watts) = (boundary.clone(), accumulated.span(2)?);
    Some(Power { boundary, watts })
}

impl DiskAccumulator {
    fn new(disk: String, record: &Value) -> Self {
        let devices = list(record, "devices").iter().filter_map(Value::as_str);
        Self {
            disk,
            devices: devices.take(DEVICES_MAX).map(super::fields::bounded).collect(),
            ..Self::default()
        }
    }

    fn take(&mut self, record: &Value) {
        if let Some(temperature) = record.get("temperature") {
            self.temperature.add(decimal(temperature, "celsius"));
            self.limit = text(temperature, "limit_celsius").or(self.limit.take());
        }
        let Some(io) = record.get("io") else { return };
        self.busy.add(decimal(io, "busy_pct"));
        self.awaits[0].add(decimal(io, "read_await_us"));
        self.awaits[1].add(decimal(io, "write_await_us"));
        self.rates[0].add(decimal(io, "read_bytes_per_s"));
        self.rates[1].add(decimal(io, "write_bytes_per_s"));
    }

    fn summary(&self) -> Disk {
        Disk {
            disk: self.disk.clone(),
            devices: self.devices.clone(),
            temperature_c: self.temperature.span(1),
            temperature_limit_c: self.limit.clone(),
            busy_pct: self.busy.span(1),
            read_await_us: self.awaits[0].span(1),
            write_await_us: self.awaits[1].span(1),
            read_bytes_per_s: self.rates[0].span(0),
            write_bytes_per_s: self.rates[1].span(0),
        }
    }
}
