//! Rows of a final block, or single operations, to operations.

use crate::ycsb::common::number;
use crate::ycsb::common::raw::Raw;
use crate::ycsb::go::row::Row;
use crate::ycsb::run::{Operation, Time};

/// The read and the update of one operation of workload F, which are in READ and UPDATE too.
pub const COMPOSITE: &str = "READ_MODIFY_WRITE";

/// Over all single operations that succeeded.
pub const TOTAL: &str = "TOTAL";

/// Return whether a name is one of operations that failed.
pub fn is_error(name: &str) -> bool {
    name.ends_with("_ERROR")
}

/// Return whether a name is one of single operations that succeeded.
pub fn is_single(name: &str) -> bool {
    !is_error(name) && name != TOTAL && name != COMPOSITE
}

fn named(name: &str) -> Operation {
    let (plain, outcome) = name
        .strip_suffix("_ERROR")
        .map_or((name, "ok"), |plain| (plain, "failed"));
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
    let value = |head: &str| {
        row.get(head)
            .filter(|value| number::is_number(value))
            .map(str::to_owned)
    };
    Operation {
        ops_count: row.ops_count(),
        mean_us: value("Avg(us)"),
        min_us: value("Min(us)"),
        max_us: value("Max(us)"),
        percentiles: percentiles(row),
        ops_per_s_since_first: row
            .rate()
            .filter(|rate| number::is_number(rate))
            .map(str::to_owned),
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
    head.strip_suffix("th(us)")
        .filter(|share| number::is_number(share))
}

/// Return the operations of single latencies.
pub fn of_raw(raw: &Raw) -> Vec<Operation> {
    let all = raw.operations().iter();
    all.map(|operation| raw.operation(operation, named(&operation.name)))
        .collect()
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
}
