//! What the host and the drives told in the intervals of a run: the least, the mean and the greatest of each.

use serde::Serialize;
use serde_json::Value;

use super::fields::{decimal, list, text};

/// Disks that are kept.
const DISKS_MAX: usize = 64;
/// Devices of a disk that are kept.
const DEVICES_MAX: usize = 16;
/// Kinds of power that are kept; there are five.
const BOUNDARIES_MAX: usize = 16;
/// Processors so busy are said to be busy, as the summary of a run says.
const BUSY_PCT: f64 = 90.0;
/// What a hypervisor may give to others without a word.
const STOLEN_PCT: f64 = 1.0;

/// Least, mean and greatest, decimals in text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The least.
    pub min: String,
    /// Over the intervals that tell it.
    pub mean: String,
    /// The greatest.
    pub max: String,
}

/// A span while intervals come.
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

/// One disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// The kernel's name.
    pub disk: String,
    /// Devices of the load on it.
    pub devices: Vec<String>,
    /// Its own reading.
    pub temperature_c: Option<Span>,
    /// Where it warns.
    pub temperature_limit_c: Option<String>,
    /// Share of the time in which a request was out.
    pub busy_pct: Option<Span>,
    /// Mean time of an interval's reads.
    pub read_await_us: Option<Span>,
    /// Mean time of an interval's writes.
    pub write_await_us: Option<Span>,
    /// Throughput.
    pub read_bytes_per_s: Option<Span>,
    /// Throughput.
    pub write_bytes_per_s: Option<Span>,
}

/// The power of one kind of thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Power {
    /// What is within: `drive`, `package` (processors), `memory`, `platform`, or a chip by its name.
    pub boundary: String,
    /// Of all its sensors together.
    pub watts: Span,
}

/// What was told, in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Telemetry {
    /// Intervals.
    pub intervals_count: u64,
    /// Of these with processors that were over 90 % busy.
    pub cpu_busy_count: u64,
    /// Of these with more than 1 % of the processors given to others.
    pub cpu_stolen_count: u64,
    /// All processors together.
    pub cpu_busy_pct: Option<Span>,
    /// Idle while I/O was out.
    pub cpu_iowait_pct: Option<Span>,
    /// Given to others by the hypervisor.
    pub cpu_steal_pct: Option<Span>,
    /// Of the program, of one processor.
    pub generator_cpu_pct: Option<Span>,
    /// Disks of an interval, also those left out of the list.
    pub disks_count: u64,
    /// The first of them.
    pub disks: Vec<Disk>,
    /// Power, where the machine measures any.
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

/// Telemetry while intervals come.
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
    /// Takes the telemetry of an interval.
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

    /// Sensors of one kind add up; where one of them is silent, the sum of that interval is not known.
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

    /// In short; None where there was no interval.
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

    /// Disks that were as hot as where they warn, each with its greatest temperature and that limit.
    pub fn hot(&self) -> impl Iterator<Item = (&str, f64, &str)> {
        self.disks.iter().filter_map(|disk| {
            let limit = disk.limit.as_deref()?;
            let is_hot = disk.temperature.count > 0 && disk.temperature.greatest >= limit.parse().ok()?;
            is_hot.then_some((disk.disk.as_str(), disk.temperature.greatest, limit))
        })
    }
}

/// Where a kind of power is kept, or will be; None where there are too many of them.
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
