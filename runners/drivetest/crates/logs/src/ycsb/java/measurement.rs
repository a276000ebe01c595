//! Names of measurements.
//!
//! Source: YCSB, OneMeasurementHdrHistogram.java, OneMeasurementHistogram.java, OneMeasurementRaw.java.

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
