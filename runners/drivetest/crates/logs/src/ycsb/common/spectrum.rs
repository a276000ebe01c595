//! Percentile spectra as HdrHistogram prints them: the exports of go-ycsb, and `.hgrm` files of its log processor.
//!
//! Source: HdrHistogram, AbstractHistogram.outputPercentileDistribution(); hdrhistogram-go, PercentilesPrint().

use crate::ycsb::command::base;
use crate::ycsb::common::number;
use crate::ycsb::fragment::shown;

/// Maximum number of stored rows; real spectra have a few hundred.
const ROWS_MAX: usize = 2000;

/// One spectrum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spectrum {
    /// File name, used as a label.
    pub name: String,
    /// Percentile and value as printed, with shares converted to percent.
    pub percentiles: Vec<(String, String)>,
    /// From the end of the spectrum.
    pub ops_count: Option<u64>,
    /// From the end of the spectrum.
    pub max: Option<String>,
    /// Line number of a line that is not part of a spectrum.
    pub unreadable: Option<u64>,
}

/// Return whether a line is the head of a spectrum.
pub fn is_head(line: &str) -> bool {
    let head = ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"];
    line.split_whitespace().eq(head)
}

impl Spectrum {
    /// Return an empty spectrum.
    pub fn new(name: &str) -> Self {
        Self {
            name: shown(name),
            ..Self::default()
        }
    }

    /// Read a line after the head.
    pub fn take(&mut self, line: &str, at: u64) {
        let is_read = match line.strip_prefix("#[") {
            Some(end) => self.take_end(end),
            None => line.trim().is_empty() || self.take_row(line).is_some(),
        };
        if !is_read {
            self.unreadable.get_or_insert(at);
        }
    }

    fn take_row(&mut self, line: &str) -> Option<()> {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let ([value, share, _] | [value, share, _, _]) = cells[..] else {
            return None;
        };
        let percent = percent(share).filter(|_| number::is_number(value))?;
        let is_known = self.percentiles.last().is_some_and(|(last, _)| *last == percent);
        if self.percentiles.len() < ROWS_MAX && !is_known {
            self.percentiles.push((percent, plain(value).to_owned()));
        }
        Some(())
    }

    /// Read `Max     =     3557.000, Total count    =         4973]`; ignore means and buckets.
    fn take_end(&mut self, end: &str) -> bool {
        let pairs = end.trim_end_matches(']').split(',');
        let pairs = pairs.filter_map(|pair| pair.split_once('='));
        let mut is_known = false;
        for (name, value) in pairs.map(|(name, value)| (name.trim(), value.trim())) {
            match name {
                "Max" => self.max = Some(plain(value).to_owned()).filter(|max| number::is_number(max)),
                "Total count" => self.ops_count = number::count(value),
                "Mean" | "StdDeviation" | "Buckets" | "SubBuckets" => {}
                _ => return false,
            }
            is_known = true;
        }
        is_known
    }
}

/// Remove the three decimals of printed values, which are always 0.
fn plain(value: &str) -> &str {
    value.strip_suffix(".000").unwrap_or(value)
}

/// Convert a share to percent digit by digit: `0.998047` is `99.8047`.
fn percent(share: &str) -> Option<String> {
    let (whole, part) = share.split_once('.')?;
    let is_share =
        matches!(whole, "0" | "1") && part.len() >= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    is_share.then(|| number::shifted(whole, part, 2))
}

/// Return the metric that a file's name ends in, before `-percentiles`.
pub fn metric_of<'a>(name: &str, metrics: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Files of HdrHistogram's log processor (`.hgrm`) do not contain their unit.
    let (stem, _) = base(name).split_once("-percentiles")?;
    // READ_ERROR ends in no other metric, and MY_READ may be a prefix with READ: the longest is meant.
    let ending = metrics.filter(|metric| stem.ends_with(metric));
    ending.max_by_key(|metric| metric.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_become_percent_to_the_digit() {
        let pairs = [
            ("0.000000", "0"),
            ("0.500000", "50"),
            ("0.998047", "99.8047"),
            ("1.000000", "100"),
            ("0.05", "5"),
        ];
        for (share, expected) in pairs {
            assert_eq!(percent(share).as_deref(), Some(expected), "{share}");
        }
        for share in ["1", "2.00", "0.1", "x.00", "0.1x", "-0.10"] {
            assert_eq!(percent(share), None, "{share}");
        }
    }

    #[test]
    fn a_spectrum_is_read_to_its_end() {
        let mut read = Spectrum::new("x");
        let lines = [
            "",
            "  9.000  0.500000  2917  2.00",
            " 12.000 1.000000 4000 inf",
            "#[Max = 12.000, Total count = 4000]",
        ];
        lines.iter().zip(1..).for_each(|(line, at)| read.take(line, at));
        assert_eq!(
            (read.ops_count, read.max.as_deref(), read.unreadable),
            (Some(4000), Some("12"), None)
        );
        assert_eq!(
            read.percentiles,
            [("50".into(), "9".into()), ("100".to_owned(), "12".to_owned())]
        );
        read.take("else", 9);
        assert_eq!(read.unreadable, Some(9));
    }

    #[test]
    fn the_longest_metric_at_the_end_of_a_name_is_meant() {
        let metrics = ["READ", "READ_ERROR", "TOTAL"];
        let of = |name: &str| metric_of(name, metrics.into_iter());
        assert_eq!(of("a/run-READ-percentiles.txt"), Some("READ"));
        assert_eq!(of("run-READ_ERROR-percentiles.txt"), Some("READ_ERROR"));
        assert_eq!(of("percentiles.txt"), None);
    }
}
