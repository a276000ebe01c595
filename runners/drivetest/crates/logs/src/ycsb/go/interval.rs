//! The blocks that go-ycsb prints while it runs: all operations since the start, with percentiles of all of them.

use crate::ycsb::common::number;
use crate::ycsb::go::operations::{is_error, is_single, percentiles};
use crate::ycsb::go::row::{self, Row, Shape};
use crate::ycsb::java::status::{Status, StatusOperation};

/// Parse a block that was stored as plain rows; `None` if it is not a block.
pub fn parse(text: &str) -> Option<Status> {
    let rows: Vec<Row> = text.lines().filter_map(plain).collect();
    rows.first()?;
    let elapsed_s = rows.iter().filter_map(takes_s).fold(0.0, f64::max);
    Some(Status {
        elapsed_s: whole_s(elapsed_s),
        ops_count: ops_count(&rows),
        ops_per_s: None,
        operations: rows.iter().map(operation).collect(),
    })
}

fn plain(line: &str) -> Option<Row> {
    match row::plain(line)? {
        Shape::Row(row) => Some(row),
        Shape::Broken => None,
    }
}

fn takes_s(row: &Row) -> Option<f64> {
    number::value(row.get("Takes(s)")?).filter(|takes_s| *takes_s >= 0.0)
}

/// Return whole seconds; the first operation may start some milliseconds later.
fn whole_s(seconds: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not below 0; casts saturate"
    )]
    let whole = seconds.round() as u64;
    whole
}

/// Return the number of single operations, including failed ones.
pub fn ops_count(rows: &[Row]) -> u64 {
    let single = rows
        .iter()
        .filter(|row| is_single(&row.operation) || is_error(&row.operation));
    single.filter_map(Row::ops_count).fold(0, u64::saturating_add)
}

/// Return the seconds since the first single operation as count / rate, more precise than `Takes(s)`.
pub fn elapsed_s(rows: &[Row]) -> Option<f64> {
    let exact = |row: &Row| {
        #[expect(clippy::cast_precision_loss, reason = "a rate of six digits")]
        let count = row.ops_count()? as f64;
        let rate = number::value(row.rate()?).filter(|rate| *rate > 0.0)?;
        Some(count / rate)
    };
    rows.iter().filter_map(exact).reduce(f64::max)
}

fn operation(row: &Row) -> StatusOperation {
    let value = |head: &str| {
        row.get(head)
            .filter(|value| number::is_number(value))
            .map(str::to_owned)
    };
    StatusOperation {
        name: row.operation.clone(),
        ops_count: row.ops_count(),
        max_us: value("Max(us)"),
        min_us: value("Min(us)"),
        mean_us: value("Avg(us)"),
        percentiles: percentiles(row),
    }
}

/// Return the rates of the intervals themselves, which go-ycsb does not print: the differences of what it does.
pub fn with_rates<'a>(texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Status> {
    let mut before = (0.0, 0_u64);
    texts.filter_map(move |text| {
        let mut status = parse(text)?;
        let rows: Vec<Row> = text.lines().filter_map(plain).collect();
        let elapsed_s = elapsed_s(&rows)?;
        let (before_s, before_count) = std::mem::replace(&mut before, (elapsed_s, status.ops_count));
        let made = status.ops_count.checked_sub(before_count)?;
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = made as f64 / (elapsed_s - before_s);
        status.ops_per_s = (elapsed_s > before_s).then(|| format!("{rate:.1}"));
        Some(status)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "READ - Takes(s): 1.0, Count: 500, OPS: 500.0, Avg(us): 7, 99th(us): 60\n\
                         TOTAL - Takes(s): 1.0, Count: 900, OPS: 900.0, Avg(us): 8, 99th(us): 70\n\
                         UPDATE - Takes(s): 1.0, Count: 400, OPS: 400.0, Avg(us): 9, 99th(us): 80\n";
    const SECOND: &str = "READ - Takes(s): 2.0, Count: 700, OPS: 350.0\nTOTAL - Takes(s): 2.0, Count: 1100, OPS: 550.0\n\
                          UPDATE - Takes(s): 2.0, Count: 400, OPS: 200.0\nUPDATE_ERROR - Takes(s): 0.1, Count: 10, OPS: 100.0\n";

    #[test]
    fn a_block_counts_all_operations_since_the_start() {
        let read = parse(FIRST).unwrap();
        assert_eq!(
            (read.elapsed_s, read.ops_count, read.operations.len()),
            (1, 900, 3)
        );
        assert_eq!(
            read.operations[0].percentiles,
            [("99".to_owned(), "60".to_owned())]
        );
        assert_eq!(parse("10 sec: 5 operations;"), None);
    }

    #[test]
    fn rates_are_those_of_the_intervals() {
        let rates: Vec<_> = with_rates([FIRST, SECOND].into_iter())
            .map(|read| read.ops_per_s.unwrap())
            .collect();
        assert_eq!(rates, ["900.0", "210.0"]);
    }
}
