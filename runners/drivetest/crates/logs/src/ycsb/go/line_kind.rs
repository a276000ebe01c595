//! Kinds of lines in go-ycsb's output.

use crate::ycsb::common::number;
use crate::ycsb::common::raw::{self, RawRow};
use crate::ycsb::fragment::stars;
use crate::ycsb::go::row::{self, Shape, Table};

/// Kind of a line.
#[derive(Debug)]
pub enum LineKind<'a> {
    /// `Using request distribution 'uniform' a keyrange of [0 49999]`: the distribution.
    Distribution(&'a str),
    /// The head or the end of the block of properties, or the line before the final block.
    Stars {
        /// It begins one.
        is_head: bool,
    },
    /// Rows of a block.
    Rows(Vec<Shape>),
    /// A table's frame or head.
    Frame,
    /// `Run finished, takes 1.5s`: nanoseconds; `None` if they cannot be read.
    Finished(Option<u64>),
    /// `Got signal [interrupt] to exit.`
    Signal,
    /// The head of single operations.
    CsvHead,
    /// A single operation.
    Csv(RawRow<'a>),
    /// Reason why the program did not start.
    Refused,
    /// `panic: ...`, `fatal error: ...`.
    Panic,
    /// `operation err: ...`.
    OperationError,
    /// `Exporting the full latency spectrum ...`.
    Exporting,
    /// Any other line.
    Other,
}

/// Return the kind of a line; the table depends on the previous lines.
pub fn of<'a>(line: &'a str, table: &mut Table) -> LineKind<'a> {
    match line.as_bytes().first() {
        None => LineKind::Other,
        Some(b'*') => stars(line).map_or(LineKind::Other, |is_head| LineKind::Stars { is_head }),
        Some(b'+' | b'|') => match table.take(line) {
            None => LineKind::Other,
            Some(None) => LineKind::Frame,
            Some(Some(shape)) => LineKind::Rows(vec![shape]),
        },
        Some(b'[') if row::begins_json(line) => LineKind::Rows(row::json(line)),
        Some(byte) if byte.is_ascii_uppercase() => capital(line),
        Some(_) => worded(line),
    }
}

fn capital(line: &str) -> LineKind<'_> {
    if let Some(shape) = row::plain(line) {
        return LineKind::Rows(vec![shape]);
    }
    if let Some(row) = raw::parse(line) {
        return LineKind::Csv(row);
    }
    if let Some(takes) = line.strip_prefix("Run finished, takes ") {
        return LineKind::Finished(number::go_duration_ns(takes));
    }
    if let Some(rest) = line.strip_prefix("Using request distribution '") {
        let distribution = rest.split_once("' a keyrange of ").map(|(name, _)| name);
        return distribution.map_or(LineKind::Other, LineKind::Distribution);
    }
    if line.starts_with("Got signal [") {
        return LineKind::Signal;
    }
    if line.starts_with("Exporting the full latency spectrum for operation ") {
        return LineKind::Exporting;
    }
    LineKind::Other
}

fn worded(line: &str) -> LineKind<'_> {
    if line == "operation,timestamp_us,latency_us" {
        LineKind::CsvHead
    } else if line.starts_with("operation err: ") {
        LineKind::OperationError
    } else if line.starts_with("panic: ") || line.starts_with("fatal error: ") {
        LineKind::Panic
    } else if is_refusal(line) {
        LineKind::Refused
    } else {
        LineKind::Other
    }
}

/// Source: go-ycsb, cmd/go-ycsb/main.go initialGlobal(), pkg/client/client.go newWorker().
fn is_refusal(line: &str) -> bool {
    // For short lines, a search in bytes is much faster than one in characters.
    let is_starting_with = |words: &str| memchr::memmem::find(line.as_bytes(), words.as_bytes()).is_some();
    let is_creation = line.starts_with("create db ") || line.starts_with("create workload ");
    let failed = is_creation && line.contains(" failed ");
    let unknown = || {
        let name = line.split_once(" is not registered");
        name.is_some_and(|(name, _)| !name.is_empty() && !name.contains(' '))
    };
    let is_unknown = is_starting_with(" is not registered") && unknown();
    failed || is_unknown || line.starts_with("totalOpCount(") || is_starting_with(" bad property: `")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(line: &str) -> String {
        let kinds = format!("{:?}", of(line, &mut Table::default()));
        kinds.split([' ', '(', '{']).next().unwrap().to_owned()
    }

    #[test]
    fn kinds_of_lines_are_distinguished() {
        let pairs = [
            (
                "Using request distribution 'zipfian' a keyrange of [0 9]",
                "Distribution",
            ),
            ("***************** properties *****************", "Stars"),
            ("READ   - Takes(s): 1.0, Count: 3", "Rows"),
            ("Run finished, takes 1m2.5s", "Finished"),
            ("Got signal [interrupt] to exit.", "Signal"),
            ("operation,timestamp_us,latency_us", "CsvHead"),
            ("READ,1795230384536665,24", "Csv"),
            ("create db aerospike failed Failed to connect", "Refused"),
            ("nope is not registered", "Refused"),
            (
                "totalOpCount(operationcount/insertcount/recordcount): 1 should be bigger than threadCount: 2",
                "Refused",
            ),
            ("operation err: Key not found", "OperationError"),
            ("panic: unsupported outputstyle: x", "Panic"),
            ("2026/11/21 03:06:57 Iterating file id: 0", "Other"),
            ("the disk is not registered", "Other"),
            ("[READ], Operations, 5", "Other"),
        ];
        for (line, expected) in pairs {
            assert_eq!(name(line), expected, "{line}");
        }
    }
}
