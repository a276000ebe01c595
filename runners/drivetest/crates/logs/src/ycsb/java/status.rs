//! Status lines that YCSB prints with `-s`: operations so far, rate, and times of the interval's operations.
//!
//! Source: YCSB, StatusThread.computeStats(). Decimals follow the virtual machine's locale.

use serde::Serialize;

use crate::ycsb::common::number;

/// One status line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Whole seconds since the start.
    pub elapsed_s: u64,
    /// Operations since the start.
    pub ops_count: u64,
    /// Rate in the interval; `None` if the line has none or an infinite one.
    pub ops_per_s: Option<String>,
    /// Operations of the interval with their times.
    pub operations: Vec<StatusOperation>,
}

/// The operations of one metric in one interval; times in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatusOperation {
    /// The metric as printed.
    pub name: String,
    /// Number of operations; `None` if the type of measurement does not print it.
    pub ops_count: Option<u64>,
    /// The longest.
    pub max_us: Option<String>,
    /// The shortest.
    pub min_us: Option<String>,
    /// The mean.
    pub mean_us: Option<String>,
    /// Percentiles of the interval alone.
    pub percentiles: Vec<(String, String)>,
}

const SECONDS: &str = " sec: ";
const OPERATIONS: &str = " operations;";

/// Read a status line, with its continuation lines joined by blanks; `None` for any other text.
pub fn parse(text: &str) -> Option<Status> {
    let (elapsed_s, ops_count) = progress(text)?;
    let (_, rest) = text.split_once(OPERATIONS)?;
    let (head, groups) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
    Some(Status {
        elapsed_s,
        ops_count,
        ops_per_s: rate(head),
        operations: groups.split('[').filter_map(operation).collect(),
    })
}

/// Return elapsed seconds and operations of a status line; `None` for any other line.
pub fn progress(text: &str) -> Option<(u64, u64)> {
    // Nearly every line of a binding lacks this byte, and a search for a byte costs almost nothing.
    memchr::memchr(b';', text.as_bytes())?;
    let (before, after) = text.split_once(SECONDS)?;
    let (ops_count, _) = after.split_once(OPERATIONS)?;
    let elapsed = before.rsplit(' ').next()?;
    Some((elapsed.parse().ok()?, ops_count.parse().ok()?))
}

/// Return whether a line continues a status line, which two recorders split.
pub fn continues(text: &str) -> bool {
    let inside = |rest: &str| rest.contains(" AverageLatency(us)=") || rest.contains(": Count=");
    text.strip_prefix('[').is_some_and(inside)
}

/// Return whether decimals are written with a comma.
pub fn has_comma_decimals(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).any(|at| bytes[at] == b',' && digit(at - 1) && digit(at + 1))
}

fn rate(head: &str) -> Option<String> {
    let (rate, _) = head.split_once(" current ops/sec")?;
    decimal(rate.rsplit(' ').next()?)
}

/// Return a decimal of any locale that Java writes with ASCII digits; `None` for NaN, ∞ and ?.
fn decimal(text: &str) -> Option<String> {
    let plain = text.replace(',', ".");
    number::is_number(&plain).then_some(plain)
}

fn operation(group: &str) -> Option<StatusOperation> {
    let (group, _) = group.split_once(']')?;
    let mut read = StatusOperation::default();
    if let Some((name, mean)) = group.split_once(" AverageLatency(us)=") {
        (read.name, read.mean_us) = (name.to_owned(), decimal(mean));
        return Some(read);
    }
    let (name, values) = group.split_once(": ")?;
    name.clone_into(&mut read.name);
    let pairs = values.split(", ").filter_map(|pair| pair.split_once('='));
    pairs.for_each(|(key, value)| read.set(key, value));
    // The times of an operation without operations are printed as 0, NaN or 9223372036854775807.
    if read.ops_count == Some(0) {
        (read.max_us, read.min_us, read.mean_us) = (None, None, None);
        read.percentiles.clear();
    }
    Some(read)
}

impl StatusOperation {
    fn set(&mut self, key: &str, value: &str) {
        match key {
            "Count" => self.ops_count = number::count(value),
            "Max" => self.max_us = decimal(value),
            "Min" => self.min_us = decimal(value),
            "Avg" => self.mean_us = decimal(value),
            _ if number::is_number(key) => {
                let time = decimal(value).map(|value| (key.to_owned(), value));
                self.percentiles.extend(time);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Status {
        parse(text).unwrap_or_default()
    }

    #[test]
    fn a_whole_line_is_read() {
        let status = read(
            "lab2026-11-21 02:56:31:567 71 sec: 4064 operations; 4064.5 current ops/sec; est completion in 7 second \
             [READ: Count=2035, Max=8071, Min=2, Avg=1196.33, 50=1144, 99.99=8071] [UPDATE: Count=1, Max=8, Min=8, Avg=8] ",
        );
        assert_eq!((status.elapsed_s, status.ops_count), (71, 4064));
        assert_eq!(status.ops_per_s.as_deref(), Some("4064.5"));
        assert_eq!(status.operations.len(), 2);
        let read = &status.operations[0];
        assert_eq!((read.name.as_str(), read.ops_count), ("READ", Some(2035)));
        assert_eq!(read.mean_us.as_deref(), Some("1196.33"));
        assert_eq!(read.percentiles[1], ("99.99".to_owned(), "8071".to_owned()));
    }

    #[test]
    fn the_oldest_line_has_no_date_and_only_means() {
        let status =
            read(" 10 sec: 190 operations; 2878.79 current ops/sec; [READ AverageLatency(us)=1193.37] ");
        assert_eq!((status.elapsed_s, status.ops_count), (10, 190));
        assert_eq!(status.operations[0].mean_us.as_deref(), Some("1193.37"));
        assert_eq!(status.operations[0].ops_count, None);
    }

    #[test]
    fn what_is_no_number_is_none() {
        let status = read(
            "2026-11-21 02:56:31:567 0 sec: 0 operations; ∞ current ops/sec; [READ: Count=0, Max=0, \
             Min=9223372036854775807, Avg=NaN, 90=0]",
        );
        assert_eq!(status.ops_per_s, None);
        assert_eq!(status.operations[0].min_us, None);
        assert!(status.operations[0].percentiles.is_empty());
        assert_eq!(parse("3 sec: x operations; "), None);
        assert_eq!(parse("no status line"), None);
    }

    #[test]
    fn a_comma_is_a_decimal_point_in_other_locales() {
        let line = "2026-11-21 02:56:31:567 9 sec: 75 operations; 7573,33 current ops/sec; [READ: Count=1, Max=2, Min=2, Avg=501,99] ";
        assert!(has_comma_decimals(line));
        assert!(!has_comma_decimals(
            &line.replace(",3", ".3").replace("1,9", "1.9")
        ));
        let status = read(line);
        assert_eq!(status.ops_per_s.as_deref(), Some("7573.33"));
        assert_eq!(status.operations[0].mean_us.as_deref(), Some("501.99"));
    }
}
