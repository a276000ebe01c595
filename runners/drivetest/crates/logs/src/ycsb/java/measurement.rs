//! Names of measurements, and the type of a run's measurement, from its rows, or from the command line if the rows do not
//! show it. A row named by a number is a bucket in ms, a value in us, or a time in ms, by this type alone.
//!
//! Source: YCSB, OneMeasurementHdrHistogram.java, OneMeasurementHistogram.java, OneMeasurementRaw.java.

use crate::ycsb::common::number;
use crate::ycsb::java::metric::Recorder;
use crate::ycsb::java::operations::Rows;
use crate::ycsb::settings::Settings;

/// The unit in a row's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds.
    Us,
    /// Milliseconds, as up to 0.3.
    Ms,
}

/// The measurements of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measurement {
    /// Number of operations.
    Operations,
    /// Their mean time.
    Mean(Unit),
    /// The shortest.
    Min(Unit),
    /// The longest.
    Max(Unit),
    /// Variance in us squared, independent of the unit in the name.
    Variance,
    /// The percentile of a decimal: `99.9`.
    Percentile(String, Unit),
    /// Number of operations with this status.
    Return(String),
    /// The heading of a raw summary.
    Heading,
}

const RAW_HEADING: &str = "Below is a summary of latency in microseconds:";

/// Read a name; `None` if it is unknown.
pub fn parse(name: &str) -> Option<Measurement> {
    use Measurement as M;
    Some(match name {
        "Operations" | "Total Operations" => M::Operations,
        "Average" => M::Mean(Unit::Us),
        "Min" => M::Min(Unit::Us),
        "Max" => M::Max(Unit::Us),
        RAW_HEADING => M::Heading,
        _ => return plain(name).or_else(|| with_unit(name)),
    })
}

fn plain(name: &str) -> Option<Measurement> {
    if let Some(status) = name.strip_prefix("Return=") {
        return Some(Measurement::Return(status.to_owned()));
    }
    percentile(name.strip_prefix('p')?, Unit::Us)
}

fn with_unit(name: &str) -> Option<Measurement> {
    let (name, unit) = match name.strip_suffix("(us)") {
        Some(name) => (name, Unit::Us),
        None => (name.strip_suffix("(ms)")?, Unit::Ms),
    };
    Some(match name {
        "AverageLatency" => Measurement::Mean(unit),
        "MinLatency" => Measurement::Min(unit),
        "MaxLatency" => Measurement::Max(unit),
        "LatencyVariance" => Measurement::Variance,
        _ => return percentile(name.strip_suffix("PercentileLatency")?, unit),
    })
}

fn percentile(share: &str, unit: Unit) -> Option<Measurement> {
    let endings = ["st", "nd", "rd", "th"];
    let without_ending = endings.iter().find_map(|end| share.strip_suffix(end));
    let share = without_ending.unwrap_or(share);
    let plain = share.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let within = |share: &f64| plain && (0.0..=100.0).contains(share);
    share.parse().ok().filter(within)?;
    Some(Measurement::Percentile(share.to_owned(), unit))
}

/// The type of a run's measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasurementType {
    /// `hdrhistogram`, `histogram`, `timeseries`, `raw`, or two of them; `None` if unknown.
    pub measurement: Option<&'static str>,
    /// HdrHistogram of 0.2 and 0.3.
    pub is_first_hdr: bool,
}

const KNOWN: [&str; 6] = [
    "hdrhistogram",
    "histogram",
    "timeseries",
    "raw",
    "hdrhistogram+histogram",
    "hdrhistogram+raw",
];

/// Return the type of a run's measurement.
pub fn type_of(rows: &[Rows<'_>], settings: &Settings, version: Option<&str>) -> MeasurementType {
    let timed: Vec<&Rows<'_>> = rows.iter().filter(|rows| has_operations(rows)).collect();
    let is_first_hdr = |rows: &&Rows<'_>| in_ms(rows) && rows.is_counted_in_doubles();
    let configured = settings.get("measurementtype");
    let configured = KNOWN.into_iter().find(|known| Some(*known) == configured);
    let of_rows = of_two(&timed).or_else(|| of_names(&timed));
    let printed = of_rows.or_else(|| of_percentiles(&timed, version));
    MeasurementType {
        measurement: printed.or(configured),
        is_first_hdr: timed.iter().any(is_first_hdr),
    }
}

fn has_operations(rows: &Rows<'_>) -> bool {
    let ops = rows.find(|measurement| *measurement == Measurement::Operations);
    ops.is_none_or(|row| number::count(&row.value) != Some(0))
}

fn in_ms(rows: &Rows<'_>) -> bool {
    rows.percentiles().any(|(_, unit, _)| unit == Unit::Ms)
}

fn of_two(timed: &[&Rows<'_>]) -> Option<&'static str> {
    let has = |recorder| timed.iter().any(|rows| rows.name.recorder == Some(recorder));
    match (has(Recorder::Hdr), has(Recorder::Histogram), has(Recorder::Raw)) {
        (true, true, false) => Some("hdrhistogram+histogram"),
        (true, false, true) => Some("hdrhistogram+raw"),
        _ => None,
    }
}

fn of_names(timed: &[&Rows<'_>]) -> Option<&'static str> {
    let any = |wanted: &dyn Fn(&Measurement) -> bool| timed.iter().any(|rows| rows.find(wanted).is_some());
    let mut cells = timed.iter().flat_map(|rows| &rows.metric.cells).peekable();
    let has_cells = cells.peek().is_some();
    let has_beyond = cells.any(|cell| cell.is_beyond);
    let has_percentiles = any(&|measurement| matches!(measurement, Measurement::Percentile(..)));
    if any(&|measurement| *measurement == Measurement::Heading) {
        Some("raw")
    } else if any(&|measurement| *measurement == Measurement::Variance) || has_beyond {
        Some("histogram")
    } else {
        (has_cells && !has_percentiles).then_some("timeseries")
    }
}

/// Return the type by the form of the rows. The histogram prints the 95th and 99th percentile in whole milliseconds, since 0.6
/// with a variance. HdrHistogram up to 0.3 counts in doubles.
fn of_percentiles(timed: &[&Rows<'_>], version: Option<&str>) -> Option<&'static str> {
    let mut all = timed.iter().flat_map(|rows| rows.percentiles()).peekable();
    all.peek()?;
    if let Some(rows) = timed.iter().find(|rows| in_ms(rows)) {
        let is_hdr = rows.is_counted_in_doubles();
        return Some(if is_hdr { "hdrhistogram" } else { "histogram" });
    }
    let mut finer = all.filter(|(share, _, row)| {
        let is_whole_ms = number::count(&row.value).is_some_and(|us| us % 1000 == 0);
        !matches!(*share, "95" | "99") || !is_whole_ms
    });
    // Versions before 0.8 call themselves 0.1.
    let has_variance = version.is_some_and(|version| version != super::build_run::HIDDEN_VERSION);
    (finer.next().is_some() || has_variance).then_some("hdrhistogram")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ordinals_or_plain_decimals() {
        let share = |name: &str| match parse(name) {
            Some(Measurement::Percentile(share, Unit::Us)) => share,
            other => format!("{other:?}"),
        };
        let named = ["95th", "1st", "2nd", "3rd", "99.9", "99.999", "100th", "0th"];
        let read = named.map(|name| share(&format!("{name}PercentileLatency(us)")));
        assert_eq!(read, ["95", "1", "2", "3", "99.9", "99.999", "100", "0"]);
        assert_eq!(share("p99.99"), "99.99");
        assert_eq!(parse("101stPercentileLatency(us)"), None);
        assert_eq!(parse("p"), None);
    }

    #[test]
    fn the_unit_is_that_of_the_name() {
        let ms = Measurement::Percentile("95".to_owned(), Unit::Ms);
        assert_eq!(parse("95thPercentileLatency(ms)"), Some(ms));
        assert_eq!(parse("AverageLatency(ms)"), Some(Measurement::Mean(Unit::Ms)));
        assert_eq!(parse("AverageLatency(s)"), None);
    }

    #[test]
    fn numbers_name_cells_not_measurements() {
        assert_eq!(parse("0"), None);
        assert_eq!(parse(">1000"), None);
        assert_eq!(parse("-1"), None);
        assert_eq!(parse("18446744073709551616"), None);
    }
}
