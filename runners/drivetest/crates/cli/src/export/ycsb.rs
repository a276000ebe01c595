//! The tables of YCSB runs: operations and intervals, and the percentiles of both.

use std::io;

use drivetest_logs::ycsb::run::{Operation, Run, Time};
use drivetest_logs::ycsb::status::{Status, StatusOperation};

use super::table::{Cell, Rows, Table, columns};

/// Every operation of every run.
pub const OPERATIONS: Table = Table {
    name: "ycsb-operations",
    columns: columns![
        run: Number, operation: Number, name: Text, outcome: Text, time: Text, recorder: Text, from: Text,
        is_counted: Number, ops_count: OptionalNumber, mean_us: OptionalDecimal, min_us: OptionalDecimal,
        max_us: OptionalDecimal,
    ],
};

/// Their percentiles.
pub const PERCENTILES: Table = Table {
    name: "ycsb-percentiles",
    columns: columns![
        run: Number, operation: Number, name: Text, outcome: Text, from: Text, percentile: OptionalDecimal,
        us: OptionalDecimal,
    ],
};

/// Every interval of every run, by operation.
pub const INTERVALS: Table = Table {
    name: "ycsb-intervals",
    columns: columns![
        run: Number, elapsed_s: Number, run_ops_count: Number, run_ops_per_s: OptionalDecimal, name: Text,
        ops_count: OptionalNumber, mean_us: OptionalDecimal, min_us: OptionalDecimal,
        max_us: OptionalDecimal,
    ],
};

/// Their percentiles.
pub const INTERVAL_PERCENTILES: Table = Table {
    name: "ycsb-interval-percentiles",
    columns: columns![
        run: Number, elapsed_s: Number, name: Text, percentile: OptionalDecimal, us: OptionalDecimal,
    ],
};

/// The tables of YCSB runs.
pub struct Tables {
    /// [`OPERATIONS`].
    pub operations: Box<dyn Rows + Send>,
    /// [`PERCENTILES`].
    pub percentiles: Box<dyn Rows + Send>,
    /// [`INTERVALS`].
    pub intervals: Box<dyn Rows + Send>,
    /// [`INTERVAL_PERCENTILES`].
    pub interval_percentiles: Box<dyn Rows + Send>,
}

impl Tables {
    /// Adds a run.
    ///
    /// # Errors
    /// If the tables cannot be written.
    pub fn add(&mut self, run: &Run) -> io::Result<()> {
        for (ordinal, operation) in run.operations.iter().enumerate() {
            self.add_operation(run, ordinal, operation)?;
        }
        let mut statuses = run.statuses();
        statuses.try_for_each(|status| self.add_interval(run, &status))
    }

    /// Completes the tables.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.operations.finish()?;
        self.percentiles.finish()?;
        self.intervals.finish()?;
        self.interval_percentiles.finish()
    }

    fn add_operation(&mut self, run: &Run, ordinal: usize, operation: &Operation) -> io::Result<()> {
        let [run, ordinal] = [number(run.ordinal), number(ordinal)];
        let (name, outcome) = (Cell::Text(&operation.name), Cell::Text(&operation.outcome));
        let from = Cell::Text(operation.from);
        self.operations.add(&[
            run,
            ordinal,
            name,
            outcome,
            Cell::Text(time(operation.time)),
            Cell::Text(operation.recorder.unwrap_or_default()),
            from,
            number(usize::from(operation.is_counted)),
            Cell::Number(operation.ops_count),
            decimal(operation.mean_us.as_deref()),
            decimal(operation.min_us.as_deref()),
            decimal(operation.max_us.as_deref()),
        ])?;
        operation.percentiles.iter().try_for_each(|(share, us)| {
            let (share, us) = (decimal(Some(share)), decimal(Some(us)));
            let cells = [run, ordinal, name, outcome, from, share, us];
            self.percentiles.add(&cells)
        })
    }

    /// Adds an interval. One without operations has one row with an empty `name`.
    fn add_interval(&mut self, run: &Run, status: &Status) -> io::Result<()> {
        let none = [StatusOperation::default()];
        let operations = match &status.operations[..] {
            [] => &none[..],
            operations => operations,
        };
        let [run, elapsed_s] = [number(run.ordinal), Cell::Number(Some(status.elapsed_s))];
        for operation in operations {
            let name = Cell::Text(&operation.name);
            self.intervals.add(&[
                run,
                elapsed_s,
                Cell::Number(Some(status.ops_count)),
                decimal(status.ops_per_s.as_deref()),
                name,
                Cell::Number(operation.ops_count),
                decimal(operation.mean_us.as_deref()),
                decimal(operation.min_us.as_deref()),
                decimal(operation.max_us.as_deref()),
            ])?;
            for (share, us) in &operation.percentiles {
                let (share, us) = (decimal(Some(share)), decimal(Some(us)));
                self.interval_percentiles
                    .add(&[run, elapsed_s, name, share, us])?;
            }
        }
        Ok(())
    }
}

fn number(value: usize) -> Cell<'static> {
    Cell::Number(Some(value as u64))
}

fn decimal(printed: Option<&str>) -> Cell<'static> {
    let value = printed.and_then(|printed| printed.parse().ok());
    Cell::Decimal(value.filter(|value: &f64| value.is_finite()))
}

fn time(time: Option<Time>) -> &'static str {
    match time {
        Some(Time::Service) => "service",
        Some(Time::Response) => "response",
        Some(Time::Both) | None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_decimals_are_numbers_and_anything_else_is_empty() {
        let value = |printed| match decimal(printed) {
            Cell::Decimal(value) => value,
            _ => None,
        };
        assert_eq!(value(Some("3.0E7")), Some(3.0e7));
        assert_eq!(value(Some("99.9")), Some(99.9));
        assert_eq!((value(Some("NaN")), value(None)), (None, None));
    }
}
