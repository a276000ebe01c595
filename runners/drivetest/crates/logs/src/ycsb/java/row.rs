//! One row of YCSB's text exporter: `[METRIC], MEASUREMENT, VALUE`.
//!
//! Source: YCSB, TextMeasurementsExporter.write().

use crate::ycsb::common::number;

/// The longest name and number that is one; YCSB's have some dozen bytes.
const NAME_BYTES_MAX: usize = 128;

/// A row: what a metric's measurement was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// `OVERALL`, `READ`, `UPDATE-FAILED` ...
    pub metric: &'a str,
    /// `Operations`, `AverageLatency(us)`, a bucket ...
    pub measurement: &'a str,
    /// A number as printed; `NaN` where there is none.
    pub value: &'a str,
}

/// A line that begins as a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// It is one.
    Row(Row<'a>),
    /// It is broken off or damaged.
    Broken,
}

/// Read a line; `None` if it is no row at all, as the lines of bindings (`[Thread-1] INFO ...`).
pub fn parse(text: &str) -> Option<Shape<'_>> {
    let (metric, rest) = text.strip_prefix('[')?.split_once(']')?;
    let rest = rest.strip_prefix(',').filter(|_| is_metric(metric))?;
    let cells = rest.strip_prefix(' ').and_then(|rest| rest.rsplit_once(", "));
    Some(match cells {
        Some((measurement, value)) if is_name(measurement) && is_value(value) => Shape::Row(Row {
            metric,
            measurement,
            value,
        }),
        _ => Shape::Broken,
    })
}

fn is_metric(metric: &str) -> bool {
    !metric.is_empty() && metric.len() <= NAME_BYTES_MAX && !metric.contains(['[', ' '])
}

fn is_name(measurement: &str) -> bool {
    !measurement.is_empty() && measurement.len() <= NAME_BYTES_MAX
}

/// Return whether a value can stand in a row: a number, or Java's word for none.
pub fn is_value(value: &str) -> bool {
    let is_short = value.len() <= NAME_BYTES_MAX;
    matches!(value, "NaN" | "Infinity" | "-Infinity") || is_short && number::is_number(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_three_cells() {
        let row = |metric, measurement, value| {
            Some(Shape::Row(Row {
                metric,
                measurement,
                value,
            }))
        };
        assert_eq!(
            parse("[OVERALL], RunTime(ms), 1101.0"),
            row("OVERALL", "RunTime(ms)", "1101.0")
        );
        assert_eq!(
            parse("[CLEANUP], Below is a summary of latency in microseconds:, -1"),
            row("CLEANUP", "Below is a summary of latency in microseconds:", "-1")
        );
        assert_eq!(parse("[READ], >1000, 0"), row("READ", ">1000", "0"));
        assert_eq!(
            parse("[READ], AverageLatency(us), NaN"),
            row("READ", "AverageLatency(us)", "NaN")
        );
    }

    #[test]
    fn lines_of_bindings_and_status_are_no_rows() {
        for line in [
            "[Thread-1] INFO a - b",
            "[WARN] x, y",
            "[READ: Count=2, Max=1]",
            "READ, a, 1",
            "",
            "[",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_truncated_row_is_recognized() {
        for line in [
            "[READ],",
            "[READ], Oper",
            "[READ], Operations, ",
            "[READ], Operations, 12x",
        ] {
            assert_eq!(parse(line), Some(Shape::Broken), "{line}");
        }
    }
}
