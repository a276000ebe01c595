//! The tables: their columns, and the rows of an interval or a slice.

use std::io;

use drivetest_logs::act::blocks::histogram::{Tally, Unit};
use drivetest_logs::act::run::Run;
use drivetest_logs::act::semantics::Edges;
use drivetest_logs::act::slices::sinks::Row;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A whole number.
    Number,
    /// A whole number, or empty if unknown.
    OptionalNumber,
    /// A decimal, or empty if unknown.
    OptionalDecimal,
    /// Text.
    Text,
}

/// A table of a log.
#[derive(Debug)]
pub struct Table {
    /// Its name, which is part of the file name.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: &'static [(&'static str, ColumnType)],
}

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// A value of a number column, at most 2^63 - 1.
    Number(Option<u64>),
    /// A finite value of a decimal column.
    Decimal(Option<f64>),
    /// A value of a text column.
    Text(&'a str),
}

/// A destination of rows.
pub trait Rows {
    /// Adds a row, one cell for each column.
    fn add(&mut self, cells: &[Cell<'_>]) -> io::Result<()>;
    /// Completes the table.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Declares columns by name and type, in the order of the cells.
macro_rules! columns {
    ($($name:ident: $type:ident),* $(,)?) => {
        &[$((stringify!($name), $crate::export::table::ColumnType::$type)),*]
    };
}
pub(super) use columns;

/// Every report interval of every histogram.
pub const INTERVALS: Table = Table {
    name: "intervals",
    columns: columns![
        run: Number, start_s: Number, end_s: Number, histogram: Number, name: Text,
        ops_count: OptionalNumber,
    ],
};

/// Every non-empty bucket of them.
pub const INTERVAL_BUCKETS: Table = Table {
    name: "interval-buckets",
    columns: columns![
        run: Number, start_s: Number, end_s: Number, histogram: Number, name: Text, bucket: Number,
        lower_us: OptionalNumber, upper_us: OptionalNumber, count: Number,
    ],
};

/// Every slice of every histogram.
pub const SLICES: Table = Table {
    name: "slices",
    columns: INTERVALS.columns,
};

/// Every non-empty bucket of them.
pub const SLICE_BUCKETS: Table = Table {
    name: "slice-buckets",
    columns: INTERVAL_BUCKETS.columns,
};

/// The common values of the rows of one period and histogram.
struct RowKey<'a> {
    run: usize,
    start_s: u64,
    end_s: u64,
    histogram: usize,
    name: &'a str,
    unit: Unit,
    edges: Edges,
}

/// Two tables: the operations of each period, and their buckets.
pub struct PeriodTables {
    /// [`INTERVALS`] or [`SLICES`].
    pub periods: Box<dyn Rows + Send>,
    /// [`INTERVAL_BUCKETS`] or [`SLICE_BUCKETS`].
    pub buckets: Box<dyn Rows + Send>,
}

impl PeriodTables {
    /// Adds an interval.
    ///
    /// # Errors
    /// If the tables cannot be written.
    pub fn add_interval(&mut self, row: &Row) -> io::Result<()> {
        for (histogram, (tally, name)) in row.tallies.iter().zip(&*row.names).enumerate() {
            let key = RowKey {
                run: row.run,
                start_s: row.start_s,
                end_s: row.end_s,
                histogram,
                name,
                unit: row.unit,
                edges: row.edges,
            };
            self.add(&key, tally.as_ref())?;
        }
        Ok(())
    }

    /// Adds the slices of a run.
    ///
    /// # Errors
    /// If the tables cannot be written.
    pub fn add_slices(&mut self, run: &Run) -> io::Result<()> {
        for slice in &run.slices {
            for histogram in &run.histograms {
                let key = RowKey {
                    run: run.ordinal,
                    start_s: slice.start_s,
                    end_s: slice.end_s,
                    histogram: histogram.ordinal,
                    name: &histogram.name,
                    unit: histogram.unit,
                    edges: histogram.meaning.edges,
                };
                self.add(&key, slice.tally(histogram.ordinal))?;
            }
        }
        Ok(())
    }

    /// Completes both tables.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.periods.finish()?;
        self.buckets.finish()
    }

    fn add(&mut self, key: &RowKey<'_>, tally: Option<&Tally>) -> io::Result<()> {
        let number = |value: usize| Cell::Number(Some(value as u64));
        let [run, start_s, end_s, histogram, name] = [
            number(key.run),
            Cell::Number(Some(key.start_s)),
            Cell::Number(Some(key.end_s)),
            number(key.histogram),
            Cell::Text(key.name),
        ];
        let ops_count = Cell::Number(tally.map(Tally::ops_count));
        self.periods
            .add(&[run, start_s, end_s, histogram, name, ops_count])?;
        let counts = tally.map_or(&[][..], Tally::counts).iter().enumerate();
        for (bucket, &count) in counts.filter(|(_, count)| **count > 0) {
            let (lower_us, upper_us) = edges_us(bucket, key.unit, key.edges);
            let (lower_us, upper_us) = (Cell::Number(lower_us), Cell::Number(upper_us));
            let (bucket, count) = (number(bucket), Cell::Number(Some(count)));
            let cells = [
                run, start_s, end_s, histogram, name, bucket, lower_us, upper_us, count,
            ];
            self.buckets.add(&cells)?;
        }
        Ok(())
    }
}

/// Returns the lower and upper edge of a bucket in microseconds. None if an edge does not fit into an i64.
fn edges_us(bucket: usize, unit: Unit, edges: Edges) -> (Option<u64>, Option<u64>) {
    let power_us = |power: usize| {
        let units = 1_u64.checked_shl(u32::try_from(power).ok()?)?;
        let edge_us = units.checked_mul(unit.us())?;
        i64::try_from(edge_us).is_ok().then_some(edge_us)
    };
    let upper = match edges {
        Edges::Act => bucket,
        Edges::Act1 => bucket + 1,
    };
    let lower_us = if bucket == 0 { Some(0) } else { power_us(upper - 1) };
    (lower_us, power_us(upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_that_do_not_fit_into_a_number_are_none() {
        let edges = |bucket, unit| edges_us(bucket, unit, Edges::Act);
        assert_eq!(edges(0, Unit::Us), (Some(0), Some(1)));
        assert_eq!(edges(11, Unit::Us), (Some(1024), Some(2048)));
        assert_eq!(edges(0, Unit::Ms), (Some(0), Some(1000)));
        assert_eq!(edges(4, Unit::Ms), (Some(8000), Some(16_000)));
        assert_eq!(edges(63, Unit::Us), (Some(1 << 62), None));
        assert_eq!(edges(64, Unit::Us), (None, None));
        assert_eq!(edges(54, Unit::Ms), (Some(1000 << 53), None));
    }

    #[test]
    fn edges_of_version_1_are_twice_as_high() {
        let edges = |bucket| edges_us(bucket, Unit::Ms, Edges::Act1);
        assert_eq!(edges(0), (Some(0), Some(2000)));
        assert_eq!(edges(1), (Some(2000), Some(4000)));
        assert_eq!(edges(3), (Some(8000), Some(16_000)));
    }
}
