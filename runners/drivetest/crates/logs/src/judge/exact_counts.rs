//! Exact counts at each threshold, which drivetest writes into its side file.

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::judge::share::Share;

/// Reads of a whole run, and how many of them were at or over each threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactCounts {
    ops_count: u64,
    over_counts: BTreeMap<u64, u64>,
}

#[derive(Deserialize)]
struct EndRecord {
    record: String,
    reads_count: u64,
    over: BTreeMap<String, u64>,
}

impl ExactCounts {
    /// Parse the end record of a side file (docs/reference/formats.md, `drivecert.side/1`).
    ///
    /// `None` for any other record, and if more reads are over a threshold than there are reads.
    ///
    /// ```
    /// use drivetest_logs::judge::exact_counts::ExactCounts;
    /// let line = br#"{"record": "end", "reason": "finished", "reads_count": 1000, "over": {"1000": 51}}"#;
    /// assert_eq!(ExactCounts::parse(line).and_then(|exact| exact.share(1000)).map(|share| share.over_count), Some(51));
    /// ```
    pub fn parse(line: &[u8]) -> Option<Self> {
        let end: EndRecord = serde_json::from_slice(line).ok()?;
        let over = end
            .over
            .iter()
            .map(|(time, &count)| Some((time.parse().ok()?, count)));
        let counts = Self {
            ops_count: end.reads_count,
            over_counts: over.collect::<Option<_>>()?,
        };
        let is_sound = counts.over_counts.values().all(|&over| over <= counts.ops_count);
        (end.record == "end" && is_sound).then_some(counts)
    }

    /// Return the number of reads.
    pub fn ops_count(&self) -> u64 {
        self.ops_count
    }

    /// Return every threshold with its share; empty without reads.
    pub fn shares(&self) -> impl Iterator<Item = (u64, Share)> {
        let times = self.over_counts.keys().copied();
        times.filter_map(|time| Some((time, self.share(time)?)))
    }

    /// Return the share at or over a threshold; `None` if it was not counted, or without reads.
    pub fn share(&self, threshold_us: u64) -> Option<Share> {
        let over_count = *self.over_counts.get(&threshold_us)?;
        (self.ops_count > 0).then_some(Share {
            over_count,
            ops_count: self.ops_count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sound_end_record_is_taken() {
        let parse = |text: &str| ExactCounts::parse(text.as_bytes());
        assert!(parse(r#"{"record": "end", "reads_count": 51, "over": {"1000": 51}}"#).is_some());
        assert_eq!(
            parse(r#"{"record": "end", "reads_count": 50, "over": {"1000": 51}}"#),
            None
        );
        assert_eq!(
            parse(r#"{"record": "interval", "reads_count": 51, "over": {"1000": 51}}"#),
            None
        );
        assert_eq!(parse("no json"), None);
    }

    #[test]
    fn a_time_that_was_not_counted_has_no_share() {
        let exact = ExactCounts::parse(br#"{"record": "end", "reads_count": 9, "over": {"1000": 0}}"#);
        assert_eq!(exact.unwrap().share(8000), None);
    }
}
