//! Printed latencies of single operations: exact percentiles, and operations by second.
//!
//! Source: YCSB, OneMeasurementRaw.java (time in ms when it was measured); go-ycsb, pkg/measurement/csv.go (time in us
//! when it was begun).

use std::collections::BTreeMap;

use crate::ycsb::common::latencies::Latencies;
use crate::ycsb::common::number;
use crate::ycsb::run::Operation;

/// Maximum number of stored kinds of operations; real runs have a dozen.
const OPERATIONS_MAX: usize = 64;

/// Maximum number of stored seconds of all operations: a week of one.
const SECONDS_MAX: usize = 604_800;

/// The unit of the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// YCSB.
    Milliseconds,
    /// go-ycsb.
    Microseconds,
}

impl Clock {
    fn seconds(self, time: u64) -> u64 {
        match self {
            Self::Milliseconds => time / 1_000,
            Self::Microseconds => time / 1_000_000,
        }
    }
}

/// One operation as it was printed: `READ,1795229746741,1866`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRow<'a> {
    /// `READ`, `UPDATE-FAILED`, `READ_ERROR` ...
    pub name: &'a str,
    /// Since 1970, in the clock's unit.
    pub time: u64,
    /// Microseconds.
    pub latency_us: u64,
}

/// Read a row; `None` for any other line.
pub fn parse(line: &str) -> Option<RawRow<'_>> {
    let (name, rest) = line.split_once(',')?;
    let (time, latency) = rest.split_once(',')?;
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_');
    let is_name = !name.is_empty() && name.bytes().all(is_letter);
    let (time, latency_us) = (number::whole(time)?, number::whole(latency)?);
    is_name.then_some(RawRow {
        name,
        time,
        latency_us,
    })
}

/// The operations of one kind.
#[derive(Clone, Debug, Default)]
pub struct RawOperation {
    /// As printed.
    pub name: String,
    /// Latencies.
    pub latencies: Latencies,
    seconds: BTreeMap<u64, u64>,
}

/// Single operations of a run.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    operations: Vec<RawOperation>,
    seconds_count: usize,
    /// Rows of further kinds of operations, which are not stored.
    pub passed_over_count: u64,
    /// Whether there were too many seconds to count operations by second.
    has_lost_seconds: bool,
}

impl Raw {
    /// Read a row.
    pub fn take(&mut self, row: RawRow<'_>, clock: Clock) {
        let known = self.operations.iter().position(|known| known.name == row.name);
        let at = known.unwrap_or(self.operations.len());
        if at >= OPERATIONS_MAX {
            self.passed_over_count += 1;
            return;
        }
        if known.is_none() {
            let (name, other) = (row.name.to_owned(), RawOperation::default());
            self.operations.push(RawOperation { name, ..other });
        }
        let operation = &mut self.operations[at];
        operation.latencies.add(row.latency_us, 1);
        let second = clock.seconds(row.time);
        if self.seconds_count < SECONDS_MAX || operation.seconds.contains_key(&second) {
            let before = operation.seconds.len();
            *operation.seconds.entry(second).or_default() += 1;
            self.seconds_count += operation.seconds.len() - before;
        } else {
            self.has_lost_seconds = true;
        }
    }

    /// Return the kinds, in the order in which they came.
    pub fn operations(&self) -> &[RawOperation] {
        &self.operations
    }

    /// Return whether there were too many seconds to count operations by second.
    pub fn has_lost_seconds(&self) -> bool {
        self.has_lost_seconds
    }

    /// Return the figures of single operations under the given name.
    pub fn operation(&self, raw: &RawOperation, named: Operation) -> Operation {
        let latencies = &raw.latencies;
        Operation {
            mean_us: latencies.mean_us(),
            min_us: latencies.ends_us().map(|(least, _)| least.to_string()),
            ops_by_second: self.by_second(raw),
            ..latencies.operation("raw", named)
        }
    }

    /// Return the operations of one kind by second since the run's first; `None` if there were too many seconds.
    pub fn by_second(&self, operation: &RawOperation) -> Option<Vec<(u64, u64)>> {
        let operations = self.operations.iter();
        let firsts = operations.filter_map(|known| known.seconds.keys().next());
        let first = firsts.min().copied().unwrap_or_default();
        let counts = operation.seconds.iter();
        (!self.has_lost_seconds).then(|| counts.map(|(second, count)| (second - first, *count)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_name_a_time_and_a_latency() {
        let row = parse("READ-MODIFY-WRITE,17,2").unwrap();
        assert_eq!((row.name, row.time, row.latency_us), ("READ-MODIFY-WRITE", 17, 2));
        assert!(parse("READ_ERROR,1795230384536665,24").is_some());
        for line in [
            "READ,1",
            "READ,1,2,3",
            "read,1,2",
            ",1,2",
            "READ,,2",
            "READ,1,-2",
            "READ,1,+2",
            "READ,1, 2",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn seconds_count_from_the_first_of_all_kinds() {
        let mut raw = Raw::default();
        for line in ["UPDATE,2000,5", "UPDATE,2999,5", "READ,1999,7", "READ,4000,9"] {
            raw.take(parse(line).unwrap(), Clock::Milliseconds);
        }
        let text = |at: usize| raw.by_second(&raw.operations()[at]).unwrap();
        assert_eq!((text(0), text(1)), (vec![(1, 2)], vec![(0, 1), (3, 1)]));
        assert_eq!(raw.operations()[1].latencies.ends_us(), Some((7, 9)));
    }

    #[test]
    fn hostile_names_and_times_fill_no_memory() {
        let mut raw = Raw::default();
        for at in 0..=OPERATIONS_MAX {
            let name = "X".repeat(at + 1);
            raw.take(
                RawRow {
                    name: &name,
                    time: 0,
                    latency_us: 1,
                },
                Clock::Microseconds,
            );
        }
        assert_eq!(
            (raw.operations().len(), raw.passed_over_count),
            (OPERATIONS_MAX, 1)
        );
        for second in 0..=SECONDS_MAX as u64 {
            raw.take(
                RawRow {
                    name: "X",
                    time: second * 1000,
                    latency_us: 1,
                },
                Clock::Milliseconds,
            );
        }
        assert!(raw.by_second(&raw.operations()[0]).is_none());
        assert_eq!(raw.operations()[0].latencies.ops_count(), SECONDS_MAX as u64 + 2);
    }
}
