//! Rows of go-ycsb: an operation with its values, plain, of a JSON line, or of a table.
//!
//! Source: go-ycsb, pkg/util/output.go; olekukonko/tablewriter writes the heads of tables in upper case.

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::ycsb::common::number;

/// The longest name of an operation and the most values of a row: real ones have 18 bytes and 12 values.
const NAME_BYTES_MAX: usize = 64;
const VALUES_MAX: usize = 32;

/// Rows of a JSON line or heads of a table that are read.
const ROWS_MAX: usize = 256;

/// One operation, as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// `READ`, `READ_ERROR`, `TOTAL` ...
    pub operation: String,
    /// Heads and values, heads as plain rows have them.
    pub values: Vec<(String, String)>,
}

impl Row {
    /// Return the value under a head.
    pub fn get(&self, head: &str) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known == head);
        found.map(|(_, value)| value.as_str())
    }

    /// Return the number under a head, as printed.
    pub fn number(&self, head: &str) -> Option<String> {
        let value = self.get(head).filter(|value| number::is_number(value));
        value.map(str::to_owned)
    }

    /// Return the row in plain form, with its line end.
    pub fn written(&self) -> String {
        let values = self.values.iter().map(|(head, value)| format!("{head}: {value}"));
        let mut values: Vec<String> = values.collect();
        // JSON sorts its heads; a plain row begins with the time.
        values.sort_by_key(|value| !value.starts_with("Takes(s): "));
        format!("{} - {}\n", self.operation, values.join(", "))
    }

    /// Return the number of operations.
    pub fn ops_count(&self) -> Option<u64> {
        self.get("Count").and_then(number::count)
    }

    /// Return the operations per second since the first of the kind; older releases name it QPS.
    pub fn rate(&self) -> Option<&str> {
        self.get("OPS").or_else(|| self.get("QPS"))
    }
}

/// A line that begins like a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A complete row.
    Row(Row),
    /// A truncated or damaged row.
    Broken,
}

impl Shape {
    /// Return the row of an operation; `values` is `None` if one of them cannot be read.
    fn of(operation: &str, values: Option<Vec<(String, String)>>) -> Self {
        let operation = operation.to_owned();
        values.map_or(Self::Broken, |values| Self::Row(Row { operation, values }))
    }
}

/// Read a plain row; `None` for any other line.
pub fn plain(line: &str) -> Option<Shape> {
    memchr::memchr(b'-', line.as_bytes())?;
    let (operation, values) = line.split_once(" - ")?;
    let operation = operation.trim_end();
    let begins = values.starts_with("Takes(s)") || "Takes(s): ".starts_with(values) && !values.is_empty();
    if !is_operation(operation) || !begins {
        return None;
    }
    let pairs = values.trim_end_matches([',', ' ']).split(", ").take(VALUES_MAX);
    let cells = pairs.map(|pair| pair.split_once(": ").and_then(|(head, value)| cell(head, value)));
    Some(Shape::of(operation, cells.collect()))
}

fn is_operation(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_letter)
}

fn cell(head: &str, value: &str) -> Option<(String, String)> {
    let (head, value) = (head.trim(), value.trim());
    let is_cell = !head.is_empty() && head.len() <= NAME_BYTES_MAX && is_value(value);
    is_cell.then(|| (head.to_owned(), value.to_owned()))
}

/// Return whether a text is a number, or what Go prints instead of one (`NaN`; `+Inf` for a rate over no time).
fn is_value(value: &str) -> bool {
    value.len() <= NAME_BYTES_MAX && (number::is_number(value) || matches!(value, "NaN" | "+Inf" | "-Inf"))
}

/// Return whether a line is JSON.
pub fn begins_json(line: &str) -> bool {
    line.starts_with("[{\"") && line.contains("(us)\":") || line.starts_with("[{\"Operation\":")
}

/// Read a line of JSON, whose values are all text.
pub fn json(line: &str) -> Vec<Shape> {
    #[derive(Deserialize)]
    struct Object(BTreeMap<String, String>);
    let Ok(objects) = serde_json::from_str::<Vec<Object>>(line) else {
        return vec![Shape::Broken];
    };
    let rows = objects.into_iter().take(ROWS_MAX);
    rows.map(|Object(mut values)| {
        let Some(operation) = values.remove("Operation").filter(|name| is_operation(name)) else {
            return Shape::Broken;
        };
        let cells = values.iter().map(|(head, value)| cell(head, value));
        Shape::of(
            &operation,
            cells
                .collect::<Option<_>>()
                .filter(|_| values.len() <= VALUES_MAX),
        )
    })
    .collect()
}

/// The heads of a table that is being read.
#[derive(Clone, Debug, Default)]
pub struct Table {
    heads: Vec<String>,
}

impl Table {
    /// Read a line; `None` if it does not belong to a table, `Some(None)` for the frame and head of one.
    pub fn take(&mut self, line: &str) -> Option<Option<Shape>> {
        if line.starts_with("+-") {
            let is_frame = line.bytes().all(|byte| matches!(byte, b'+' | b'-'));
            return is_frame.then_some(None);
        }
        let inner = line.strip_prefix('|')?;
        let is_head = |first: &str| first.eq_ignore_ascii_case("operation");
        let first = inner.trim_start_matches(|letter: char| letter == '|' || letter.is_whitespace());
        if self.heads.is_empty() && !first.get(..9).is_some_and(is_head) {
            return None;
        }
        let cells = inner.split('|').map(str::trim).take(ROWS_MAX);
        let mut cells: Vec<&str> = cells.collect();
        let is_closed = cells.last().is_some_and(|last| last.is_empty());
        cells.retain(|cell| !cell.is_empty());
        if cells.first().is_some_and(|first| is_head(first)) {
            self.heads = cells.iter().map(|head| written(head)).collect();
            return Some(None);
        }
        (!self.heads.is_empty()).then(|| Some(self.row(&cells, is_closed)))
    }

    fn row(&self, cells: &[&str], is_closed: bool) -> Shape {
        let pairs = self.heads.iter().zip(cells).skip(1);
        match cells.first().filter(|name| is_operation(name)) {
            Some(operation) if is_closed && cells.len() == self.heads.len() => {
                Shape::of(operation, pairs.map(|(head, value)| cell(head, value)).collect())
            }
            _ => Shape::Broken,
        }
    }
}

/// Return a head of a table as plain rows have it: `AVG(US)` is `Avg(us)`.
fn written(head: &str) -> String {
    let lower = head.to_ascii_lowercase();
    if matches!(lower.as_str(), "ops" | "qps") {
        return lower.to_ascii_uppercase();
    }
    let mut letters = lower.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_ascii_uppercase().to_string() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(operation: &str, values: &[(&str, &str)]) -> Shape {
        let values = values
            .iter()
            .map(|(head, value)| ((*head).to_owned(), (*value).to_owned()));
        Shape::Row(Row {
            operation: operation.to_owned(),
            values: values.collect(),
        })
    }

    #[test]
    fn plain_rows_of_all_releases_are_read() {
        let new = plain("READ   - Takes(s): 0.2, Count: 9904, OPS: 65502.6, 99.99th(us): 725");
        let values = [
            ("Takes(s)", "0.2"),
            ("Count", "9904"),
            ("OPS", "65502.6"),
            ("99.99th(us)", "725"),
        ];
        assert_eq!(new, Some(row("READ", &values)));
        let old = plain("READ_MODIFY_WRITE - Takes(s): 1.0, Count: 3, QPS: 2.9, Avg(us): 7");
        let Some(Shape::Row(old)) = old else {
            panic!("{old:?}")
        };
        assert_eq!(
            (old.rate(), old.ops_count(), old.get("Avg(us)")),
            (Some("2.9"), Some(3), Some("7"))
        );
    }

    #[test]
    fn an_incomplete_plain_row_is_recognized() {
        for line in [
            "READ - Takes(s): 0.2, Cou",
            "READ   - Takes(s",
            "READ - Takes(s): 1.0, Count: x",
        ] {
            assert_eq!(plain(line), Some(Shape::Broken), "{line}");
        }
        for line in [
            "read - Takes(s): 1",
            "a - b",
            "",
            " - ",
            "READ - took",
            "2026 - Takes(s): 1",
        ] {
            assert_eq!(plain(line), None, "{line}");
        }
    }

    #[test]
    fn json_lines_hold_rows_of_text() {
        let line = r#"[{"50th(us)":"8","Count":"2","Operation":"READ"},{"Count":"1","Operation":"TOTAL"}]"#;
        assert!(begins_json(line));
        let rows = json(line);
        assert_eq!(
            rows,
            [
                row("READ", &[("50th(us)", "8"), ("Count", "2")]),
                row("TOTAL", &[("Count", "1")])
            ]
        );
        assert_eq!(json(&line[..40]), [Shape::Broken]);
        assert_eq!(json(r#"[{"Operation":"READ","Count":"many"}]"#), [Shape::Broken]);
        assert!(!begins_json(r#"[ {"metric":"READ"} ]"#));
    }

    #[test]
    fn tables_are_read_by_their_heads() {
        let mut table = Table::default();
        assert_eq!(table.take("| READ | 1 |"), None);
        assert_eq!(table.take("+------+---+"), Some(None));
        assert_eq!(
            table.take("| OPERATION | TAKES(S) | OPS | 99.9TH(US) |"),
            Some(None)
        );
        let values = [("Takes(s)", "0.1"), ("OPS", "5.0"), ("99.9th(us)", "7")];
        assert_eq!(
            table.take("| READ      |      0.1 | 5.0 |  7 |"),
            Some(Some(row("READ", &values)))
        );
        assert_eq!(
            table.take("| READ      |      0.1 | 5."),
            Some(Some(Shape::Broken))
        );
        assert_eq!(table.take("other"), None);
    }
}
