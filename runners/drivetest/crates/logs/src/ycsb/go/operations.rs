//! Rows of a block, or single operations, to operations.
//!
//! A block counts all operations since the start, with percentiles of all of them.

use crate::ycsb::common::number;
use crate::ycsb::common::raw::Raw;
use crate::ycsb::go::row::{self, Row, Shape};
use crate::ycsb::java::status::{Status, StatusOperation};
use crate::ycsb::run::{Operation, Time};

/// The read and the update of one operation of workload F, which are in READ and UPDATE too.
pub const COMPOSITE: &str = "READ_MODIFY_WRITE";

/// Over all single operations that succeeded.
pub const TOTAL: &str = "TOTAL";

/// Return whether a name is that of failed operations.
pub fn is_error(name: &str) -> bool {
    name.ends_with("_ERROR")
}

/// Return whether a name is that of successful single operations.
pub fn is_single(name: &str) -> bool {
    !is_error(name) && name != TOTAL && name != COMPOSITE
}

fn named(name: &str) -> Operation {
    let plain = name.strip_suffix("_ERROR");
    let (plain, outcome) = plain.map_or((name, "ok"), |plain| (plain, "failed"));
    Operation {
        name: plain.to_owned(),
        outcome: outcome.to_owned(),
        time: Some(Time::Service),
        is_counted: is_single(name) || is_error(name),
        ..Operation::default()
    }
}

/// Return an operation from its row.
pub fn of_row(row: &Row) -> Operation {
    let rate = row.rate().filter(|rate| number::is_number(rate));
    Operation {
        ops_count: row.ops_count(),
        mean_us: row.number("Avg(us)"),
        min_us: row.number("Min(us)"),
        max_us: row.number("Max(us)"),
        percentiles: percentiles(row),
        ops_per_s_since_first: rate.map(str::to_owned),
        from: "rows",
        ..named(&row.operation)
    }
}

/// `99.9th(us)` is the percentile 99.9.
pub fn percentiles(row: &Row) -> Vec<(String, String)> {
    let all = row.values.iter().filter_map(|(head, value)| {
        let share = share(head)?;
        number::is_number(value).then(|| (share.to_owned(), value.clone()))
    });
    let mut all: Vec<_> = all.collect();
    // JSON has them in the order of their letters.
    let at = |share: &str| number::value(share).unwrap_or_default();
    all.sort_by(|(one, _), (other, _)| at(one).total_cmp(&at(other)));
    all
}

/// Return the percentile that a head names.
pub fn share(head: &str) -> Option<&str> {
    let share = head.strip_suffix("th(us)");
    share.filter(|share| number::is_number(share))
}

/// Return the operations of single latencies.
pub fn of_raw(raw: &Raw) -> Vec<Operation> {
    let operations = raw.operations().iter();
    let named = operations.map(|operation| raw.operation(operation, named(&operation.name)));
    named.collect()
}

/// Parse a block that was stored as plain rows; `None` if it is not a block.
pub fn parse_block(text: &str) -> Option<Status> {
    let rows: Vec<Row> = text.lines().filter_map(plain).collect();
    rows.first()?;
    let elapsed_s = rows.iter().filter_map(takes_s).fold(0.0, f64::max);
    Some(Status {
        elapsed_s: whole_s(elapsed_s),
        ops_count: ops_count(&rows),
        ops_per_s: None,
        operations: rows.iter().map(status_operation).collect(),
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
    let is_counted = |row: &&Row| is_single(&row.operation) || is_error(&row.operation);
    let counts = rows.iter().filter(is_counted).filter_map(Row::ops_count);
    counts.fold(0, u64::saturating_add)
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

fn status_operation(row: &Row) -> StatusOperation {
    StatusOperation {
        name: row.operation.clone(),
        ops_count: row.ops_count(),
        max_us: row.number("Max(us)"),
        min_us: row.number("Min(us)"),
        mean_us: row.number("Avg(us)"),
        percentiles: percentiles(row),
    }
}

/// Return the rates of the intervals themselves, which go-ycsb does not print: the differences of what it does.
pub fn with_rates<'a>(texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Status> {
    let mut before = (0.0, 0_u64);
    texts.filter_map(move |text| {
        let mut status = parse_block(text)?;
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

    fn row(operation: &str) -> Row {
        let values = [
            ("99.9th(us)", "9"),
            ("50th(us)", "5"),
            ("Count", "3"),
            ("OPS", "+Inf"),
            ("Avg(us)", "4"),
        ];
        Row {
            operation: operation.to_owned(),
            values: values
                .map(|(head, value)| (head.to_owned(), value.to_owned()))
                .to_vec(),
        }
    }

    #[test]
    fn percentiles_are_in_the_order_of_their_shares() {
        let texts = of_row(&row("READ"));
        let shares: Vec<_> = texts
            .percentiles
            .iter()
            .map(|(share, _)| share.as_str())
            .collect();
        assert_eq!(shares, ["50", "99.9"]);
        assert_eq!((texts.ops_count, texts.ops_per_s_since_first), (Some(3), None));
    }

    #[test]
    fn only_single_operations_are_counted() {
        let counted = |name: &str| of_row(&row(name)).is_counted;
        assert!(counted("READ") && counted("UPDATE_ERROR") && counted("BATCH_READ"));
        assert!(!counted("TOTAL") && !counted("READ_MODIFY_WRITE"));
        let failed = of_row(&row("READ_ERROR"));
        assert_eq!(
            (failed.name.as_str(), failed.outcome.as_str()),
            ("READ", "failed")
        );
    }

    const FIRST: &str = "READ - Takes(s): 1.0, Count: 500, OPS: 500.0, Avg(us): 7, 99th(us): 60\n\
                         TOTAL - Takes(s): 1.0, Count: 900, OPS: 900.0, Avg(us): 8, 99th(us): 70\n\
                         UPDATE - Takes(s): 1.0, Count: 400, OPS: 400.0, Avg(us): 9, 99th(us): 80\n";
    const SECOND: &str = "READ - Takes(s): 2.0, Count: 700, OPS: 350.0\nTOTAL - Takes(s): 2.0, Count: 1100, OPS: 550.0\n\
                          UPDATE - Takes(s): 2.0, Count: 400, OPS: 200.0\nUPDATE_ERROR - Takes(s): 0.1, Count: 10, OPS: 100.0\n";

    #[test]
    fn a_block_counts_all_operations_since_the_start() {
        let read = parse_block(FIRST).unwrap();
        assert_eq!(
            (read.elapsed_s, read.ops_count, read.operations.len()),
            (1, 900, 3)
        );
        assert_eq!(
            read.operations[0].percentiles,
            [("99".to_owned(), "60".to_owned())]
        );
        assert_eq!(parse_block("10 sec: 5 operations;"), None);
    }

    #[test]
    fn rates_are_those_of_the_intervals() {
        let rates: Vec<_> = with_rates([FIRST, SECOND].into_iter())
            .map(|read| read.ops_per_s.unwrap())
            .collect();
        assert_eq!(rates, ["900.0", "210.0"]);
    }
}
