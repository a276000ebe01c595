//! The rows of a metric to an operation, with the unit of each name and the type of the measurement.

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::java::fragment::{Cell, MetricRows, NamedRow};
use crate::ycsb::java::measurement::{self, Measurement, MeasurementType, Unit};
use crate::ycsb::java::metric::{OperationName, Recorder};
use crate::ycsb::rules;
use crate::ycsb::run::{Buckets, Operation, Time};

/// A metric that is an operation, with its parsed rows.
pub struct Rows<'a> {
    /// Its parsed name.
    pub name: OperationName,
    /// Its rows.
    pub metric: &'a MetricRows,
    /// Parsed named rows; the others are reported.
    pub known: Vec<(Measurement, &'a NamedRow)>,
}

impl<'a> Rows<'a> {
    /// Parse the rows of a metric, and report those that are unknown.
    pub fn read(name: OperationName, metric: &'a MetricRows, findings: &mut Findings) -> Self {
        let mut known = Vec::new();
        for row in &metric.named {
            match measurement::parse(&row.measurement) {
                Some(measurement) => known.push((measurement, row)),
                None => findings.add(unknown(&metric.name, row)),
            }
        }
        Self { name, metric, known }
    }

    /// Return the row of a measurement.
    pub fn find(&self, wanted: impl Fn(&Measurement) -> bool) -> Option<&'a NamedRow> {
        let found = self.known.iter().find(|(measurement, _)| wanted(measurement));
        found.map(|(_, row)| *row)
    }

    /// Return the percentiles with their units, as printed.
    pub fn percentiles(&self) -> impl Iterator<Item = (&str, Unit, &'a NamedRow)> {
        self.known
            .iter()
            .filter_map(|(measurement, row)| match measurement {
                Measurement::Percentile(share, unit) => Some((share.as_str(), *unit, *row)),
                _ => None,
            })
    }

    fn ops_row(&self) -> Option<&'a NamedRow> {
        self.find(|measurement| *measurement == Measurement::Operations)
    }

    /// Return whether it was counted in doubles, as HdrHistogram was up to 0.12.
    pub fn is_counted_in_doubles(&self) -> bool {
        self.ops_row().is_some_and(|row| row.value.contains('.'))
    }
}

/// Return a finding about a row with an unknown name.
pub fn unknown(metric: &str, row: &NamedRow) -> crate::finding::Finding {
    let (measurement, value) = (&row.measurement, &row.value);
    let sentence = format!("[{metric}], {measurement}, {value} is no row that is known");
    row.place.finding(&rules::ROW_UNKNOWN, &sentence)
}

/// Return an operation, from its rows; plain names measure `plain_time`.
pub fn operation(rows: &Rows<'_>, kind: MeasurementType, plain_time: Option<Time>) -> Operation {
    let name = &rows.name;
    let ops_count = rows.ops_row().and_then(|row| number::count(&row.value));
    let mut operation = Operation {
        name: name.operation.clone(),
        outcome: name.outcome.clone(),
        time: if name.is_intended {
            Some(Time::Response)
        } else {
            plain_time
        },
        recorder: name.recorder.map(Recorder::measurement),
        is_counted: name.is_counted(),
        is_intended_twin: name.is_intended,
        ops_count,
        returns: returns(rows),
        from: "rows",
        ..Operation::default()
    };
    // Without operations, printed times (0, NaN or 9223372036854775807) are ignored.
    if ops_count != Some(0) {
        take_times(&mut operation, rows, kind);
        take_cells(&mut operation, rows, kind);
    }
    operation
}

impl Recorder {
    /// Return the type of measurement that records.
    pub fn measurement(self) -> &'static str {
        match self {
            Self::Hdr => "hdrhistogram",
            Self::Histogram => "histogram",
            Self::Raw => "raw",
        }
    }
}

fn returns(rows: &Rows<'_>) -> Vec<(String, u64)> {
    let counts = rows
        .known
        .iter()
        .filter_map(|(measurement, row)| match measurement {
            Measurement::Return(status) => Some((status.clone(), number::count(&row.value)?)),
            _ => None,
        });
    counts.collect()
}

fn take_times(operation: &mut Operation, rows: &Rows<'_>, kind: MeasurementType) {
    for (measurement, row) in &rows.known {
        match measurement {
            Measurement::Mean(unit) => operation.mean_us = us(&row.value, *unit),
            Measurement::Min(unit) => operation.min_us = us(&row.value, *unit),
            Measurement::Max(unit) => operation.max_us = us(&row.value, *unit),
            Measurement::Variance => operation.variance_us2 = us(&row.value, Unit::Us),
            _ => {}
        }
    }
    for (share, unit, row) in rows.percentiles() {
        // HdrHistogram of 0.2 and 0.3 prints the 90th percentile as the 95th.
        let share = if kind.is_first_hdr && share == "95" {
            "90"
        } else {
            share
        };
        let time = us(&row.value, unit).map(|time| (share.to_owned(), time));
        operation.percentiles.extend(time);
    }
    let in_ms = rows.percentiles().any(|(_, unit, _)| unit == Unit::Ms);
    let is_floored = in_ms || operation.recorder.or(kind.measurement) == Some("histogram");
    operation.percentiles_floor_us = (is_floored && !operation.percentiles.is_empty()).then_some(1000);
}

/// Return a time in microseconds, as printed if that is its unit; `None` if it is not a number.
fn us(value: &str, unit: Unit) -> Option<String> {
    match unit {
        Unit::Us => number::is_number(value).then(|| value.to_owned()),
        Unit::Ms => number::ms_as_us(value),
    }
}

fn take_cells(operation: &mut Operation, rows: &Rows<'_>, kind: MeasurementType) {
    let cells = &rows.metric.cells;
    if cells.is_empty() {
        return;
    }
    match operation.recorder.or(kind.measurement) {
        Some("timeseries") => operation.series = Some(series(cells)),
        Some("histogram") => operation.buckets = Some(buckets(cells, "ms")),
        Some("hdrhistogram") => operation.buckets = Some(buckets(cells, "us")),
        _ => {}
    }
}

/// Return the time series without repeated entries: YCSB prints the first interval again if a thread was late.
fn series(cells: &[Cell]) -> Vec<(u64, String)> {
    let means = cells.iter().filter(|cell| number::is_number(&cell.value));
    let mut series: Vec<_> = means.map(|cell| (cell.key, cell.value.to_string())).collect();
    series.dedup();
    series
}

fn buckets(cells: &[Cell], unit: &'static str) -> Buckets {
    let counted = |cell: &Cell| Some((cell.key, number::count(&cell.value)?));
    let inside = cells.iter().filter(|cell| !cell.is_beyond).filter_map(counted);
    Buckets {
        unit,
        counts: inside.filter(|(_, count)| *count > 0).collect(),
        beyond: cells.iter().find(|cell| cell.is_beyond).and_then(counted),
    }
}
