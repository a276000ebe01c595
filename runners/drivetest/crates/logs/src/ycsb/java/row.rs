//! Rows of YCSB's exporters: text (`[METRIC], MEASUREMENT, VALUE`) and JSON.
//!
//! JSON is objects after each other, or in an array, each over some lines. Source: YCSB,
//! TextMeasurementsExporter.java, JSONMeasurementsExporter.java, JSONArrayMeasurementsExporter.java.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ycsb::common::number;

/// Maximum length of a name or a number in bytes; those of YCSB have a few dozen.
const NAME_BYTES_MAX: usize = 128;

/// One row: a measurement of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// `OVERALL`, `READ`, `UPDATE-FAILED` ...
    pub metric: &'a str,
    /// `Operations`, `AverageLatency(us)`, a bucket ...
    pub measurement: &'a str,
    /// A number as printed; `NaN` if YCSB has no value.
    pub value: &'a str,
}

/// A line that begins like a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// A complete row.
    Row(Row<'a>),
    /// A truncated or damaged row.
    Broken,
}

/// Read a line; `None` if it does not begin like a row, for example `[Thread-1] INFO ...` of a binding.
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

/// Return whether a text is a value of a row: a number, or one of Java's words such as `NaN`.
fn is_value(value: &str) -> bool {
    let is_short = value.len() <= NAME_BYTES_MAX;
    matches!(value, "NaN" | "Infinity" | "-Infinity") || is_short && number::is_number(value)
}

/// Maximum stored length of an object in bytes; a row has about 100.
const OBJECT_BYTES_MAX: usize = 4096;

/// One row, with its value as printed.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonRow {
    /// As in text.
    pub metric: String,
    /// As in text.
    pub measurement: String,
    /// Without the quotes that 0.17.0 puts around `NaN`.
    pub value: String,
}

#[derive(Deserialize)]
struct Object<'a> {
    metric: String,
    measurement: String,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// Result of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// A row.
    Row(JsonRow),
    /// An incomplete or damaged object of a row.
    Broken,
}

/// Collector of objects from lines. A row contains no other object, so an opening brace inside one begins the next.
#[derive(Debug, Default)]
pub struct Objects {
    begun: String,
    in_string: bool,
    escaped: bool,
}

impl Objects {
    /// Return whether a line may be JSON of an exporter. Only inside an object may the line lack a brace that opens one.
    pub fn takes(&self, line: &str) -> bool {
        let begins = line.trim_start().starts_with(['{', '}', '[', ']', '"']);
        let ends = line.trim_end_matches([' ', ',']).ends_with(['[', '{', '}', ']']);
        let is_text_row = line.starts_with('[') && !ends;
        begins && !is_text_row && (!self.begun.is_empty() || line.contains('{'))
    }

    /// Read a line, and pass the objects that end in it to `each`.
    pub fn take(&mut self, line: &str, mut each: impl FnMut(Found)) {
        for letter in line.chars() {
            let begins = letter == '{' && !self.in_string;
            if begins || self.begun.len() > OBJECT_BYTES_MAX {
                self.let_go().into_iter().for_each(&mut each);
            }
            if self.begun.is_empty() && !begins {
                continue;
            }
            self.begun.push(letter);
            if self.ends_with(letter) {
                read(&self.begun).into_iter().for_each(&mut each);
                self.begun.clear();
            }
        }
        // The exporter never splits a string into two lines, so the end of an open string is missing.
        if self.in_string {
            self.let_go().into_iter().for_each(&mut each);
        }
    }

    /// Drop the open object, because another line or the end follows; return it as broken if it was a row.
    pub fn let_go(&mut self) -> Option<Found> {
        let was_row = self.begun.contains("\"metric\"");
        *self = Self::default();
        was_row.then_some(Found::Broken)
    }

    /// Return whether the object ends with this letter.
    fn ends_with(&mut self, letter: char) -> bool {
        if std::mem::take(&mut self.escaped) {
            return false;
        }
        match letter {
            '\\' => self.escaped = self.in_string,
            '"' => self.in_string = !self.in_string,
            _ => {}
        }
        letter == '}' && !self.in_string
    }
}

fn read(object: &str) -> Option<Found> {
    let broken = || object.contains("\"metric\"").then_some(Found::Broken);
    let read = serde_json::from_str::<Object<'_>>(object).ok();
    let row = read.map(|read| JsonRow {
        metric: read.metric,
        measurement: read.measurement,
        value: read.value.get().trim_matches('"').to_owned(),
    });
    row.filter(|row| is_value(&row.value))
        .map(Found::Row)
        .or_else(broken)
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

    fn found(text: &str) -> Vec<Found> {
        let (mut objects, mut found) = (Objects::default(), Vec::new());
        for line in text.lines().filter(|line| !line.is_empty()) {
            if objects.takes(line) {
                objects.take(line, |one| found.push(one));
            } else {
                found.extend(objects.let_go());
            }
        }
        found.extend(objects.let_go());
        found
    }

    fn json_row(metric: &str, measurement: &str, value: &str) -> Found {
        Found::Row(JsonRow {
            metric: metric.to_owned(),
            measurement: measurement.to_owned(),
            value: value.to_owned(),
        })
    }

    #[test]
    fn objects_after_each_other_and_in_an_array_are_rows() {
        let first =
            "{\n  \"metric\" : \"READ\",\n  \"measurement\" : \"Operations\",\n  \"value\" : 3.0E7\n}";
        let second = " {\n  \"metric\" : \"READ\",\n  \"measurement\" : \">1\",\n  \"value\" : \"NaN\"\n}";
        let expected = [
            json_row("READ", "Operations", "3.0E7"),
            json_row("READ", ">1", "NaN"),
        ];
        assert_eq!(found(&format!("{first}{second}")), expected);
        assert_eq!(found(&format!("[ {first},{second} ]")), expected);
    }

    #[test]
    fn one_line_may_hold_all() {
        let text =
            r#"[{"metric":"A","measurement":"b}\"","value":1},{"metric":"A","measurement":"c","value":-1}]"#;
        assert_eq!(
            found(text),
            [json_row("A", "b}\"", "1"), json_row("A", "c", "-1")]
        );
    }

    #[test]
    fn incomplete_objects_are_reported_and_other_objects_ignored() {
        assert_eq!(found("{ \"metric\" : \"READ\",\nexception"), [Found::Broken]);
        assert_eq!(
            found("{ \"metric\" : \"READ\", \"value\" : true }"),
            [Found::Broken]
        );
        assert_eq!(found("{ \"other\" : 1 }"), []);
        assert_eq!(found("} } ] }"), []);
        assert_eq!(found(&"{\n".repeat(10_000)), []);
        assert_eq!(
            found("{ \"metric\" : \"A\", {\"metric\":\"A\",\"measurement\":\"c\",\"value\":1}")[1],
            json_row("A", "c", "1")
        );
        assert_eq!(
            found(&format!("{{ \"metric\" : \"{}", "x".repeat(9_000))),
            [Found::Broken]
        );
    }
}
